"""What changed since: a bounded log that many readers follow, each at its own pace.

A reader keeps the position up to which it has read. One that has fallen behind what is kept is told so, and then reads
everything from scratch; that is dear and therefore rare: the log keeps several times as much as there are rows.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class ChangeLog(Generic[T]):
    """Entries, the oldest of which are let go."""

    __slots__ = ("_begin", "_entries", "_keep", "position")

    def __init__(self, keep: int = 16_384) -> None:
        self._entries: list[T] = []
        self._begin = 0
        self._keep = keep
        #: Where the next entry goes: what a reader that has read everything remembers.
        self.position = 0

    @property
    def last(self) -> T | None:
        """The entry that came last."""
        return self._entries[-1] if self._entries else None

    def append(self, entry: T) -> None:
        """Note a change."""
        self._entries.append(entry)
        self.position += 1
        if len(self._entries) > 2 * self._keep:
            del self._entries[: -self._keep]
            self._begin = self.position - self._keep

    def extend(self, entries: list[T]) -> None:
        """Note several changes."""
        self._entries.extend(entries)
        self.position += len(entries)
        if len(self._entries) > 2 * self._keep:
            del self._entries[: -self._keep]
            self._begin = self.position - self._keep

    def keep_at_least(self, count: int) -> None:
        """Keep this many entries from now on, if that is more than so far."""
        self._keep = max(self._keep, count)

    def since(self, position: int) -> list[T] | None:
        """The entries from this position on, or None where some of them are gone."""
        if position < self._begin:
            return None
        return self._entries[position - self._begin :]
