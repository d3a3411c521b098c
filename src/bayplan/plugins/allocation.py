"""Scores by how full a node would be with the pod on it: a row a resource, a column a node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import TOO_MUCH, Ints, bounded
from bayplan.columns.resources import COMPARED, CPU_ROW, MEMORY_ROW, USUAL
from bayplan.contract.plugins import ROW
from bayplan.contract.scores import MOST_POINTS, AsTheyAre
from bayplan.objects.requests import POD_COUNT, count_to_compare, count_to_rank, is_scalar
from bayplan.plugins.arguments import MOST_OF_SHAPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.resources import Resources
    from bayplan.columns.table import NodeTable
    from bayplan.objects.pod import Pod
    from bayplan.plugins.arguments import RequestedToCapacityRatio, ResourceSpec

_FULL = 100


@dataclass(frozen=True)
class ScoredLoads:
    """What a pod would add of some resources, how much each counts, and where nodes' amounts are found."""

    numbers: tuple[int, ...]
    amounts: tuple[int, ...]
    weights: tuple[int, ...]
    #: Whether containers that request nothing count for something.
    stand_ins: bool

    @cached_property
    def added(self) -> Ints:
        """The amounts, as a column."""
        return np.array(self.amounts, dtype=np.int64).reshape(-1, 1)

    @cached_property
    def weighing(self) -> Ints:
        """The weights, as a column."""
        return np.array(self.weights, dtype=np.int64).reshape(-1, 1)

    @cached_property
    def _side_by_side(self) -> slice | None:
        """Where they stand, if they are among those that every node has, and next to each other."""
        numbers = self.numbers
        if numbers and numbers == tuple(range(numbers[0], numbers[-1] + 1)) and numbers[-1] < USUAL:
            return slice(numbers[0], numbers[-1] + 1)
        return None

    @cached_property
    def _chosen(self) -> NDArray[np.intp]:
        return np.array(self.numbers, dtype=np.intp)

    @cached_property
    def total_weight(self) -> int:
        """All weights together."""
        return sum(self.weights)

    def none_missing(self, nodes: Nodes) -> bool:
        """Whether all of the nodes certainly have all of the resources."""
        place = self._side_by_side
        return place is not None and place.stop <= COMPARED and nodes.complete

    def capacity(self, nodes: Nodes) -> Ints:
        """What the nodes have of each."""
        if self._side_by_side is not None:
            return nodes.usual_amounts()[0][self._side_by_side]
        return self._take(nodes.table.resources.allocatable, nodes)

    def taken(self, nodes: Nodes) -> Ints:
        """What is taken of each without the pod."""
        if self._side_by_side is not None:
            _, requested, compared = nodes.usual_amounts()
            if not self.stand_ins:
                return requested[self._side_by_side]
            if self._side_by_side.stop <= len(compared):
                return compared[self._side_by_side]
        resources = nodes.table.resources
        taken = self._take(resources.requested, nodes)
        return self._with_stand_ins(taken, resources, nodes) if self.stand_ins else taken

    def at(self, table: NodeTable, row: int) -> list[tuple[int, int, int, int]]:
        """For each resource the capacity of one node, what is taken, what would be added, and the weight."""
        resources = table.resources
        found = []
        for number, amount, weight in zip(self.numbers, self.amounts, self.weights, strict=True):
            compared = self.stand_ins and number in {CPU_ROW, MEMORY_ROW}
            taken = (resources.compared if compared else resources.requested).item(number, row)
            found.append((resources.allocatable.item(number, row), taken, amount, weight))
        return found

    def _with_stand_ins(self, taken: Ints, resources: Resources, nodes: Nodes) -> Ints:
        taken = taken.copy()
        for index, number in enumerate(self.numbers):
            if number in {CPU_ROW, MEMORY_ROW}:
                taken[index] = resources.compared[number][nodes.rows]
        return taken

    def _take(self, amounts: Ints, nodes: Nodes) -> Ints:
        return amounts[self._chosen][:, nodes.rows]


def loads_to_score(pod: Pod, resources: Sequence[ResourceSpec], cluster: Cluster, *, stand_ins: bool) -> ScoredLoads:
    """What the pod would add of each of the resources. Scarce ones that it does not ask for do not count.

    Nor does how many pods a node takes: kube-scheduler may be told to look at it, and never finds any.
    """
    amounts = count_to_rank(pod) if stand_ins else count_to_compare(pod)
    counted = [
        (cluster.nodes.resources.number(spec.name), bounded(amounts.get(spec.name, 0), TOO_MUCH), spec.weight)
        for spec in resources
        if spec.name != POD_COUNT and (amounts.get(spec.name, 0) > 0 or not is_scalar(spec.name))
    ]
    return ScoredLoads(
        tuple(number for number, _, _ in counted),
        tuple(amount for _, amount, _ in counted),
        tuple(weight for _, _, weight in counted),
        stand_ins,
    )


@dataclass(frozen=True)
class AllocationScoring:
    """For pods that add this: the weighted mean over resources of how empty, full or well filled a node would be."""

    loads: ScoredLoads
    strategy: str
    ratio: RequestedToCapacityRatio | None = None
    reads = ROW
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """From 0 to 100. A resource that a node does not have does not count for it."""
        loads = self.loads
        if not loads.numbers:
            return nodes.zeros()
        capacity = loads.capacity(nodes)
        if self.ratio is None and loads.none_missing(nodes):
            points = self._points_within(loads.taken(nodes) + loads.added, capacity, capacity)
            if loads.total_weight != len(loads.weights):
                points *= loads.weighing
            together = points[0] + points[1] if len(points) == 2 else np.add.reduce(points, axis=0)
            mean: Ints = together // loads.total_weight
            return mean
        points = self._points(loads.taken(nodes) + loads.added, capacity)
        counts = capacity > 0
        if self.ratio is not None:
            counts &= points > 0
        total: Ints = np.add.reduce(loads.weighing * points * counts, axis=0)
        weights: Ints = np.add.reduce(loads.weighing * counts, axis=0)
        if self.ratio is not None:
            return _round_half_up(total, weights)
        return total // np.maximum(weights, 1)

    def score_one(self, nodes: Nodes, row: int) -> int:
        """The same for one node."""
        if self.ratio is not None:
            return self.score_nodes(nodes).item(0)
        most = self.strategy == "MostAllocated"
        total = weights = 0
        for capacity, taken, amount, weight in self.loads.at(nodes.table, row):
            if capacity > 0:
                within = min(taken + amount, capacity)
                total += weight * ((within if most else capacity - within) * MOST_POINTS // capacity)
                weights += weight
        return total // weights if weights else 0

    def _points(self, requested: Ints, capacity: Ints) -> Ints:
        divisor = np.maximum(capacity, 1)
        if self.ratio is not None:
            return along_shape(np.minimum(requested, capacity) * _FULL // divisor, shape_of(self.ratio))
        return self._points_within(requested, capacity, divisor)

    def _points_within(self, requested: Ints, capacity: Ints, divisor: Ints) -> Ints:
        # Beyond its capacity a node is full; that it is overfull makes no difference, and could wrap around.
        within = np.minimum(requested, capacity)
        if self.strategy != "MostAllocated":
            within = np.subtract(capacity, within, out=within)
        within *= MOST_POINTS
        return np.floor_divide(within, divisor, out=within)


def along_shape(use: Ints, shape: tuple[tuple[int, int], ...]) -> Ints:
    """A piecewise linear function in integers, level before its first point and after its last."""
    points: Ints = np.full(use.shape, shape[-1][1], dtype=np.int64)
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


def _round_half_up(total: Ints, weights: Ints) -> Ints:
    """The quotient to the nearest integer; none below zero come here."""
    quotient = total / np.maximum(weights, 1)
    return np.floor(quotient + 0.5).astype(np.int64)
