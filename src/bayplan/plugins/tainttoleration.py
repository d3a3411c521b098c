"""TaintToleration: taints repel pods that do not tolerate them, and make nodes less welcome to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.scores import ByLargest
from bayplan.contract.verdicts import Verdicts, reject_where
from bayplan.objects.taints import find_untolerated, is_tolerated

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.taints import Taint, Toleration

_REASON = "node(s) had untolerated taint(s)"
_UNWELCOMING = "PreferNoSchedule"


@dataclass(frozen=True, slots=True)
class TaintToleration:
    """Keep pods off nodes whose taints they do not tolerate; among the rest, prefer those with fewer."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> TaintFiltering:
        """By tolerations alone."""
        return TaintFiltering(pod.spec.tolerations)

    def pre_score(self, pod: PodClass, cluster: Cluster) -> TaintScoring:
        """By those of the tolerations that may cover a taint of this effect."""
        matter = tuple(one for one in pod.spec.tolerations if one.effect in {"", _UNWELCOMING})
        return TaintScoring(matter)


@dataclass(frozen=True, slots=True)
class TaintFiltering:
    """For pods with these tolerations. There are few sets of taints: each is looked at once."""

    tolerations: tuple[Toleration, ...]
    reads = Reads.NODE

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """No, for good, where some taint repels."""
        repels = _of_each_set(nodes, lambda taints: find_untolerated(taints, self.tolerations) is not None)
        return reject_where(repels.astype(np.bool_), _REASON, resolvable=False)


@dataclass(frozen=True, slots=True)
class TaintScoring:
    """For pods with these tolerations: how many taints make a node unwelcome."""

    tolerations: tuple[Toleration, ...]
    reads = Reads.NODE
    normalizer = ByLargest(reverse=True)

    def score_nodes(self, nodes: Nodes) -> Ints:
        """The count of such taints."""
        return _of_each_set(nodes, self._count)

    def _count(self, taints: tuple[Taint, ...]) -> int:
        return sum(taint.effect == _UNWELCOMING and not is_tolerated(taint, self.tolerations) for taint in taints)


def _of_each_set(nodes: Nodes, measure: Callable[[tuple[Taint, ...]], int]) -> Ints:
    table = nodes.table
    numbers = table.taint_set[nodes.rows]
    if len(numbers) == 1:
        return np.array([measure(table.taint_sets.things[int(numbers[0])])], dtype=np.int64)
    present = np.unique(numbers)
    measured = np.array([measure(table.taint_sets.things[number]) for number in present.tolist()], dtype=np.int64)
    found: Ints = measured[np.searchsorted(present, numbers)]
    return found
