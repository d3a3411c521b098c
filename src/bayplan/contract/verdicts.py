"""What a filter says of nodes: yes, or no with reasons, and whether preemption could turn the no into a yes.

A verdict is a value, never an exception. Many at once are `Verdicts`: a small number for each node and, beside, what
the numbers mean. 0 is always yes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Bools, Ids


class Kind(IntEnum):
    """How a verdict is meant."""

    YES = 0
    #: No, but it might be yes with some pods gone from the node.
    UNSCHEDULABLE = 1
    #: No, whatever pods go.
    UNRESOLVABLE = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """Yes, or no with its reasons, worded so that "3 node(s) …" can stand before them."""

    kind: Kind = Kind.YES
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.kind is Kind.YES


YES = Verdict()


def reject(*reasons: str, resolvable: bool = True) -> Verdict:
    """No. `resolvable` says whether it would help if pods went from the node."""
    return Verdict(Kind.UNSCHEDULABLE if resolvable else Kind.UNRESOLVABLE, reasons)


def reject_if(condition: object, reason: str, *, resolvable: bool = True) -> Verdict:
    """No for this reason where the condition holds, else yes."""
    return reject(reason, resolvable=resolvable) if condition else YES


class Meanings(Protocol):
    """What the numbers of verdicts mean; number 0 is yes. A tuple of verdicts does."""

    def __getitem__(self, code: int, /) -> Verdict: ...


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """A verdict for each node."""

    codes: Ids
    #: One filter must use the same object every time, so that its numbers can be kept.
    meanings: Meanings

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: int) -> Verdict:
        return self.meanings[int(self.codes[index])]


def reject_where(mask: Bools, reason: str, *, resolvable: bool = True) -> Verdicts:
    """No for this reason where the mask holds, else yes."""
    return Verdicts(mask.astype(np.int32), _one(reason, resolvable))


def reject_first(*cases: tuple[Bools, Verdict]) -> Verdicts:
    """For each node the verdict of the first case whose mask holds, else yes."""
    codes = np.zeros(len(cases[0][0]), dtype=np.int32)
    # From the last to the first, so that the first has the last word.
    for code in range(len(cases), 0, -1):
        codes[cases[code - 1][0]] = code
    return Verdicts(codes, _several(tuple(verdict for _, verdict in cases)))


def yes_to_all(length: int) -> Verdicts:
    """Yes, that many times."""
    return Verdicts(np.zeros(length, dtype=np.int32), _several(()))


@lru_cache(1024)
def _one(reason: str, resolvable: bool) -> Sequence[Verdict]:
    return (YES, reject(reason, resolvable=resolvable))


@lru_cache(1024)
def _several(verdicts: tuple[Verdict, ...]) -> Sequence[Verdict]:
    return (YES, *verdicts)
