"""Rows that somebody has yet to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Touched:
    """Some rows, or all. Rows that come as an array are kept as one: mostly several tell of the very same."""

    __slots__ = ("_arrays", "_listed", "everything")

    def __init__(self, *, everything: bool = False) -> None:
        self.everything = everything
        self._listed: list[int] = []
        self._arrays: list[NDArray[np.intp]] = []

    def __bool__(self) -> bool:
        return self.everything or bool(self._listed) or bool(self._arrays)

    @property
    def single(self) -> int | None:
        """The row, if there is just one."""
        if self.everything or self._arrays or len(self._listed) != 1:
            return None
        return self._listed[0]

    def add(self, rows: Iterable[int]) -> None:
        """These rows too, each once."""
        if not self.everything:
            self._listed.extend(rows)

    def add_array(self, rows: NDArray[np.intp]) -> None:
        """These rows too, each once."""
        if not self.everything and not any(rows is one for one in self._arrays):
            self._arrays.append(rows)

    def add_since(self, entries: list[int] | None) -> None:
        """What a log says; all where it does not reach back far enough."""
        if entries is None:
            self.add_all()
        else:
            self.add(entries)

    def add_from(self, other: Touched) -> None:
        """What another has."""
        if other.everything:
            self.add_all()
        else:
            self.add(other._listed)
            for rows in other._arrays:
                self.add_array(rows)

    def add_all(self) -> None:
        """All rows."""
        self.everything = True
        self._listed.clear()
        self._arrays.clear()

    def take(self, size: int) -> Rows | None:
        """The rows, each once, and from now on none; None where there are none."""
        rows = slice(0, size) if self.everything else self._joined(size)
        self.everything = False
        self._listed.clear()
        self._arrays.clear()
        return rows

    def _joined(self, size: int) -> Rows | None:
        if not self._arrays:
            return slice(0, size) if len(self._listed) > size else rows_of(self._listed)
        if len(self._arrays) == 1 and not self._listed:
            return self._arrays[0]
        listed = np.array(self._listed, dtype=np.intp)
        return np.unique(np.concatenate([listed, *self._arrays]))
