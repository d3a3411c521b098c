"""PluginTests find what is wrong: each of these plugins breaks one promise, and is found out by its test."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import Phase, settings

from bayplan import (
    ROW,
    YES,
    Cluster,
    Floats,
    Node,
    Nodes,
    Pod,
    PodClass,
    Reads,
    Verdict,
    Verdicts,
    reject_if,
    reject_where,
)
from bayplan.testing import PluginTests, strategies
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

SAME = "test_of_the_same_it_says_the_same"
HOWEVER = "test_what_it_says_of_a_node_is_no_matter_of_how_it_is_asked"
FINITE = "test_scores_are_finite_and_points_are_from_0_to_100"
KEPT = "test_what_is_kept_is_what_it_would_say_anew"
UNTOUCHED = "test_it_changes_nothing_by_being_asked"
UNDONE = "test_what_is_reserved_can_be_undone"


@dataclass(frozen=True)
class SaysOtherwiseEveryTime:
    turns: Iterator[int] = field(default_factory=count)

    def score(self, pod: Pod, node: Node) -> float:
        return next(self.turns)


@dataclass(frozen=True)
class ReadsTheName:
    def filter(self, pod: Pod, node: Node) -> Verdict:
        return reject_if(pod.metadata.name == "another", "not that one")


@dataclass(frozen=True)
class ReadsMoreThanItSays:
    reads = Reads.NODE

    def score(self, pod: Pod, node: Node) -> float:
        return len(node.pods)


@dataclass(frozen=True)
class ReadsOtherNodes:
    def filter_nodes(self, pod: Pod, nodes: Nodes) -> Verdicts:
        return reject_where(np.full(len(nodes), nodes.table.count % 2 == 0), "an even number")


@dataclass(frozen=True)
class ComparesWhatItIsGiven:
    def score_nodes(self, pod: Pod, nodes: Nodes) -> Floats:
        free = nodes.free("cpu").astype(float)
        return free - free.mean() if len(free) else free


@dataclass(frozen=True)
class SaysOneThingAndAnother:
    def score(self, pod: Pod, node: Node) -> float:
        return len(node.labels)

    def score_nodes(self, pod: Pod, nodes: Nodes) -> Floats:
        return nodes.zeros().astype(float)


@dataclass(frozen=True)
class Shortcut:
    reads = ROW

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        return reject_where(nodes.free("cpu") < 1000, "too little")

    def filter_one(self, nodes: Nodes, row: int) -> int:
        return int(nodes.table.resources.allocatable.item(0, row) < 1000)


@dataclass(frozen=True)
class TakesAWrongShortcut:
    def pre_filter(self, pod: PodClass, cluster: Cluster) -> Shortcut:
        return Shortcut()


@dataclass(frozen=True)
class DividesByNothing:
    def score(self, pod: Pod, node: Node) -> float:
        return node.requested("cpu") / node.allocatable("cpu") if node.allocatable("cpu") else float("nan")


@dataclass(frozen=True)
class Doubled:
    def measure(self, scores: Any) -> tuple[float, ...]:
        return ()

    def apply(self, scores: Any, measure: Any) -> Any:
        return 2 * scores


@dataclass(frozen=True)
class PointsBeyond:
    normalizer = Doubled()

    def score(self, pod: Pod, node: Node) -> float:
        return min(node.allocatable("cpu") / 50, 100)


@dataclass(frozen=True)
class Meddles:
    def filter(self, pod: Pod, node: Node) -> Verdict:
        node.labels["seen"] = "yes"  # type: ignore[index]
        return YES


@dataclass(frozen=True)
class KeepsWhatWasUndone:
    held: Counter[str] = field(default_factory=Counter, hash=False)

    def score(self, pod: Pod, node: Node) -> float:
        return self.held[node.name]

    def reserve(self, pod: Pod, node: str, cluster: Cluster) -> Verdict:
        self.held[node] += 1
        return YES

    def unreserve(self, pod: Pod, node: str, cluster: Cluster) -> None:
        """Nothing: that is what is wrong."""


@pytest.mark.parametrize(
    ("plugin", "test"),
    [
        (SaysOtherwiseEveryTime(), SAME),
        (ReadsTheName(), SAME),
        (ReadsMoreThanItSays(), KEPT),
        (ReadsOtherNodes(), KEPT),
        (ComparesWhatItIsGiven(), HOWEVER),
        (SaysOneThingAndAnother(), HOWEVER),
        (TakesAWrongShortcut(), HOWEVER),
        (DividesByNothing(), FINITE),
        (PointsBeyond(), FINITE),
        (Meddles(), UNTOUCHED),
        (KeepsWhatWasUndone(), UNDONE),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_a_broken_promise_is_found(plugin: object, test: str) -> None:
    class Tests(PluginTests):
        others = strategies.pods("requests")
        kinds = ("Node",)
        examples = 100

    Tests.plugin = plugin
    with at_the_first_failure(), pytest.raises((AssertionError, ValueError)):
        getattr(Tests(), test)()


@contextmanager
def at_the_first_failure() -> Iterator[None]:
    """That there is one is enough here; to look for the smallest takes long."""
    usual = settings.get_current_profile_name()
    settings.register_profile("first failure", settings.get_profile(usual), phases=(Phase.generate,), database=None)
    settings.load_profile("first failure")
    try:
        yield
    finally:
        settings.load_profile(usual)


def test_a_profile_that_asks_for_more_examples_gets_more_of_all() -> None:
    assert examples(15) * 100 == 15 * settings().max_examples
    assert examples(0) == 1
