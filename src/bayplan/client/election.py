"""Leader election by a Lease: at any time at most one of many processes leads.

::

    election = Election(client, namespace="kube-system", name="bayplan-scheduler")
    async with election.leading() as term:      # waits until this process leads
        ...
        if term.valid():                        # before each act that only a leader may do
            ...

The body runs while this process leads. When the lease cannot be renewed the body is cancelled, and `LeadershipLost`
comes out. When the body ends by itself, is cancelled from outside, or raises, the lease is released, and another takes
over at its next look; renewals go on until then, so a body that is cancelled has time to finish what is in flight.

The rules are client-go's, so both can stand for the same lease:

* a lease counts as held until it has not changed for its duration, measured from when *we* saw the last change, on our
  own clock. The times that another process wrote into it are never compared with ours;
* every write names the version that it replaces, so of two that take over at once one is refused;
* the leader writes every retry period, without reading first, as long as nothing went wrong.

What is stricter is told in docs/decisions/0006-leader-election.md.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import socket
import uuid
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.client.lease import LeaseLock, micro_time
from bayplan.client.term import Clocks, Term
from bayplan.errors import (
    ClientError,
    ConfigurationError,
    Conflict,
    LeadershipLost,
    NotFound,
    OutcomeUnknown,
    UsageError,
)
from bayplan.objects.housekeeping import LeaseSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bayplan.client.api import Client
    from bayplan.client.lease import LeaseVersion
    from bayplan.client.term import Moment

_log = logging.getLogger(__name__)

#: Waits between two looks at somebody else's lease are up to this much longer than the retry period: client-go's.
JITTER = 1.2

#: After these a write may have happened, or the lease is not what we took it for: look, and then write again.
_LOOK_AGAIN = (Conflict, NotFound, OutcomeUnknown, TimeoutError)


@dataclass(frozen=True, slots=True)
class Timings:
    """client-go's three durations, in seconds, with the defaults of Kubernetes' own components."""

    #: How long the others wait after the last change that they saw. The Lease holds whole seconds.
    lease_duration: int = 15
    #: How long a leader goes on after it sent the last renewal that succeeded.
    renew_deadline: float = 10.0
    #: Between two renewals, and, with jitter, between two looks at another's lease.
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        problems = []
        if self.lease_duration != int(self.lease_duration):
            problems.append(f"leaseDuration is {self.lease_duration:g} s, but a Lease holds whole seconds")
        if self.lease_duration <= self.renew_deadline:
            problems.append("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= JITTER * self.retry_period:
            problems.append(f"renewDeadline must be greater than {JITTER} times retryPeriod")
        if self.retry_period <= 0:
            problems.append("retryPeriod must be greater than zero")
        if problems:
            raise ConfigurationError("leaderElection", problems)

    @property
    def clock_margin(self) -> float:
        """How far wall clock and elapsed time may drift apart between two renewals.

        A quarter of the time between our stop and another's start; the rest is for what is on its way to the server.
        """
        return (self.lease_duration - self.renew_deadline) / 4

    @property
    def request_timeout(self) -> float:
        """For one request: one that hangs must not cost the leadership."""
        return self.renew_deadline / 2


class Election:
    """One candidate for one lease."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str | None = None,
        timings: Timings = Timings(),
        clocks: Clocks | None = None,
        jitter: random.Random | None = None,
    ) -> None:
        self.identity = identity or f"{socket.gethostname()}_{uuid.uuid4()}"
        self._lock = LeaseLock(client, namespace, name)
        self._timings = timings
        self._clocks = clocks or Clocks()
        self._jitter = jitter or random.Random()
        self._term: Term | None = None
        self._running = False
        #: The newest version that we know of, and whether it is certainly the one that a write of ours left.
        self._lease: LeaseVersion | None = None
        self._certain = False
        #: What somebody last wrote, and when we first saw it.
        self._seen = LeaseSpec()
        self._seen_at = 0.0
        #: The renew times of our last write that succeeded, and of those whose outcome is unknown since. They tell our
        #: writes from those of another process that goes by the same identity.
        self._stamps: deque[str] = deque(maxlen=16)
        #: What went wrong last; empty once a request has succeeded.
        self.problem = ""

    @property
    def holder(self) -> str:
        """Who leads, as far as we have seen; empty when nobody does, or before the first look."""
        return self._seen.holder_identity or ""

    @property
    def is_leader(self) -> bool:
        """Whether this process leads at this moment."""
        return self._term is not None and self._term.valid()

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[Term]:
        """Wait until this process leads, and run the body as long as it does. Can be used again afterwards."""
        if self._running:
            raise UsageError(
                f"{self.identity} already stands for {self._lock}", remedy="make one Election for each task"
            )
        self._running = True
        try:
            self._term = term = await self._campaign()
            async with self._kept(term):
                yield term
        finally:
            await self._leave(self._term)
            self._term = None
            self._running = False

    async def _leave(self, term: Term | None) -> None:
        if term is not None and not term.valid():
            # It runs out by itself, for us as for everybody: something of ours may still be on its way to the server.
            self._certain = False
            self._stamps.clear()
            return
        if term is not None:
            term.end("the lease was given up")
        if self._stamps:
            await self._release()

    # ── becoming leader ──

    async def _campaign(self) -> Term:
        _log.info("%s: standing for election as %s", self._lock, self.identity)
        while True:
            try:
                sent = await self._take()
            except (ClientError, TimeoutError) as error:
                self._complain(error)
            else:
                self.problem = ""
                if sent is not None:
                    term = self._new_term(sent)
                    if term.valid():
                        return term
            await self._clocks.sleep(self._until_next_look())

    def _new_term(self, sent: Moment) -> Term:
        timings = self._timings
        return Term(self._clocks, sent, timings.renew_deadline, timings.clock_margin, self._seen.lease_transitions or 0)

    def _until_next_look(self) -> float:
        """The retry period with jitter, but no longer than another's lease lasts: a dead leader is replaced in time."""
        wait = self._timings.retry_period * self._jitter.uniform(1.0, 1.0 + JITTER)
        left = self._runs_out_at() - self._clocks.elapsed()
        if 0 < left < wait and not self._is_ours(self._seen):
            # Not all who have waited for the same moment should write at the same moment.
            wait = left + self._timings.retry_period * self._jitter.uniform(0.005, 0.05)
        return wait

    # ── staying leader ──

    @asynccontextmanager
    async def _kept(self, term: Term) -> AsyncIterator[None]:
        """Renew the lease during the body, and cancel the body when the term is over."""
        body = asyncio.current_task()
        assert body is not None
        cancelling, lost, leaving = body.cancelling(), asyncio.Event(), asyncio.Event()

        def interrupt(_: asyncio.Task[None]) -> None:
            if not leaving.is_set():
                lost.set()
                body.cancel()

        keeper = asyncio.create_task(self._keep(term), name=f"renew lease {self._lock}")
        keeper.add_done_callback(interrupt)
        try:
            yield
        except asyncio.CancelledError:
            # Somebody else may have cancelled the body as well: then that is what comes out.
            if not lost.is_set() or body.cancelling() > cancelling + 1:
                raise
            raise self._loss(keeper, term) from None
        finally:
            leaving.set()
            if lost.is_set():
                body.uncancel()
            keeper.cancel()
            await asyncio.wait([keeper])
        if lost.is_set():
            # The body has swallowed the cancellation, and ended.
            raise self._loss(keeper, term)

    def _loss(self, keeper: asyncio.Task[None], term: Term) -> BaseException:
        """What ended the term: its time, or a fault of ours."""
        if keeper.done() and not keeper.cancelled() and (fault := keeper.exception()):
            term.end(f"renewing failed: {fault!r}")
            return fault
        return LeadershipLost(f"{self.identity} no longer leads by lease {self._lock}: {term.ending}")

    async def _keep(self, term: Term) -> None:
        """Renew until the term is over."""
        _log.info("%s: %s leads", self._lock, self.identity)
        while term.valid():
            await self._clocks.sleep(min(self._timings.retry_period, term.remaining))
            if not term.valid():
                break
            try:
                sent = await self._take(term)
            except (ClientError, TimeoutError) as error:
                self._complain(error)
                continue
            self.problem = ""
            if sent is None:
                term.end(f"the lease is held by {self.holder or 'nobody'} now")
            else:
                term.renew(sent)
        _log.warning("%s: %s no longer leads: %s", self._lock, self.identity, term.ending)

    # ── reading and writing the lease ──

    async def _take(self, term: Term | None = None) -> Moment | None:
        """Take the lease, or keep it. When the write that succeeded was sent; None when the lease is another's."""
        if self._certain and self._lease is not None and self._is_ours(self._lease.spec):
            try:
                return await self._write(self._lease, term)
            except _LOOK_AGAIN as error:
                _log.debug("%s: looking at the lease, since a write failed: %r", self._lock, error)
        asked = self._clocks.elapsed()
        limit = self._limit(term)
        async with asyncio.timeout(limit):
            lease = await self._lock.get(timeout=limit)
        if lease is not None:
            self._see(lease.spec)
            # In a term, a lease that is not ours is lost, even when it is free by now: somebody else may have led.
            if not self._is_ours(lease.spec) and (term is not None or asked < self._runs_out_at()):
                return None
        return await self._write(lease, term)

    async def _write(self, lease: LeaseVersion | None, term: Term | None) -> Moment:
        sent = self._clocks.read()
        stamp = micro_time(sent.wall)
        spec = self._claim(lease, stamp, again=term is not None)
        self._certain = False
        self._stamps.append(stamp)
        limit = self._limit(term)
        async with asyncio.timeout(limit):
            if lease is None:
                self._lease = await self._lock.create(spec, timeout=limit)
            else:
                self._lease = await self._lock.update(lease, spec, timeout=limit)
        self._certain = True
        self._stamps.clear()
        self._stamps.append(stamp)
        self._see(self._lease.spec)
        return sent

    def _claim(self, lease: LeaseVersion | None, now: str, *, again: bool) -> LeaseSpec:
        """What to write: a renewal keeps the time since when we lead; a change of hands is counted."""
        before = self._seen if lease is None else lease.spec
        # A lease that was deleted under us is made anew as it was.
        kept = again if lease is None else self._is_ours(lease.spec)
        transitions = before.lease_transitions
        return LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=int(self._timings.lease_duration),
            acquire_time=(before.acquire_time if kept else None) or now,
            renew_time=now,
            lease_transitions=0 if transitions is None else transitions + (not kept),
        )

    async def _release(self) -> None:
        """Say that nobody holds the lease, so that the next one need not wait until it runs out."""
        try:
            async with asyncio.timeout(self._timings.request_timeout):
                while not await self._try_release():
                    await self._clocks.sleep(self._timings.retry_period / 10)
        except TimeoutError:
            _log.warning(
                "%s: not released (%s); others take over when it has run out", self._lock, self.problem or "no answer"
            )

    async def _try_release(self) -> bool:
        limit = self._timings.request_timeout
        try:
            lease = self._lease if self._certain else await self._lock.get(timeout=limit)
            if lease is None or not self._is_ours(lease.spec):
                return True
            self._certain = False
            now = micro_time(self._clocks.wall())
            self._lease = await self._lock.update(
                lease, LeaseSpec("", 1, now, now, lease.spec.lease_transitions), timeout=limit
            )
        except ClientError as error:
            self.problem = str(error)
            return False
        self._stamps.clear()
        self._see(self._lease.spec)
        return True

    def _limit(self, term: Term | None) -> float:
        """How long one request may take."""
        limit = self._timings.request_timeout
        return limit if term is None else min(limit, term.remaining)

    def _is_ours(self, spec: LeaseSpec) -> bool:
        return spec.holder_identity == self.identity and spec.renew_time in self._stamps

    def _runs_out_at(self) -> float:
        """When the lease that we have seen can be taken, on our clock."""
        if not self.holder:
            return -math.inf
        duration = self._seen.lease_duration_seconds
        return self._seen_at + (self._timings.lease_duration if duration is None else duration)

    def _see(self, spec: LeaseSpec) -> None:
        if spec == self._seen:
            return
        if spec.holder_identity != self._seen.holder_identity:
            _log.info("%s: the leader is now %s", self._lock, spec.holder_identity or "nobody")
        elif spec.holder_identity == self.identity and not self._is_ours(spec):
            _log.error("%s: another process goes by our identity %s", self._lock, self.identity)
        self._seen = spec
        self._seen_at = self._clocks.elapsed()

    def _complain(self, error: Exception) -> None:
        """Warn of a new problem once; the same again is for those who debug."""
        problem = str(error) or "the API server did not answer in time"
        level = logging.DEBUG if problem == self.problem else logging.WARNING
        self.problem = problem
        _log.log(level, "%s: the lease could not be read or written: %s", self._lock, problem)
