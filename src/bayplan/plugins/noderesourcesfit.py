"""NodeResourcesFit: a pod goes where there is room for it, and by how much room there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import TOO_MUCH, bounded
from bayplan.columns.resources import CPU_ROW, EPHEMERAL_ROW, MEMORY_ROW, PODS_ROW
from bayplan.contract.plugins import ROW, Reads
from bayplan.contract.verdicts import YES, Kind, Verdict, Verdicts
from bayplan.objects.requests import beyond_count, count_to_fit, is_extended, requests_to_fit
from bayplan.plugins.allocation import AllocationScoring, loads_to_score
from bayplan.plugins.arguments import ScoringStrategy, below, name_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.requests import Numbers
    from bayplan.plugins.arguments import Problem


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
        numbers, beyond = count_to_fit(pod.pod), beyond_count(requests_to_fit(pod.pod))
        return FitFiltering(tuple(self._wanted(numbers, beyond, cluster)))

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

    def _wanted(self, numbers: Numbers, beyond: Collection[str], cluster: Cluster) -> Iterable[Wanted]:
        resources = cluster.nodes.resources
        fixed = ((CPU_ROW, numbers.milli_cpu), (MEMORY_ROW, numbers.memory), (EPHEMERAL_ROW, numbers.ephemeral_storage))
        for number, amount in fixed:
            name = resources.names.things[number]
            if amount or name in beyond:
                yield Wanted(name, number, TOO_MUCH if name in beyond else bounded(amount, TOO_MUCH))
        for name, amount in sorted(numbers.scalars.items()):
            if (amount or name in beyond) and not self._ignores(name):
                yield Wanted(name, resources.number(name), TOO_MUCH if name in beyond else bounded(amount, TOO_MUCH))

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
        self._wanted = wanted
        self._needs = ((PODS_ROW, 1), *((one.number, one.amount) for one in wanted))
        self._numbers = np.array([PODS_ROW, *(one.number for one in wanted)], dtype=np.intp)
        #: Whether it is what nearly all pods need: CPU, memory and a place.
        self._is_usual = self._numbers.tolist() == [PODS_ROW, CPU_ROW, MEMORY_ROW]
        if self._is_usual:
            self._amounts = _column(wanted[0].amount, wanted[1].amount, 0, 1)
            self._place = PODS_ROW
        else:
            self._place = 0
            self._amounts = _column(1, *(one.amount for one in wanted))
        self._meanings = _Meanings(wanted)

    def __hash__(self) -> int:
        return hash(self._wanted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FitFiltering) and other._wanted == self._wanted

    def needs(self) -> tuple[tuple[int, int], ...]:
        """What a node must have free, by the number of the resource; nothing else is looked at."""
        return self._needs

    def verdict_for(self, has: Mapping[int, int], taken: Mapping[int, int]) -> Verdict:
        """The verdict on a node that has this, and of which this is taken."""
        return self._meanings[self._judge((has[number], taken[number]) for number, _ in self._needs)]

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """No where there is no room for one more pod, or not enough of something."""
        if self._is_usual:
            allocatable, requested, _ = nodes.usual_amounts()
        else:
            resources = nodes.table.resources
            allocatable = resources.allocatable[self._numbers][:, nodes.rows]
            requested = resources.requested[self._numbers][:, nodes.rows]
        lacking = self._amounts > allocatable - requested
        # Of what a pod does not want, even a node that is overcommitted has enough.
        lacking &= self._amounts > 0
        codes = np.zeros(len(nodes), dtype=np.int32)
        if np.count_nonzero(lacking):
            hopeless = lacking & (self._amounts > allocatable)
            hopeless[self._place] = False
            columns = np.flatnonzero(lacking.any(axis=0))
            # Few combinations on many nodes: each is looked at once.
            seen = np.vstack([lacking, hopeless.any(axis=0, keepdims=True)])[:, columns].astype(np.int8)
            combinations, which = np.unique(seen, axis=1, return_inverse=True)
            found = [self._code(combination) for combination in combinations.T]
            codes[columns] = np.array(found, dtype=np.int32)[which]
        return Verdicts(codes, self._meanings)

    def filter_one(self, nodes: Nodes, row: int) -> int:
        """The same for one node."""
        resources = nodes.table.resources
        allocatable, requested = resources.allocatable, resources.requested
        return self._judge((allocatable.item(number, row), requested.item(number, row)) for number, _ in self._needs)

    def _judge(self, amounts: Iterable[tuple[int, int]]) -> int:
        """The code for what a node has and what is taken of it, of each thing that is needed."""
        lacks: list[bool] = []
        hopeless = False
        for (number, amount), (has, taken) in zip(self._needs, amounts, strict=True):
            lacking = amount > has - taken
            hopeless = hopeless or (lacking and amount > has and number != PODS_ROW)
            lacks.append(lacking)
        return self._meanings.code(tuple(lacks), hopeless=hopeless) if True in lacks else 0

    def _code(self, combination: NDArray[np.int8]) -> int:
        *lacks, hopeless = map(bool, combination.tolist())
        if self._is_usual:
            lacks = [lacks[PODS_ROW], lacks[CPU_ROW], lacks[MEMORY_ROW]]
        return self._meanings.code(tuple(lacks), hopeless=hopeless)


def _column(*amounts: int) -> Ints:
    return np.array(amounts, dtype=np.int64).reshape(-1, 1)


class _Meanings:
    """What each combination of things that a node lacks comes to."""

    __slots__ = ("_codes", "_verdicts", "_wanted")

    def __init__(self, wanted: tuple[Wanted, ...]) -> None:
        self._wanted = wanted
        self._codes: dict[tuple[tuple[bool, ...], bool], int] = {}
        self._verdicts: list[Verdict] = [YES]

    def __getitem__(self, code: int, /) -> Verdict:
        return self._verdicts[code]

    def code(self, lacks: tuple[bool, ...], *, hopeless: bool) -> int:
        """The number of a combination: first whether there is no place for a pod, then the resources as wanted."""
        code = self._codes.get((lacks, hopeless))
        if code is None:
            code = self._codes[lacks, hopeless] = len(self._verdicts)
            reasons = ["Too many pods"] if lacks[0] else []
            reasons += [
                f"Insufficient {one.name}" for one, lacking in zip(self._wanted, lacks[1:], strict=True) if lacking
            ]
            self._verdicts.append(Verdict(Kind.UNRESOLVABLE if hopeless else Kind.UNSCHEDULABLE, tuple(reasons)))
        return code
