"""Leader election against a model server: one leader at a time, whatever happens to clocks, answers and processes."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.api import Client
from bayplan.client.election import Election, Timings
from bayplan.client.term import Clocks
from bayplan.client.transport import no_answer
from bayplan.errors import ConfigurationError, LeadershipLost, Unreachable, UsageError
from bayplan.testing.collection import Reply
from bayplan.testing.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bayplan.client.term import Term
    from bayplan.client.transport import Request

#: Where the clocks of the tests start.
EPOCH = 1_790_000_000.0

#: What the next request meets: nothing, a fault before it, or one after it.
Fault = Reply | BaseException | str | None


class LeaseServer:
    """One Lease, as the API server keeps it, and the faults of the way there."""

    def __init__(self) -> None:
        self.document: dict[str, Any] | None = None
        self.version = 100
        self.requests: list[Request] = []
        #: For the next requests: an answer, an error, "hang", "lose the answer", or None for all well.
        self.faults: list[Fault] = []
        #: Seconds that each answer takes.
        self.delay = 0.0
        #: While true, nothing is answered.
        self.hangs = False

    @property
    def spec(self) -> dict[str, Any]:
        assert self.document is not None
        return dict(self.document["spec"])

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]

    def store(self, document: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        uid = (self.document or {"metadata": {"uid": f"uid-{self.version}"}})["metadata"]["uid"]
        metadata = document["metadata"] | {"uid": uid, "resourceVersion": str(self.version)}
        self.document = {**document, "metadata": metadata}
        return self.document

    def edit(self, **spec: Any) -> None:
        assert self.document is not None
        self.store({**self.document, "spec": self.spec | spec})

    async def send(self, request: Request) -> Reply:
        self.requests.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if fault == "hang" or self.hangs:
            await asyncio.Event().wait()
        if isinstance(fault, BaseException):
            raise fault
        if isinstance(fault, Reply):
            return fault
        reply = self.answer(request)
        await asyncio.sleep(self.delay)
        if fault == "lose the answer":
            raise no_answer(request, "connection reset by peer")
        return reply

    def answer(self, request: Request) -> Reply:
        there = self.document
        match request.method:
            case "GET":
                found = there
            case "POST":
                if there is not None:
                    return Reply.failure(409, "AlreadyExists")
                found = self.store(json.loads(request.body))
            case "PUT":
                sent = json.loads(request.body)
                if there is None or any(
                    sent["metadata"][k] != there["metadata"][k] for k in ("uid", "resourceVersion")
                ):
                    return Reply.failure(409, "Conflict")
                found = self.store(sent)
            case other:
                raise AssertionError(other)
        return Reply(200, json.dumps(found).encode()) if found else Reply.failure(404, "NotFound")

    async def aclose(self) -> None: ...


def clocks() -> Clocks:
    time = asyncio.get_running_loop().time
    return Clocks(time, lambda: EPOCH + time())


def candidate(server: LeaseServer, identity: str = "one", **options: Any) -> Election:
    options.setdefault("clocks", clocks())
    options.setdefault("jitter", random.Random(1))
    return Election(Client(server), namespace="kube-system", name="bayplan", identity=identity, **options)


@asynccontextmanager
async def standing(election: Election) -> AsyncIterator[asyncio.Task[None]]:
    """A candidate that leads whenever it can, until the end of the block."""

    async def lead_again_and_again() -> None:
        while True:
            with suppress(LeadershipLost):
                await lead(election)

    task = asyncio.create_task(lead_again_and_again())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def lead(election: Election, act: Callable[[Term], object] = lambda term: None) -> None:
    """Do something as soon as it leads, and then go on leading."""
    async with election.leading() as term:
        act(term)
        await asyncio.Event().wait()


async def until(condition: Callable[[], bool], *, within: float) -> float:
    """Seconds until the condition holds."""
    now = asyncio.get_running_loop().time
    began = now()
    while not condition():
        assert now() - began < within, f"not within {within} s"
        await asyncio.sleep(0.01)
    return now() - began


# ── taking and keeping ──


@virtual_time
async def test_the_first_candidate_makes_the_lease_and_leads_at_once() -> None:
    server = LeaseServer()
    election = candidate(server)
    assert election.holder == ""
    async with election.leading() as term:
        assert (term.valid(), election.is_leader, election.holder) == (True, True, "one")
        assert server.spec == {
            "holderIdentity": "one",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-09-21T14:13:20.000000Z",
            "renewTime": "2026-09-21T14:13:20.000000Z",
            "leaseTransitions": 0,
        }
    assert (term.valid(), election.is_leader, election.holder) == (False, False, "")


@virtual_time
async def test_the_leader_renews_every_retry_period_without_reading() -> None:
    server = LeaseServer()
    async with candidate(server).leading():
        await asyncio.sleep(20.5)
        assert server.methods == ["GET", "POST"] + ["PUT"] * 10
        assert server.spec["acquireTime"] == "2026-09-21T14:13:20.000000Z"
        assert server.spec["renewTime"].startswith("2026-09-21T14:13:40.0")


@virtual_time
async def test_another_waits_as_long_as_the_leader_lives() -> None:
    server = LeaseServer()
    first, second = candidate(server, "one"), candidate(server, "two")
    async with standing(first):
        await until(lambda: first.is_leader, within=1)
        async with standing(second):
            await asyncio.sleep(300)
            assert first.is_leader
            assert not second.is_leader
            assert second.holder == "one"


@pytest.mark.parametrize("seed", range(20))
def test_a_dead_leader_is_replaced_within_lease_duration_and_one_jittered_retry_period(seed: int) -> None:
    @virtual_time
    async def run() -> None:
        server, jitter = LeaseServer(), random.Random(seed)
        second = candidate(server, "two", jitter=jitter)
        async with standing(second):
            server.store(held_by("one"))
            for _ in range(3):
                await asyncio.sleep(2)
                server.edit(renewTime=f"{asyncio.get_running_loop().time()}")
            took = await until(lambda: second.is_leader, within=60)
            assert 15 <= took <= 15 + 2 * 2.2 + 0.1
            assert server.spec["leaseTransitions"] == 8

    run()


def held_by(holder: str, **spec: Any) -> dict[str, Any]:
    held = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": "then", "leaseTransitions": 7}
    return {"metadata": {"name": "bayplan", "namespace": "kube-system"}, "spec": held | spec}


@pytest.mark.parametrize("renewed", ["1999-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z", None])
def test_the_times_that_another_wrote_are_not_compared_with_ours(renewed: str | None) -> None:
    @virtual_time
    async def run() -> None:
        server = LeaseServer()
        server.store(held_by("dead", renewTime=renewed))
        election = candidate(server)
        async with standing(election):
            assert 15 <= await until(lambda: election.is_leader, within=60) < 15.2

    run()


@virtual_time
async def test_the_duration_that_counts_is_the_holders() -> None:
    server = LeaseServer()
    server.store(held_by("dead", leaseDurationSeconds=40))
    election = candidate(server)
    async with standing(election):
        assert 40 <= await until(lambda: election.is_leader, within=60) < 40.2


@virtual_time
async def test_a_released_lease_is_taken_at_the_first_look() -> None:
    server = LeaseServer()
    server.store(held_by("", leaseDurationSeconds=1))
    async with candidate(server).leading() as term:
        assert asyncio.get_running_loop().time() == 0
        assert term.transitions == server.spec["leaseTransitions"] == 8


@virtual_time
async def test_of_two_that_take_over_at_once_one_is_refused() -> None:
    server = LeaseServer()
    server.store(held_by(""))
    one, two = candidate(server, "one"), candidate(server, "two")
    async with standing(one), standing(two):
        await asyncio.sleep(1)
        assert [one.is_leader, two.is_leader].count(True) == 1


# ── letting go ──


@virtual_time
async def test_a_leader_that_ends_hands_over_within_a_retry_period() -> None:
    server = LeaseServer()
    first, second = candidate(server, "one"), candidate(server, "two")
    async with standing(second):
        async with first.leading():
            await asyncio.sleep(10)
        spec = server.spec
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("", 1, 0)
        assert spec["renewTime"] == spec["acquireTime"]
        await until(lambda: second.is_leader, within=2 * 2.2)


@virtual_time
async def test_a_leader_that_is_cancelled_finishes_what_is_in_flight_before_it_releases() -> None:
    server = LeaseServer()
    election = candidate(server)
    drained = []

    async def lead_and_drain() -> None:
        async with election.leading() as term:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(25)
                drained.append((term.valid(), server.spec["holderIdentity"]))

    task = asyncio.create_task(lead_and_drain())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert drained == [(True, "one")], "renewals go on while it drains"
    assert server.spec["holderIdentity"] == ""


@virtual_time
async def test_a_body_that_fails_releases_the_lease() -> None:
    server = LeaseServer()
    with pytest.raises(ZeroDivisionError):
        async with candidate(server).leading():
            _ = 1 / 0
    assert server.spec["holderIdentity"] == ""


@virtual_time
async def test_a_release_in_the_middle_of_a_renewal_looks_first() -> None:
    server = LeaseServer()
    async with candidate(server).leading():
        await asyncio.sleep(1)
        # The renewal arrives, but its answer does not before the body ends.
        server.faults = ["lose the answer", "hang"]
        await asyncio.sleep(1.5)
    assert server.spec["holderIdentity"] == ""


@virtual_time
async def test_a_release_that_nobody_answers_is_given_up() -> None:
    server = LeaseServer()
    async with candidate(server).leading():
        server.hangs = True
    assert asyncio.get_running_loop().time() == pytest.approx(5)


@virtual_time
async def test_a_candidate_that_is_cancelled_with_its_claim_on_the_way_releases_it() -> None:
    server = LeaseServer()
    server.faults = [None, "lose the answer"]
    task = asyncio.create_task(lead(candidate(server)))
    await asyncio.sleep(1)
    assert server.spec["holderIdentity"] == "one"
    task.cancel()
    await asyncio.wait([task])
    assert server.spec["holderIdentity"] == ""


# ── losing it ──


@virtual_time
async def test_a_server_that_hangs_costs_the_leadership_before_another_can_begin() -> None:
    server = LeaseServer()
    time = asyncio.get_running_loop().time
    with pytest.raises(LeadershipLost, match=r"not renewed for 10\.0 s"):
        await lead(candidate(server), lambda term: vars(server).update(hangs=True))
    assert time() == pytest.approx(10, abs=0.01)


@virtual_time
async def test_what_counts_is_when_a_renewal_was_sent_and_not_when_its_answer_came() -> None:
    server = LeaseServer()
    async with candidate(server).leading() as term:
        server.delay = 4.0
        await asyncio.sleep(6.5)
        assert len(server.requests) == 3
        assert term.remaining == pytest.approx(10 - 4.5, abs=0.01)


@virtual_time
async def test_one_request_that_hangs_does_not_cost_it() -> None:
    server = LeaseServer()
    async with candidate(server).leading() as term:
        await asyncio.sleep(1)
        server.faults = ["hang"]
        await asyncio.sleep(60)
        assert term.valid()


@virtual_time
async def test_a_server_that_fails_for_less_than_the_deadline_does_not_cost_it() -> None:
    server = LeaseServer()
    async with candidate(server).leading() as term:
        server.faults = [
            Unreachable("refused"),
            Reply.failure(429, "TooManyRequests"),
            Reply.failure(500, "InternalError"),
        ]
        await asyncio.sleep(60)
        assert term.valid()


@virtual_time
async def test_the_lost_answer_of_a_renewal_is_looked_up() -> None:
    server = LeaseServer()
    async with candidate(server).leading() as term:
        await asyncio.sleep(1)
        server.requests.clear()
        server.faults = ["lose the answer"]
        await asyncio.sleep(2)
        assert server.methods == ["PUT", "GET", "PUT"]
        assert term.valid()


@virtual_time
async def test_the_lost_answer_of_a_claim_is_looked_up() -> None:
    server = LeaseServer()
    server.faults = [None, "lose the answer"]
    async with candidate(server).leading():
        assert server.methods == ["GET", "POST", "GET", "PUT"]
        assert server.spec["leaseTransitions"] == 0
        assert server.spec["acquireTime"] == "2026-09-21T14:13:20.000000Z", "since when it has led"


@virtual_time
async def test_a_leader_that_finds_another_in_its_place_stops_and_writes_nothing() -> None:
    server = LeaseServer()
    with pytest.raises(LeadershipLost, match="held by two now"):
        await lead(candidate(server), lambda term: server.edit(holderIdentity="two", renewTime="now"))
    assert server.spec["holderIdentity"] == "two"


@virtual_time
async def test_a_leader_whose_lease_was_freed_stops_since_somebody_may_have_led() -> None:
    server = LeaseServer()
    with pytest.raises(LeadershipLost, match="held by nobody now"):
        await lead(candidate(server), lambda term: server.edit(holderIdentity=""))


@virtual_time
async def test_a_lost_lease_runs_out_before_its_last_holder_leads_again() -> None:
    server = LeaseServer()
    election = candidate(server)
    with pytest.raises(LeadershipLost):
        await lead(election, lambda term: term.end("the wall clock jumped"))
    lost_at = asyncio.get_running_loop().time()
    async with election.leading() as second:
        assert asyncio.get_running_loop().time() - lost_at >= 15
        assert second.transitions == 1


@virtual_time
async def test_a_process_that_stood_still_knows_before_it_acts() -> None:
    """The event loop was blocked: nothing of ours has run, and the answer is right all the same."""
    server, stood_still = LeaseServer(), 0.0
    time = asyncio.get_running_loop().time
    clocks = Clocks(lambda: time() + stood_still, lambda: EPOCH + time() + stood_still)

    def stand_still(term: Term) -> None:
        nonlocal stood_still
        assert term.valid()
        stood_still = 11.0
        assert not term.valid()

    with pytest.raises(LeadershipLost):
        await lead(candidate(server, clocks=clocks), stand_still)
    assert server.spec["holderIdentity"] == "one", "nothing is written any more"


@virtual_time
async def test_a_body_that_swallows_its_cancellation_is_told_at_its_end() -> None:
    server = LeaseServer()

    async def stubborn() -> None:
        async with candidate(server).leading():
            server.edit(holderIdentity="two")
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    with pytest.raises(LeadershipLost):
        await stubborn()
    current = asyncio.current_task()
    assert current is not None
    assert not current.cancelling()


@virtual_time
async def test_a_leader_that_is_lost_and_cancelled_is_cancelled() -> None:
    """Whoever cancels a task must see it end so; the loss is in the log."""
    server = LeaseServer()

    async def lead_and_drain() -> None:
        async with candidate(server).leading():
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(10)

    task = asyncio.create_task(lead_and_drain())
    await asyncio.sleep(1)
    server.edit(holderIdentity="two")
    await asyncio.sleep(5)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


@virtual_time
async def test_a_fault_of_ours_comes_out_as_it_is() -> None:
    server = LeaseServer()
    with pytest.raises(ZeroDivisionError):
        await lead(candidate(server), lambda term: server.faults.append(ZeroDivisionError()))


# ── what others do to the lease ──


@virtual_time
async def test_what_others_put_into_the_lease_stays() -> None:
    server = LeaseServer()
    async with candidate(server).leading() as term:
        assert server.document is not None
        metadata = server.document["metadata"] | {"finalizers": ["example.com/f"], "labels": {"a": "b"}}
        spec = server.spec | {"strategy": "OldestEmulationVersion", "preferredHolder": "two"}
        server.store({**server.document, "metadata": metadata, "spec": spec})
        await asyncio.sleep(5)
        assert term.valid()
        assert (server.spec["strategy"], server.spec["preferredHolder"]) == ("OldestEmulationVersion", "two")
        assert server.document["metadata"]["finalizers"] == ["example.com/f"]
    assert server.spec["preferredHolder"] == "two"
    assert server.document["metadata"]["labels"] == {"a": "b"}


@virtual_time
async def test_a_lease_that_was_deleted_is_made_anew_as_it_was() -> None:
    server = LeaseServer()
    server.store(held_by(""))
    async with candidate(server).leading() as term:
        before = server.spec
        server.document = None
        await asyncio.sleep(3)
        assert term.valid()
        assert server.spec == before | {"renewTime": server.spec["renewTime"]}


@virtual_time
async def test_a_label_does_not_make_a_dead_leader_look_alive() -> None:
    server = LeaseServer()
    server.store(held_by("dead"))
    election = candidate(server)
    async with standing(election):
        for number in range(14):
            await asyncio.sleep(1)
            assert server.document is not None
            server.store({**server.document, "metadata": server.document["metadata"] | {"labels": {"n": str(number)}}})
        await until(lambda: election.is_leader, within=2)


@virtual_time
async def test_two_that_go_by_one_identity_do_not_both_lead() -> None:
    server = LeaseServer()
    first, second = candidate(server, "same"), candidate(server, "same", jitter=random.Random(2))
    async with standing(first), standing(second):
        for _ in range(1000):
            await asyncio.sleep(0.1)
            assert [first.is_leader, second.is_leader].count(True) == 1


@virtual_time
async def test_a_right_that_is_missing_is_complained_of_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    server = LeaseServer()
    server.faults = [Reply.failure(403, "Forbidden", "leases is forbidden")] * 10
    election = candidate(server)
    async with standing(election):
        await asyncio.sleep(3)
        assert "leases is forbidden" in election.problem
        await until(lambda: election.is_leader, within=60)
        assert election.problem == ""
    assert sum("leases is forbidden" in record.message for record in caplog.records) == 1


# ── wrong use ──


@pytest.mark.parametrize(
    ("timings", "problem"),
    [
        ((10, 10, 2), "leaseDuration must be greater than renewDeadline"),
        ((15, 10, 9), "renewDeadline must be greater than 1.2 times retryPeriod"),
        ((15, 10, 0), "retryPeriod must be greater than zero"),
        ((15.5, 10, 2), "whole seconds"),
    ],
)
def test_timings_that_are_not_safe_are_refused(timings: tuple[Any, Any, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        Timings(*timings)


@virtual_time
async def test_one_election_leads_once_at_a_time() -> None:
    election = candidate(LeaseServer())
    async with election.leading():
        with pytest.raises(UsageError, match="already stands"):
            async with election.leading():
                pass
        assert election.is_leader


def test_an_identity_of_its_own_is_made_for_each_candidate() -> None:
    one, two = (Election(Client(LeaseServer()), namespace="n", name="n") for _ in range(2))
    assert one.identity != two.identity
    assert "_" in one.identity
