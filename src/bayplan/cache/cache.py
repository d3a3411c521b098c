"""The mirror of the cluster, and what we have decided that it does not show yet.

::

                  assume                    Seen on a node
    pending ─────────────────▶ assumed ─────────────────────▶ on a node
       ▲                          │                               │
       └──────── forget ──────────┘               Gone, finished ─┴▶ nothing

A pod that is assumed takes room like any other. The watch has the last word: what it says of a pod on a node replaces
what was assumed, wherever that was. That the watch still shows the pod without a node says nothing: it may be late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.columns.cluster import Cluster
from bayplan.contract.events import Seen
from bayplan.errors import ValidationError
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.columns.store import Store
    from bayplan.contract.events import Event


class Cache:
    """Takes events and decisions in; the cluster is what comes of them."""

    def __init__(self, *, annotations_matter: bool = False) -> None:
        self.cluster = Cluster(annotations_matter=annotations_matter)
        #: Pods that we have placed and that the watch does not show on their node yet, by key, with the node. They
        #: take room there, and are nominated to none.
        self._assumed: dict[str, tuple[Pod, str]] = {}
        #: Those of them to which the watch says a node was promised: when we forget them, it still is.
        self._promised: dict[str, Pod] = {}
        cluster = self.cluster
        self._stores: dict[type, Store[Any]] = {
            Namespace: cluster.namespaces,
            Service: cluster.services,
            ReplicationController: cluster.replication_controllers,
            ReplicaSet: cluster.replica_sets,
            StatefulSet: cluster.stateful_sets,
            PodDisruptionBudget: cluster.budgets,
            PriorityClass: cluster.priority_classes,
            PersistentVolume: cluster.volumes,
            PersistentVolumeClaim: cluster.claims,
            StorageClass: cluster.storage_classes,
            CSINode: cluster.csi_nodes,
            CSIDriver: cluster.csi_drivers,
            CSIStorageCapacity: cluster.capacities,
            VolumeAttachment: cluster.attachments,
        }

    @property
    def assumed(self) -> Mapping[str, tuple[Pod, str]]:
        """The pods that the watch has yet to confirm, by key, each with its node."""
        return self._assumed

    def apply(self, event: Event) -> None:
        """Take an event in. A ValidationError for an object that cannot be counted; nothing has changed then."""
        one = event.object
        if not one.metadata.name:
            raise ValidationError(f"a {type(one).__name__} has no name", remedy="give it one in metadata.name")
        try:
            self._apply(one, there=isinstance(event, Seen))
        except ValidationError as error:
            raise ValidationError(
                f"{type(one).__name__} {one.metadata.key}: {error.problem}", remedy=error.remedy
            ) from error

    def assume(self, pod: Pod, node: str) -> None:
        """We have placed a pod; from now on it takes room there."""
        key = pod.metadata.key
        self.cluster.put_pod(pod, node)
        promised = self.cluster.withdraw_nomination(key)
        if promised is not None:
            self._promised[key] = promised
        self._assumed[key] = (pod, node)

    def forget(self, key: str) -> None:
        """What we have decided was not carried out. Nothing if the watch has since shown the pod on a node."""
        if self._assumed.pop(key, None) is not None:
            self.cluster.remove_pod(key)
            promised = self._promised.pop(key, None)
            if promised is not None:
                self.cluster.nominate(promised, promised.status.nominated_node_name)

    def check(self) -> None:
        """Assert what must always hold; for tests."""
        self.cluster.check()
        for key, (pod, _) in self._assumed.items():
            assert self.cluster.pod_on_node(key) is pod
            assert self.cluster.nominated_node(key) is None
        assert self._promised.keys() <= self._assumed.keys()

    def _apply(self, one: Any, *, there: bool) -> None:
        if isinstance(one, Pod):
            self._apply_pod(one, there=there)
        elif isinstance(one, Node):
            if there:
                self.cluster.put_node(one)
            else:
                self.cluster.remove_node(one.metadata.name)
        elif there:
            self._stores[type(one)].put(one)
        else:
            self._stores[type(one)].remove(one.metadata.key)

    def _apply_pod(self, pod: Pod, *, there: bool) -> None:
        key = pod.metadata.key
        assumed = self._assumed.get(key)
        if there and not pod.is_finished and pod.spec.node_name:
            self.cluster.put_pod(pod, pod.spec.node_name)
            self.cluster.withdraw_nomination(key)
            self._assume_no_more(key)
            return
        is_assumed = assumed is not None and assumed[0].metadata.uid == pod.metadata.uid
        if there and not pod.is_finished:
            self._apply_pending(pod, is_assumed=is_assumed)
            return
        if assumed is not None and not is_assumed:
            return  # one of the same name that came before the one that we have placed
        self._assume_no_more(key)
        self.cluster.remove_pod(key)
        self.cluster.withdraw_nomination(key)

    def _apply_pending(self, pod: Pod, *, is_assumed: bool) -> None:
        key = pod.metadata.key
        if is_assumed:
            self._promised.pop(key, None)
            if pod.status.nominated_node_name:
                self._promised[key] = pod
            return
        # A pod with this name that was on a node is another one, and gone.
        self._assume_no_more(key)
        self.cluster.remove_pod(key)
        self.cluster.withdraw_nomination(key)
        if pod.status.nominated_node_name:
            self.cluster.nominate(pod, pod.status.nominated_node_name)

    def _assume_no_more(self, key: str) -> None:
        self._assumed.pop(key, None)
        self._promised.pop(key, None)
