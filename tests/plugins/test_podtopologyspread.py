"""PodTopologySpread: how evenly pods of a kind lie."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.contract.verdicts import Kind
from bayplan.objects.pod import TopologySpreadConstraint
from bayplan.plugins.podtopologyspread import PodTopologySpread
from bayplan.testing import HOSTNAME, ZONE, PluginTests, Scene, evenly, node, pod, replica_set, service, strategies

UNEVEN = "node(s) didn't match pod topology spread constraints"
NO_LABEL = f"{UNEVEN} (missing required label)"
WEB = {"app": "web"}
LIST = PodTopologySpread(
    (TopologySpreadConstraint(1, ZONE, "DoNotSchedule"), TopologySpreadConstraint(2, "disk", "ScheduleAnyway")), "List"
)
FEATURES = ("spread", "spread_wishes", "node_selector", "node_affinity", "tolerations", "owner", "ending")


class TestPromises(PluginTests):
    plugin = PodTopologySpread()
    pods = others = strategies.pods(*FEATURES)
    kinds = ("Node", "Service", "ReplicaSet")
    examples = 25


class TestPromisesOfAList(PluginTests):
    plugin = LIST
    pods = others = strategies.pods("owner", "tolerations", "ending", "node_selector")
    kinds = ("Node", "Service", "ReplicaSet")
    examples = 25


def scene(**pods_on: int) -> Scene:
    """Zones a (two nodes), b and c, a node without a zone, and so many pods on nodes."""
    scene = Scene()
    scene.add(*(node(name, labels={ZONE: name[0]}) for name in ("a1", "a2", "b1", "c1")), node("nowhere"))
    for name, count in pods_on.items():
        scene.add(*(pod(f"{name}-{number}", labels=WEB, node=name) for number in range(count)))
    return scene


def rejected(there: Scene, *constraints: TopologySpreadConstraint, **more: Any) -> dict[str, str]:
    found = there.rejected(PodTopologySpread(), pod(labels=WEB, spread=constraints, **more))
    assert found.pop("nowhere", NO_LABEL) == NO_LABEL
    return found


def test_a_domain_may_have_so_many_more_than_the_least() -> None:
    there = scene(a1=1, a2=1, b1=1)

    assert rejected(there, evenly(WEB, by=ZONE)) == {"a1": UNEVEN, "a2": UNEVEN, "b1": UNEVEN}
    assert rejected(there, evenly(WEB, by=ZONE, skew=2)) == {"a1": UNEVEN, "a2": UNEVEN}
    assert rejected(there, evenly(WEB, by=ZONE, skew=3)) == {}


def test_a_node_without_the_label_will_not_do_whoever_goes() -> None:
    said = scene(a1=2).verdicts(PodTopologySpread(), pod(labels=WEB, spread=[evenly(WEB, by=ZONE)]))

    assert said["nowhere"].kind is Kind.UNRESOLVABLE
    assert said["a1"].kind is Kind.UNSCHEDULABLE


def test_all_constraints_must_hold() -> None:
    there = scene(a1=1, b1=1, c1=1)

    assert rejected(there, evenly(WEB, by=ZONE), evenly(WEB, by=HOSTNAME)).keys() == {"a1", "b1", "c1"}


def test_a_pod_that_is_not_selected_itself_adds_nothing() -> None:
    found = scene(a1=1).rejected(PodTopologySpread(), pod(labels={"app": "db"}, spread=[evenly(WEB, by=ZONE)]))

    assert found.keys() == {"nowhere"}


def test_below_its_least_count_of_domains_the_least_is_nothing() -> None:
    there = scene(a1=1, b1=1, c1=1)

    assert rejected(there, evenly(WEB, by=ZONE, min_domains=3)) == {}
    assert rejected(there, evenly(WEB, by=ZONE, min_domains=4)).keys() == {"a1", "a2", "b1", "c1"}


def test_nodes_that_the_pod_cannot_go_to_are_left_out_unless_they_are_not_to_be() -> None:
    there = scene(a1=1, b1=1)
    there.add(node("c1", labels={ZONE: "c", "disk": "hdd"}), node("a1", labels={ZONE: "a", "disk": "ssd"}))
    there.add(node("b1", labels={ZONE: "b", "disk": "ssd"}))
    mine = {"node_selector": {"disk": "ssd"}}

    assert rejected(there, evenly(WEB, by=ZONE), **mine) == {}
    ignoring = evenly(WEB, by=ZONE, node_affinity_policy="Ignore")
    assert rejected(there, ignoring, **mine).keys() == {"a1", "a2", "b1"}


def test_taints_are_left_out_only_if_it_is_said() -> None:
    there = scene(a1=1, b1=1)
    there.add(node("c1", labels={ZONE: "c"}, taints=["x:NoSchedule"]))

    assert rejected(there, evenly(WEB, by=ZONE)).keys() == {"a1", "a2", "b1"}
    assert rejected(there, evenly(WEB, by=ZONE, node_taints_policy="Honor")) == {}
    tolerant = rejected(there, evenly(WEB, by=ZONE, node_taints_policy="Honor"), tolerations=["x"])
    assert tolerant.keys() == {"a1", "a2", "b1"}


@pytest.mark.parametrize(
    "uncounted",
    [
        {"deleted": True},
        {"namespace": "other"},
        {"labels": {"app": "db"}},
        {"phase": "Succeeded"},
        {"node": "nowhere"},
        {"node": "gone"},
    ],
)
def test_who_does_not_count(uncounted: dict[str, Any]) -> None:
    there = scene()
    there.add(pod("there", **({"labels": WEB, "node": "a1"} | uncounted)))

    assert rejected(there, evenly(WEB, by=ZONE)) == {}


def test_pods_with_the_same_value_of_a_label_are_of_a_kind() -> None:
    there = scene()
    there.add(pod("there", labels=WEB | {"version": "1"}, node="a1"))
    constraint = evenly(WEB, by=ZONE, match_label_keys=("version", "absent"))
    plugin = PodTopologySpread()

    assert "a1" in there.rejected(plugin, pod(labels=WEB | {"version": "1"}, spread=[constraint]))
    assert "a1" not in there.rejected(plugin, pod(labels=WEB | {"version": "2"}, spread=[constraint]))


def test_without_a_selector_nobody_counts() -> None:
    assert rejected(scene(a1=3), evenly(None, by=ZONE)) == {}


def points(there: Scene, *constraints: TopologySpreadConstraint, plugin: Any = None, **more: Any) -> dict[str, int]:
    return there.points(plugin or PodTopologySpread(), pod(**({"labels": WEB, "spread": constraints} | more)))


def test_the_fewer_of_a_kind_the_better() -> None:
    found = points(scene(a1=2, b1=1), evenly(WEB, by=ZONE, strict=False))

    # Three zones weigh ln 5: two, one and none there are 3, 2 and 0 when rounded.
    assert found == {"a1": 0, "a2": 0, "b1": 100 * (3 - 2) // 3, "c1": 100, "nowhere": 0}


def test_hosts_count_their_own_pods() -> None:
    found = points(scene(a1=2, b1=1), evenly(WEB, by=HOSTNAME, strict=False))

    assert found["a1"] < found["b1"] < found["a2"] == found["c1"] == 100


def test_pods_of_a_service_are_spread_by_default() -> None:
    there = scene(a1=2, b1=1)
    mine = {"spread": ()}
    assert points(there, **mine) == {}

    there.add(service("web", WEB))
    found = points(there, **mine)
    assert found["a1"] < found["b1"] < found["c1"]
    assert points(there, labels={"app": "db"}, **mine) == {}
    assert points(there, namespace="other", **mine) == {}

    there.remove(service("web", WEB))
    assert points(there, **mine) == {}


def test_so_are_pods_of_a_controller() -> None:
    there = scene(a1=2)
    assert points(there, spread=(), owner="ReplicaSet/web") == {}
    there.add(replica_set("web", WEB))
    found = points(there, spread=(), owner="ReplicaSet/web")
    assert found["a1"] < found["c1"]


def test_a_list_of_defaults_may_be_strict() -> None:
    there = scene(a1=1, b1=1)
    there.add(service("web", WEB))

    assert there.rejected(LIST, pod(labels=WEB)).keys() == {"a1", "a2", "b1", "nowhere"}
    assert there.rejected(LIST, pod(labels=WEB, spread=[evenly(WEB, by=ZONE, skew=2)])).keys() == {"nowhere"}
    assert there.rejected(LIST, pod(labels={"app": "db"})) == {}
