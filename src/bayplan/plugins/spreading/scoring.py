"""Constraints that should hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.scores import MOST_POINTS
from bayplan.plugins.spreading.constraints import HOSTNAME
from bayplan.plugins.spreading.counts import ConstraintCounts

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Floats, Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.scores import Measure, Scores
    from bayplan.plugins.spreading.constraints import Constraint
    from bayplan.plugins.spreading.defaults import DefaultSelector

#: What a node is scored that a constraint cannot be asked about, for want of a label. It gets no points.
_LEFT_OUT = -1


@dataclass(frozen=True, slots=True)
class FewestFirst:
    """The least score gets the most points."""

    def measure(self, scores: Scores) -> Measure:
        """The least and the largest of those that are not left out."""
        asked = scores[scores != _LEFT_OUT]
        if not len(asked):
            return 0, 0
        return asked.min().item(), max(asked.max().item(), 0)

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """Integers, rounded down."""
        least, largest = measure
        if largest == 0:
            points: Ints = np.full(len(scores), MOST_POINTS, dtype=np.int64)
        else:
            points = (MOST_POINTS * (largest + least - scores) // largest).astype(np.int64)
        return np.where(scores == _LEFT_OUT, 0, points)


class SpreadScoring:
    """For pods of one class. Constraints weigh more the more domains the feasible nodes are in."""

    reads = Reads.CLUSTER | Reads.FEASIBLE
    normalizer = FewestFirst()

    def __init__(
        self,
        pod: PodClass,
        cluster: Cluster,
        constraints: tuple[Constraint, ...],
        defaults: DefaultSelector | None,
        *,
        all_keys: bool,
    ) -> None:
        self._pod = pod
        self._cluster = cluster
        self._constraints = constraints
        self._defaults = defaults
        #: Whether nodes must have the labels of all constraints to be scored.
        self._all_keys = all_keys
        self._counts: list[ConstraintCounts] = []
        if defaults is None:
            self._begin()

    def catch_up(self) -> Rows | None:
        """All rows, since their scores depend on one another."""
        if self._defaults is not None and self._defaults.catch_up():
            self._begin()
        for counts in self._counts:
            counts.catch_up()
        return slice(0, self._cluster.nodes.size)

    def has_say(self) -> bool:
        """Whether the pod is of any kind."""
        return bool(self._counts)

    def score_nodes(self, nodes: Nodes) -> Ints:
        """Never asked: `score_among` is."""
        return nodes.zeros()

    def score_among(self, feasible: Bools) -> Ints:
        """For each node how many pods of the kind are near it, in each respect."""
        table = self._cluster.nodes
        asked = feasible.copy()
        if self._all_keys:
            for counts in self._counts:
                asked &= table.label_ids(counts.constraint.key) >= 0
        total: Floats = np.zeros(table.size)
        for counts in self._counts:
            total += self._score(counts, asked)
        rounded: Ints = np.floor(total + 0.5).astype(np.int64)
        return np.where(asked, rounded, _LEFT_OUT)

    def _score(self, counts: ConstraintCounts, asked: Bools) -> Floats:
        constraint, tally = counts.constraint, counts.tally
        ids = self._cluster.nodes.label_ids(constraint.key)
        if constraint.key == HOSTNAME:
            near, domains = tally.by_row, int(np.count_nonzero(asked))
        else:
            near = tally.by_domain[ids] if len(tally.by_domain) else np.zeros(len(ids), dtype=np.int64)
            domains = _count_distinct(ids[asked], len(tally.by_domain))
        weight = math.log(domains + 2)
        return np.where(ids >= 0, near * weight + float(constraint.max_skew - 1), 0.0)

    def _begin(self) -> None:
        defaults = self._defaults
        if defaults is not None and defaults.selector.empty:
            self._counts = []
            return
        keys = [constraint.key for constraint in self._constraints] if self._all_keys else []
        self._counts = [
            ConstraintCounts(
                self._pod, self._cluster, one, keys, one.selector if defaults is None else defaults.selector
            )
            for one in self._constraints
        ]


def _count_distinct(ids: np.ndarray[tuple[int], np.dtype[np.int32]], most: int) -> int:
    """How many domains there are; to have none counts as one more, as it does for kube-scheduler."""
    # One place more, for -1.
    return int(np.count_nonzero(np.bincount(ids + 1, minlength=most + 1)))
