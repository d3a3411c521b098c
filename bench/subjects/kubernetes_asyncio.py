"""kubernetes_asyncio: `list_pod_for_all_namespaces` and its `Watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubernetes_asyncio import client, config, watch

if TYPE_CHECKING:
    from bench.meter import Meter


async def list_pods(kubeconfig: str, meter: Meter) -> int:
    await config.load_kube_config(config_file=kubeconfig)
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        await core.list_pod_for_all_namespaces(limit=1)
        meter.start()
        listed = await core.list_pod_for_all_namespaces()
        pods = {f"{pod.metadata.namespace}/{pod.metadata.name}": pod for pod in listed.items}
        meter.stop()
        return len(pods)


async def watch_pods(kubeconfig: str, events: int, meter: Meter) -> int:
    await config.load_kube_config(config_file=kubeconfig)
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        listed = await core.list_pod_for_all_namespaces()
        pods = {f"{pod.metadata.namespace}/{pod.metadata.name}": pod for pod in listed.items}
        seen = 0
        meter.start()
        async with watch.Watch().stream(core.list_pod_for_all_namespaces, resource_version="100000") as stream:
            async for event in stream:
                pod = event["object"]
                key = f"{pod.metadata.namespace}/{pod.metadata.name}"
                if event["type"] == "DELETED":
                    pods.pop(key, None)
                else:
                    pods[key] = pod
                seen += 1
                if seen == events:
                    break
        meter.stop()
        return len(pods)
