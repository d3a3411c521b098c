"""Things that are compared often, as small numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    T = TypeVar("T", bound=Hashable)
else:
    T = TypeVar("T")


class Interner(Generic[T]):
    """A number for each thing, given out in the order of their coming and never taken back."""

    __slots__ = ("_number_of", "things")

    def __init__(self) -> None:
        self._number_of: dict[T, int] = {}
        #: By number.
        self.things: list[T] = []

    def __len__(self) -> int:
        return len(self.things)

    def __iter__(self) -> Iterator[T]:
        return iter(self.things)

    def number(self, thing: T) -> int:
        """The thing's number; a new one if it has none."""
        number = self._number_of.get(thing)
        if number is None:
            number = self._number_of[thing] = len(self.things)
            self.things.append(thing)
        return number

    def find(self, thing: T) -> int:
        """The thing's number, or -1."""
        return self._number_of.get(thing, -1)
