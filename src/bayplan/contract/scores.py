"""How raw scores become points from 0 to 100.

A normaliser looks at the scores of all feasible nodes once (`measure`) and then turns any of them into points
(`apply`). The two are apart so that one node's points can be worked out again while the measure stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from bayplan.columns.arrays import Floats, Ints

    Scores = Ints | Floats

#: The best a node can get from one plugin, before its weight.
MOST_POINTS = 100

#: Beyond this, the difference of two scores may not fit 64 bits.
_HUGE = 2.0**61

#: What was measured: compared to see whether points that were given still hold.
Measure = tuple[float, ...]


class Normalizer(Protocol):
    """Turns raw scores into points."""

    def measure(self, scores: Scores) -> Measure:
        """What has to be known of the scores of all feasible nodes; there is at least one."""

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """The points for some of them."""


@dataclass(frozen=True, slots=True)
class AsTheyAre:
    """The scores are points already."""

    def measure(self, scores: Scores) -> Measure:
        """Nothing."""
        return ()

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """Themselves."""
        return scores.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class ByLargest:
    """In proportion to the largest; reversed, the largest gets nothing."""

    reverse: bool = False

    def measure(self, scores: Scores) -> Measure:
        """The largest score, no less than 0."""
        return (max(scores.max().item(), 0),)

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """Integers, rounded down, as kube-scheduler has them."""
        largest = measure[0]
        if largest == 0:
            return np.full(len(scores), MOST_POINTS if self.reverse else 0, dtype=np.int64)
        points = (MOST_POINTS * scores // largest).astype(np.int64, copy=False)
        return MOST_POINTS - points if self.reverse else points


@dataclass(frozen=True, slots=True)
class BetweenExtremes:
    """The least gets 0, the largest 100, and what is between in proportion. All get 0 where they are all the same."""

    def measure(self, scores: Scores) -> Measure:
        """The least and the largest."""
        return scores.min().item(), scores.max().item()

    def apply(self, scores: Scores, measure: Measure) -> Ints:
        """Integers, rounded towards zero."""
        least, largest = measure
        if least == largest:
            return np.zeros(len(scores), dtype=np.int64)
        if max(abs(least), abs(largest)) > _HUGE:
            # Halved, neither do integers wrap around nor floats end in infinity.
            scores, least, largest = scores / 2, least / 2, largest / 2
        return (MOST_POINTS * ((scores - least) / float(largest - least))).astype(np.int64)
