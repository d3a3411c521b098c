"""NodeAffinity: nodes by labels and names, demanded and wished."""

from __future__ import annotations

import pytest

from bayplan.objects.pod import NodeAffinity as Affinity
from bayplan.objects.selection import NodeSelector, NodeSelectorTerm
from bayplan.plugins.nodeaffinity import NodeAffinity
from bayplan.testing import PluginTests, Scene, node, pod, strategies, where, wish

OWN = "node(s) didn't match Pod's node affinity/selector"
ENFORCED = "node(s) didn't match scheduler-enforced node affinity"


class TestPromises(PluginTests):
    plugin = NodeAffinity()
    pods = strategies.pods("node_selector", "node_affinity", "node_wishes")
    examples = 15


class TestPromisesWithAddedAffinity(PluginTests):
    plugin = NodeAffinity(
        Affinity(NodeSelector((where("disk", "Exists"),)), (wish(5, where("topology.kubernetes.io/zone", "In", "a")),))
    )
    pods = strategies.pods("node_selector", "node_affinity", "node_wishes")
    examples = 10


def scene() -> Scene:
    scene = Scene()
    scene.add(
        node("ssd", labels={"disk": "ssd", "size": "10"}),
        node("hdd", labels={"disk": "hdd", "size": "2"}),
        node("odd", labels={"size": "x"}),
        node("bare"),
    )
    return scene


@pytest.mark.parametrize(
    ("term", "matching"),
    [
        (where("disk", "In", "ssd", "nvme"), {"ssd"}),
        (where("disk", "NotIn", "ssd"), {"hdd", "odd", "bare"}),
        (where("disk", "Exists"), {"ssd", "hdd"}),
        (where("disk", "DoesNotExist"), {"odd", "bare"}),
        (where("size", "Gt", "2"), {"ssd"}),
        (where("size", "Lt", "10"), {"hdd"}),
        (where("metadata.name", "In", "odd"), {"odd"}),
        (where("metadata.name", "NotIn", "odd"), {"ssd", "hdd", "bare"}),
        (NodeSelectorTerm(), set()),
        (where("disk", "Among", "ssd"), set()),
        (where("size", "Gt", "many"), set()),
        (where("size", "Gt", "1", "2"), set()),
        (where("disk", "In"), set()),
        (where("metadata.name", "In", "ssd", "hdd"), set()),
        (where("metadata.name", "Exists"), set()),
    ],
)
def test_a_term_selects_nodes_and_one_that_breaks_the_rules_selects_none(
    term: NodeSelectorTerm, matching: set[str]
) -> None:
    said = scene().verdicts(NodeAffinity(), pod(nodes=[term]))

    assert {name for name, verdict in said.items() if verdict} == matching
    assert {verdict.reasons for verdict in said.values() if not verdict} == {(OWN,)}


def test_one_term_is_enough_and_within_a_term_all_must_hold() -> None:
    both = NodeSelectorTerm((*where("disk", "Exists").match_expressions, *where("size", "Lt", "5").match_expressions))

    assert scene().rejected(NodeAffinity(), pod(nodes=[both])).keys() == {"ssd", "odd", "bare"}
    either = pod(nodes=[both, where("metadata.name", "In", "bare")])
    assert scene().rejected(NodeAffinity(), either).keys() == {"ssd", "odd"}


def test_the_node_selector_and_the_affinity_must_both_hold() -> None:
    one = pod(node_selector={"disk": "ssd"}, nodes=[where("size", "Lt", "5")])

    assert scene().rejected(NodeAffinity(), one).keys() == {"ssd", "hdd", "odd", "bare"}


def test_names_that_contradict_each_other_refuse_the_pod_as_such() -> None:
    fields = (*where("metadata.name", "In", "ssd").match_fields, *where("metadata.name", "In", "hdd").match_fields)
    said = scene().decide(pod(nodes=[NodeSelectorTerm(match_fields=fields)]))

    assert said.rejection is not None
    assert said.rejection.message() == "0/4 nodes are available: pod affinity terms conflict."


def test_where_names_alone_can_do_the_others_are_not_even_looked_at() -> None:
    said = scene().decide(pod(cpu="100", nodes=[where("metadata.name", "In", "ssd")]))

    assert said.rejection is not None
    assert said.rejection.message() == (
        "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_what_the_configuration_adds_is_demanded_of_every_pod_and_told_first() -> None:
    plugin = NodeAffinity(Affinity(NodeSelector((where("size", "Exists"),))))

    assert scene().rejected(plugin, pod()) == {"bare": ENFORCED}
    assert scene().rejected(plugin, pod(node_selector={"disk": "ssd"})) == {"hdd": OWN, "odd": OWN, "bare": ENFORCED}


def test_wishes_that_come_true_add_up() -> None:
    wishes = [wish(30, where("disk", "Exists")), wish(10, where("size", "Gt", "5")), wish(-5, where("size", "Exists"))]

    assert scene().scores(NodeAffinity(), pod(nodes=wishes)) == {"ssd": 40, "hdd": 30, "odd": 0, "bare": 0}
    some = scene().points(NodeAffinity(), pod(nodes=wishes[:2]))
    assert some == {"ssd": 100, "hdd": 75, "odd": 0, "bare": 0}


def test_without_wishes_it_has_no_say() -> None:
    assert scene().points(NodeAffinity(), pod(node_selector={"disk": "ssd"})) == {}


def test_wishes_that_the_configuration_adds_count_for_all() -> None:
    plugin = NodeAffinity(Affinity(None, (wish(10, where("disk", "In", "hdd")),)))

    assert scene().points(plugin, pod()) == {"ssd": 0, "hdd": 100, "odd": 0, "bare": 0}


def test_terms_of_no_weight_or_no_content_are_not_looked_at() -> None:
    wishes = [wish(0, where("disk", "Among", "x")), wish(7, NodeSelectorTerm())]

    assert set(scene().points(NodeAffinity(), pod(nodes=wishes)).values()) == {0}
