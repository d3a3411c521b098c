"""Virtual time: waits cost nothing, order and durations are exact, and a test that can never end fails."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from bayplan.testing.virtual_time import Stuck, run_virtual, virtual_time


@virtual_time
async def test_the_clock_starts_at_zero_and_jumps_to_each_timer() -> None:
    began = time.monotonic()
    loop = asyncio.get_running_loop()
    assert loop.time() < 0.001
    await asyncio.sleep(3600)
    assert loop.time() == pytest.approx(3600, abs=0.001)
    assert time.monotonic() - began < 60


@virtual_time
async def test_timers_fire_in_their_order() -> None:
    order: list[str] = []

    async def after(seconds: float, name: str) -> None:
        await asyncio.sleep(seconds)
        order.append(name)

    await asyncio.gather(after(30, "c"), after(10, "a"), after(20, "b"))
    assert order == ["a", "b", "c"]


@virtual_time
async def test_a_timeout_comes_on_time() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(90):
            await asyncio.sleep(91)
    assert asyncio.get_running_loop().time() == pytest.approx(90, abs=0.001)


@virtual_time
async def test_work_in_a_thread_is_waited_for() -> None:
    assert await asyncio.to_thread(lambda: 42) == 42


@virtual_time
async def test_threads_end_in_real_time_however_short_their_shutdown_may_be() -> None:
    """Since Python 3.12 a runner allows threads 300 s to end, on the loop's own clock."""
    loop = asyncio.get_running_loop()
    busy = threading.Event()
    work = loop.run_in_executor(None, busy.wait)
    shutdown = asyncio.ensure_future(loop.shutdown_default_executor(300))  # type: ignore[call-arg]
    for _ in range(100):
        await asyncio.sleep(0)
    threading.Timer(0.05, busy.set).start()
    await shutdown
    assert await work
    assert loop.time() < 1


def test_a_test_that_can_never_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayplan.testing.virtual_time._GRACE_SECONDS", 0.01)

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck):
        run_virtual(wait_for_ever())
