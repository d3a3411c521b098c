"""Never two leaders at one time, though processes pause, machines stand still, clocks are set, and answers get lost.

One loop's virtual time is the true time. Each candidate sees it through clocks of its own, and reaches the server over
a line of its own. What it does while it is paused has no effect before the pause is over: its requests wait, its timers
count its own time, and nobody asks it whether it leads, since it could not act.
"""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.client.api import Client
from bayplan.client.election import Election, Timings
from bayplan.client.term import Clocks
from bayplan.client.transport import no_answer
from bayplan.errors import LeadershipLost, Unreachable
from bayplan.testing.collection import Reply
from bayplan.testing.effort import examples
from bayplan.testing.virtual_time import run_virtual

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.client.transport import Request

TIMINGS = Timings()

#: Faults happen until then; afterwards all is well, and somebody must lead.
TROUBLED, CALM = 90.0, 60.0

Kind = Literal["process", "machine"]


@dataclass(frozen=True)
class Pause:
    """A process that does not run; on a machine that stands still, its clocks do not run either."""

    at: float
    seconds: float
    kind: Kind


@dataclass(frozen=True)
class Passage:
    """How one request fares: seconds there and back, and what gets lost."""

    there: float = 0.005
    back: float = 0.005
    lost: Literal["", "request", "answer"] = ""


@dataclass(frozen=True)
class Life:
    """What happens to one candidate."""

    starts: float = 0.0
    #: When it stops for ever without a word; None to live on.
    dies: float | None = None
    pauses: tuple[Pause, ...] = ()
    #: Moments at which the wall clock is set, and by how much. Not for machines that stand still: a clock that is set
    #: back by just the length of a pause hides it, and no process can know.
    steps: tuple[tuple[float, float], ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass
class Store:
    """One lease, as the API server keeps it."""

    changed: Callable[[], object]
    document: dict[str, Any] | None = None
    version: int = 0

    def answer(self, request: Request) -> Reply:
        there = self.document
        if request.method == "GET":
            return Reply(200, json.dumps(there).encode()) if there else Reply.failure(404, "NotFound")
        sent = json.loads(request.body)
        if request.method == "POST" and there is not None:
            return Reply.failure(409, "AlreadyExists")
        if request.method == "PUT" and (there is None or sent["metadata"] != there["metadata"]):
            return Reply.failure(409, "Conflict")
        self.version += 1
        self.document = {**sent, "metadata": {"name": "bayplan", "resourceVersion": str(self.version)}}
        self.changed()
        return Reply(200, json.dumps(self.document).encode())


@dataclass
class Candidate:
    """One process, its clocks, and its line to the server."""

    life: Life
    store: Store
    number: int
    _passages: list[Passage] = field(init=False)
    election: Election = field(init=False)

    def __post_init__(self) -> None:
        self._passages = list(reversed(self.life.passages))
        clocks = Clocks(self.elapsed, self.wall, self.sleep)
        jitter = random.Random(self.number)
        self.election = Election(
            Client(self), namespace="n", name="bayplan", identity=f"#{self.number}", clocks=clocks, jitter=jitter
        )

    async def live(self) -> None:
        await asyncio.sleep(self.life.starts)
        while True:
            with suppress(LeadershipLost):
                async with self.election.leading():
                    await asyncio.Event().wait()

    # ── its clocks ──

    def elapsed(self) -> float:
        true = _true_time()
        machine = [pause for pause in self.life.pauses if pause.kind == "machine"]
        return true - sum(min(pause.seconds, max(0.0, true - pause.at)) for pause in machine)

    def wall(self) -> float:
        true = _true_time()
        for pause in self.life.pauses:
            if pause.kind == "machine" and pause.at <= true < pause.at + pause.seconds:
                true = pause.at
        return 1_790_000_000.0 + true + sum(by for at, by in self.life.steps if at <= true)

    async def sleep(self, seconds: float) -> None:
        until = self.elapsed() + seconds
        while (left := until - self.elapsed()) > 0:
            await asyncio.sleep(max(left, 1e-6))
            await self.awake()

    def paused_until(self) -> float:
        """When the pause of this moment is over; 0 when there is none."""
        true = _true_time()
        if self.life.dies is not None and true >= self.life.dies:
            return 1e9
        return max((p.at + p.seconds for p in self.life.pauses if p.at <= true < p.at + p.seconds), default=0.0)

    async def awake(self) -> None:
        until = self.paused_until()
        if until:
            await asyncio.sleep(until - _true_time())
            await self.awake()

    # ── its line ──

    async def send(self, request: Request) -> Reply:
        passage = self._passages.pop() if self._passages and _true_time() < TROUBLED else Passage()
        await self.awake()
        if passage.lost == "request":
            raise Unreachable("connection refused")
        # What has left is on its way, whatever becomes of who sent it.
        reply = await asyncio.shield(asyncio.ensure_future(self._carry(request, passage.there)))
        await asyncio.sleep(passage.back)
        await self.awake()
        if passage.lost == "answer":
            raise no_answer(request, "connection reset by peer")
        return reply

    async def _carry(self, request: Request, seconds: float) -> Reply:
        await asyncio.sleep(seconds)
        return self.store.answer(request)

    async def aclose(self) -> None: ...


def _true_time() -> float:
    return asyncio.get_running_loop().time()


class World:
    """Some candidates, one lease, and an eye on who leads."""

    def __init__(self, lives: list[Life]) -> None:
        self.candidates: list[Candidate] = []
        store = Store(self.look)
        self.candidates = [Candidate(life, store, number) for number, life in enumerate(lives)]
        self.terms = 0

    def look(self) -> list[str]:
        """Those who would act as the leader at this moment."""
        leaders = [c.election.identity for c in self.candidates if not c.paused_until() and c.election.is_leader]
        assert len(leaders) <= 1, f"at {_true_time():.3f} s {' and '.join(leaders)} lead"
        return leaders

    async def run(self, seconds: float = TROUBLED + CALM) -> None:
        tasks = [asyncio.create_task(candidate.live()) for candidate in self.candidates]
        try:
            while _true_time() < seconds:
                self.look()
                await asyncio.sleep(0.1)
            assert not any(task.done() for task in tasks)
            if any(c.life.dies is None for c in self.candidates):
                assert self.look(), "nobody leads, though nothing has gone wrong for a minute"
        finally:
            for task in tasks:
                task.cancel()
            for candidate in self.candidates:
                candidate.life = Life()
            await asyncio.wait(tasks)


_moments = st.floats(0, TROUBLED)
_delays = st.sampled_from([0.001, 0.05, 0.4, 1.5, 3.0, 4.9, 6.0, 11.0, 17.0, 30.0])
_passages = st.lists(
    st.builds(Passage, _delays, _delays, st.sampled_from(["", "", "", "request", "answer"])), max_size=25
).map(tuple)
_pauses = st.lists(
    st.builds(
        Pause,
        st.floats(0, TROUBLED - 30),
        st.sampled_from([0.3, 1.0, 1.2, 2.0, 4.0, 6.0, 10.0, 14.5, 16.0, 30.0]),
        st.sampled_from(["process", "machine"]),
    ),
    max_size=4,
).map(tuple)
_steps = st.lists(st.tuples(_moments, st.sampled_from([-3600.0, -5.0, -1.0, 0.5, 1.0, 2.0, 20.0])), max_size=4).map(
    tuple
)
_starts = st.floats(0, 20)
_deaths = st.none() | st.floats(1, TROUBLED)
_lives = st.builds(Life, _starts, _deaths, _pauses, st.just(()), _passages) | st.builds(
    Life, _starts, _deaths, st.just(()), _steps, _passages
)


@given(lives=st.lists(_lives, min_size=2, max_size=3))
@settings(max_examples=examples(40), deadline=None)
def test_there_are_never_two_leaders_at_one_time_and_in_the_end_there_is_one(lives: list[Life]) -> None:
    async def run() -> None:
        await World(lives).run()

    run_virtual(run())


@given(length=st.integers(4, 36), at=st.integers(1, 12), kind=st.sampled_from(["process", "machine"]))
@settings(max_examples=examples(50), deadline=None)
def test_a_leader_that_wakes_from_a_pause_does_not_lead_beside_its_successor(length: int, at: int, kind: Kind) -> None:
    """The moment of waking is the dangerous one: nothing of the leader has run yet that could have told it."""

    async def run() -> None:
        world = World([Life(pauses=(Pause(at / 2, length / 2, kind),)), Life(starts=0.2)])
        await world.run(seconds=45)

    run_virtual(run())
