"""NodeResourcesBalancedAllocation: no resource of a node should run out while others are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import ROW
from bayplan.contract.scores import MOST_POINTS, AsTheyAre
from bayplan.plugins.allocation import capacity_and_load, loads_to_score
from bayplan.plugins.arguments import CPU_AND_MEMORY, ResourceSpec, balance_problems, below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.arrays import Floats, Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.plugins.allocation import ScoredLoad
    from bayplan.plugins.arguments import Problem

_HALF = MOST_POINTS // 2
_PAIR = 2


@dataclass(frozen=True, slots=True)
class NodeResourcesBalancedAllocation:
    """Prefer nodes whose resources the pod would bring into balance."""

    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

    def pre_score(self, pod: PodClass, cluster: Cluster) -> BalanceScoring | None:
        """By what the pod requests; one that requests nothing tips no balance."""
        loads = loads_to_score(pod.pod, self.resources or CPU_AND_MEMORY, cluster, stand_ins=False)
        return BalanceScoring(loads) if any(load.amount for load in loads) else None

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        yield from below("resources", balance_problems(self.resources))


@dataclass(frozen=True, slots=True)
class BalanceScoring:
    """For pods that add this: how much better balanced a node would be with the pod than without."""

    loads: tuple[ScoredLoad, ...]
    reads = ROW
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """From 0 to 100, and 75 where it makes no difference."""
        amounts = [(load.amount, *capacity_and_load(nodes, load)) for load in self.loads]
        with_pod = _balance([(taken + amount, capacity) for amount, capacity, taken in amounts], len(nodes))
        without = _balance([(taken, capacity) for _, capacity, taken in amounts], len(nodes))
        return _HALF + (_HALF + with_pod - without) // 2


def _balance(amounts: list[tuple[Ints, Ints]], length: int) -> Ints:
    """100 less the standard deviation of how full the resources are. Those that a node does not have do not count."""
    if len(amounts) == _PAIR:
        return _balance_of_two(*amounts)
    fractions = [np.where(capacity > 0, _fraction(taken, capacity), 0.0) for taken, capacity in amounts]
    there = [capacity > 0 for _, capacity in amounts]
    count = np.zeros(length, dtype=np.int64)
    total, spread = np.zeros(length), np.zeros(length)
    first, second = np.zeros(length), np.zeros(length)
    for fraction, has in zip(fractions, there, strict=True):
        first = np.where(has & (count == 0), fraction, first)
        second = np.where(has & (count == 1), fraction, second)
        total += fraction
        count += has
    mean = total / np.maximum(count, 1)
    for fraction, has in zip(fractions, there, strict=True):
        spread += np.where(has, (fraction - mean) * (fraction - mean), 0.0)
    deviation = np.sqrt(spread / np.maximum(count, 1))
    deviation = np.where(count == _PAIR, np.abs((first - second) / 2), deviation)
    return _points(np.where(count < _PAIR, 0.0, deviation))


def _balance_of_two(one: tuple[Ints, Ints], other: tuple[Ints, Ints]) -> Ints:
    """The usual case: of two, the deviation is half of the difference."""
    apart = np.abs((_fraction(*one) - _fraction(*other)) / 2)
    return _points(np.where((one[1] > 0) & (other[1] > 0), apart, 0.0))


def _fraction(taken: Ints, capacity: Ints) -> Floats:
    return np.minimum(taken / np.maximum(capacity, 1), 1.0)


def _points(deviation: Floats) -> Ints:
    points: Ints = ((1 - deviation) * float(MOST_POINTS)).astype(np.int64)
    return points
