"""How things were: what was overwritten since, so that a decision of a while ago can be read as it was made.

Nothing is copied when a decision is made. Only what a later one overwrites is noted here, with the number of that later
decision, and reading an old decision means undoing on a copy all that came after it. What is kept is bounded: the
oldest notes go first, and with them the details of the decisions before them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayplan.columns.arrays import Rows

#: How many overwritten numbers are kept: 64 MB of them.
_CELLS = 8_000_000
#: What a note costs beside the numbers in it, in numbers.
_NOTE = 24


class Journal:
    """What was overwritten, by decision."""

    __slots__ = ("_cells", "_kept", "_notes", "faded", "now")

    def __init__(self, cells: int = _CELLS) -> None:
        self._notes: deque[tuple[int, object, Rows, NDArray[Any]]] = deque()
        self._cells = 0
        self._kept = cells
        #: The number of the decision that is being made.
        self.now = 0
        #: Decisions before this one cannot be read in full any more.
        self.faded = 0

    def note(self, owner: object, rows: Rows, old: NDArray[Any]) -> None:
        """Some rows of an owner's numbers are about to be overwritten. `old` must not be a view."""
        self._notes.append((self.now, owner, rows, old))
        self._cells += len(old) + _NOTE
        while self._cells > self._kept:
            number, _, _, oldest = self._notes.popleft()
            self._cells -= len(oldest) + _NOTE
            self.faded = number

    def remembers(self, number: int) -> bool:
        """Whether a decision can be read in full."""
        return number >= self.faded

    def as_of(self, number: int, owner: object, values: NDArray[Any], size: int) -> NDArray[Any]:
        """An owner's numbers as they were when that decision was made, when there were `size` rows."""
        then = values.copy()
        for noted, whose, rows, old in reversed(self._notes):
            if noted <= number:
                break
            if whose is owner:
                then[rows] = old
        return then[:size]


def whole(array: NDArray[Any]) -> slice:
    """All rows of an array, to note that it is overwritten altogether."""
    return slice(0, len(array))


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The same with zeros for new rows."""
    added = np.zeros(size - len(array), dtype=array.dtype)
    return np.concatenate([array, added])
