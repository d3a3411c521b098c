"""Arrays that grow, and the integers that fit into them."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
#: Rows of the node table: all of a run, or these.
Rows: TypeAlias = "slice | NDArray[np.intp]"

#: The most that a node is taken to have of anything, 92 PB of memory for one: times 100 it still fits into 64 bits.
#: What kube-scheduler makes of more than that is not worth imitating.
MOST = (2**63 - 1) // 100
#: What a pod counts for that asks for more than any node has: it fits nowhere.
TOO_MUCH = MOST + 1
#: The most that may be taken on one node. Only pods bound by hand get there; beyond it they count for less.
_CEILING = 2**62

#: Up to so many, Python's own sets are faster than numpy's.
_FEW = 200

A = TypeVar("A", bound=np.generic)


def bounded(amount: int, most: int) -> int:
    """The amount, not below zero and not above the most."""
    return min(max(amount, 0), most)


def room_below_ceiling(taken: int, amount: int) -> int:
    """As much of the amount as can be added without wrapping around."""
    return min(amount, _CEILING - taken)


def grown(array: NDArray[A], length: int, fill: Any = 0) -> NDArray[A]:
    """The same in a longer array; the last axis grows."""
    larger = np.full((*array.shape[:-1], length), fill, dtype=array.dtype)
    larger[..., : array.shape[-1]] = array
    return larger


def rows_of(changed: list[int]) -> Rows | None:
    """Each of these rows once, in the form that numpy reads fastest; None for none."""
    if not changed:
        return None
    first = changed[0]
    if len(changed) == 1:
        return slice(first, first + 1)
    distinct = sorted(set(changed))
    if len(distinct) == 1:
        return slice(first, first + 1)
    # There are mostly a few dozen: then this takes half the time of numpy's `unique`.
    return np.array(distinct, dtype=np.intp)


def joined(some: Rows | None, more: Rows | None) -> Rows | None:
    """The rows of both. Where one is a run of several rows, the run that has all of both."""
    if some is None or more is None:
        return more if some is None else some
    if isinstance(some, slice) and isinstance(more, slice):
        return slice(min(some.start, more.start), max(some.stop, more.stop))
    listed = [np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows for rows in (some, more)]
    if len(listed[0]) + len(listed[1]) < _FEW:
        return np.array(sorted({*listed[0].tolist(), *listed[1].tolist()}), dtype=np.intp)
    return np.unique(np.concatenate(listed))
