"""Leader election at a real API server, and beside a real kube-scheduler that stands for the same lease."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.api import Client
from bayplan.client.credentials import load_access
from bayplan.client.election import Election, Timings
from bayplan.client.lease import LeaseLock
from bayplan.client.patches import MergePatch
from bayplan.errors import LeadershipLost
from bayplan.objects.housekeeping import LEASES
from bayplan.testing.controlplane import ControlPlaneConfig

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bayplan.testing.controlplane import Binaries, ControlPlane

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

#: Short enough for a test, long enough for a machine that is busy with other things.
BRISK = Timings(lease_duration=8, renew_deadline=6.0, retry_period=0.5)

KUBE_SCHEDULER = {
    "leaderElect": True,
    "leaseDuration": f"{BRISK.lease_duration}s",
    "renewDeadline": f"{BRISK.renew_deadline:g}s",
    "retryPeriod": f"{BRISK.retry_period * 1000:g}ms",
    "resourceLock": "leases",
    "resourceName": "kube-scheduler",
    "resourceNamespace": "kube-system",
}


@pytest.fixture(scope="module")
def control_plane_config(control_plane_binaries: Binaries) -> ControlPlaneConfig:
    if not control_plane_binaries.has("kube-scheduler"):
        pytest.skip("kube-scheduler is not among these programs")
    return ControlPlaneConfig(scheduler=True, scheduler_config={"leaderElection": KUBE_SCHEDULER})


@asynccontextmanager
async def client_of(plane: ControlPlane) -> AsyncIterator[Client]:
    async with Client.connect(load_access(kubeconfig=plane.admin.kubeconfig)) as client:
        yield client


@asynccontextmanager
async def standing(election: Election) -> AsyncIterator[None]:
    """A candidate that leads whenever it can."""

    async def lead() -> None:
        while True:
            with suppress(LeadershipLost):
                async with election.leading():
                    await asyncio.Event().wait()

    task = asyncio.create_task(lead())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    async with asyncio.timeout(timeout):
        while True:
            if condition():
                return
            await asyncio.sleep(0.02)


async def spec_of(client: Client, namespace: str, name: str) -> dict[str, Any]:
    lease = await LeaseLock(client, namespace, name).get(timeout=30)
    assert lease is not None
    return dict(lease.document["spec"])


async def test_the_second_candidate_follows_when_the_first_one_leaves(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with client_of(control_plane) as client:
        first, second = (
            Election(client, namespace=namespace, name="turns", identity=identity, timings=BRISK)
            for identity in ("one", "two")
        )
        async with standing(second):
            await until(lambda: second.is_leader)
            before = await spec_of(client, namespace, "turns")
            async with standing(first):
                await until(lambda: first.holder == "two")
                await asyncio.sleep(BRISK.retry_period * 3)
                after = await spec_of(client, namespace, "turns")
                assert before["renewTime"] < after["renewTime"]
                assert before | {"renewTime": ""} == after | {"renewTime": ""}
                assert not first.is_leader
        released = await spec_of(client, namespace, "turns")
        assert (released["holderIdentity"], released["leaseDurationSeconds"]) == ("", 1)
        async with first.leading() as term:
            assert term.transitions == 1
            assert not second.is_leader


async def test_the_second_candidate_follows_when_the_first_one_falls_silent(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with client_of(control_plane) as client:
        first, second = (
            Election(client, namespace=namespace, name="silence", identity=identity, timings=BRISK)
            for identity in ("one", "two")
        )
        async with standing(first):
            await until(lambda: first.is_leader)
            async with standing(second):
                await until(lambda: second.holder == "one")
                # Its way to the server is cut; nothing else tells it.
                first._lock = LeaseLock(Client(Silence()), namespace, "silence")
                while not second.is_leader:
                    assert not (first.is_leader and second.is_leader)
                    await asyncio.sleep(0.01)
                assert not first.is_leader


class Silence:
    """A network that swallows everything."""

    async def send(self, request: object) -> Any:
        await asyncio.Event().wait()

    async def aclose(self) -> None: ...


async def test_what_others_do_to_the_lease_does_not_cost_the_leadership(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with client_of(control_plane) as client:
        election = Election(client, namespace=namespace, name="mine", identity="one", timings=BRISK)
        async with election.leading() as term:
            label = {"metadata": {"labels": {"seen": "yes"}, "finalizers": ["example.com/stay"]}}
            await client.patch(LEASES, "mine", MergePatch(label), namespace=namespace)
            await asyncio.sleep(BRISK.retry_period * 3)
            lease = await LeaseLock(client, namespace, "mine").get(timeout=30)
            assert lease is not None
            assert lease.document["metadata"]["labels"] == {"seen": "yes"}
            assert lease.document["metadata"]["finalizers"] == ["example.com/stay"]
            before = dict(lease.document["spec"])
            assert term.valid()

            await client.patch(LEASES, "mine", MergePatch({"metadata": {"finalizers": None}}), namespace=namespace)
            await client.delete(LEASES, "mine", namespace=namespace)
            await asyncio.sleep(BRISK.retry_period * 3)
            assert term.valid()
            after = await spec_of(client, namespace, "mine")
            assert before | {"renewTime": ""} == after | {"renewTime": ""}


async def test_kube_scheduler_and_a_candidate_of_ours_respect_each_other(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    async with client_of(plane) as client:
        election = Election(client, namespace="kube-system", name="kube-scheduler", identity="ours", timings=BRISK)
        # It says that it is well before it leads, and would find the lease taken.
        await until_kube_scheduler_leads(client)
        async with standing(election):
            await until(lambda: election.holder not in ("", "ours"))
            theirs = await spec_of(client, "kube-system", "kube-scheduler")
            assert not election.is_leader
            # Killed: it does not release its lease, which therefore runs out.
            plane.scheduler.kill()
            await until(lambda: election.is_leader)
            ours = await spec_of(client, "kube-system", "kube-scheduler")
            assert shapes(ours) == shapes(theirs)
            assert ours["leaseDurationSeconds"] == theirs["leaseDurationSeconds"]
            assert ours["leaseTransitions"] == theirs["leaseTransitions"] + 1
            # It starts again, and waits, until ours is released.
            plane.scheduler.start()
            await asyncio.sleep(BRISK.retry_period * 4)
            assert election.holder == "ours"
        await until_kube_scheduler_leads(client)


async def until_kube_scheduler_leads(client: Client) -> None:
    lock = LeaseLock(client, "kube-system", "kube-scheduler")
    async with asyncio.timeout(60):
        while True:
            lease = await lock.get(timeout=30)
            if lease is not None and lease.spec.holder_identity not in ("", "ours"):
                return
            await asyncio.sleep(0.1)


def shapes(spec: dict[str, Any]) -> dict[str, str]:
    """Which fields there are, and of what kind: two times are of one kind, whatever they say."""
    return {
        name: re.sub(r"[0-9]", "0", value) if name.endswith("Time") else type(value).__name__
        for name, value in spec.items()
    }
