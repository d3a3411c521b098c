"""Every kind of request against a real API server: what it answers is what we said it would."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.client.api import Client
from bayplan.client.credentials import load_access
from bayplan.client.patches import ApplyPatch, JsonPatch, MergePatch, StrategicMergePatch
from bayplan.errors import AlreadyExists, BadRequest, Conflict, Forbidden, Invalid, NotFound, TooManyRequests
from bayplan.objects.meta import ObjectMeta, ResourceVersion, Uid
from bayplan.objects.resource import Resource

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bayplan.testing.controlplane import ControlPlane

pytestmark = pytest.mark.e2e


class Anything(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = {}
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


def resource(plural: str, kind: str, group: str = "", *, namespaced: bool = True) -> Resource[Anything]:
    return Resource(group, "v1", plural, kind, namespaced, Anything)


CONFIGMAPS, PODS = resource("configmaps", "ConfigMap"), resource("pods", "Pod")
NODES = resource("nodes", "Node", namespaced=False)
REPLICASETS = resource("replicasets", "ReplicaSet", "apps")
BUDGETS = resource("poddisruptionbudgets", "PodDisruptionBudget", "policy")

CONTAINERS = [{"name": "c", "image": "nowhere/image:1"}]


@pytest.fixture
async def client(control_plane: ControlPlane, namespace: str) -> AsyncIterator[Client]:
    access = load_access(kubeconfig=control_plane.admin.kubeconfig, namespace=namespace)
    async with Client.connect(access) as client:
        yield client


async def test_create_get_replace_and_delete(client: Client) -> None:
    made = await client.create(CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert made.metadata.uid
    with pytest.raises(AlreadyExists):
        await client.create(CONFIGMAPS, {"metadata": {"name": "a"}})
    body = {"metadata": {"name": "a", "resourceVersion": made.metadata.resource_version}, "data": {"x": "2"}}
    replaced = await client.replace(CONFIGMAPS, "a", body)
    assert replaced.data == {"x": "2"}
    with pytest.raises(Conflict):
        await client.replace(CONFIGMAPS, "a", body)
    await client.delete(CONFIGMAPS, "a")
    with pytest.raises(NotFound):
        await client.get(CONFIGMAPS, "a")


async def test_a_dry_run_changes_nothing(client: Client) -> None:
    await client.create(CONFIGMAPS, {"metadata": {"name": "a"}}, dry_run=True)
    with pytest.raises(NotFound):
        await client.get(CONFIGMAPS, "a")


async def test_an_object_that_breaks_a_rule_is_invalid(client: Client) -> None:
    with pytest.raises(Invalid, match=r"metadata\.name"):
        await client.create(CONFIGMAPS, {"metadata": {"name": "A_b"}})
    with pytest.raises(BadRequest):
        await client.create(CONFIGMAPS, b"{")


async def test_every_kind_of_patch(client: Client) -> None:
    await client.create(CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"x": "1", "y": "1"}})
    assert (await client.patch(CONFIGMAPS, "a", MergePatch({"data": {"x": None, "z": "1"}}))).data == {
        "y": "1",
        "z": "1",
    }
    operations = [{"op": "test", "path": "/data/y", "value": "1"}, {"op": "replace", "path": "/data/y", "value": "2"}]
    assert (await client.patch(CONFIGMAPS, "a", JsonPatch(operations))).data["y"] == "2"
    with pytest.raises(Invalid):
        await client.patch(CONFIGMAPS, "a", JsonPatch(operations))
    assert (await client.patch(CONFIGMAPS, "a", StrategicMergePatch({"data": {"s": "1"}}))).data["s"] == "1"


async def test_apply_creates_owns_and_conflicts(client: Client) -> None:
    def applied(manager: str, value: str, *, force: bool = False) -> ApplyPatch:
        return ApplyPatch({"metadata": {"name": "a"}, "data": {"x": value}}, manager=manager, force=force)

    assert (await client.patch(CONFIGMAPS, "a", applied("one", "1"))).data == {"x": "1"}
    with pytest.raises(Conflict, match='conflict with "one"'):
        await client.patch(CONFIGMAPS, "a", applied("two", "2"))
    assert (await client.patch(CONFIGMAPS, "a", applied("two", "2", force=True))).data == {"x": "2"}


async def test_delete_respects_its_preconditions(client: Client) -> None:
    made = await client.create(CONFIGMAPS, {"metadata": {"name": "a"}})
    with pytest.raises(Conflict):
        await client.delete(CONFIGMAPS, "a", uid=Uid("00000000-0000-0000-0000-000000000000"))
    with pytest.raises(Conflict):
        await client.delete(CONFIGMAPS, "a", resource_version=ResourceVersion("1"))
    await client.delete(CONFIGMAPS, "a", uid=made.metadata.uid, resource_version=made.metadata.resource_version)


async def test_pages_of_a_list_are_of_one_moment(client: Client) -> None:
    for number in range(7):
        await client.create(CONFIGMAPS, {"metadata": {"name": f"n{number}", "labels": {"page": "yes"}}})
    pages = client.pages(CONFIGMAPS, namespace=client.namespace, labels="page=yes", limit=3)
    first = await anext(pages)
    await client.delete(CONFIGMAPS, "n6")
    rest = [page async for page in pages]
    assert [len(page.items) for page in (first, *rest)] == [3, 3, 1]
    assert len({page.metadata.resource_version for page in (first, *rest)}) == 1


async def test_selectors_on_labels_and_fields(client: Client) -> None:
    for number in range(3):
        await client.create(CONFIGMAPS, {"metadata": {"name": f"n{number}", "labels": {"n": str(number)}}})
    namespace = client.namespace
    by_label = await client.list(CONFIGMAPS, namespace=namespace, labels="n in (0,2)")
    assert {item.metadata.name for item in by_label.items} == {"n0", "n2"}
    by_field = await client.list(CONFIGMAPS, namespace=namespace, fields="metadata.name=n1")
    assert [item.metadata.name for item in by_field.items] == ["n1"]


async def make_pod(client: Client, name: str, **metadata: Any) -> Anything:
    return await client.create(PODS, {"metadata": {"name": name, **metadata}, "spec": {"containers": CONTAINERS}})


async def test_bind_sets_the_node_once_and_only_for_this_pod(client: Client) -> None:
    pod = await make_pod(client, "p")
    namespace = client.namespace
    with pytest.raises(Conflict):
        await client.bind(namespace, "p", "n1", uid=Uid("00000000-0000-0000-0000-000000000000"))
    await client.bind(namespace, "p", "n1", uid=pod.metadata.uid)
    assert (await client.get(PODS, "p")).spec["nodeName"] == "n1"
    with pytest.raises(Conflict):
        await client.bind(namespace, "p", "n2", uid=pod.metadata.uid)
    with pytest.raises(NotFound):
        await client.bind(namespace, "nobody", "n1", uid=pod.metadata.uid)


async def test_an_eviction_is_held_back_by_a_budget(client: Client) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    await client.create(BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
    await make_pod(client, "p", labels={"app": "x"})
    pod = await make_pod(client, "free")
    await client.bind(client.namespace, "p", "n1", uid=(await client.get(PODS, "p")).metadata.uid)
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    await client.patch(PODS, "p", MergePatch(running), subresource="status")
    with pytest.raises(TooManyRequests) as refused:
        await client.evict(client.namespace, "p")
    assert "DisruptionBudget" in refused.value.causes
    await client.evict(client.namespace, "free", uid=pod.metadata.uid, grace_seconds=0)
    with pytest.raises(NotFound):
        await client.get(PODS, "free")


async def test_status_and_scale_are_subresources(client: Client) -> None:
    await make_pod(client, "p")
    await client.patch(PODS, "p", StrategicMergePatch({"status": {"phase": "Failed"}}), subresource="status")
    assert (await client.get(PODS, "p")).status["phase"] == "Failed"
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": CONTAINERS}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await client.create(REPLICASETS, {"metadata": {"name": "r"}, "spec": spec})
    await client.scale(REPLICASETS, "r", 4)
    assert (await client.get(REPLICASETS, "r")).spec["replicas"] == 4


async def test_a_cluster_wide_object_needs_no_namespace(client: Client, namespace: str) -> None:
    await client.create(NODES, {"metadata": {"name": f"node-{namespace}"}})
    assert (await client.get(NODES, f"node-{namespace}")).metadata.namespace == ""
    await client.delete(NODES, f"node-{namespace}")


async def test_rbac_says_no_to_somebody_else(control_plane: ControlPlane, namespace: str) -> None:
    nobody = await asyncio.to_thread(control_plane.user, "nobody")
    async with Client.connect(load_access(kubeconfig=nobody.kubeconfig, namespace=namespace)) as client:
        with pytest.raises(Forbidden, match='User "nobody" cannot list resource "pods"') as refused:
            await client.list(PODS, namespace=namespace)
        assert refused.value.remedy


async def test_compressed_answers_are_read(client: Client, control_plane: ControlPlane) -> None:
    text = "x" * 200_000
    await client.create(CONFIGMAPS, {"metadata": {"name": "large"}, "data": {"x": text}})
    assert (await client.get(CONFIGMAPS, "large")).data["x"] == text
    raw = await client.raw("GET", "/version")
    assert json.loads(raw)["major"] == "1"
