"""What is to be told: repeated events fold into series, none is lost while there is room, and memory is bounded."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bayplan.client.events.series import EventLimits, EventType, Occurrence, Outbox
from bayplan.objects.meta import ObjectReference, ResourceVersion, Uid
from bayplan.testing.effort import examples

SECOND = 1_000_000_000
ROOMY = EventLimits()


def pod(name: str = "web", **fields: str) -> ObjectReference:
    uid = Uid(fields.pop("uid", f"uid-of-{name}"))
    version = ResourceVersion(fields.pop("resource_version", "1"))
    return ObjectReference(kind="Pod", namespace="shop", name=name, uid=uid, api_version="v1", resource_version=version)


class Book:
    """An outbox and a clock."""

    def __init__(self, limits: EventLimits = ROOMY) -> None:
        self.outbox = Outbox(limits)
        self.now = 1_790_000_000 * SECOND

    def record(
        self,
        regarding: ObjectReference | None = None,
        *,
        reason: str = "FailedScheduling",
        action: str = "Scheduling",
        note: str = "0/5 nodes",
        kind: EventType = "Warning",
        related: ObjectReference | None = None,
    ) -> bool:
        return self.outbox.record(regarding or pod(), related, reason, action, note, kind, self.now)

    def take(self) -> Occurrence:
        occurrence = self.outbox.take()
        assert occurrence is not None, "nothing is to be sent"
        return occurrence

    def tell(self) -> Occurrence:
        occurrence = self.take()
        self.outbox.sent(occurrence, occurrence.count, self.now)
        return occurrence

    def idle(self) -> bool:
        return self.outbox.waiting == 0

    def pass_(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)


def test_the_first_time_is_told_as_it_is() -> None:
    book = Book()
    assert book.record()
    occurrence = book.tell()
    assert (occurrence.count, occurrence.note, occurrence.first) == (1, "0/5 nodes", book.now)
    assert book.idle()


def test_the_second_time_is_told_at_once_and_later_ones_are_counted() -> None:
    book = Book()
    book.record()
    first = book.tell()
    assert book.record(note="another note")
    assert book.tell() is first
    for _ in range(10):
        assert not book.record()
    assert book.idle()
    assert (first.count, first.told, first.note) == (12, 2, "0/5 nodes")


def test_events_differ_by_everything_but_note_and_version() -> None:
    book = Book()
    book.record()
    for different in (
        {"reason": "Preempted"},
        {"action": "Binding"},
        {"kind": "Normal"},
        {"related": pod("other")},
        {"regarding": pod("other")},
        {"regarding": pod(uid="made-anew")},
    ):
        assert book.record(**different), different
    assert book.outbox.waiting == 7
    assert not book.record(note="later", regarding=pod(resource_version="2")), "the same pod, which waits longer"


def test_one_that_repeats_before_it_is_sent_is_sent_once_with_its_count() -> None:
    book = Book()
    book.record()
    book.record()
    book.record()
    assert book.tell().count == 3
    assert book.idle()


def test_telling_all_where_little_may_wait_drops_what_was_never_told_and_does_not_bring_it_back() -> None:
    book = Book(EventLimits(waiting=1))
    book.record(pod("told"))
    book.tell()
    book.record(pod("told"))
    book.record(pod("new"))
    book.record(pod("new"))
    book.outbox.tell_all()
    assert book.tell().regarding.name == "told"
    book.outbox.tell_all()
    book.outbox.validate()
    assert book.idle()
    assert book.outbox.dropped == 2


def test_one_that_repeats_while_it_is_sent_is_told_as_a_series_right_after() -> None:
    book = Book()
    book.record()
    occurrence = book.take()
    assert not book.record()
    assert book.idle(), "two senders never have the same event"
    book.outbox.sent(occurrence, 1, book.now)
    assert book.tell() is occurrence
    assert occurrence.told == 2


def test_a_series_that_does_not_go_on_is_told_to_its_end_and_forgotten() -> None:
    book = Book()
    for _ in range(2):
        book.record()
    series = book.tell()
    for _ in range(5):
        book.record()
    book.pass_(359)
    assert not book.outbox.sweep(book.now)
    book.pass_(2)
    assert book.outbox.sweep(book.now)
    assert book.tell() is series
    assert series.told == 7
    assert book.outbox.series == 0
    book.record()
    assert book.take() is not series


def test_a_series_that_ends_while_it_is_told_is_told_once_more() -> None:
    book = Book()
    book.record()
    book.record()
    series = book.take()
    book.record()
    book.pass_(400)
    book.outbox.sweep(book.now)
    assert book.idle(), "two senders never have the same event"
    book.outbox.sent(series, 2, book.now)
    assert book.tell() is series
    assert series.told == 3


def test_of_too_many_series_the_one_that_has_rested_longest_ends() -> None:
    book = Book(EventLimits(series=2))
    for name in ("a", "b", "a", "b", "a"):
        book.record(pod(name))
    while book.outbox.waiting:
        book.tell()
    book.record(pod("c"))
    book.record(pod("c"))
    book.tell()
    assert not book.record(pod("a"))
    assert book.record(pod("b")), "a new event"


def test_a_series_that_goes_on_is_told_every_half_hour() -> None:
    book = Book()
    for _ in range(2):
        book.record()
    series = book.tell()
    told = []
    for minute in range(1, 91):
        book.pass_(60)
        book.record()
        if book.outbox.sweep(book.now):
            assert book.tell() is series
            told.append((minute, series.told))
    assert told == [(30, 32), (60, 62), (90, 92)]


def test_an_event_that_comes_back_after_the_end_of_its_series_is_a_new_one() -> None:
    """Also when no sweep has come in between."""
    book = Book()
    for _ in range(3):
        book.record()
    book.tell()
    book.record()
    book.pass_(400)
    book.record()
    assert [book.tell().count, book.tell().count] == [4, 1]


def test_a_single_event_is_forgotten_after_a_while() -> None:
    book = Book()
    book.record()
    first = book.tell()
    book.pass_(360)
    book.outbox.sweep(book.now)
    book.record()
    assert book.take() is not first


def test_what_was_refused_begins_anew() -> None:
    book = Book()
    book.record()
    book.outbox.refused(book.take())
    book.record()
    assert book.take().count == 1


def test_when_too_many_wait_the_oldest_normal_one_is_dropped_before_any_warning() -> None:
    book = Book(EventLimits(waiting=3))
    book.record(pod("w1"))
    book.record(pod("n1"), kind="Normal")
    book.record(pod("n2"), kind="Normal")
    book.record(pod("w2"))
    book.record(pod("n3"), kind="Normal")
    assert book.outbox.dropped == 2
    assert [book.tell().regarding.name for _ in range(3)] == ["w1", "w2", "n3"]


def test_among_warnings_the_newest_stay_and_a_normal_event_does_not_push_them_out() -> None:
    book = Book(EventLimits(waiting=2))
    for name in ("w1", "w2", "w3"):
        book.record(pod(name))
    assert not book.record(pod("n1"), kind="Normal")
    assert [book.tell().regarding.name for _ in range(2)] == ["w2", "w3"]
    assert book.outbox.dropped == 2
    assert book.record(pod("w1")), "what was dropped was never told, so the next one is a first one"


def test_a_series_outlives_a_flood_of_events_that_happen_once() -> None:
    book = Book(EventLimits(singles=100))
    book.record()
    book.record()
    series = book.tell()
    for number in range(1000):
        book.record(pod(f"p{number}"), reason="Scheduled", kind="Normal")
    assert not book.record()
    assert series.count == 3


def test_no_two_events_begin_at_the_same_time() -> None:
    book = Book()
    for number in range(50):
        book.record(pod(f"p{number}"))
    book.now -= 5 * SECOND
    book.record(pod("after the clock was set back"))
    assert len({book.tell().first for _ in range(51)}) == 51


class Outboxes(RuleBasedStateMachine):
    """Whatever the order of things: what was recorded is told, or counted as dropped or refused."""

    @initialize(waiting=st.integers(1, 6), singles=st.integers(1, 6), series=st.integers(1, 4), roomy=st.booleans())
    def start(self, waiting: int, singles: int, series: int, roomy: bool) -> None:
        self.roomy = roomy
        self.book = Book(EventLimits(waiting=1000 if roomy else waiting, singles=singles, series=series))
        self.sending: list[tuple[Occurrence, int]] = []
        self.ever: dict[int, Occurrence] = {}
        self.refusals = 0

    @rule(number=st.integers(0, 3), kind=st.sampled_from(["Normal", "Warning"]))
    def record(self, number: int, kind: EventType) -> None:
        self.book.record(pod(f"p{number}"), kind=kind)

    @rule()
    def take(self) -> None:
        if occurrence := self.book.outbox.take():
            assert all(occurrence is not other for other, _ in self.sending), "sent twice at one time"
            assert occurrence.count > occurrence.told, "nothing new to tell"
            self.sending.append((occurrence, occurrence.count))
            self.ever[id(occurrence)] = occurrence

    @precondition(lambda self: self.sending)
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        occurrence, count = self.sending.pop(data.draw(st.integers(0, len(self.sending) - 1)))
        self.book.outbox.sent(occurrence, count, self.book.now)

    @precondition(lambda self: self.sending)
    @rule()
    def refuse(self) -> None:
        self.book.outbox.refused(self.sending.pop()[0])
        self.refusals += 1

    @rule(seconds=st.sampled_from([0.0, 1.0, 100.0, 359.0, 400.0, 1900.0]))
    def wait(self, seconds: float) -> None:
        self.book.pass_(seconds)

    @rule()
    def sweep(self) -> None:
        self.book.outbox.sweep(self.book.now)

    @invariant()
    def memory_is_in_order(self) -> None:
        if hasattr(self, "book"):
            self.book.outbox.validate()

    def teardown(self) -> None:
        """In the end everything is told; while there was room, to the last one."""
        if not hasattr(self, "book"):
            return
        for occurrence, count in self.sending:
            self.book.outbox.sent(occurrence, count, self.book.now)
        self.book.outbox.tell_all()
        while occurrence_left := self.book.outbox.take():
            self.ever[id(occurrence_left)] = occurrence_left
            self.book.outbox.sent(occurrence_left, occurrence_left.count, self.book.now)
        outbox = self.book.outbox
        told = sum(occurrence.told for occurrence in self.ever.values())
        assert told <= outbox.recorded
        if self.roomy and not self.refusals:
            assert outbox.dropped == 0
            assert told == outbox.recorded
        elif not self.refusals:
            assert outbox.dropped > 0 or told == outbox.recorded


Outboxes.TestCase.settings = settings(max_examples=examples(150), stateful_step_count=40, deadline=None)
TestOutboxes = Outboxes.TestCase
