"""Scores by how full a node would be with the pod on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import TOO_MUCH, bounded
from bayplan.columns.resources import CPU_ROW, MEMORY_ROW
from bayplan.contract.plugins import ROW
from bayplan.contract.scores import MOST_POINTS, AsTheyAre
from bayplan.objects.requests import count_to_compare, count_to_rank, is_scalar
from bayplan.plugins.arguments import MOST_OF_SHAPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.pod import Pod
    from bayplan.plugins.arguments import RequestedToCapacityRatio, ResourceSpec

_FULL = 100


@dataclass(frozen=True, slots=True)
class ScoredLoad:
    """What a pod would add of a resource, and how much that counts."""

    number: int
    amount: int
    weight: int
    #: The row of what nodes are compared by; None where what is requested is also what counts.
    compared: int | None = None


def loads_to_score(
    pod: Pod, resources: Sequence[ResourceSpec], cluster: Cluster, *, stand_ins: bool
) -> tuple[ScoredLoad, ...]:
    """What the pod would add of each of the resources. Scarce ones that it does not ask for do not count."""
    amounts = count_to_rank(pod) if stand_ins else count_to_compare(pod)
    loads = []
    for spec in resources:
        amount = bounded(amounts.get(spec.name, 0), TOO_MUCH)
        if amount == 0 and is_scalar(spec.name):
            continue
        number = cluster.nodes.resources.number(spec.name)
        compared = number if stand_ins and number in {CPU_ROW, MEMORY_ROW} else None
        loads.append(ScoredLoad(number, amount, spec.weight, compared))
    return tuple(loads)


def capacity_and_load(nodes: Nodes, load: ScoredLoad) -> tuple[Ints, Ints]:
    """What each node has of a resource, and what is taken of it without the pod."""
    resources = nodes.table.resources
    taken = resources.requested[load.number] if load.compared is None else resources.compared[load.compared]
    return resources.allocatable[load.number, nodes.rows], taken[nodes.rows]


@dataclass(frozen=True, slots=True)
class AllocationScoring:
    """For pods that add this: the weighted mean over resources of how empty, full or well filled a node would be."""

    loads: tuple[ScoredLoad, ...]
    strategy: str
    ratio: RequestedToCapacityRatio | None = None
    reads = ROW
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """From 0 to 100. A resource that a node does not have does not count for it."""
        total, weights = nodes.zeros(), nodes.zeros()
        for load in self.loads:
            capacity, taken = capacity_and_load(nodes, load)
            points = self._points(taken + load.amount, capacity)
            counts = capacity > 0
            if self.ratio is not None:
                counts &= points > 0
            total += load.weight * np.where(counts, points, 0)
            weights += load.weight * counts
        if self.ratio is not None:
            return _round_half_away(total, weights)
        return total // np.maximum(weights, 1)

    def _points(self, requested: Ints, capacity: Ints) -> Ints:
        divisor = np.maximum(capacity, 1)
        if self.ratio is not None:
            beyond = requested > capacity
            use = np.where(beyond, _FULL, np.minimum(requested, capacity) * _FULL // divisor)
            return along_shape(use, shape_of(self.ratio))
        within = np.minimum(requested, capacity)
        if self.strategy == "MostAllocated":
            return within * MOST_POINTS // divisor
        return np.where(requested > capacity, 0, (capacity - within) * MOST_POINTS // divisor)


def along_shape(use: Ints, shape: tuple[tuple[int, int], ...]) -> Ints:
    """A piecewise linear function in integers, level before its first point and after its last."""
    points: Ints = np.full(len(use), shape[-1][1], dtype=np.int64)
    for index in range(len(shape) - 1, -1, -1):
        at, score = shape[index]
        if index == 0:
            value: Ints | int = score
        else:
            before, lower = shape[index - 1]
            value = lower + _toward_zero((score - lower) * (use - before), at - before)
        points = np.where(use <= at, value, points)
    return points


def shape_of(ratio: RequestedToCapacityRatio) -> tuple[tuple[int, int], ...]:
    """The points of a shape, their scores stretched to 100."""
    return tuple((point.utilization, point.score * (MOST_POINTS // MOST_OF_SHAPE)) for point in ratio.shape)


def _toward_zero(dividend: Ints, divisor: int) -> Ints:
    """Division as Go has it."""
    quotient: Ints = np.sign(dividend) * (np.abs(dividend) // divisor)
    return quotient


def _round_half_away(total: Ints, weights: Ints) -> Ints:
    """The quotient to the nearest integer, halves up; none below zero come here."""
    quotient = total / np.maximum(weights, 1)
    return np.floor(quotient + 0.5).astype(np.int64)
