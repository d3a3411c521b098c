"""A stranger's mistakes are that pod's failure, with the plugin's name, and nobody else's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bayplan import (
    AsTheyAre,
    BetweenExtremes,
    ByLargest,
    Node,
    Nodes,
    PluginFailure,
    Pod,
    Verdict,
    Verdicts,
    reject,
    reject_if,
    reject_where,
)
from bayplan.testing import Scene, node, pod

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Says:
    """A filter and a score that a test makes up."""

    verdict: Callable[[str], Any] = lambda name: reject_if(condition=False, reason="")
    points: Callable[[str], Any] = lambda name: 0.0
    normalizer: Any = field(default_factory=BetweenExtremes)

    def filter(self, pod: Pod, node: Node) -> Verdict:
        verdict: Verdict = self.verdict(node.name)
        return verdict

    def score(self, pod: Pod, node: Node) -> float:
        points: float = self.points(node.name)
        return points


@dataclass(frozen=True)
class ScoresAtOnce:
    scores: Any

    def score_nodes(self, pod: Pod, nodes: Nodes) -> Any:
        return self.scores(nodes)


def scene_with(plugin: object) -> Scene:
    scene = Scene(plugin)
    scene.add(*(node(name) for name in "abc"))
    return scene


def fails(scene: Scene) -> str:
    with pytest.raises(PluginFailure) as failure:
        scene.decide(pod())
    return str(failure.value)


@pytest.mark.parametrize("part", ["verdict", "points"])
def test_who_fails_fails_every_time_and_not_just_the_first(part: str) -> None:
    """What was not answered must not count as asked: then the node would pass for feasible, or for a zero."""
    broken = {"b"}
    answers = {"verdict": reject_if(condition=False, reason=""), "points": 1.0}

    def say(name: str) -> Any:
        if name in broken:
            raise KeyError(name)
        return answers[part]

    scene = scene_with(Says(**{part: say}))
    assert fails(scene) == fails(scene)
    assert fails(scene).startswith("plugin Says failed while ")
    broken.clear()
    assert scene.place(pod()) is not None
    broken.add("d")
    scene.add(node("d"))
    assert fails(scene) == fails(scene)
    scene.remove(node("d"))
    assert scene.place(pod()) is not None


@pytest.mark.parametrize(
    ("score", "problem"),
    [
        (float("nan"), "the score of node a is not a finite number"),
        (float("-inf"), "the score of node a is not a finite number"),
        ("cool", "could not convert string to float: 'cool'"),
        (None, "the score of node a is not a finite number"),
    ],
)
def test_a_score_that_is_no_number_is_refused(score: Any, problem: str) -> None:
    assert problem in fails(scene_with(Says(points=lambda name: score)))


@pytest.mark.parametrize(
    ("normalizer", "score", "problem"),
    [
        (AsTheyAre(), 101, "the score of node a is 101.0, not from 0 to 100"),
        (AsTheyAre(), -1, "the score of node a is -1.0, not from 0 to 100"),
        (ByLargest(), -1, "the score of node a is -1.0, not from 0 to 92233720368547758"),
    ],
)
def test_scores_that_are_to_be_points_must_be_some(normalizer: object, score: int, problem: str) -> None:
    assert problem in fails(scene_with(Says(points=lambda name: score, normalizer=normalizer)))


def test_points_with_a_fraction_are_cut_off_as_integers_are() -> None:
    scene = scene_with(Says(points={"a": 10.7, "b": 99.9, "c": 50.0}.__getitem__, normalizer=AsTheyAre()))
    page = scene.decide(pod()).story.read()
    assert page is not None
    assert {one.node: (one.points or ())[-1].normalized for one in page.nodes} == {"a": 10, "b": 99, "c": 50}


@pytest.mark.parametrize("least", [-1.7e308, -(2.0**62), -3.0])
def test_scores_however_far_apart_become_points(least: float) -> None:
    scene = scene_with(Says(points={"a": least, "b": -least, "c": 0.0}.__getitem__))
    assert scene.place(pod()) == "b"
    assert scene.points(scene.engine.policies["default-scheduler"].scores[-1][0], pod()) == {"a": 0, "b": 100, "c": 50}


def test_integers_however_far_apart_become_points() -> None:
    most = 2**63 - 1
    plugin = ScoresAtOnce(lambda nodes: np.array([-most, most, 0])[nodes.rows])
    assert scene_with(plugin).points(plugin, pod()) == {"a": 0, "b": 100, "c": 50}


@dataclass(frozen=True)
class Normalizes:
    made: Any

    def measure(self, scores: Any) -> tuple[float, ...]:
        return ()

    def apply(self, scores: Any, measure: Any) -> Any:
        return self.made(scores)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (lambda scores: scores + 101, "its normalizer made points that are not from 0 to 100"),
        (lambda scores: scores * np.nan, "its normalizer made points that are not from 0 to 100"),
        (lambda scores: np.zeros(1), "its normalizer made points of shape (1,) of scores of shape (3,)"),
        (lambda scores: scores.nothing, "AttributeError"),
    ],
)
def test_a_normalizer_is_held_to_its_promise(made: Any, problem: str) -> None:
    scene = scene_with(Says(points={"a": 1.0, "b": 2.0, "c": 3.0}.__getitem__, normalizer=Normalizes(made)))
    assert problem in fails(scene)
    assert fails(scene) == fails(scene)


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (lambda nodes: [1], "score_nodes returned shape (1,) for 3 nodes"),
        (lambda nodes: ["x"] * len(nodes), "are of type"),
        (lambda nodes: [1j] * len(nodes), "are of type complex128, not numbers"),
        (lambda nodes: None, "score_nodes returned shape () for 3 nodes"),
        (lambda nodes: np.array([2**64] * len(nodes), dtype=object), "are of type object, not numbers"),
        (lambda nodes: np.array([2**63] * len(nodes), dtype=np.uint64), "scores are beyond 64 bits with a sign"),
    ],
)
def test_an_array_that_is_not_of_numbers_is_refused(scores: Any, problem: str) -> None:
    assert problem in fails(scene_with(ScoresAtOnce(scores)))


@pytest.mark.parametrize("answer", [True, None, "no", 1])
def test_a_verdict_must_be_one(answer: Any) -> None:
    assert "filter returned" in fails(scene_with(Says(verdict=lambda name: answer)))


@dataclass(frozen=True)
class FiltersAtOnce:
    answer: Any

    def filter_nodes(self, pod: Pod, nodes: Nodes) -> Any:
        return self.answer(nodes)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            lambda nodes: np.ones(len(nodes), dtype=bool),
            "filter_nodes returned ndarray, not Verdicts; use reject_where",
        ),
        (lambda nodes: reject_where(np.ones(1, dtype=bool), "no"), "filter_nodes returned 1 verdicts for 3 nodes"),
        (lambda nodes: Verdicts(np.full(len(nodes), 7, dtype=np.int32), (Verdict(),)), "IndexError"),
    ],
)
def test_verdicts_must_be_some(answer: Any, problem: str) -> None:
    assert problem in fails(scene_with(FiltersAtOnce(answer)))


def test_reasons_may_differ_from_time_to_time_and_stories_stay_true() -> None:
    """The numbers of such verdicts mean something else every time; an old story has the old meaning."""
    words = ["first"]
    plugin = FiltersAtOnce(lambda nodes: reject_where(np.ones(len(nodes), dtype=bool), words[-1]))
    scene = scene_with(plugin)
    told = []
    for number in range(5):
        words.append(f"reason {number}")
        scene.add(*(node(name, labels={"turn": str(number)}) for name in "abc"))  # all are asked again
        story = scene.decide(pod()).story
        told.append((story, story.read()))
        assert told[-1][1] is not None
        assert {one.verdict for one in told[-1][1].nodes} == {reject(f"reason {number}")}
    assert all(story.read() == page for story, page in told)
