"""How full the storage of a node gets, as points: by default the emptier the better."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bayplan.objects.quantity_text import value_of
from bayplan.plugins.arguments import MOST_OF_SHAPE, UtilizationShapePoint
from bayplan.plugins.storage.claims import STORAGE, class_of_claim
from bayplan.plugins.volumebinding.candidates import capacity_of, requested_size
from bayplan.plugins.volumebinding.provisioning import room_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Bools, Ints
    from bayplan.plugins.volumebinding.search import Choice, Found, Room

Shape = tuple[UtilizationShapePoint, ...]
_FULL = 100


class _Use:
    """What is requested of one storage class, and what there is of it, on each node."""

    __slots__ = ("capacity", "present", "requested")

    def __init__(self, length: int) -> None:
        self.requested: Ints = np.zeros(length, dtype=np.int64)
        self.capacity: Ints = np.zeros(length, dtype=np.int64)
        self.present: Bools = np.zeros(length, dtype=np.bool_)


def points(found: Found, shape: Shape) -> Ints:
    """The points of each node: those of its storage classes, on average.

    Where a volume that is there would be taken, those that would be made do not count.
    """
    length = len(found.codes)
    bound: Bools = np.zeros(length, dtype=np.bool_)
    for choice in found.choices:
        bound |= choice.taken >= 0
    uses: dict[str, _Use] = {}
    for choice in found.choices:
        _add_taken(choice, uses, length)
    for room in found.rooms:
        _add_made(room, ~bound, uses, length)
    return _average([(use.present, _points_of(use, shape)) for use in uses.values()], length)


def _add_taken(choice: Choice, uses: dict[str, _Use], length: int) -> None:
    size = requested_size(choice.unbound.claim).value()
    capacities = np.array([capacity_of(volume).value() for volume in choice.volumes], dtype=np.int64)
    names = [volume.spec.storage_class_name for volume in choice.volumes]
    for name in dict.fromkeys(names):
        # The last entry is for nodes where none is taken, which is -1.
        rows = np.array([*(each == name for each in names), False], dtype=np.bool_)[choice.taken]
        use = uses.setdefault(name, _Use(length))
        use.requested[rows] += size
        use.capacity[rows] += capacities[choice.taken[rows]]
        use.present |= rows


def _add_made(room: Room, where: Bools, uses: dict[str, _Use], length: int) -> None:
    """All volumes of a class share its room, so that is not added up."""
    where = where & room.needed & (room.capacity >= 0)
    if not where.any():
        return
    claim = room.provision.claim
    use = uses.setdefault(class_of_claim(claim), _Use(length))
    rooms = np.array([room_in(one) for one in room.provision.capacities or ()], dtype=np.int64)
    use.requested[where] += value_of(claim.spec.resources.requests[STORAGE])
    use.capacity[where] = rooms[room.capacity[where]]
    use.present |= where


def _points_of(use: _Use, shape: Shape) -> Ints:
    overfull = (use.capacity == 0) | (use.requested > use.capacity)
    # As in Go, the product may wrap around; nobody has that much.
    share = use.requested * _FULL // np.where(use.capacity == 0, 1, use.capacity)
    return _along(np.where(overfull, _FULL, share), shape)


def _along(used: Ints, shape: Sequence[UtilizationShapePoint]) -> Ints:
    """The function's values: level before the first point and after the last, straight lines between them."""
    stretch = _FULL // MOST_OF_SHAPE
    values: Ints = np.full(len(used), shape[-1].score * stretch, dtype=np.int64)
    for before, after in reversed(list(pairwise(shape))):
        rise = (after.score - before.score) * stretch * (used - before.utilization)
        # Rounded towards zero, as in Go.
        step = np.sign(rise) * (np.abs(rise) // (after.utilization - before.utilization))
        values = np.where(used <= after.utilization, before.score * stretch + step, values)
    return np.where(used <= shape[0].utilization, shape[0].score * stretch, values)


def _average(parts: Sequence[tuple[Bools, Ints]], length: int) -> Ints:
    total: Ints = np.zeros(length, dtype=np.int64)
    count: Ints = np.zeros(length, dtype=np.int64)
    for present, values in parts:
        total += np.where(present, values, 0)
        count += present
    # Rounded half away from zero. Points are never below it.
    return (2 * total + count) // np.maximum(2 * count, 1)
