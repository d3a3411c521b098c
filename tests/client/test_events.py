"""Events on their way to the API server: never in anybody's way, and true about what became of them."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.api import Client
from bayplan.client.events import EventLimits, EventRecorder
from bayplan.client.events.recorder import TokenBucket, _clip
from bayplan.client.transport import no_answer
from bayplan.errors import Unreachable, UsageError
from bayplan.objects.meta import ObjectReference, ResourceVersion, Uid
from bayplan.testing.collection import Reply
from bayplan.testing.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bayplan.client.transport import Request

EPOCH = 1_790_000_000

Fault = Reply | BaseException | str | None


class EventServer:
    """The events of an API server, and what happens on the way there."""

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.requests: list[Request] = []
        #: For the next requests: an answer, an error, "lose the answer", or None for all well.
        self.faults: list[Fault] = []
        #: The answer to every request, while there is one.
        self.down: Reply | BaseException | None = None
        self.delay = 0.0
        self.in_flight = self.most_in_flight = 0

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]

    def only(self) -> dict[str, Any]:
        (event,) = self.events.values()
        return event

    async def send(self, request: Request) -> Reply:
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
            return self._answer(request, self.faults.pop(0) if self.faults else self.down)
        finally:
            self.in_flight -= 1

    def _answer(self, request: Request, fault: Fault) -> Reply:
        if isinstance(fault, BaseException):
            raise fault
        if isinstance(fault, Reply):
            return fault
        reply = self._write(request, json.loads(request.body))
        if fault == "lose the answer":
            raise no_answer(request, "connection reset by peer")
        return reply

    def _write(self, request: Request, body: dict[str, Any]) -> Reply:
        if request.method == "POST":
            path = f"{request.path}/{body['metadata']['name']}"
            if path in self.events:
                return Reply.failure(409, "AlreadyExists")
            self.events[path] = body
            return Reply(201, b"{}")
        if request.path not in self.events:
            return Reply.failure(404, "NotFound")
        self.events[request.path] |= body
        return Reply(200, b"{}")

    async def aclose(self) -> None: ...


def clock() -> int:
    return EPOCH * 10**9 + int(asyncio.get_running_loop().time() * 1e9)


def recorder_for(server: EventServer, **limits: Any) -> EventRecorder:
    return EventRecorder(
        Client(server), "bayplan-scheduler", instance="here", limits=EventLimits(**limits), clock=clock
    )


@asynccontextmanager
async def recording(server: EventServer, **limits: Any) -> AsyncIterator[EventRecorder]:
    recorder = recorder_for(server, **limits)
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])


def pod(name: str = "web") -> ObjectReference:
    return ObjectReference("Pod", "shop", name, Uid(f"uid-of-{name}"), "v1", ResourceVersion("7"))


def scheduled(recorder: EventRecorder, name: str = "web", note: str = "Successfully assigned shop/web to n1") -> None:
    recorder.record(regarding=pod(name), reason="Scheduled", action="Binding", note=note)


@virtual_time
async def test_an_event_says_what_happened_to_whom_and_who_says_so() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        node = ObjectReference(kind="Node", name="n1", api_version="v1")
        recorder.record(
            regarding=pod(), related=node, type="Warning", reason="FailedScheduling", action="Scheduling", note="0/1"
        )
        assert await recorder.drain(1) == 0
    (path,) = server.events
    name = f"web.{EPOCH * 10**9:x}"
    assert path == f"/apis/events.k8s.io/v1/namespaces/shop/events/{name}"
    assert server.only() == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "shop"},
        "eventTime": "2026-09-21T14:13:20.000000Z",
        "reportingController": "bayplan-scheduler",
        "reportingInstance": "here",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {
            "kind": "Pod",
            "namespace": "shop",
            "name": "web",
            "uid": "uid-of-web",
            "apiVersion": "v1",
            "resourceVersion": "7",
        },
        "related": {"kind": "Node", "name": "n1", "apiVersion": "v1"},
        "note": "0/1",
        "type": "Warning",
    }


@virtual_time
async def test_an_event_of_an_object_without_namespace_goes_to_default() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        recorder.record(regarding=ObjectReference(kind="Node", name="n1"), reason="R", action="A", note="")
        await recorder.drain(1)
    assert server.only()["metadata"]["namespace"] == "default"


@virtual_time
async def test_an_object_whose_name_no_event_may_have_is_told_of_all_the_same() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        for name in ("system:node", "n" * 250):
            recorder.record(regarding=ObjectReference(kind="Thing", name=name), reason="R", action="A", note="")
        await recorder.drain(1)
    assert len(server.events) == 2
    for event in server.events.values():
        assert ":" not in event["metadata"]["name"]
        assert len(event["metadata"]["name"]) <= 253


@virtual_time
async def test_recording_does_not_wait_for_anything() -> None:
    server = EventServer()
    recorder = recorder_for(server)
    scheduled(recorder)
    await asyncio.sleep(100)
    assert server.requests == []
    assert recorder.health.waiting == 1
    assert await recorder.drain(5) == 1, "nothing runs that could send it"
    assert asyncio.get_running_loop().time() == pytest.approx(100)


@virtual_time
async def test_what_was_recorded_before_it_runs_is_sent() -> None:
    server = EventServer()
    recorder = recorder_for(server)
    scheduled(recorder)
    task = asyncio.create_task(recorder.run())
    await asyncio.sleep(0.1)
    assert len(server.events) == 1
    task.cancel()
    await asyncio.wait([task])


@virtual_time
async def test_the_second_time_makes_a_series_and_its_end_tells_the_count() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        for _ in range(10):
            scheduled(recorder)
            await asyncio.sleep(1)
        assert server.methods == ["POST", "PATCH"]
        assert server.only()["series"] == {"count": 2, "lastObservedTime": "2026-09-21T14:13:21.000000Z"}
        await asyncio.sleep(500)
        assert server.methods == ["POST", "PATCH", "PATCH"]
        assert server.only()["series"]["count"] == 10
        assert server.requests[-1].headers["Content-Type"] == "application/merge-patch+json"
        health = recorder.health
        assert (health.recorded, health.aggregated, health.created, health.patched) == (10, 9, 1, 2)


@virtual_time
async def test_drain_tells_the_count_of_a_series_that_goes_on() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        for _ in range(10):
            scheduled(recorder)
            await asyncio.sleep(1)
        assert await recorder.drain(5) == 0
        assert server.only()["series"]["count"] == 10


@virtual_time
async def test_drain_gives_up_in_time_and_says_what_is_left() -> None:
    server = EventServer()
    server.down = Unreachable("refused")
    async with recording(server) as recorder:
        scheduled(recorder, "a")
        scheduled(recorder, "b")
        assert await recorder.drain(5) == 2
        assert asyncio.get_running_loop().time() == pytest.approx(5)


@virtual_time
async def test_only_so_many_requests_are_in_flight() -> None:
    server = EventServer()
    server.delay = 0.1
    async with recording(server, in_flight=8) as recorder:
        for number in range(100):
            scheduled(recorder, f"p{number}")
        assert await recorder.drain(10) == 0
        assert asyncio.get_running_loop().time() == pytest.approx(1.3, abs=0.01), "as long as it takes, no longer"
    assert server.most_in_flight == 8
    assert len(server.events) == 100


@virtual_time
async def test_two_thousand_a_second_come_through_with_the_limits_as_they_are() -> None:
    server = EventServer()
    server.delay = 0.01
    async with recording(server) as recorder:
        for second in range(5):
            for number in range(2000):
                scheduled(recorder, f"p{second}-{number}")
            await asyncio.sleep(1)
        assert recorder.health.waiting == 0
        assert recorder.health.created == 10_000
        assert recorder.health.dropped == 0


@virtual_time
async def test_no_more_than_the_rate_is_sent_in_the_long_run() -> None:
    server = EventServer()
    async with recording(server, rate=10, burst=5) as recorder:
        for number in range(100):
            scheduled(recorder, f"p{number}")
        await asyncio.sleep(0.05)
        assert len(server.events) == 5
        await asyncio.sleep(5)
        assert len(server.events) == 55


@virtual_time
async def test_what_finds_no_room_is_counted() -> None:
    server = EventServer()
    server.down = Unreachable("refused")
    async with recording(server, waiting=10, in_flight=1) as recorder:
        await asyncio.sleep(0)
        for number in range(100):
            scheduled(recorder, f"p{number}")
        assert recorder.health.dropped == 90
        assert recorder.health.waiting == 10


# ── what goes wrong ──


@virtual_time
async def test_a_server_that_comes_back_is_told() -> None:
    server = EventServer()
    server.faults = [
        Unreachable("refused"),
        Reply.failure(429, "TooManyRequests", Retry_After="3"),
        Reply.failure(503, "ServiceUnavailable"),
        Reply.failure(500, "InternalError"),
    ]
    async with recording(server) as recorder:
        scheduled(recorder)
        await asyncio.sleep(0.1)
        assert "refused" in recorder.health.problem
        assert await recorder.drain(60) == 0
        assert len(server.events) == 1
        assert recorder.health.problem == ""


@virtual_time
async def test_a_server_that_asks_for_a_pause_gets_it() -> None:
    server = EventServer()
    server.faults = [Reply.failure(429, "TooManyRequests", Retry_After="7")]
    async with recording(server) as recorder:
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert asyncio.get_running_loop().time() >= 7


@virtual_time
async def test_one_whose_answer_was_lost_is_found_there_and_not_made_twice() -> None:
    server = EventServer()
    server.faults = ["lose the answer"]
    async with recording(server) as recorder:
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert server.methods == ["POST", "POST"]
        assert len(server.events) == 1
        assert recorder.health.failed == 0


@virtual_time
async def test_one_whose_answer_was_lost_and_that_repeats_meanwhile_becomes_a_series() -> None:
    server = EventServer()
    server.faults = ["lose the answer"]
    async with recording(server) as recorder:
        scheduled(recorder)
        await asyncio.sleep(0.1)
        scheduled(recorder)
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert server.only()["series"]["count"] == 3


@virtual_time
async def test_a_name_that_another_has_taken_is_changed() -> None:
    server = EventServer()
    server.events[f"/apis/events.k8s.io/v1/namespaces/shop/events/web.{EPOCH * 10**9:x}"] = {"note": "another's"}
    server.delay = 0.01
    async with recording(server) as recorder:
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert sorted(event["note"] for event in server.events.values()) == [
            "Successfully assigned shop/web to n1",
            "another's",
        ]


@virtual_time
async def test_a_series_whose_event_the_server_has_forgotten_is_made_anew() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        scheduled(recorder)
        await asyncio.sleep(1)
        server.events.clear()
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert server.methods == ["POST", "PATCH", "POST"]
        assert server.only()["series"]["count"] == 2
        assert server.only()["eventTime"] == "2026-09-21T14:13:20.000000Z"


@pytest.mark.parametrize(
    "answer",
    [
        Reply.failure(404, "NotFound", 'namespaces "shop" not found'),
        Reply(
            403,
            json.dumps(
                {
                    "kind": "Status",
                    "code": 403,
                    "reason": "Forbidden",
                    "message": "shop is being terminated",
                    "details": {"causes": [{"reason": "NamespaceTerminating"}]},
                }
            ).encode(),
        ),
    ],
)
def test_a_namespace_that_goes_takes_its_events_along_in_silence(
    answer: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    @virtual_time
    async def run() -> None:
        server = EventServer()
        server.down = answer
        async with recording(server) as recorder:
            scheduled(recorder)
            assert await recorder.drain(60) == 0
            assert server.methods == ["POST"]
            assert recorder.health.failed == 1

    run()
    assert caplog.records == []


@virtual_time
async def test_a_refusal_is_not_tried_again_and_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    server = EventServer()
    server.down = Reply.failure(403, "Forbidden", "events is forbidden")
    async with recording(server) as recorder:
        for number in range(20):
            scheduled(recorder, f"p{number}")
        assert await recorder.drain(60) == 0
        assert server.methods == ["POST"] * 20
        assert recorder.health.failed == 20
        assert "events is forbidden" in recorder.health.problem
    assert len(caplog.records) == 1


@virtual_time
async def test_an_event_about_an_object_that_no_path_leads_to_is_given_up_and_the_others_are_told() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        recorder.record(regarding=ObjectReference("Pod", "a/b", "p"), reason="Scheduled", action="Binding", note="")
        scheduled(recorder)
        assert await recorder.drain(60) == 0
        assert (recorder.health.failed, len(server.events)) == (1, 1)


@virtual_time
async def test_an_event_is_given_up_after_so_many_tries() -> None:
    server = EventServer()
    server.down = Unreachable("refused")
    async with recording(server, tries=4) as recorder:
        scheduled(recorder)
        assert await recorder.drain(600) == 0
        assert len(server.requests) == 4
        assert recorder.health.failed == 1


# ── what the server accepts ──


@virtual_time
async def test_what_is_too_long_is_cut_off() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        recorder.record(regarding=pod(), reason="R" * 200, action="A" * 200, note="ä" * 1000)
        await recorder.drain(1)
    event = server.only()
    assert (len(event["reason"]), len(event["action"])) == (128, 128)
    assert len(event["note"].encode()) <= 1024
    assert event["note"].startswith("ä" * 500)
    assert event["note"].endswith("...")


@given(text=st.text(st.characters(), max_size=50), most=st.integers(3, 40))
def test_what_is_cut_off_fits_and_begins_as_it_was(text: str, most: int) -> None:
    """Also when it holds half a character: lone surrogates come from file names and plugins."""
    cut = _clip(text, most)
    assert len(cut.encode()) <= most
    whole = text.encode(errors="replace").decode()
    assert cut == whole or (cut.endswith("...") and whole.startswith(cut[:-3]))


@pytest.mark.parametrize("name", ["", "two words", "-x", "x" * 64, "Example.com/x", "a/b/c"])
def test_a_controller_that_the_server_would_refuse_is_refused_at_once(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the reporting controller"):
        EventRecorder(Client(EventServer()), name)


@given(moments=st.lists(st.floats(0, 3), min_size=1, max_size=60))
def test_the_bucket_never_lets_more_through_than_its_rate_and_burst(moments: list[float]) -> None:
    rate, burst = 5.0, 3
    bucket, now, goes = TokenBucket(rate, burst), 0.0, []
    for moment in moments:
        now += moment / 4
        goes.append(now + bucket.take(now))
    for i, start in enumerate(goes):
        for j in range(i, len(goes)):
            assert j - i + 1 <= burst + rate * (goes[j] - start) + 1e-6
