"""What nodes have to give and what is taken of it: a row a resource, a column a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import MOST, TOO_MUCH, Ints, bounded, grown, room_below_ceiling
from bayplan.columns.interning import Interner
from bayplan.objects.requests import CPU, EPHEMERAL_STORAGE, MEMORY, POD_COUNT

if TYPE_CHECKING:
    from collections.abc import Collection

    from bayplan.objects.requests import Numbers, PodNumbers

CPU_ROW, MEMORY_ROW, EPHEMERAL_ROW, PODS_ROW = range(4)
#: How many resources there are on every node.
USUAL = 4
#: Of these, those that nodes are compared by: CPU and memory.
COMPARED = 2

#: Below this, 16,000 pods on a node cannot add up to more than 64 bits hold. Nobody has met a pod above it.
_ORDINARY = 2**48

#: What a pod takes, as pairs of a resource's number and an amount, then CPU and memory as nodes are compared by.
Load = tuple[tuple[tuple[int, int], ...], int, int]


class Resources:
    """The amounts of all nodes. Resources are numbered; the first four are always there."""

    __slots__ = ("_careful", "allocatable", "compared", "names", "requested")

    def __init__(self, length: int) -> None:
        self.names: Interner[str] = Interner()
        for name in (CPU, MEMORY, EPHEMERAL_STORAGE, POD_COUNT):
            self.names.number(name)
        #: Whether some pod asked for so much that sums have to be watched.
        self._careful = False
        #: What a node has for pods, by resource and node.
        self.allocatable: Ints = np.zeros((4, length), dtype=np.int64)
        #: What its pods take of that.
        self.requested: Ints = np.zeros((4, length), dtype=np.int64)
        #: CPU and memory once more, with the stand-ins of containers that request nothing.
        self.compared: Ints = np.zeros((2, length), dtype=np.int64)

    def grow(self, length: int) -> None:
        """Make room for more nodes."""
        self.allocatable = grown(self.allocatable, length)
        self.requested = grown(self.requested, length)
        self.compared = grown(self.compared, length)

    def number(self, name: str) -> int:
        """The number of a resource, with rows for it."""
        number = self.names.number(name)
        if number >= len(self.allocatable):
            for field in ("allocatable", "requested"):
                rows = getattr(self, field)
                setattr(self, field, np.vstack([rows, np.zeros((1, rows.shape[1]), dtype=np.int64)]))
        return number

    def set_allocatable(self, row: int, numbers: Numbers, beyond: Collection[str] = ()) -> None:
        """Write down what a node has; of what is beyond counting, the most there is."""
        self.allocatable[:, row] = 0
        for number, amount in self._amounts_of(numbers, beyond).items():
            self.allocatable[number, row] = amount

    def _amounts_of(self, numbers: Numbers, beyond: Collection[str]) -> dict[int, int]:
        fixed = (numbers.milli_cpu, numbers.memory, numbers.ephemeral_storage, numbers.pods)
        has = dict(enumerate(fixed)) | {self.number(name): amount for name, amount in numbers.scalars.items()}
        names = self.names.things
        return {number: MOST if names[number] in beyond else bounded(has[number], MOST) for number in has}

    def clear(self, row: int) -> None:
        """Forget a node."""
        self.allocatable[:, row] = 0
        self.requested[:, row] = 0
        self.compared[:, row] = 0

    def check_allocatable(self, row: int, numbers: Numbers, beyond: Collection[str]) -> None:
        """Assert that this is what the node of a row has; for tests."""
        has = self._amounts_of(numbers, beyond)
        assert self.allocatable[:, row].tolist() == [has.get(number, 0) for number in range(len(self.names))]

    def check_requested(self, row: int, loads: list[Load]) -> None:
        """Assert that these loads are all that is taken on a row; for tests."""
        requested = [0] * len(self.names)
        for amounts, _, _ in loads:
            for number, amount in amounts:
                requested[number] += amount
        assert self.requested[:, row].tolist() == requested
        assert self.compared[:, row].tolist() == [sum(load[1] for load in loads), sum(load[2] for load in loads)]

    def load_of(self, numbers: PodNumbers, beyond: Collection[str] = ()) -> Load:
        """What a pod with these numbers takes, itself counted too; of what is beyond counting, more than there is."""
        amounts = [
            (CPU_ROW, numbers.milli_cpu),
            (MEMORY_ROW, numbers.memory),
            (EPHEMERAL_ROW, numbers.ephemeral_storage),
            (PODS_ROW, 1),
        ]
        amounts += [(self.number(name), amount) for name, amount in numbers.scalars.items()]
        if beyond:
            amounts = [(n, TOO_MUCH if self.names.things[n] in beyond else amount) for n, amount in amounts]
        asked = (numbers.nonzero_milli_cpu, numbers.nonzero_memory, *(amount for _, amount in amounts))
        self._careful = self._careful or max(asked) > _ORDINARY
        return (
            tuple((number, bounded(amount, TOO_MUCH)) for number, amount in amounts if amount > 0),
            TOO_MUCH if CPU in beyond else bounded(numbers.nonzero_milli_cpu, TOO_MUCH),
            TOO_MUCH if MEMORY in beyond else bounded(numbers.nonzero_memory, TOO_MUCH),
        )

    def add(self, row: int, load: Load) -> Load:
        """Count a pod in. Returns what `remove` must be given: less than asked for where it would not fit 64 bits."""
        amounts, cpu, memory = load
        if self._careful:
            load = amounts, cpu, memory = self._within_bounds(row, load)
        for number, amount in amounts:
            self.requested[number, row] += amount
        self.compared[0, row] += cpu
        self.compared[1, row] += memory
        return load

    def remove(self, row: int, load: Load) -> None:
        """Count a pod out."""
        amounts, cpu, memory = load
        for number, amount in amounts:
            self.requested[number, row] -= amount
        self.compared[0, row] -= cpu
        self.compared[1, row] -= memory

    def _within_bounds(self, row: int, load: Load) -> Load:
        amounts, cpu, memory = load
        return (
            tuple((n, room_below_ceiling(int(self.requested[n, row]), amount)) for n, amount in amounts),
            room_below_ceiling(int(self.compared[0, row]), cpu),
            room_below_ceiling(int(self.compared[1, row]), memory),
        )
