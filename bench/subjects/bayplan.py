"""Bayplan: `Client.list`, and a reflector."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bayplan.client.api import Client
from bayplan.client.credentials import load_access
from bayplan.client.reflector import Reflector
from bayplan.objects.pod import PODS

if TYPE_CHECKING:
    from bayplan.client.changes import Change
    from bayplan.objects.pod import Pod
    from bench.meter import Meter


async def list_pods(kubeconfig: str, meter: Meter) -> int:
    async with Client.connect(load_access(kubeconfig=kubeconfig)) as client:
        await client.raw("GET", "/api/v1/pods", query={"limit": 1})
        meter.start()
        listed = await client.list(PODS)
        pods = {pod.metadata.key: pod for pod in listed.items}
        meter.stop()
        return len(pods)


async def watch_pods(kubeconfig: str, events: int, meter: Meter) -> int:
    seen = 0
    done = asyncio.Event()

    def count(change: Change[Pod]) -> None:
        nonlocal seen
        if change.kind == "added":
            return
        seen += 1
        if seen == events:
            meter.stop()
            done.set()

    async with Client.connect(load_access(kubeconfig=kubeconfig)) as client:
        reflector = Reflector(client, PODS, count)
        running = asyncio.create_task(reflector.run())
        await reflector.wait_synced()
        meter.start()
        await done.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return len(reflector.objects)
