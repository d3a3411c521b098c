"""An event loop whose clock jumps: what waits for an hour is tested in a millisecond, and exactly.

::

    @virtual_time
    async def test_it_gives_up_after_an_hour() -> None:
        ...

Nothing in such a test may wait for the outside world, since the clock runs ahead of it. A test that waits for what
can no longer happen fails at once, instead of hanging.
"""

from __future__ import annotations

import asyncio
import selectors
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")

#: Real seconds that another thread (a name being looked up) gets before a loop without timers counts as stuck.
_GRACE_SECONDS = 5.0


class Stuck(AssertionError):
    """Every task waits, no timer runs, and nobody is left who could wake them."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop that, instead of waiting for its next timer, sets its clock to it."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        """Seconds since the loop was made, most of which nobody waited for."""
        return self._now

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait for the threads as long as it takes, in real time: a timer would be jumped over before they end."""
        await super().shutdown_default_executor()

    def _jump(self, seconds: float) -> None:
        # A timer fires when the clock has reached its time; rounding must not leave it just short of that.
        self._now += seconds + 1e-9


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is not None:
            self._jump(timeout)
            return []
        ready = super().select(_GRACE_SECONDS)
        if not ready:
            raise Stuck("the test waits for something that nothing is left to bring about")
        return ready


def run_virtual(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end on a clock of its own that starts at 0."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(coroutine)


def virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Turn an async test into a plain one that runs on virtual time."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        run_virtual(test(*args, **kwargs))

    return run
