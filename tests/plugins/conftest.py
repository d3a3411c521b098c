"""A small cluster with storage, and plugins asked about it as the engine asks: kept, and only of rows that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from bayplan.columns.cluster import Cluster
from bayplan.columns.nodes import Nodes
from bayplan.contract.plugins import Following, Refusing
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.contract.plugins import Filtering

Json = dict[str, Any]
#: By node: the reasons against it, none for a node that will do.
Said = dict[str, tuple[str, ...]]
HOSTNAME = "kubernetes.io/hostname"


class Storage:
    """Builders that put what they build into the cluster; putting it again changes it."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self._versions = 0

    def node(self, name: str, **labels: str) -> Node:
        """A node, with its name as its hostname label."""
        node = msgspec.convert({"metadata": self._meta(name, labels={HOSTNAME: name, **labels})}, Node)
        self.cluster.put_node(node)
        return node

    def labelled_node(self, name: str, labels: Mapping[str, str]) -> Node:
        """A node with just these labels."""
        node = msgspec.convert({"metadata": self._meta(name, labels=dict(labels))}, Node)
        self.cluster.put_node(node)
        return node

    def csi_node(self, name: str, migrated: str = "", **limits: int | None) -> None:
        """The drivers of a node, with how many volumes each can take; underscores are dots."""
        drivers = [
            {"name": driver.replace("_", "."), "allocatable": {} if count is None else {"count": count}}
            for driver, count in limits.items()
        ]
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated}
        meta = self._meta(name, annotations=annotations)
        self.cluster.csi_nodes.put(msgspec.convert({"metadata": meta, "spec": {"drivers": drivers}}, CSINode))

    def driver(self, name: str, **spec: Any) -> None:
        """A CSI driver of the cluster."""
        self.cluster.csi_drivers.put(msgspec.convert({"metadata": self._meta(name), "spec": spec}, CSIDriver))

    def storage_class(self, name: str, *, waits: bool = True, provisioner: str = "a.csi", **more: Any) -> None:
        """A class whose claims wait for their first consumer, or are bound at once."""
        mode = "WaitForFirstConsumer" if waits else "Immediate"
        content = {"metadata": self._meta(name), "provisioner": provisioner, "volumeBindingMode": mode, **more}
        self.cluster.storage_classes.put(msgspec.convert(content, StorageClass))

    def capacity(self, name: str, storage_class: str, capacity: str, **more: Any) -> None:
        """Room for volumes of a class."""
        content = {"metadata": self._meta(name, "ns"), "storageClassName": storage_class, "capacity": capacity, **more}
        self.cluster.capacities.put(msgspec.convert(content, CSIStorageCapacity))

    def claim(self, name: str, *, size: str = "1Gi", meta: Json | None = None, **spec: Any) -> PersistentVolumeClaim:
        """A claim of class `waits` that is not bound."""
        asked = {"storageClassName": "waits", "resources": {"requests": {"storage": size}}, **spec}
        content = {"metadata": self._meta(name, "ns", **(meta or {})), "spec": asked, "status": {"phase": "Pending"}}
        claim = msgspec.convert(content, PersistentVolumeClaim)
        self.cluster.claims.put(claim)
        return claim

    def bound_claim(self, name: str, volume: str, **spec: Any) -> PersistentVolumeClaim:
        """A claim that is bound to a volume."""
        return self.claim(
            name, meta={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, volumeName=volume, **spec
        )

    def volume(self, name: str, *, size: str = "1Gi", meta: Json | None = None, **spec: Any) -> PersistentVolume:
        """A volume of class `waits` that is free."""
        content = {
            "metadata": self._meta(name, **(meta or {})),
            "spec": {"storageClassName": "waits", "capacity": {"storage": size}, **spec},
            "status": {"phase": "Available"},
        }
        volume = msgspec.convert(content, PersistentVolume)
        self.cluster.volumes.put(volume)
        return volume

    def attachment(self, name: str, driver: str, volume: str, node: str) -> None:
        """A volume that is attached to a node."""
        spec = {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": volume}}
        self.cluster.attachments.put(msgspec.convert({"metadata": self._meta(name), "spec": spec}, VolumeAttachment))

    def pod(self, *volumes: str | Json, name: str = "pod", on: str | None = None) -> Pod:
        """A pod; volumes are names of claims, or volumes as JSON has them."""
        listed = [
            {"name": f"v{number}", **({"persistentVolumeClaim": {"claimName": one}} if isinstance(one, str) else one)}
            for number, one in enumerate(volumes)
        ]
        meta = {**self._meta(name, "ns"), "uid": f"uid of {name}"}
        pod = msgspec.convert({"metadata": meta, "spec": {"volumes": listed}}, Pod)
        if on is not None:
            self.cluster.put_pod(pod, on)
        return pod

    def has_say(self, plugin: Any, pod: Pod) -> bool:
        """Whether a plugin has a filter for a pod."""
        return plugin.pre_filter(self.cluster.classes.class_of(pod), self.cluster) is not None

    def ask(self, plugin: Any, pod: Pod) -> Asked:
        """A plugin's filter for a pod, kept."""
        filtering = plugin.pre_filter(self.cluster.classes.class_of(pod), self.cluster)
        assert filtering is not None, "it has nothing to say"
        return Asked(self, plugin, pod, filtering)

    def said(self, plugin: Any, pod: Pod) -> Said:
        """What a plugin says of the nodes."""
        return self.ask(plugin, pod).said()

    def _meta(self, name: str, namespace: str = "", **more: Any) -> Json:
        self._versions += 1
        return {
            "name": name,
            "namespace": namespace,
            "uid": f"uid of {name}",
            "resourceVersion": str(self._versions),
            **more,
        }


class Asked:
    """A filter as the engine keeps it. Each answer is compared with that of a filter made anew."""

    def __init__(self, storage: Storage, plugin: Any, pod: Pod, filtering: Filtering) -> None:
        self._storage = storage
        self._plugin = plugin
        self._pod = pod
        self.filtering = filtering
        self._kept: Said | None = None

    def refusal(self) -> tuple[str, ...]:
        """Why the pod is refused whatever the node."""
        self.said()
        verdict = self.filtering.refusal() if isinstance(self.filtering, Refusing) else None
        if verdict is None:
            return ()
        # Whoever looks at the nodes all the same sees it too.
        assert set(self.said().values()) <= {verdict.reasons}
        return verdict.reasons

    def said(self) -> Said:
        """What it says of the nodes now."""
        assert isinstance(self.filtering, Following)
        cluster, rows = self._storage.cluster, self.filtering.catch_up()
        if self._kept is None:
            rows = slice(0, cluster.nodes.size)
            self._kept = {}
        if rows is not None:
            self._kept |= _said_of(self.filtering, Nodes(cluster, rows))
        kept = {name: self._kept[name] for name in cluster.nodes.row_of}
        assert kept == self._said_anew()
        return kept

    def _said_anew(self) -> Said:
        cluster = self._storage.cluster
        filtering = self._plugin.pre_filter(cluster.classes.class_of(self._pod), cluster)
        filtering.catch_up()
        return _said_of(filtering, Nodes.every(cluster))


def _said_of(filtering: Filtering, nodes: Nodes) -> Said:
    verdicts = filtering.filter_nodes(nodes)
    assert verdicts.codes.dtype == np.int32
    assert len(verdicts) == len(nodes)
    names = [nodes.table.name(row) for row in nodes.indices()]
    return {name: verdicts[index].reasons for index, name in enumerate(names) if name}


@pytest.fixture
def storage() -> Storage:
    """An empty cluster."""
    return Storage()
