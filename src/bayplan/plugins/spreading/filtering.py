"""Constraints that must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import joined
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import Verdict, Verdicts, reject, reject_first, yes_to_all
from bayplan.plugins.spreading.counts import ConstraintCounts, counts_for

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.plugins.spreading.constraints import Constraint
    from bayplan.plugins.spreading.defaults import DefaultSelector

_UNEVEN = reject("node(s) didn't match pod topology spread constraints")
_NO_LABEL = reject("node(s) didn't match pod topology spread constraints (missing required label)", resolvable=False)
#: What is counted as least where no domain counts: more than any count.
_NONE = 2**31 - 1


class SpreadFiltering:
    """For pods of one class."""

    reads = Reads.CLUSTER

    def __init__(
        self,
        pod: PodClass,
        cluster: Cluster,
        constraints: tuple[Constraint, ...],
        defaults: DefaultSelector | None,
    ) -> None:
        self._pod = pod
        self._cluster = cluster
        self._constraints = constraints
        self._defaults = defaults
        self._counts: list[ConstraintCounts] = []
        #: The least count of any domain, for each constraint.
        self._least: list[int] = []
        if defaults is None:
            self._begin()

    def catch_up(self) -> Rows | None:
        """The rows of domains that changed, or all where the least count of a constraint has."""
        if self._defaults is not None and self._defaults.catch_up():
            self._begin()
            for counts in self._counts:
                counts.catch_up()
            self._least = [self._least_of(counts) for counts in self._counts]
            return slice(0, self._cluster.nodes.size)
        rows: Rows | None = None
        for index, counts in enumerate(self._counts):
            changed = counts.catch_up()
            if changed is None:
                continue
            rows = joined(rows, changed)
            least = self._least_of(counts)
            if least != self._least[index]:
                self._least[index] = least
                rows = slice(0, self._cluster.nodes.size)
        return rows

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """The first constraint that does not hold."""
        if not self._counts:
            return yes_to_all(len(nodes))
        cases: list[tuple[Bools, Verdict]] = []
        for counts, least in zip(self._counts, self._least, strict=True):
            ids = nodes.label_ids(counts.constraint.key)
            by_domain = counts.tally.by_domain
            there = by_domain[ids] if len(by_domain) else nodes.zeros()
            uneven = there + counts.means_itself - least > counts.constraint.max_skew
            cases += [(ids < 0, _NO_LABEL), (uneven, _UNEVEN)]
        return reject_first(*cases)

    def _begin(self) -> None:
        keys = [constraint.key for constraint in self._constraints]
        self._counts = counts_for(self._pod, self._cluster, self._constraints, keys, self._defaults)
        self._least = [-1] * len(self._counts)

    def _least_of(self, counts: ConstraintCounts) -> int:
        tally = counts.tally
        inhabited = tally.members > 0
        domains = int(np.count_nonzero(inhabited))
        if domains < counts.constraint.min_domains:
            return 0
        return int(tally.by_domain[inhabited].min()) if domains else _NONE
