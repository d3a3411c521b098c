"""Rows that somebody has yet to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.columns.arrays import Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Touched:
    """Some rows, or all."""

    __slots__ = ("everything", "listed")

    def __init__(self, *, everything: bool = False) -> None:
        self.everything = everything
        self.listed: list[int] = []

    def __bool__(self) -> bool:
        return self.everything or bool(self.listed)

    def add(self, rows: Iterable[int]) -> None:
        """These rows too."""
        if not self.everything:
            self.listed.extend(rows)

    def add_since(self, entries: list[int] | None) -> None:
        """What a log says; all where it does not reach back far enough."""
        if entries is None:
            self.add_all()
        else:
            self.add(entries)

    def add_all(self) -> None:
        """All rows."""
        self.everything = True
        self.listed.clear()

    def take(self, size: int) -> Rows | None:
        """The rows, each once, and from now on none; None where there are none."""
        rows = slice(0, size) if self.everything or len(self.listed) > size else rows_of(self.listed)
        self.everything = False
        self.listed.clear()
        return rows
