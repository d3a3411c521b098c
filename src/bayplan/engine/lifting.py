"""Plugins in their simpler forms, lifted into the prepared one, which is all that the engine knows.

A plugin that fails fails for the pod that it was asked about, by name; what it said before is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.columns.interning import Interner
from bayplan.columns.nodes import Node
from bayplan.contract.plugins import ROW, Reads
from bayplan.contract.scores import MOST_POINTS, AsTheyAre, BetweenExtremes, ByLargest
from bayplan.contract.verdicts import YES, Verdict, Verdicts, reject_where, yes_to_all
from bayplan.engine.blame import blaming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.plugins import Filtering, Scoring
    from bayplan.contract.scores import Measure, Normalizer, Scores

_OURS = (AsTheyAre, ByLargest, BetweenExtremes)
_LARGEST = 2**63 - 1
#: The most that a score may be, by what makes points of it; it may not be below zero either. Any other takes any.
_MOST_RAW: Mapping[type, int] = {AsTheyAre: MOST_POINTS, ByLargest: _LARGEST // MOST_POINTS}


def name_of(plugin: object) -> str:
    """What a plugin is called: its `name`, or that of its class."""
    name = getattr(plugin, "name", None)
    return name if isinstance(name, str) else type(plugin).__name__


def filters(plugin: object) -> bool:
    """Whether a plugin has a filter, in any form."""
    return any(hasattr(plugin, form) for form in ("pre_filter", "filter_nodes", "filter"))


def scores(plugin: object) -> bool:
    """Whether a plugin has a score, in any form."""
    return any(hasattr(plugin, form) for form in ("pre_score", "score_nodes", "score"))


def prepare_filter(plugin: Any, pod: PodClass, cluster: Cluster) -> Filtering | Verdict | None:
    """A plugin's filter for a class of pods, whatever form it has."""
    with blaming(name_of(plugin), "preparing its filter"):
        if hasattr(plugin, "pre_filter"):
            prepared: Filtering | Verdict | None = plugin.pre_filter(pod, cluster)
            return prepared
    if getattr(plugin, "reads", ROW) & Reads.CLUSTER:
        return _AnewFilter(plugin, pod, cluster)
    return _LiftedFilter(plugin, pod)


def prepare_score(plugin: Any, pod: PodClass, cluster: Cluster) -> Scoring | None:
    """A plugin's score for a class of pods, whatever form it has."""
    with blaming(name_of(plugin), "preparing its score"):
        if hasattr(plugin, "pre_score"):
            prepared: Scoring | None = plugin.pre_score(pod, cluster)
            return prepared
    if getattr(plugin, "reads", ROW) & Reads.CLUSTER:
        return _AnewScore(plugin, pod, cluster)
    return _LiftedScore(plugin, pod)


def prepare_alone(plugin: Any, pod: PodClass, cluster: Cluster) -> Filtering | Verdict | None:
    """The same for a plugin whose filter is switched off: no node is rejected, but the pod as such may be refused."""
    prepared = prepare_filter(plugin, pod, cluster) if hasattr(plugin, "pre_filter") else None
    return prepared if prepared is None or isinstance(prepared, Verdict) else _WithoutFilter(prepared)


def prepare_filter_alone(plugin: Any, pod: PodClass, cluster: Cluster) -> Filtering | Verdict | None:
    """A plugin's filter where preparing is switched off, so that it neither refuses the pod nor narrows nodes down."""
    if hasattr(plugin, "filter_unprepared"):
        with blaming(name_of(plugin), "preparing its filter"):
            filtering: Filtering | None = plugin.filter_unprepared(pod, cluster)
            return filtering
    return prepare_filter(plugin, pod, cluster)


class _WithoutFilter:
    """A filter of which only what it says of the pod as such counts."""

    def __init__(self, filtering: Filtering) -> None:
        self._filtering = filtering
        self.reads = filtering.reads
        for name in ("catch_up", "refusal", "only"):
            if hasattr(filtering, name):
                setattr(self, name, getattr(filtering, name))

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """Yes to all, or to those that it narrows the choice down to."""
        # What the filter keeps in mind while it filters it is still to learn.
        self._filtering.filter_nodes(nodes)
        only = getattr(self._filtering, "only", None)
        names = None if only is None else only()
        if names is None:
            return yes_to_all(len(nodes))
        others = np.array([nodes.table.name(row) not in names for row in nodes.indices()], dtype=np.bool_)
        return reject_where(others, "node(s) were not among those that alone can do", resolvable=False)

    def is_inert(self) -> bool:
        """It never rejects anybody."""
        return True


class NoPoints:
    """The score of a plugin that has nothing to say of these pods, and is asked all the same."""

    reads = Reads.NODE
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """Nothing for all."""
        return nodes.zeros()


@dataclass(frozen=True)
class _Lifted:
    """One plugin and one class of pods; equal ones share what the plugin said."""

    plugin: Any
    pod: PodClass = field(hash=False)

    def __hash__(self) -> int:
        return hash((id(self.plugin), self.pod.key))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.plugin is self.plugin and other.pod.key == self.pod.key

    @property
    def reads(self) -> Reads:
        """What the plugin says that it reads; a node and what is on it, if it says nothing."""
        reads: Reads = getattr(self.plugin, "reads", ROW)
        return reads


class _LiftedFilter(_Lifted):
    def __init__(self, plugin: Any, pod: PodClass) -> None:
        super().__init__(plugin, pod)
        meanings: Interner[Verdict] = Interner()
        meanings.number(YES)
        object.__setattr__(self, "meanings", meanings)

    meanings: Interner[Verdict]

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        if hasattr(self.plugin, "filter_nodes"):
            return _checked(self.plugin.filter_nodes(self.pod.pod, nodes), len(nodes))
        say = self.plugin.filter
        codes = _row_by_row(nodes, lambda node: self.meanings.number(_a_verdict(say(self.pod.pod, node))), np.int32)
        return Verdicts(codes, self.meanings.things)


class _LiftedScore(_Lifted):
    @property
    def normalizer(self) -> Normalizer:
        normalizer: Normalizer = getattr(self.plugin, "normalizer", BetweenExtremes())
        return normalizer if isinstance(normalizer, _OURS) else CheckedNormalizer(normalizer)

    def score_nodes(self, nodes: Nodes) -> NDArray[Any]:
        if hasattr(self.plugin, "score_nodes"):
            scores = np.asarray(self.plugin.score_nodes(self.pod.pod, nodes))
        else:
            say = self.plugin.score
            scores = _row_by_row(nodes, lambda node: say(self.pod.pod, node), np.float64)
        scores = _finite(scores, nodes)
        most = _MOST_RAW.get(type(self.normalizer))
        if most is not None and len(scores):
            _within(scores, most, nodes)
        return scores


@dataclass(frozen=True)
class CheckedNormalizer:
    """A stranger's normaliser, held to its promise: as many points as scores, from 0 to 100."""

    normalizer: Normalizer

    def measure(self, scores: Scores) -> Measure:
        """As it does. These are the scores of the feasible nodes, so here its points can be looked at."""
        measure = self.normalizer.measure(scores)
        points = np.asarray(self.normalizer.apply(scores, measure))
        if points.shape != scores.shape:
            raise ValueError(f"its normalizer made points of shape {points.shape} of scores of shape {scores.shape}")
        if not ((points >= 0) & (points <= MOST_POINTS)).all():
            raise ValueError(f"its normalizer made points that are not from 0 to {MOST_POINTS}")
        return measure

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """As it does. What it makes of infeasible nodes does not matter, as long as it is a number."""
        points = np.nan_to_num(np.asarray(self.normalizer.apply(scores, measure)), posinf=0, neginf=0)
        return np.clip(points, 0, MOST_POINTS).astype(np.int64)


class _Anew:
    """A plugin that reads more than the node is asked anew about all nodes whenever anything has happened."""

    def __init__(self, plugin: Any, pod: PodClass, cluster: Cluster) -> None:
        self._cluster = cluster

    def catch_up(self) -> Rows | None:
        return slice(0, self._cluster.nodes.size)


class _AnewFilter(_Anew):
    reads = Reads.CLUSTER

    def __init__(self, plugin: Any, pod: PodClass, cluster: Cluster) -> None:
        super().__init__(plugin, pod, cluster)
        self.filter_nodes = _LiftedFilter(plugin, pod).filter_nodes


class _AnewScore(_Anew):
    reads = Reads.CLUSTER

    def __init__(self, plugin: Any, pod: PodClass, cluster: Cluster) -> None:
        super().__init__(plugin, pod, cluster)
        lifted = _LiftedScore(plugin, pod)
        self.normalizer = lifted.normalizer
        self.score_nodes = lifted.score_nodes


def _row_by_row(nodes: Nodes, say: Callable[[Node], float], dtype: Any) -> NDArray[Any]:
    said = np.zeros(len(nodes), dtype=dtype)
    live = nodes.table.nodes
    for index, row in enumerate(nodes.indices()):
        if live[row] is not None:
            said[index] = say(Node(nodes.cluster, row))
    return said


def _checked(verdicts: Verdicts, length: int) -> Verdicts:
    if not isinstance(verdicts, Verdicts):
        raise TypeError(f"filter_nodes returned {type(verdicts).__name__}, not Verdicts; use reject_where")
    if len(verdicts.codes) != length:
        raise ValueError(f"filter_nodes returned {len(verdicts.codes)} verdicts for {length} nodes")
    for code in np.unique(verdicts.codes).tolist():
        _a_verdict(verdicts.meanings[code])
    return verdicts


def _a_verdict(said: object) -> Verdict:
    if not isinstance(said, Verdict):
        raise TypeError(f"filter returned {said!r:.50}, not a Verdict; use reject_if")
    return said


def _within(scores: NDArray[Any], most: int, nodes: Nodes) -> None:
    """What is to be points, or to be multiplied by a hundred, must be from 0 to this."""
    wrong = np.flatnonzero((scores < 0) | (scores > most))
    if len(wrong):
        name = nodes.table.name(list(nodes.indices())[int(wrong[0])])
        raise ValueError(f"the score of node {name} is {scores[wrong[0]].item()}, not from 0 to {most}")


def _finite(scores: NDArray[Any], nodes: Nodes) -> NDArray[Any]:
    if scores.shape != (len(nodes),):
        raise ValueError(f"score_nodes returned shape {scores.shape} for {len(nodes)} nodes")
    if scores.dtype.kind == "u" and (scores > _LARGEST).any():
        raise ValueError("scores are beyond 64 bits with a sign")
    if scores.dtype.kind in "bu":
        scores = scores.astype(np.int64)
    if scores.dtype.kind == "f":
        live = np.array([nodes.table.nodes[row] is not None for row in nodes.indices()], dtype=np.bool_)
        scores = np.where(live, scores, 0.0)
        if not np.isfinite(scores).all():
            row = list(nodes.indices())[int(np.flatnonzero(~np.isfinite(scores))[0])]
            raise ValueError(f"the score of node {nodes.table.name(row)} is not a finite number")
        return scores.astype(np.float64, copy=False)
    if scores.dtype.kind != "i":
        raise TypeError(f"scores are of type {scores.dtype}, not numbers")
    return scores.astype(np.int64, copy=False)
