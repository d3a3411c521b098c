"""How long a leader may act: asked before every act, answered from clocks alone, without a word to anybody.

The others wait `leaseDuration` after the last renewal that they *saw*, which is later than it was *sent*. A leader that
stops `renewDeadline` after it sent its last good renewal therefore stops before any other can begin, as long as its
clock has seen all the time that has passed. So the clock is one that counts suspended time. A paused virtual machine
may count nothing at all; but its wall clock is set right sooner or later, and so runs apart from the first clock.
When the two are apart by more than a margin, nobody knows what the time is, and the term is over.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


#: Goes on while the machine sleeps. Linux has a clock of its own for that; macOS gives it the name that means a clock
#: without sleep elsewhere.
_COUNTING_SLEEP: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def elapsed_time() -> float:
    """Seconds that have really passed since some moment, as far as this machine can know."""
    return time.clock_gettime(_COUNTING_SLEEP)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The two clocks that guard a term, and how to wait. Tests give their own."""

    #: Seconds that never go back and never stand still.
    elapsed: Callable[[], float] = elapsed_time
    #: Seconds since 1970, as this machine believes.
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def read(self) -> Moment:
        """Both clocks at one moment, with how far apart the readings were."""
        before = self.elapsed()
        wall = self.wall()
        return Moment(before, wall, self.elapsed())


@dataclass(frozen=True, slots=True)
class Moment:
    """Both clocks, read one after the other."""

    before: float
    wall: float
    after: float


class Term:
    """The time in which this process leads. Once it is over, it is over for good."""

    __slots__ = ("_clocks", "_duration", "_ended", "_margin", "_since", "ending", "transitions")

    def __init__(self, clocks: Clocks, since: Moment, duration: float, margin: float, transitions: int = 0) -> None:
        self._clocks = clocks
        #: When the last good renewal was sent.
        self._since = since
        self._duration = duration
        self._margin = margin
        self._ended = asyncio.Event()
        #: Why the term is over; empty while it is not.
        self.ending = ""
        #: How often the lease had changed hands when this term began: a later term has a higher number.
        self.transitions = transitions

    def valid(self) -> bool:
        """Whether this process leads at this moment. Ask before every act that only a leader may do: it is cheap."""
        if self.ending:
            return False
        elapsed, wall, clock = self._clocks.elapsed, self._clocks.wall, self._since
        before = elapsed()
        wall_passed = wall() - clock.wall
        after = elapsed()
        if after - clock.before >= self._duration:
            self.end(f"the lease was not renewed for {after - clock.before:.1f} s")
            return False
        # However long the process was kept waiting between two readings, the wall clock's lies between the others.
        if before - clock.after - self._margin <= wall_passed <= after - clock.before + self._margin:
            return True
        jump = wall_passed - (after - clock.before)
        self.end(f"the wall clock jumped by {jump:+.1f} s, so nobody knows how long this machine stood still")
        return False

    @property
    def remaining(self) -> float:
        """Seconds for which the term holds if it is not renewed."""
        if not self.valid():
            return 0.0
        return max(0.0, self._duration - (self._clocks.elapsed() - self._since.before))

    def renew(self, sent: Moment) -> bool:
        """Count from a renewal that was sent then and has succeeded; False when it came too late."""
        if not self.valid():
            return False
        self._since = sent
        return True

    def end(self, why: str) -> None:
        """It is over. The first reason stands."""
        if not self.ending:
            self.ending = why
            self._ended.set()

    async def over(self) -> str:
        """Wait until somebody has noticed that the term is over; returns why."""
        await self._ended.wait()
        return self.ending
