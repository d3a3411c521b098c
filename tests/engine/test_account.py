"""What a story comes to."""

from __future__ import annotations

from bayplan.contract.verdicts import YES, reject
from bayplan.engine.account import lead, rejections
from bayplan.engine.story import NodeStory, Page, Points

TAINTED, FULL = reject("node(s) were tainted", resolvable=False), reject("Insufficient cpu")


def feasible(node: str, **points: int) -> NodeStory:
    return NodeStory(node, None, YES, tuple(Points(plugin, 2, 0.5, given) for plugin, given in points.items()))


def test_a_lead_is_over_the_best_of_the_others_and_told_by_plugin() -> None:
    page = Page((feasible("worst", fit=0, near=0), feasible("best", fit=10, near=50), feasible("next", fit=40, near=5)))
    found = lead(page, "best")
    assert found is not None
    assert found.runner_up is not None
    assert (found.runner_up.node, found.points, found.equals) == ("next", 30, 1)
    assert found.differences == (("near", 90), ("fit", -60))


def test_plugins_that_gave_both_the_same_made_no_difference() -> None:
    found = lead(Page((feasible("a", fit=3, near=5), feasible("b", fit=3, near=4))), "a")
    assert found is not None
    assert found.differences == (("near", 2),)


def test_equals_are_counted() -> None:
    found = lead(Page((feasible("a", fit=3), feasible("b", fit=3), feasible("c", fit=1))), "b")
    assert found is not None
    assert (found.equals, found.points, found.differences) == (2, 0, ())


def test_the_only_feasible_node_leads_nobody() -> None:
    page = Page((NodeStory("a", None, YES, None), NodeStory("b", "Fit", FULL, None)))
    found = lead(page, "a")
    assert found is not None
    assert (found.runner_up, found.points) == (None, None)


def test_a_node_that_was_rejected_has_no_lead() -> None:
    assert lead(Page((NodeStory("b", "Fit", FULL, None),)), "b") is None
    assert lead(Page(()), "nowhere") is None


def test_rejections_are_grouped_by_plugin_and_verdict_most_nodes_first() -> None:
    page = Page(
        (
            NodeStory("a", "Taints", TAINTED, None),
            NodeStory("b", "Fit", FULL, None),
            NodeStory("c", "Fit", FULL, None),
            NodeStory("d", "Fit", reject("Too many pods"), None),
            feasible("e", fit=1),
        )
    )
    found = [(one.plugin, one.verdict.reasons, one.nodes) for one in rejections(page)]
    assert found == [
        ("Fit", ("Insufficient cpu",), ("b", "c")),
        ("Fit", ("Too many pods",), ("d",)),
        ("Taints", ("node(s) were tainted",), ("a",)),
    ]
