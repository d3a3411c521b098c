"""All that placement reads of a cluster.

Pods may be on nodes that are not there, because their nodes came later or left earlier. They are *strays*: kept, and
counted as soon as the node is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from bayplan.columns.podclass import PodClasses
from bayplan.columns.pods import PodTable
from bayplan.columns.store import Store
from bayplan.columns.table import NodeTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bayplan.objects.node import Namespace, Node
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
    from bayplan.objects.workloads import (
        PodDisruptionBudget,
        PriorityClass,
        ReplicaSet,
        ReplicationController,
        Service,
        StatefulSet,
    )


T = TypeVar("T")


class Cluster:
    """Nodes, the pods on them, and the objects around them. Plugins read it; only the cache writes to it."""

    def __init__(self, *, annotations_matter: bool = False) -> None:
        self.nodes = NodeTable()
        self.classes = PodClasses(annotations_matter=annotations_matter)
        self.pods = PodTable(self.nodes, self.classes)
        self.namespaces: Store[Namespace] = Store()
        self.services: Store[Service] = Store()
        self.replication_controllers: Store[ReplicationController] = Store()
        self.replica_sets: Store[ReplicaSet] = Store()
        self.stateful_sets: Store[StatefulSet] = Store()
        self.budgets: Store[PodDisruptionBudget] = Store()
        self.priority_classes: Store[PriorityClass] = Store()
        self.volumes: Store[PersistentVolume] = Store()
        self.claims: Store[PersistentVolumeClaim] = Store()
        self.storage_classes: Store[StorageClass] = Store()
        self.csi_nodes: Store[CSINode] = Store()
        self.csi_drivers: Store[CSIDriver] = Store()
        self.capacities: Store[CSIStorageCapacity] = Store()
        self.attachments: Store[VolumeAttachment] = Store()
        #: Pods on nodes that are not there, by node and key. None of them is in `pods`.
        self._strays: dict[str, dict[str, Pod]] = {}
        #: Where each stray is.
        self._stray_on: dict[str, str] = {}
        #: Pods that are to go to a node once there is room, by node and key. The node need not be there.
        self._nominated: dict[str, dict[str, Pod]] = {}
        #: Where each of them is to go.
        self._nominated_to: dict[str, str] = {}
        self._shared: dict[Callable[[Cluster], Any], Any] = {}

    def shared(self, make: Callable[[Cluster], T]) -> T:
        """What several readers work out of the cluster together: made once, and kept as long as the cluster."""
        found: T | None = self._shared.get(make)
        if found is None:
            found = self._shared[make] = make(self)
        return found

    def put_node(self, node: Node) -> None:
        """A node is there, or has changed."""
        row = self.nodes.put(node)
        name = node.metadata.name
        for key, pod in self._strays.pop(name, {}).items():
            del self._stray_on[key]
            self.pods.add(pod, row)

    def remove_node(self, name: str) -> None:
        """A node is gone. Its pods stay known until they are gone too."""
        row = self.nodes.row_of.get(name)
        if row is None:
            return
        for placement in list(self.pods.on(row)):
            key = placement.pod.metadata.key
            self.pods.remove(key)
            self._stray(key, placement.pod, name)
        self.nodes.remove(name)

    def put_pod(self, pod: Pod, node: str) -> None:
        """A pod takes room on a node; it may have been on another, or another pod."""
        key = pod.metadata.key
        self.pods.load_of(pod, self.classes.class_of_placed(pod))  # first, as it may refuse
        self.remove_pod(key)
        row = self.nodes.row_of.get(node)
        if row is None:
            self._stray(key, pod, node)
        else:
            self.pods.add(pod, row)

    def remove_pod(self, key: str) -> None:
        """A pod takes no room any more."""
        if self.pods.remove(key) is None:
            node = self._stray_on.pop(key, None)
            if node is not None:
                strays = self._strays[node]
                del strays[key]
                if not strays:
                    del self._strays[node]

    def pod_on_node(self, key: str) -> Pod | None:
        """The pod of this name that takes room somewhere."""
        placement = self.pods.by_key.get(key)
        if placement is not None:
            return placement.pod
        node = self._stray_on.get(key)
        return None if node is None else self._strays[node][key]

    def strays(self) -> Mapping[str, Mapping[str, Pod]]:
        """The pods on nodes that are not there, by node and key."""
        return self._strays

    def nominate(self, pod: Pod, node: str) -> None:
        """A pod waits for room on a node: others of no higher priority must leave it that room."""
        key = pod.metadata.key
        self.withdraw_nomination(key)
        self._nominated.setdefault(node, {})[key] = pod
        self._nominated_to[key] = node

    def withdraw_nomination(self, key: str) -> Pod | None:
        """A pod does not wait for room any more. Returns the pod, if it did."""
        node = self._nominated_to.pop(key, None)
        if node is None:
            return None
        waiting = self._nominated[node]
        pod = waiting.pop(key)
        if not waiting:
            del self._nominated[node]
        return pod

    def nominated(self) -> Mapping[str, Mapping[str, Pod]]:
        """The pods that wait for room, by node and key."""
        return self._nominated

    def nominated_node(self, key: str) -> str | None:
        """The node that a pod waits for."""
        return self._nominated_to.get(key)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace, None if it is not known."""
        known = self.namespaces.get(namespace)
        return None if known is None else known.metadata.labels

    def check(self) -> None:
        """Assert what must always hold; for tests."""
        self.nodes.check()
        self.pods.check()
        for apart, whole in ((self._strays, self._stray_on), (self._nominated, self._nominated_to)):
            assert all(apart.values())
            assert {key: node for node, pods in apart.items() for key in pods} == whole
        assert self._strays.keys().isdisjoint(self.nodes.row_of)
        assert self._stray_on.keys().isdisjoint(self.pods.by_key)

    def _stray(self, key: str, pod: Pod, node: str) -> None:
        self._strays.setdefault(node, {})[key] = pod
        self._stray_on[key] = node
