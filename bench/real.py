"""Ten thousand pods in a real API server: TLS, compression and the server's own pace are then part of the figure."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bayplan.client.api import Client
from bayplan.client.codec import encode
from bayplan.client.credentials import load_access
from bayplan.objects.pod import PODS
from bayplan.testing.controlplane import ControlPlane
from bench.pods import pod

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Creates at a time; the real server answers no faster with more.
_IN_FLIGHT = 64


@contextmanager
def control_plane_with_pods(count: int) -> Iterator[str]:
    """A control plane that holds so many pods, and the kubeconfig of its administrator."""
    with ControlPlane() as plane:
        for number in range(20):
            plane.make_namespace(f"team-{number}")
        kubeconfig = str(plane.admin.kubeconfig)
        asyncio.run(_fill(kubeconfig, count))
        yield kubeconfig


async def _fill(kubeconfig: str, count: int) -> None:
    numbers = iter(range(count))

    async def create() -> None:
        for number in numbers:
            made = pod(number, 0)
            metadata = made["metadata"]
            for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
                del metadata[name]
            body = {"metadata": metadata, "spec": made["spec"]}
            await client.raw("POST", PODS.path(namespace=metadata["namespace"]), encode(PODS, body))

    async with Client.connect(load_access(kubeconfig=kubeconfig)) as client, asyncio.TaskGroup() as group:
        for _ in range(_IN_FLIGHT):
            group.create_task(create())
