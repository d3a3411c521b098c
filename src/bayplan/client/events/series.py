"""What is to be told: events that repeat become one series, and what cannot be told in time is left out.

No clock, no loop, no network: calls and times in, occurrences to send out. The rules of a series are client-go's
(`tools/events`), so an event looks the same whoever wrote it:

* events that agree in everything but their note and time are the same event, happening again;
* the first time, the event is created. The second time it becomes a series, which is told at once. From then on it is
  counted, and told again every half an hour, and when it has not happened for six minutes.

Every memory here is bounded. `validate` says what holds between two calls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.objects.meta import ObjectReference

EventType = Literal["Normal", "Warning"]
Key: TypeAlias = tuple[object, ...]

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class EventLimits:
    """How much is sent and remembered. Why these: docs/decisions/0007-events.md."""

    #: Requests a second, in the long run and at once.
    rate: float = 2_500.0
    burst: int = 5_000
    #: Requests on their way at the same time.
    in_flight: int = 32
    #: Events that wait to be sent. Beyond, the oldest are dropped: Normal ones first.
    waiting: int = 50_000
    #: Times that one event is sent before it is given up.
    tries: int = 12
    #: Events that have happened once, and could become a series; and series.
    singles: int = 16_384
    series: int = 4_096
    #: Seconds after which a series that did not go on is over, and after which one that goes on is told again.
    finish: float = 360.0
    refresh: float = 1_800.0


class Occurrence(msgspec.Struct, eq=False, gc=False):
    """Something that happened, once or again and again. A struct, since one is made for each pod that is placed."""

    key: Key
    regarding: ObjectReference
    related: ObjectReference | None
    reason: str
    action: str
    note: str
    type: EventType
    #: Nanoseconds since 1970: the first time, and the last.
    first: int
    last: int
    count: int = 1
    #: The count that the server knows; 0 until the event is created there.
    told: int = 0
    told_at: int = 0
    #: In the API server; chosen when it is first sent.
    name: str = ""
    #: `again` is being sent, and has more to tell since.
    state: Literal["idle", "waiting", "sending", "again"] = "idle"


class Outbox:
    """All that was recorded and is not yet told, and what may happen again."""

    def __init__(self, limits: EventLimits) -> None:
        self._limits = limits
        self._finish = int(limits.finish * _SECOND)
        self._refresh = int(limits.refresh * _SECOND)
        #: Both in the order in which they happened last, so that what goes first is what has rested longest.
        self._singles: dict[Key, Occurrence] = {}
        self._series: dict[Key, Occurrence] = {}
        self._waiting: dict[EventType, deque[Occurrence]] = {"Warning": deque(), "Normal": deque()}
        self.recorded = self.aggregated = self.dropped = 0
        self._last = 0

    @property
    def waiting(self) -> int:
        """How many wait to be sent."""
        return len(self._waiting["Warning"]) + len(self._waiting["Normal"])

    @property
    def series(self) -> int:
        """How many series go on."""
        return len(self._series)

    def record(
        self,
        regarding: ObjectReference,
        related: ObjectReference | None,
        reason: str,
        action: str,
        note: str,
        type: EventType,  # noqa: A002 - so the API calls it
        now: int,
    ) -> bool:
        """Take note of something that happens now; whether there is something new to send."""
        self.recorded += 1
        # No two events begin at the same nanosecond: their names are made of it.
        self._last = now = max(now, self._last + 1)
        key: Key = (type, reason, action, _identity(regarding), None if related is None else _identity(related))
        known = self._singles.get(key) or self._series.get(key)
        if known is not None:
            if now - known.last < self._finish:
                return self._again(known, now)
            self._finish_series(known)
        occurrence = Occurrence(key, regarding, related, reason, action, note, type, now, now)
        self._singles[key] = occurrence
        if len(self._singles) > self._limits.singles:
            del self._singles[next(iter(self._singles))]
        return self._put(occurrence)

    def take(self) -> Occurrence | None:
        """The next one to send, warnings first; None when nothing waits."""
        waiting = self._waiting["Warning"] or self._waiting["Normal"]
        if not waiting:
            return None
        occurrence = waiting.popleft()
        occurrence.state = "sending"
        return occurrence

    def sent(self, occurrence: Occurrence, count: int, now: int) -> None:
        """The server knows this many of them."""
        occurrence.told = count
        occurrence.told_at = now
        more = occurrence.count > count and occurrence.state == "again"
        occurrence.state = "idle"
        if more:
            self._put(occurrence)

    def refused(self, occurrence: Occurrence) -> None:
        """It cannot be told; the next one like it is a first one."""
        occurrence.state = "idle"
        self._forget(occurrence)

    def sweep(self, now: int) -> bool:
        """End the series that did not go on, tell those that do; whether there is something to send. Every minute."""
        for occurrence in list(self._singles.values()):
            # Each stands where it was put when it happened, so the first young one ends the search.
            if now - occurrence.last < self._finish:
                break
            del self._singles[occurrence.key]
        for occurrence in self._going_on():
            if now - occurrence.last >= self._finish:
                self._finish_series(occurrence)
            elif occurrence.count > occurrence.told > 0 and now - occurrence.told_at >= self._refresh:
                self._put(occurrence)
        return self.waiting > 0

    def tell_all(self) -> None:
        """Let every series tell how far it has come: there may be no later time for it."""
        for occurrence in self._going_on():
            if occurrence.count > occurrence.told:
                self._put(occurrence)

    def validate(self) -> None:
        """Assert what always holds."""
        waiting = [*self._waiting["Warning"], *self._waiting["Normal"]]
        assert len(waiting) <= self._limits.waiting
        assert len({id(one) for one in waiting}) == len(waiting), "an occurrence waits twice"
        assert all(one.state == "waiting" for one in waiting)
        assert len(self._singles) <= self._limits.singles
        assert len(self._series) <= self._limits.series
        assert all(one.count == 1 for one in self._singles.values())
        assert all(one.count > 1 for one in self._series.values())
        assert not self._singles.keys() & self._series.keys()
        for memory in (self._singles, self._series):
            ages = [one.last for one in memory.values()]
            assert ages == sorted(ages)
        for one in (*self._singles.values(), *self._series.values()):
            assert one.told or one.state != "idle", "it was never told, and never will be"

    def _going_on(self) -> Iterator[Occurrence]:
        """Every series, while some of them end: letting one wait may drop another for good."""
        for occurrence in list(self._series.values()):
            if self._series.get(occurrence.key) is occurrence:
                yield occurrence

    def _again(self, known: Occurrence, now: int) -> bool:
        known.count += 1
        known.last = now
        self.aggregated += 1
        if known.count > 2:
            self._series[known.key] = self._series.pop(known.key)
            return False
        del self._singles[known.key]
        if len(self._series) >= self._limits.series:
            self._finish_series(next(iter(self._series.values())))
        self._series[known.key] = known
        return self._put(known)

    def _put(self, occurrence: Occurrence) -> bool:
        """Let it wait to be sent; whether it does so for the first time."""
        if occurrence.state != "idle":
            # What waits is sent as it is by then; what is on its way is sent once more.
            if occurrence.state == "sending":
                occurrence.state = "again"
            return False
        if self.waiting >= self._limits.waiting and not self._make_room(occurrence):
            return False
        occurrence.state = "waiting"
        self._waiting[occurrence.type].append(occurrence)
        return True

    def _make_room(self, newest: Occurrence) -> bool:
        self.dropped += 1
        if self._waiting["Normal"]:
            victim = self._waiting["Normal"].popleft()
        elif newest.type == "Warning":
            victim = self._waiting["Warning"].popleft()
        else:
            victim = newest
        victim.state = "idle"
        if not victim.told:
            self._forget(victim)
        return victim is not newest

    def _finish_series(self, occurrence: Occurrence) -> None:
        self._forget(occurrence)
        if occurrence.count > max(occurrence.told, 1):
            self._put(occurrence)

    def _forget(self, occurrence: Occurrence) -> None:
        for memory in (self._singles, self._series):
            if memory.get(occurrence.key) is occurrence:
                del memory[occurrence.key]


def _identity(reference: ObjectReference) -> Key:
    """Which object it is. Not which version: a pod that waits longer has other versions, and is the same pod."""
    return (
        reference.kind,
        reference.namespace,
        reference.name,
        reference.uid,
        reference.api_version,
        reference.field_path,
    )
