"""The kind of a pod that does not say of what kind it is: what its Services and its controller select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.errors import ValidationError
from bayplan.objects.labels import Selector, compile_label_selector

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.selection import LabelSelector


class DefaultSelector:
    """Works the selector out, and again when Services or controllers have changed."""

    def __init__(self, pod: PodClass, cluster: Cluster) -> None:
        self._pod = pod
        self._cluster = cluster
        self._seen: tuple[int, ...] = ()
        #: Empty while there is nothing that the pod belongs to: then nothing is spread.
        self.selector = Selector()

    def catch_up(self) -> bool:
        """Whether the selector is another now."""
        cluster = self._cluster
        stores = (cluster.services, cluster.replication_controllers, cluster.replica_sets, cluster.stateful_sets)
        seen = tuple(store.version for store in stores)
        if seen == self._seen:
            return False
        self._seen = seen
        before, self.selector = self.selector, self._work_out()
        return self.selector != before

    def _work_out(self) -> Selector:
        labels = self._labels_of_services()
        owner = self._pod.pod.metadata.controller
        if owner is None:
            return Selector.of_labels(labels)
        key = f"{self._pod.namespace}/{owner.name}"
        if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
            controller = self._cluster.replication_controllers.get(key)
            labels |= (controller.spec.selector or {}) if controller is not None else {}
        selector = Selector.of_labels(labels)
        if owner.api_version != "apps/v1":
            return selector
        if owner.kind == "ReplicaSet":
            replica_set = self._cluster.replica_sets.get(key)
            return _narrowed(selector, replica_set.spec.selector) if replica_set is not None else selector
        if owner.kind == "StatefulSet":
            stateful_set = self._cluster.stateful_sets.get(key)
            return _narrowed(selector, stateful_set.spec.selector) if stateful_set is not None else selector
        return selector

    def _labels_of_services(self) -> dict[str, str]:
        merged: dict[str, str] = {}
        for service in self._cluster.services:
            wanted = service.spec.selector
            if wanted is None or service.metadata.namespace != self._pod.namespace:
                continue
            if all(self._pod.labels.get(key) == value for key, value in wanted.items()):
                merged |= wanted
        return merged


def _narrowed(selector: Selector, more: LabelSelector | None) -> Selector:
    try:
        other = compile_label_selector(more)
    except ValidationError:
        return selector
    return selector if other.nothing else selector.with_requirements(other.requirements)
