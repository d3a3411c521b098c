"""Arguments that plugins share, and what may be said in them."""

from __future__ import annotations

import pytest

from bayplan.plugins.arguments import (
    CPU_AND_MEMORY,
    RequestedToCapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
    balance_problems,
    below,
    candidate_problems,
    name_problems,
    range_problem,
    shape_problems,
)

_RATIO = RequestedToCapacityRatio((UtilizationShapePoint(0, 0), UtilizationShapePoint(100, 10)))


def test_no_weight_is_one() -> None:
    assert ResourceSpec("cpu", 0) == ResourceSpec("cpu")


def test_no_resources_are_cpu_and_memory() -> None:
    assert ScoringStrategy("MostAllocated", ()).resources == CPU_AND_MEMORY


@pytest.mark.parametrize(
    ("strategy", "paths"),
    [
        (ScoringStrategy(), []),
        (ScoringStrategy("RequestedToCapacityRatio", requested_to_capacity_ratio=_RATIO), []),
        (ScoringStrategy("RequestedToCapacityRatio"), ["requestedToCapacityRatio"]),
        (ScoringStrategy("MostAllocated", requested_to_capacity_ratio=_RATIO), ["requestedToCapacityRatio"]),
        (ScoringStrategy("Tightest"), ["type"]),
        (ScoringStrategy(resources=(ResourceSpec("a", -1), ResourceSpec("b", 101))), ["[0].weight", "[1].weight"]),
        (
            ScoringStrategy("RequestedToCapacityRatio", requested_to_capacity_ratio=RequestedToCapacityRatio()),
            ["requestedToCapacityRatio.shape"],
        ),
    ],
)
def test_a_strategy_says_what_is_wrong_with_it(strategy: ScoringStrategy, paths: list[str]) -> None:
    assert [path.removeprefix("resources") for path, _ in strategy.problems()] == paths


def test_a_shape_rises_and_stays_within_bounds() -> None:
    points = [UtilizationShapePoint(*one) for one in ((0, 11), (0, 5), (101, -1))]

    assert [path for path, _ in shape_problems(points)] == [
        "[0].score",
        "[1].utilization",
        "[2].utilization",
        "[2].score",
    ]


def test_balance_knows_no_weights_and_each_resource_once() -> None:
    resources = [ResourceSpec("cpu"), ResourceSpec("cpu", 2)]

    assert [path for path, _ in balance_problems(resources)] == ["[1].name", "[1].weight"]


def test_preemption_needs_candidates() -> None:
    assert not list(candidate_problems(0, 1))
    assert [path for path, _ in candidate_problems(0, 0)] == [
        "minCandidateNodesPercentage",
        "minCandidateNodesAbsolute",
    ]
    assert [message for _, message in candidate_problems(101, -1)] == [
        "101 is not from 0 to 100",
        "-1 is not 0 or more",
    ]


def test_paths_join() -> None:
    problems = [("", "a"), ("[1].b", "c"), ("d", "e")]

    assert list(below("x", problems)) == [("x", "a"), ("x[1].b", "c"), ("x.d", "e")]
    assert not list(range_problem("x", 5, 0))


def test_names_are_those_of_labels() -> None:
    assert not list(name_problems("x", "example.com/gpu"))
    assert [path for path, _ in name_problems("x", "a/b/c")] == ["x"]
