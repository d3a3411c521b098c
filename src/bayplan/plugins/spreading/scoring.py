"""Constraints that should hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.labels import ABSENT
from bayplan.contract.plugins import Reads
from bayplan.contract.scores import MOST_POINTS
from bayplan.plugins.spreading.constraints import HOSTNAME
from bayplan.plugins.spreading.counts import ConstraintCounts, counts_for

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Floats, Ids, Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.scores import Measure, Scores
    from bayplan.plugins.spreading.constraints import Constraint
    from bayplan.plugins.spreading.defaults import DefaultSelector

#: What a node is scored that a constraint cannot be asked about, for want of a label. It gets no points.
_LEFT_OUT = -1
#: More different scores than this are not worth a table.
_MANY = 2048


@dataclass(frozen=True, slots=True)
class FewestFirst:
    """The least score gets the most points."""

    def measure(self, scores: Scores) -> Measure:
        """The least and the largest of those that are not left out."""
        least, largest = scores.min().item(), scores.max().item()
        if least == _LEFT_OUT:
            asked = scores[scores != _LEFT_OUT]
            least = asked.min().item() if len(asked) else 0
        return least, max(largest, 0)

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """Integers, rounded down."""
        least, largest = map(int, measure)
        if largest < _MANY and scores.max() <= largest:
            # There are few different scores: each is worked out once. The last, at -1, is for those left out.
            points = self._points(np.arange(largest + 2), least, largest)
            points[_LEFT_OUT] = 0
            found: Ints = points[scores]
            return found
        return np.where(scores == _LEFT_OUT, 0, self._points(scores.astype(np.int64), least, largest))

    def _points(self, scores: Ints, least: int, largest: int) -> Ints:
        if largest == 0:
            return np.full(len(scores), MOST_POINTS, dtype=np.int64)
        return MOST_POINTS * (largest + least - scores) // largest


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
        asked = self._asked(feasible)
        if len(self._counts) == 1 and self._counts[0].constraint.key != HOSTNAME:
            # Of one constraint all nodes of a domain have the same: it is worked out once for each.
            ids, values = self._by_domain(self._counts[0], asked)
            return np.where(asked, _rounded(values).take(ids), _LEFT_OUT)
        total: Floats = np.zeros(len(feasible))
        for counts in self._counts:
            total += self._score(counts, asked)
        return np.where(asked, _rounded(total), _LEFT_OUT)

    def _asked(self, feasible: Bools) -> Bools:
        """The feasible nodes, less those without a label that they must have."""
        if not self._all_keys:
            return feasible
        asked = feasible
        for counts in self._counts:
            asked = asked & (self._cluster.nodes.label_ids(counts.constraint.key) >= 0)
        return asked

    def _score(self, counts: ConstraintCounts, asked: Bools) -> Floats:
        if counts.constraint.key != HOSTNAME:
            ids, values = self._by_domain(counts, asked)
            found: Floats = values.take(ids)
            return found
        weight = math.log(int(np.count_nonzero(asked)) + 2)
        there = self._cluster.nodes.label_ids(HOSTNAME) >= 0
        return np.where(there, counts.tally.by_row * weight + float(counts.constraint.max_skew - 1), 0.0)

    def _by_domain(self, counts: ConstraintCounts, asked: Bools) -> tuple[Ids, Floats]:
        """The domain of each row, and the score of each domain; last, and so at -1, that of having none."""
        ids = self._cluster.nodes.label_ids(counts.constraint.key)
        by_domain = counts.tally.by_domain
        # To have no domain counts as one more, as it does for kube-scheduler; hence one place more, for -1.
        inhabited = np.zeros(len(by_domain) + 1, dtype=np.bool_)
        inhabited[ids[asked]] = True
        nameless = ABSENT if self._all_keys else self._cluster.nodes.label(counts.constraint.key).values.find("")
        if nameless >= 0 and inhabited[nameless]:
            # Where nodes need not have the label, to have none is to be in the domain without a name.
            inhabited[-1] = False
            by_domain = by_domain.copy()
            by_domain[nameless] += counts.unlabelled()
        weight = math.log(int(np.count_nonzero(inhabited)) + 2)
        values = np.zeros(len(by_domain) + 1)
        values[:-1] = by_domain * weight + float(counts.constraint.max_skew - 1)
        return ids, values

    def _begin(self) -> None:
        keys = [constraint.key for constraint in self._constraints] if self._all_keys else []
        self._counts = counts_for(self._pod, self._cluster, self._constraints, keys, self._defaults)


def _rounded(scores: Floats) -> Ints:
    """To the nearest integer, halves up; none is below zero."""
    rounded: Ints = np.floor(scores + 0.5).astype(np.int64)
    return rounded
