"""The one source of chance: a generator of random numbers with the few questions that workloads ask.

Everything else in these modules is a function of its answers, so a seed stands for a whole scenario.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")


class Dice:
    """Seeded by text, so that neighbouring seeds and flavours have nothing in common."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def one(self, items: Sequence[T]) -> T:
        """Any of them, each as likely as another."""
        return self._random.choice(items)

    def weighted(self, items: Mapping[T, float]) -> T:
        """One of the keys, as likely as its value says."""
        return self._random.choices(list(items), list(items.values()))[0]

    def some(self, items: Sequence[T], least: int, most: int) -> list[T]:
        """A few of them, no place twice."""
        return self._random.sample(items, min(len(items), self._random.randint(least, most)))

    def number(self, least: int, most: int) -> int:
        """A whole number between both, inclusive."""
        return self._random.randint(least, most)
