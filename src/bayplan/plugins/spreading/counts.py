"""How many pods of a kind there are in each domain, for one class of pods and one constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.labels import ABSENT
from bayplan.columns.nodes import Nodes
from bayplan.objects.nodeaffinity import compile_required_affinity
from bayplan.objects.taints import find_untolerated
from bayplan.plugins.counting import Tallies, Tally
from bayplan.plugins.selecting import matching_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Bools, Ids, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.columns.pods import Group
    from bayplan.objects.labels import Selector
    from bayplan.plugins.counting import Weights
    from bayplan.plugins.spreading.constraints import Constraint
    from bayplan.plugins.spreading.defaults import DefaultSelector


class ConstraintCounts:
    """The pods that a constraint's selector selects in the pod's namespace, by domain, on nodes that count."""

    def __init__(
        self, pod: PodClass, cluster: Cluster, constraint: Constraint, keys: Sequence[str], selector: Selector
    ) -> None:
        self.constraint = constraint
        self.selector = selector
        self._pod = pod
        self._cluster = cluster
        #: Nodes without one of these labels do not count.
        self._keys = tuple(keys)
        self._required = compile_required_affinity(pod.spec) if constraint.honors_affinity else None
        self._tallies = Tallies(
            cluster, group=self._weigh, alive_only=True, domains=self._domains, keys=(constraint.key,)
        )

    @property
    def tally(self) -> Tally:
        """What is counted."""
        return self._tallies.by_key[self.constraint.key]

    @property
    def means_itself(self) -> bool:
        """Whether the pod adds to the count where it goes."""
        return self.selector.matches(self._pod.labels)

    def unlabelled(self) -> int:
        """How many there are on nodes that count and do not have the label."""
        rows = np.flatnonzero(self._cluster.nodes.label_ids(self.constraint.key) < 0)
        return int(self.tally.by_row[rows][self._counts(rows)].sum())

    def catch_up(self) -> Rows | None:
        """Take in what has happened. Returns the rows of domains that changed."""
        return self._tallies.rows_in(self._tallies.catch_up())

    def _weigh(self, group: Group) -> Weights:
        if group.namespace != self._pod.namespace or self.selector.empty or not self.selector.matches(group.labels):
            return ()
        return ((self.constraint.key, 1, 1),)

    def _domains(self, key: str, rows: Rows) -> Ids:
        table = self._cluster.nodes
        ids = table.label_ids(key)[rows]
        counts = self._counts(rows)
        domains: Ids = np.where(counts, ids, np.int32(ABSENT))
        return domains

    def _counts(self, rows: Rows) -> Bools:
        """Which of the rows are looked at."""
        table = self._cluster.nodes
        counts: Bools = table.live[rows].copy()
        for key in self._keys:
            counts &= table.label_ids(key)[rows] >= 0
        if self._required is not None:
            counts &= matching_rows(Nodes(self._cluster, rows), self._required)
        if self.constraint.honors_taints:
            counts &= self._tolerated(rows)
        return counts

    def _tolerated(self, rows: Rows) -> Bools:
        table = self._cluster.nodes
        numbers = table.taint_set[rows]
        tolerations = self._pod.spec.tolerations
        repels = {
            number: find_untolerated(table.taint_sets.things[number], tolerations) is not None
            for number in np.unique(numbers).tolist()
        }
        tolerated: Bools = np.array([not repels[number] for number in numbers.tolist()], dtype=np.bool_)
        return tolerated


def counts_for(
    pod: PodClass,
    cluster: Cluster,
    constraints: Sequence[Constraint],
    keys: Sequence[str],
    defaults: DefaultSelector | None,
) -> list[ConstraintCounts]:
    """Counts for each constraint. With defaults the selector is theirs; while that is empty, nothing is spread."""
    if defaults is None:
        return [ConstraintCounts(pod, cluster, one, keys, one.selector) for one in constraints]
    if defaults.selector.empty:
        return []
    return [ConstraintCounts(pod, cluster, one, keys, defaults.selector) for one in constraints]
