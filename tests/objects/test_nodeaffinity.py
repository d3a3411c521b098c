"""Node selectors and affinity: terms, fields, and problems that count only where nothing else matches."""

from __future__ import annotations

import pytest

from bayplan.errors import ValidationError
from bayplan.objects.nodeaffinity import compile_node_selector, compile_preferred_affinity, compile_required_affinity
from bayplan.objects.pod import Affinity, NodeAffinity, PodSpec, PreferredSchedulingTerm
from bayplan.objects.selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

ZONE_A = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement("zone", "In", ("a",)),))
BROKEN = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement("zone", "Like", ("a",)),))
EMPTY = NodeSelectorTerm()


def named(operator: str, *names: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=(NodeSelectorRequirement("metadata.name", operator, names),))


def test_one_matching_term_is_enough() -> None:
    selector = compile_node_selector(NodeSelector((named("In", "n1"), ZONE_A)))
    assert selector.matches("n1", {})
    assert selector.matches("n2", {"zone": "a"})
    assert not selector.matches("n2", {"zone": "b"})


def test_within_a_term_all_must_hold() -> None:
    both = NodeSelectorTerm(ZONE_A.match_expressions, named("NotIn", "n1").match_fields)
    selector = compile_node_selector(NodeSelector((both,)))
    assert selector.matches("n2", {"zone": "a"})
    assert not selector.matches("n1", {"zone": "a"})
    assert not selector.matches("n2", {})


def test_empty_terms_and_no_terms_match_no_node() -> None:
    assert not compile_node_selector(NodeSelector((EMPTY,))).matches("n1", {})
    assert not compile_node_selector(NodeSelector()).matches("n1", {})


@pytest.mark.parametrize(
    ("operator", "bound", "label", "matches"),
    [
        ("Gt", "5", "6", True),
        ("Gt", "5", "5", False),
        ("Lt", "5", "-6", True),
        ("Lt", "5", "5", False),
        ("Gt", "5", "006", True),
        ("Gt", "5", "six", False),
        ("Lt", "5", None, False),
    ],
)
def test_gt_and_lt_compare_integers(operator: str, bound: str, label: str | None, matches: bool) -> None:
    term = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement("gen", operator, (bound,)),))
    labels = {} if label is None else {"gen": label}
    assert compile_node_selector(NodeSelector((term,))).matches("n1", labels) is matches


def test_a_broken_term_does_not_spoil_the_others() -> None:
    selector = compile_node_selector(NodeSelector((BROKEN, ZONE_A)))
    assert selector.matches("n1", {"zone": "a"})
    assert not selector.matches("n1", {"zone": "b"})
    (problem,) = selector.problems
    assert "nodeSelectorTerms[0].matchExpressions[0]: 'Like' is not an operator" in problem


@pytest.mark.parametrize(
    "asked",
    [
        NodeSelectorRequirement("metadata.name", "In", ("a", "b")),
        NodeSelectorRequirement("metadata.name", "In", ()),
        NodeSelectorRequirement("metadata.name", "Exists", ()),
    ],
)
def test_fields_are_in_or_not_in_one_value(asked: NodeSelectorRequirement) -> None:
    selector = compile_node_selector(NodeSelector((NodeSelectorTerm(match_fields=(asked,)),)))
    assert len(selector.problems) == 1
    assert not selector.matches("a", {})


def test_a_node_without_a_name_is_not_asked_for_fields() -> None:
    assert compile_node_selector(NodeSelector((named("In", "n1"),))).matches("", {})


def test_node_selector_and_required_affinity_must_both_hold() -> None:
    affinity = Affinity(NodeAffinity(NodeSelector((ZONE_A,))))
    required = compile_required_affinity(PodSpec(node_selector={"disk": "ssd"}, affinity=affinity))
    assert required.matches("n1", {"zone": "a", "disk": "ssd"})
    assert not required.matches("n1", {"zone": "a"})
    assert not required.matches("n1", {"disk": "ssd"})
    assert required.problems == ()


def test_a_pod_that_demands_nothing_may_go_anywhere() -> None:
    for spec in (PodSpec(), PodSpec(affinity=Affinity()), PodSpec(affinity=Affinity(NodeAffinity()))):
        assert compile_required_affinity(spec).matches("n1", {})


def test_preferred_terms_add_up_their_weights() -> None:
    terms = (
        PreferredSchedulingTerm(30, ZONE_A),
        PreferredSchedulingTerm(7, named("In", "n1")),
        PreferredSchedulingTerm(0, BROKEN),
        PreferredSchedulingTerm(50, EMPTY),
    )
    preferred = compile_preferred_affinity(terms)
    assert preferred.score("n1", {"zone": "a"}) == 37
    assert preferred.score("n2", {"zone": "a"}) == 30
    assert preferred.score("n2", {}) == 0


def test_a_broken_preference_is_an_error_that_lists_all_problems() -> None:
    terms = (PreferredSchedulingTerm(1, BROKEN), PreferredSchedulingTerm(1, named("In")))
    with pytest.raises(ValidationError, match=r"\[0\].*\[1\]"):
        compile_preferred_affinity(terms)
