"""NodeResourcesFit: a pod goes where there is room for it, and by how much room there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import TOO_MUCH, bounded
from bayplan.columns.resources import CPU_ROW, EPHEMERAL_ROW, MEMORY_ROW, PODS_ROW
from bayplan.contract.plugins import ROW, Reads
from bayplan.contract.verdicts import YES, Kind, Verdict, Verdicts
from bayplan.objects.requests import count_to_fit, is_extended
from bayplan.plugins.allocation import AllocationScoring, loads_to_score
from bayplan.plugins.arguments import ScoringStrategy, below, name_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayplan.columns.arrays import Bools
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.requests import Numbers
    from bayplan.plugins.arguments import Problem

#: As many reasons as a number has room for beside the one for pods and the mark of what cannot be helped.
_MOST_REASONS = 29
_HOPELESS = 1 << 30


@dataclass(frozen=True, slots=True)
class NodeResourcesFit:
    """Keep pods off nodes without room for them; among the rest, prefer by how full they are."""

    #: Extended resources that somebody else counts.
    ignored_resources: tuple[str, ...] = ()
    #: The same, by the part before the slash.
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = field(default_factory=ScoringStrategy)

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> FitFiltering:
        """By what the pod requests."""
        return FitFiltering(tuple(self._wanted(count_to_fit(pod.pod), cluster)))

    def pre_score(self, pod: PodClass, cluster: Cluster) -> AllocationScoring:
        """By what the pod requests of what counts."""
        strategy = self.scoring_strategy
        loads = loads_to_score(pod.pod, strategy.resources, cluster, stand_ins=True)
        return AllocationScoring(loads, strategy.type, strategy.requested_to_capacity_ratio)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        for index, name in enumerate(self.ignored_resources):
            yield from name_problems(f"ignoredResources[{index}]", name)
        for index, group in enumerate(self.ignored_resource_groups):
            if "/" in group:
                yield f"ignoredResourceGroups[{index}]", f"{group!r} has a slash; name the part before it"
            else:
                yield from name_problems(f"ignoredResourceGroups[{index}]", group)
        yield from below("scoringStrategy", self.scoring_strategy.problems())

    def _wanted(self, numbers: Numbers, cluster: Cluster) -> Iterable[Wanted]:
        resources = cluster.nodes.resources
        fixed = ((CPU_ROW, numbers.milli_cpu), (MEMORY_ROW, numbers.memory), (EPHEMERAL_ROW, numbers.ephemeral_storage))
        for number, amount in fixed:
            if amount:
                yield Wanted(resources.names.things[number], number, bounded(amount, TOO_MUCH))
        for name, amount in sorted(numbers.scalars.items()):
            if amount and not self._ignores(name):
                yield Wanted(name, resources.number(name), bounded(amount, TOO_MUCH))

    def _ignores(self, name: str) -> bool:
        if not is_extended(name):
            return False
        return name in self.ignored_resources or name.partition("/")[0] in self.ignored_resource_groups


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much of a resource a pod needs."""

    name: str
    number: int
    amount: int


class FitFiltering:
    """For pods that need this. What is missing on a node is told by a bit for each resource."""

    reads: Reads = ROW

    def __init__(self, wanted: tuple[Wanted, ...]) -> None:
        self._wanted = wanted[:_MOST_REASONS]
        # Nobody has met a pod that needs so many kinds; of those beyond, one reason stands for all.
        self._more = wanted[_MOST_REASONS - 1 :] if len(wanted) > _MOST_REASONS else ()
        self._meanings = _Meanings(self._wanted)
        self._key = wanted

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FitFiltering) and other._key == self._key

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """No where there is no room for one more pod, or not enough of something."""
        resources = nodes.table.resources
        rows = nodes.rows
        crowded = resources.requested[PODS_ROW, rows] >= resources.allocatable[PODS_ROW, rows]
        codes = crowded.astype(np.int32)
        for index, wanted in enumerate(self._wanted):
            lacking, hopeless = self._lacks(nodes, wanted)
            if index == _MOST_REASONS - 1:
                for more in self._more:
                    also = self._lacks(nodes, more)
                    lacking, hopeless = lacking | also[0], hopeless | also[1]
            codes |= lacking * np.int32(2 << index)
            codes |= hopeless * np.int32(_HOPELESS)
        return Verdicts(codes, self._meanings)

    def _lacks(self, nodes: Nodes, wanted: Wanted) -> tuple[Bools, Bools]:
        resources = nodes.table.resources
        allocatable = resources.allocatable[wanted.number, nodes.rows]
        lacking = wanted.amount > allocatable - resources.requested[wanted.number, nodes.rows]
        return lacking, lacking & (wanted.amount > allocatable)


class _Meanings:
    """What the bits stand for."""

    __slots__ = ("_known", "_wanted")

    def __init__(self, wanted: tuple[Wanted, ...]) -> None:
        self._wanted = wanted
        self._known: dict[int, Verdict] = {0: YES}

    def __getitem__(self, code: int, /) -> Verdict:
        verdict = self._known.get(code)
        if verdict is None:
            reasons = ["Too many pods"] if code & 1 else []
            reasons += [f"Insufficient {one.name}" for bit, one in enumerate(self._wanted) if code & (2 << bit)]
            kind = Kind.UNRESOLVABLE if code & _HOPELESS else Kind.UNSCHEDULABLE
            verdict = self._known[code] = Verdict(kind, tuple(reasons))
        return verdict
