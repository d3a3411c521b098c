"""Events at a real API server: it takes what we write, and kubectl shows it as it shows kube-scheduler's."""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bayplan.client.api import Client
from bayplan.client.credentials import load_access
from bayplan.client.events import EventRecorder
from bayplan.objects.housekeeping import EVENTS, Event
from bayplan.objects.meta import ObjectReference, Uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bayplan.testing.controlplane import Binaries, ControlPlane

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@asynccontextmanager
async def recording(plane: ControlPlane) -> AsyncIterator[tuple[Client, EventRecorder]]:
    async with Client.connect(load_access(kubeconfig=plane.admin.kubeconfig)) as client:
        recorder = EventRecorder(client, "bayplan-scheduler", instance="bayplan-scheduler-here")
        task = asyncio.create_task(recorder.run())
        try:
            yield client, recorder
        finally:
            task.cancel()
            await asyncio.wait([task])


def pod(namespace: str, name: str = "web") -> ObjectReference:
    return ObjectReference(
        kind="Pod", namespace=namespace, name=name, uid=Uid("0b0f9f2e-6f0c-4a3e-9a51-1c1d4a2d2f01"), api_version="v1"
    )


async def only_event(client: Client, namespace: str) -> Event:
    (event,) = (await client.list(EVENTS, namespace=namespace)).items
    return event


async def test_an_event_arrives_whole(control_plane: ControlPlane, namespace: str) -> None:
    node = ObjectReference(kind="Node", name="n1", api_version="v1")
    async with recording(control_plane) as (client, recorder):
        recorder.record(
            regarding=pod(namespace),
            related=node,
            type="Warning",
            reason="FailedScheduling",
            action="Scheduling",
            note="0/1 nodes are available: 1 node(s) had a bad day — ✗.",
        )
        assert await recorder.drain(30) == 0
        assert recorder.health.problem == ""
        event = await only_event(client, namespace)
    assert event.regarding == pod(namespace)
    assert event.related == node
    assert (event.type, event.reason, event.action) == ("Warning", "FailedScheduling", "Scheduling")
    assert event.note == "0/1 nodes are available: 1 node(s) had a bad day — ✗."
    assert (event.reporting_controller, event.reporting_instance) == ("bayplan-scheduler", "bayplan-scheduler-here")
    assert event.series is None
    assert event.event_time is not None


async def test_a_series_is_counted_and_the_event_stays_the_same(control_plane: ControlPlane, namespace: str) -> None:
    async with recording(control_plane) as (client, recorder):
        for round_ in range(5):
            recorder.record(
                regarding=pod(namespace),
                type="Warning",
                reason="FailedScheduling",
                action="Scheduling",
                note=f"{round_}",
            )
            assert await recorder.drain(30) == 0
        event = await only_event(client, namespace)
    assert event.series is not None
    assert event.series.count == 5
    assert event.event_time is not None
    assert event.series.last_observed_time is not None
    assert event.event_time < event.series.last_observed_time
    assert event.note == "0"


async def test_a_series_whose_event_is_gone_is_made_anew(control_plane: ControlPlane, namespace: str) -> None:
    async with recording(control_plane) as (client, recorder):
        recorder.record(regarding=pod(namespace), reason="Preempted", action="Preempting", note="first")
        assert await recorder.drain(30) == 0
        before = await only_event(client, namespace)
        await client.delete(EVENTS, before.metadata.name, namespace=namespace)
        recorder.record(regarding=pod(namespace), reason="Preempted", action="Preempting", note="second")
        assert await recorder.drain(30) == 0
        after = await only_event(client, namespace)
    assert after.metadata.uid != before.metadata.uid
    assert (after.metadata.name, after.event_time) == (before.metadata.name, before.event_time)
    assert after.series is not None
    assert after.series.count == 2


async def test_what_is_at_its_limits_is_accepted(control_plane: ControlPlane, namespace: str) -> None:
    """Longest words and notes, odd names, objects without a namespace: the server finds nothing to refuse."""
    async with recording(control_plane) as (client, recorder):
        recorder.record(regarding=pod(namespace, "n" * 253), reason="R" * 200, action="A" * 200, note="é" * 2000)
        recorder.record(regarding=pod(namespace, "odd:name"), reason="R", action="A", note="")
        recorder.record(regarding=ObjectReference(kind="Node", name=namespace), reason="R", action="A", note="n")
        assert await recorder.drain(30) == 0
        assert recorder.health.failed == 0
        assert recorder.health.created == 3
        assert len((await client.list(EVENTS, namespace=namespace)).items) == 2
        of_nodes = (await client.list(EVENTS, namespace="default")).items
    assert namespace in {event.regarding.name for event in of_nodes}


async def test_an_event_of_a_namespace_that_is_not_there_is_left_out(control_plane: ControlPlane) -> None:
    async with recording(control_plane) as (_, recorder):
        recorder.record(regarding=pod("nowhere"), reason="Scheduled", action="Binding", note="x")
        assert await recorder.drain(30) == 0
        assert recorder.health.failed == 1


async def test_an_event_of_a_namespace_on_its_way_out_is_left_out(control_plane: ControlPlane, namespace: str) -> None:
    # Nobody finalises it here, so it stays on its way out.
    control_plane.request("DELETE", f"/api/v1/namespaces/{namespace}")
    async with recording(control_plane) as (_, recorder):
        recorder.record(regarding=pod(namespace), reason="Scheduled", action="Binding", note="x")
        assert await recorder.drain(30) == 0
        assert (recorder.health.failed, recorder.health.problem) == (1, "")


async def test_many_events_come_through_and_none_twice(control_plane: ControlPlane, namespace: str) -> None:
    async with recording(control_plane) as (client, recorder):
        for number in range(1000):
            recorder.record(regarding=pod(namespace, f"p{number}"), reason="Scheduled", action="Binding", note="there")
        assert await recorder.drain(60) == 0
        events = (await client.list(EVENTS, namespace=namespace)).items
    assert sorted(event.regarding.name for event in events) == sorted(f"p{number}" for number in range(1000))
    assert recorder.health.dropped == 0


async def test_kubectl_shows_what_people_look_for(
    control_plane: ControlPlane, control_plane_binaries: Binaries, namespace: str, tmp_path: Path
) -> None:
    if not control_plane_binaries.has("kubectl"):
        pytest.skip("kubectl is not among these programs")
    async with recording(control_plane) as (_, recorder):
        for _ in range(2):
            recorder.record(
                regarding=pod(namespace), type="Warning", reason="FailedScheduling", action="Scheduling", note="no room"
            )
            await recorder.drain(30)

    def kubectl(*arguments: str) -> str:
        command = [
            str(control_plane_binaries.path("kubectl")),
            f"--kubeconfig={control_plane.admin.kubeconfig}",
            *arguments,
        ]
        # A home of its own: kubectl keeps what it discovered by address, and addresses come again.
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    shown = await asyncio.to_thread(kubectl, "events", f"--namespace={namespace}", "--for=pod/web")
    (line,) = shown.splitlines()[1:]
    assert "(x2 over" in line
    assert line.split()[-5:] == ["Warning", "FailedScheduling", "Pod/web", "no", "room"]
    wide = await asyncio.to_thread(kubectl, "get", "events", f"--namespace={namespace}", "--output=wide")
    (line,) = wide.splitlines()[1:]
    assert "bayplan-scheduler, bayplan-scheduler-here" in line
    assert line.split()[-2] == "2", "the count"
