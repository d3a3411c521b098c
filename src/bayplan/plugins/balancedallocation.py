"""NodeResourcesBalancedAllocation: no resource of a node should run out while others are left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import ROW
from bayplan.contract.scores import MOST_POINTS, AsTheyAre
from bayplan.plugins.allocation import loads_to_score
from bayplan.plugins.arguments import CPU_AND_MEMORY, ResourceSpec, balance_problems, below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.arrays import Bools, Floats, Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.plugins.allocation import ScoredLoads
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
        return BalanceScoring(loads) if any(loads.amounts) else None

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        yield from below("resources", balance_problems(self.resources))


@dataclass(frozen=True)
class BalanceScoring:
    """For pods that add this: how much better balanced a node would be with the pod than without."""

    loads: ScoredLoads
    reads = ROW
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """From 0 to 100, and 75 where it makes no difference."""
        loads = self.loads
        capacity, taken = loads.capacity(nodes), loads.taken(nodes)
        complete = loads.none_missing(nodes)
        divisor = (capacity if complete else np.maximum(capacity, 1)).astype(np.float64)
        # Two layers, without the pod and with it; in each a row a resource.
        fractions = np.empty((2, *taken.shape))
        fractions[0] = taken
        fractions[1] = taken + loads.added
        fractions /= divisor
        np.minimum(fractions, 1.0, out=fractions)
        if len(taken) == _PAIR:
            deviation = np.abs(fractions[:, 0] - fractions[:, 1])
            deviation /= 2
            if not complete:
                deviation *= (capacity > 0).all(axis=0)
        else:
            deviation = _deviation(fractions, capacity > 0)
        balance: Ints = ((1 - deviation) * float(MOST_POINTS)).astype(np.int64)
        better: Ints = _HALF + (_HALF + balance[1] - balance[0]) // 2
        return better

    def score_one(self, nodes: Nodes, row: int) -> int:
        """The same for one node."""
        amounts = [
            (taken, amount, capacity) for capacity, taken, amount, _ in self.loads.at(nodes.table, row) if capacity > 0
        ]
        without = _balance([min(taken / capacity, 1.0) for taken, _, capacity in amounts])
        with_pod = _balance([min((taken + amount) / capacity, 1.0) for taken, amount, capacity in amounts])
        return _HALF + (_HALF + with_pod - without) // 2


def _balance(fractions: list[float]) -> int:
    if len(fractions) < _PAIR:
        deviation = 0.0
    elif len(fractions) == _PAIR:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    else:
        mean = _added_up(fractions) / len(fractions)
        deviation = math.sqrt(_added_up([(one - mean) * (one - mean) for one in fractions]) / len(fractions))
    return int((1 - deviation) * float(MOST_POINTS))


def _added_up(fractions: list[float]) -> float:
    """One after the other. Python's own sum makes up for what rounding loses, and Go's does not."""
    total = 0.0
    for fraction in fractions:
        total += fraction
    return total


def _deviation(fractions: Floats, there: Bools) -> Floats:
    """The standard deviation over the resources that a node has, added up in the order in which they are named.

    Of two it is half of their difference, as kube-scheduler has it, and not what rounding makes of the formula.
    """
    count = np.zeros(there.shape[1], dtype=np.int64)
    total, first, second, spread = (np.zeros_like(fractions[:, 0]) for _ in range(4))
    for index, has in enumerate(there):
        fraction = fractions[:, index]
        first = np.where(has & (count == 0), fraction, first)
        second = np.where(has & (count == 1), fraction, second)
        total += np.where(has, fraction, 0.0)
        count += has
    mean = total / np.maximum(count, 1)
    for index, has in enumerate(there):
        away = fractions[:, index] - mean
        spread += np.where(has, away * away, 0.0)
    deviation = np.sqrt(spread / np.maximum(count, 1))
    deviation = np.where(count == _PAIR, np.abs((first - second) / 2), deviation)
    return np.where(count < _PAIR, 0.0, deviation)
