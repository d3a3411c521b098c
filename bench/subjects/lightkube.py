"""lightkube: `AsyncClient.list` and `AsyncClient.watch`, on httpx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightkube import AsyncClient, KubeConfig
from lightkube.resources.core_v1 import Pod

if TYPE_CHECKING:
    from bench.meter import Meter


def _connect(kubeconfig: str) -> AsyncClient:
    return AsyncClient(config=KubeConfig.from_file(kubeconfig))


def _key(pod: Any) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


async def _list(client: AsyncClient) -> dict[str, Any]:
    listed = client.list(Pod, namespace="*", chunk_size=500)
    return {_key(pod): pod async for pod in listed}


async def list_pods(kubeconfig: str, meter: Meter) -> int:
    client = _connect(kubeconfig)
    async for _ in client.list(Pod, namespace="*", chunk_size=1):
        break
    meter.start()
    pods = await _list(client)
    meter.stop()
    return len(pods)


async def watch_pods(kubeconfig: str, events: int, meter: Meter) -> int:
    client = _connect(kubeconfig)
    pods = await _list(client)
    seen = 0
    meter.start()
    async for kind, pod in client.watch(Pod, namespace="*", resource_version="100000"):
        key = _key(pod)
        if kind == "DELETED":
            pods.pop(key, None)
        else:
            pods[key] = pod
        seen += 1
        if seen == events:
            break
    meter.stop()
    return len(pods)
