"""InterPodAffinity: pods that want others near or far, and what others want."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.contract.verdicts import Kind
from bayplan.objects.selection import LabelSelector, LabelSelectorRequirement
from bayplan.plugins.interpodaffinity import InterPodAffinity
from bayplan.testing import (
    HOSTNAME,
    ZONE,
    PluginTests,
    Scene,
    among,
    namespace,
    node,
    on,
    pod,
    strategies,
    wish,
)

NOT_NEAR = "node(s) didn't match pod affinity rules"
NOT_FAR = "node(s) didn't match pod anti-affinity rules"
NOT_WANTED = "node(s) didn't satisfy existing pods anti-affinity rules"
TERMS = ("near", "far", "near_wishes", "far_wishes", "broken")
WEB, DB = {"app": "web"}, {"app": "db"}


class TestPromises(PluginTests):
    plugin = InterPodAffinity()
    pods = others = strategies.pods(*TERMS)
    kinds = ("Node", "Namespace")
    examples = 25


class TestPromisesWithArguments(PluginTests):
    plugin = InterPodAffinity(hard_pod_affinity_weight=50, ignore_preferred_terms_of_existing_pods=True)
    pods = others = strategies.pods(*TERMS)
    kinds = ("Node", "Namespace")
    examples = 15


def scene(*there: Any) -> Scene:
    """Zones a (two nodes) and b, and a node without a zone."""
    scene = Scene()
    scene.add(*(node(name, labels={ZONE: name[0]}) for name in ("a1", "a2", "b1")), node("nowhere"), *there)
    return scene


def rejected(one: Any, *there: Any) -> dict[str, str]:
    return scene(*there).rejected(InterPodAffinity(), one)


def test_what_is_wanted_near_must_be_in_the_domain() -> None:
    wants = pod(near=[among(DB, by=ZONE)])
    db = pod("db", labels=DB, node="a1")

    assert rejected(wants, db) == {"b1": NOT_NEAR, "nowhere": NOT_NEAR}
    assert rejected(wants).keys() == {"a1", "a2", "b1", "nowhere"}
    assert rejected(wants, on(db, "nowhere")).keys() == {"a1", "a2", "b1", "nowhere"}
    assert scene().verdicts(InterPodAffinity(), wants)["a1"].kind is Kind.UNRESOLVABLE


def test_all_that_is_wanted_near_must_be_there_and_in_one_pod() -> None:
    wants = pod(near=[among(DB, by=ZONE), among({"tier": "x"}, by=HOSTNAME)])

    assert len(rejected(wants, pod("db", labels=DB, node="a1"), pod("x", labels={"tier": "x"}, node="a1"))) == 4
    assert rejected(wants, pod("both", labels=DB | {"tier": "x"}, node="a1")).keys() == {"a2", "b1", "nowhere"}


def test_the_first_of_its_kind_may_come_where_the_labels_are() -> None:
    first = pod(labels=WEB, near=[among(WEB, by=ZONE)])

    assert rejected(first) == {"nowhere": NOT_NEAR}
    assert rejected(first, pod("other", labels=WEB, node="b1")).keys() == {"a1", "a2", "nowhere"}
    # One that is on a node without the label is in no domain, so there is still none to be near to.
    assert rejected(first, pod("other", labels=WEB, node="nowhere")) == {"nowhere": NOT_NEAR}


def test_what_is_not_wanted_must_not_be_in_the_domain() -> None:
    wants = pod(far=[among(DB, by=ZONE)])
    said = scene(pod("db", labels=DB, node="a1")).verdicts(InterPodAffinity(), wants)

    assert {name: verdict.reasons for name, verdict in said.items() if not verdict} == {
        "a1": (NOT_FAR,),
        "a2": (NOT_FAR,),
    }
    assert said["a1"].kind is Kind.UNSCHEDULABLE


def test_those_that_are_there_may_not_want_it_either() -> None:
    hermit = pod("hermit", node="a1", far=[among(WEB, by=ZONE)])

    assert rejected(pod(labels=WEB), hermit) == {"a1": NOT_WANTED, "a2": NOT_WANTED}
    assert rejected(pod(labels=DB), hermit) == {}
    # That one wants to be near does not oblige those that come.
    assert rejected(pod(labels=WEB), pod("needy", node="a1", near=[among(DB, by=ZONE)])) == {}


@pytest.mark.parametrize(
    ("of", "found"),
    [
        ({}, False),
        ({"namespaces": ["other"]}, True),
        ({"namespaces": ["third"]}, False),
        ({"namespace_labels": {"team": "a"}}, True),
        ({"namespace_labels": {"team": "b"}}, False),
        ({"namespace_labels": {}}, True),
        ({"namespaces": ["third"], "namespace_labels": {"team": "a"}}, True),
    ],
)
def test_pods_are_looked_for_in_its_own_namespace_unless_others_are_named(of: dict[str, Any], found: bool) -> None:
    there = scene(namespace("other", labels={"team": "a"}), pod("db", namespace="other", labels=DB, node="a1"))

    assert bool(there.rejected(InterPodAffinity(), pod(far=[among(DB, by=HOSTNAME, **of)]))) is found


def test_a_namespace_that_gets_another_label_is_another_one() -> None:
    plugin, wants = InterPodAffinity(), pod(far=[among(DB, by=HOSTNAME, namespace_labels={"team": "a"})])
    there = scene(namespace("other"), pod("db", namespace="other", labels=DB, node="a1"))
    assert there.decide(wants).feasible == 4
    there.add(namespace("other", labels={"team": "a"}))
    assert there.decide(wants).feasible == 3
    there.remove(namespace("other"))
    assert there.decide(wants).feasible == 4
    assert not there.rejected(plugin, wants)


def test_no_selector_selects_no_pod_and_an_empty_one_all() -> None:
    db = pod("db", labels=DB, node="a1")

    assert rejected(pod(far=[among(None, by=ZONE)]), db) == {}
    assert rejected(pod(far=[among({}, by=ZONE)]), db).keys() == {"a1", "a2"}
    assert len(rejected(pod(near=[among(None, by=ZONE)]), db)) == 4


def test_a_selector_that_breaks_the_rules_refuses_the_pod_as_such() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Among", ("x",)),))
    said = scene().decide(pod(near=[among(broken, by=ZONE)]))

    assert said.rejection is not None
    assert said.rejection.message().startswith("0/4 nodes are available: parsing pod: ")
    # Nor is one that is there already of any consequence.
    assert rejected(pod(labels=WEB), pod("there", node="a1", far=[among(broken, by=ZONE)])) == {}


def points(one: Any, *there: Any, plugin: Any = None) -> dict[str, int]:
    return scene(*there).points(plugin or InterPodAffinity(), one)


def test_wishes_that_come_true_add_up_and_those_against_are_taken_off() -> None:
    wants = pod(near=[wish(10, among(DB, by=ZONE))], far=[wish(4, among(WEB, by=HOSTNAME))])
    there = (pod("db", labels=DB, node="a1"), pod("db2", labels=DB, node="b1"), pod("web", labels=WEB, node="a1"))

    assert scene(*there).scores(InterPodAffinity(), wants) == {"a1": 6, "a2": 10, "b1": 10, "nowhere": 0}
    assert points(wants, *there) == {"a1": 60, "a2": 100, "b1": 100, "nowhere": 0}


def test_who_wishes_nothing_is_wished_for_or_not() -> None:
    fan = pod("fan", node="a1", near=[wish(10, among(WEB, by=ZONE))])
    foe = pod("foe", node="b1", far=[wish(10, among(WEB, by=ZONE))])

    assert points(pod(labels=WEB), fan, foe) == {"a1": 100, "a2": 100, "b1": 0, "nowhere": 50}
    assert points(pod(labels=DB), fan, foe) == {}
    ignoring = InterPodAffinity(ignore_preferred_terms_of_existing_pods=True)
    assert points(pod(labels=WEB), fan, foe, plugin=ignoring) == {}


def test_what_is_demanded_by_those_that_are_there_counts_as_a_wish() -> None:
    needy = pod("needy", node="a1", near=[among(WEB, by=HOSTNAME)])

    assert points(pod(labels=WEB), needy) == {"a1": 100, "a2": 0, "b1": 0, "nowhere": 0}
    assert points(pod(labels=WEB), needy, plugin=InterPodAffinity(hard_pod_affinity_weight=0)) == {}


def test_equal_wishes_everywhere_come_to_nothing() -> None:
    there = [pod(name, labels=DB, node=name) for name in ("a1", "a2", "b1", "nowhere")]

    assert set(points(pod(near=[wish(10, among(DB, by=HOSTNAME))]), *there).values()) == {0}
