"""Records events without waiting, and sends them to the API server in the background.

Events are for people. Whatever becomes of them, nothing that places a pod may wait for them or fail because of them.
So `record` only takes note; what cannot be sent in time is counted, logged now and then, and left out.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import socket
import time
import uuid
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import msgspec

from bayplan.client.api import NO_PATIENCE
from bayplan.client.backoff import Backoff
from bayplan.client.codec import encode
from bayplan.client.events.series import EventLimits, Occurrence, Outbox
from bayplan.client.lease import micro_time
from bayplan.client.patches import MergePatch
from bayplan.errors import (
    AlreadyExists,
    ApiError,
    BayplanError,
    ClientError,
    NotFound,
    ServerError,
    TooManyRequests,
    Unreachable,
    UsageError,
)
from bayplan.objects.housekeeping import EVENTS, Event, EventSeries
from bayplan.objects.meta import ObjectMeta, ObjectReference

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.client.api import Client
    from bayplan.client.events.series import EventType

_log = logging.getLogger(__name__)

#: What the API server accepts, in bytes of UTF-8.
_LONGEST_WORD = 128
_LONGEST_NOTE = 1024
_LONGEST_NAME = 253

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
#: A qualified name: `kubelet`, `example.com/my-controller`.
_CONTROLLER = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

#: Seconds between two looks at the series; several in each `finish`.
_SWEEP = 60.0

#: Seconds to the second try, and the longest wait before a later one.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 10.0

#: A problem that goes on is warned of again after so many seconds.
_SAY_AGAIN = 600.0


@dataclass(frozen=True, slots=True)
class EventHealth:
    """What became of the events so far."""

    #: Calls of `record`.
    recorded: int
    #: Those among them that only raised the count of a series.
    aggregated: int
    #: Requests that succeeded.
    created: int
    patched: int
    #: Left out because too many waited, and because the server refused them or could not be reached for too long.
    dropped: int
    failed: int
    #: At this moment.
    waiting: int
    in_flight: int
    series: int
    #: What went wrong last; empty once a request has succeeded.
    problem: str


class EventRecorder:
    """The events of one controller. `record` is for the event loop's own thread."""

    def __init__(
        self,
        client: Client,
        controller: str,
        *,
        instance: str | None = None,
        limits: EventLimits | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        if not _CONTROLLER.fullmatch(controller):
            raise UsageError(
                f"{controller!r} cannot be the reporting controller of an event",
                remedy="give a qualified name such as bayplan-scheduler or example.com/my-scheduler",
            )
        self._client = client
        self._controller = controller
        self._instance = _clip(instance or f"{controller}-{socket.gethostname()}", _LONGEST_WORD)
        self._limits = limits = limits or EventLimits()
        self._clock = clock
        self._outbox = Outbox(limits)
        self._bucket = TokenBucket(limits.rate, limits.burst)
        #: Senders that have nothing to do.
        self._idle: deque[asyncio.Future[None]] = deque()
        self._quiet = asyncio.Event()
        self._running = False
        self._created = self._patched = self._failed = self._in_flight = 0
        self._problem = ""
        #: What was last warned of, and when.
        self._warned = ("", 0.0)

    @property
    def health(self) -> EventHealth:
        """What became of the events so far."""
        outbox = self._outbox
        return EventHealth(
            recorded=outbox.recorded,
            aggregated=outbox.aggregated,
            created=self._created,
            patched=self._patched,
            dropped=outbox.dropped,
            failed=self._failed,
            waiting=outbox.waiting,
            in_flight=self._in_flight,
            series=outbox.series,
            problem=self._problem,
        )

    def record(
        self,
        *,
        regarding: ObjectReference,
        reason: str,
        action: str,
        note: str,
        type: EventType = "Normal",  # noqa: A002 - so the API calls it
        related: ObjectReference | None = None,
    ) -> None:
        """Something has happened to an object. Never waits, and never fails for what the API server might say.

        `reason` and `action` are short words in CamelCase: why this event, and what was being done. What is too long
        is cut off.
        """
        if self._outbox.record(regarding, related, reason, action, note, type, self._clock()):
            self._wake()

    async def run(self) -> NoReturn:
        """Send what is recorded, until cancelled. What was recorded before is sent as well."""
        self._running = True
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self._limits.in_flight):
                    tasks.create_task(self._send_all())
                while True:
                    await asyncio.sleep(_SWEEP)
                    if self._outbox.sweep(self._clock()):
                        self._wake(self._limits.in_flight)
        finally:
            self._running = False
            self._idle.clear()

    async def drain(self, timeout: float) -> int:
        """Wait until everything is told, the counts of all series included; how many events are left untold."""
        # A `run` that has just been made a task has begun after this.
        await asyncio.sleep(0)
        self._outbox.tell_all()
        self._wake(self._limits.in_flight)
        try:
            async with asyncio.timeout(timeout):
                while self._running and self._busy:
                    self._quiet.clear()
                    await self._quiet.wait()
        except TimeoutError:
            pass
        return self._outbox.waiting + self._in_flight

    # ── sending ──

    @property
    def _busy(self) -> bool:
        return self._in_flight > 0 or self._outbox.waiting > 0

    def _wake(self, senders: int = 1) -> None:
        while senders and self._idle:
            sender = self._idle.popleft()
            if not sender.done():
                sender.set_result(None)
                senders -= 1

    async def _send_all(self) -> NoReturn:
        """One of the senders: at most one request at a time."""
        loop = asyncio.get_running_loop()
        while True:
            occurrence = self._outbox.take()
            if occurrence is None:
                self._idle.append(nothing_to_do := loop.create_future())
                await nothing_to_do
                continue
            self._in_flight += 1
            try:
                await self._insist(occurrence)
            finally:
                self._in_flight -= 1
                if not self._busy:
                    self._quiet.set()

    async def _insist(self, occurrence: Occurrence) -> None:
        """Send one event until it is there, is refused, or has been tried often enough."""
        backoff = Backoff(_FIRST_WAIT, _LONGEST_WAIT)
        #: The count with which it may have been created, by a request whose answer was lost.
        in_doubt = 0
        for _ in range(self._limits.tries):
            if wait := self._bucket.take(asyncio.get_running_loop().time()):
                await asyncio.sleep(wait)
            count = occurrence.count
            try:
                await self._tell(occurrence)
            except AlreadyExists:
                if not in_doubt:
                    # Another process has had the same idea of a name at the same nanosecond.
                    occurrence.name = _event_name(occurrence.regarding.name, self._clock())
                    continue
                count = in_doubt
            except NotFound as error:
                if not occurrence.told:
                    self._give_up(occurrence, error)
                    return
                # The server keeps events for an hour, and has forgotten this one.
                occurrence.told = 0
                continue
            except UsageError as error:
                # A namespace that no path can have, from whoever made up the reference.
                self._give_up(occurrence, error)
                return
            except ClientError as error:
                if _refuses(error):
                    self._give_up(occurrence, error)
                    return
                if not isinstance(error, Unreachable | TooManyRequests):
                    in_doubt = in_doubt or count
                self._complain(error)
                await asyncio.sleep(backoff.next(at_least=error.retry_after if isinstance(error, ApiError) else None))
                continue
            self._problem = ""
            self._outbox.sent(occurrence, count, self._clock())
            return
        self._give_up(occurrence, None)

    async def _tell(self, occurrence: Occurrence) -> None:
        """One request: the event itself, or how often it has happened since."""
        namespace = occurrence.regarding.namespace or "default"
        if not occurrence.told:
            occurrence.name = occurrence.name or _event_name(occurrence.regarding.name, occurrence.first)
            body = encode(EVENTS, self._event(occurrence, namespace))
            await self._client.raw("POST", EVENTS.path(namespace=namespace), body, patience=NO_PATIENCE)
            self._created += 1
            return
        patch = MergePatch({"series": _series(occurrence)})
        path = EVENTS.path(namespace=namespace, name=occurrence.name)
        body = msgspec.json.encode(patch.body)
        await self._client.raw("PATCH", path, body, media_type=patch.media_type, patience=NO_PATIENCE)
        self._patched += 1

    def _event(self, occurrence: Occurrence, namespace: str) -> Event:
        return Event(
            metadata=ObjectMeta(name=occurrence.name, namespace=namespace),
            event_time=micro_time(occurrence.first / 1e9),
            series=_series(occurrence) if occurrence.count > 1 else None,
            reporting_controller=self._controller,
            reporting_instance=self._instance,
            action=_clip(occurrence.action, _LONGEST_WORD),
            reason=_clip(occurrence.reason, _LONGEST_WORD),
            regarding=occurrence.regarding,
            related=occurrence.related,
            note=_clip(occurrence.note, _LONGEST_NOTE),
            type=occurrence.type,
        )

    def _give_up(self, occurrence: Occurrence, error: BayplanError | None) -> None:
        self._failed += 1
        self._outbox.refused(occurrence)
        # A namespace on its way out takes no events any more, and nobody misses them.
        leaving = isinstance(error, ApiError) and (
            isinstance(error, NotFound) or "NamespaceTerminating" in error.causes
        )
        if error is not None and not leaving:
            self._complain(error)

    def _complain(self, error: BayplanError) -> None:
        """Warn of a new problem at once, and of one that lasts now and then."""
        self._problem = problem = str(error)
        now = asyncio.get_running_loop().time()
        last, at = self._warned
        # Messages name the event, so problems are told apart by their kind.
        kind = f"{type(error).__name__} {getattr(error, 'reason', '')}"
        if kind == last and now - at < _SAY_AGAIN:
            return
        self._warned = kind, now
        _log.warning("an event could not be written: %s", problem)


class TokenBucket:
    """Lets so many through a second, and so many at once after a quiet time."""

    def __init__(self, rate: float, burst: int) -> None:
        self._apart = 1.0 / rate
        self._burst = (burst - 1) / rate
        #: When the next one would go if all went evenly.
        self._next = -math.inf

    def take(self, now: float) -> float:
        """Seconds to wait before going; the place is taken."""
        mine = max(self._next, now - self._burst)
        self._next = mine + self._apart
        return max(0.0, mine - now)


def _refuses(error: ClientError) -> bool:
    """Whether the same request would be answered the same."""
    return isinstance(error, ApiError) and not isinstance(error, ServerError | TooManyRequests)


def _namespace_leaves(error: ClientError) -> bool:
    """Whether the namespace is gone or on its way out: then nobody misses the event."""
    return isinstance(error, NotFound) or (isinstance(error, ApiError) and "NamespaceTerminating" in error.causes)


def _series(occurrence: Occurrence) -> EventSeries:
    return EventSeries(occurrence.count, micro_time(occurrence.last / 1e9))


def _event_name(regarding: str, nanoseconds: int) -> str:
    """The object's name and the time, as client-go names events; objects may have names that events may not."""
    name = f"{regarding}.{nanoseconds:x}"
    return name if len(name) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(name) else str(uuid.uuid4())


def _clip(text: str, most: int) -> str:
    """Text that is no longer than so many bytes of UTF-8, and is valid UTF-8 whatever a plugin put into it."""
    if text.isascii() and len(text) <= most:
        return text
    encoded = text.encode(errors="replace")
    if len(encoded) <= most:
        return encoded.decode()
    return encoded[: most - 3].decode(errors="ignore") + "..."
