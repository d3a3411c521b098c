"""Pod classes: pods that no decision can tell apart.

Pods come in crowds, from templates. What was worked out for one of a crowd holds for all, so it is kept with the class.
Two pods are of one class when all that placement reads of them is the same: their namespace, labels, controller, and
the spec less the volumes that can be mounted anywhere (each pod has one of those, with a random name, for its token).
The node is part of it only while it is a demand, not for pods that are there.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from bayplan.columns.affinity import Terms, compile_terms
from bayplan.errors import ValidationError
from bayplan.objects.pod import Volume

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.columns.pods import Group
    from bayplan.columns.resources import Load
    from bayplan.objects.pod import Pod, PodSpec

_encode = msgspec.msgpack.Encoder().encode

#: A port on the node's own addresses: address, protocol, number.
HostPort = tuple[str, str, int]
# A value of the API; nothing is bound to it.
_ANY_ADDRESS = "0.0.0.0"  # noqa: S104


class PodClass:
    """What pods of one kind have in common. Whatever is derived from it is worked out once."""

    def __init__(self, key: bytes, pod: Pod, known_terms: dict[Terms, Terms] | None = None) -> None:
        self.key = key
        #: Equal terms of other classes, to be shared.
        self._known_terms = known_terms if known_terms is not None else {}
        #: One of the class. Only what the class has in common may be read off it.
        self.pod = pod
        #: What one of them takes on its node, once that has been worked out.
        self.load: Load | None = None
        #: Where it counts among the pods on nodes, once one of them has been.
        self.group: Group | None = None

    @property
    def namespace(self) -> str:
        """The namespace of all of them."""
        return self.pod.metadata.namespace

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of all of them."""
        return self.pod.metadata.labels

    @property
    def spec(self) -> PodSpec:
        """The spec of all of them, but for the node they are on and for volumes that can be mounted anywhere."""
        return self.pod.spec

    @cached_property
    def terms(self) -> Terms | ValidationError | None:
        """Its pod affinity; the error where that breaks the rules; None where it has none."""
        try:
            terms = compile_terms(self.pod)
        except ValidationError as error:
            return error
        return None if terms is None else self._known_terms.setdefault(terms, terms)

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The ports it takes on its node. Init containers that end give theirs back before they count."""
        running = [one for one in self.spec.init_containers if one.is_sidecar]
        return tuple(
            (port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port)
            for container in (*running, *self.spec.containers)
            for port in container.ports
            if port.host_port > 0
        )

    def __repr__(self) -> str:
        return f"PodClass(of {self.pod.metadata.key})"


class PodClasses:
    """The classes there are. When there are too many, which means that pods are all different, they are let go."""

    __slots__ = ("_by_key", "_last", "_limit", "_terms", "annotations_matter")

    def __init__(self, *, limit: int = 10_000, annotations_matter: bool = False) -> None:
        self._by_key: dict[bytes, PodClass] = {}
        self._terms: dict[Terms, Terms] = {}
        #: The last pod that was asked about, with its class: one pod is asked about several times in a row.
        self._last: tuple[Pod, PodClass] | None = None
        self._limit = limit
        #: Whether some plugin reads annotations of pods; then pods with different ones differ.
        self.annotations_matter = annotations_matter

    def __len__(self) -> int:
        return len(self._by_key)

    def class_of(self, pod: Pod) -> PodClass:
        """The class of a pod. If it names its node, that is what it demands."""
        last = self._last
        if last is not None and last[0] is pod:
            return last[1]
        found = self._find(pod, pod.spec.node_name)
        self._last = pod, found
        return found

    def class_of_placed(self, pod: Pod) -> PodClass:
        """The class of a pod that is on a node: where it went does not tell it from others of its kind."""
        return self._find(pod, "") if pod.spec.node_name else self.class_of(pod)

    def _find(self, pod: Pod, node_name: str) -> PodClass:
        try:
            key = self._key(pod, node_name)
        except OverflowError:
            raise ValidationError(
                "a number in its spec does not fit 64 bits", remedy="compare it with what the API server has"
            ) from None
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= self._limit:
                self._by_key.clear()
                self._terms.clear()
            if pod.spec.node_name != node_name:
                pod = replace(pod, spec=replace(pod.spec, node_name=node_name))
            found = self._by_key[key] = PodClass(key, pod, self._terms)
        return found

    def _key(self, pod: Pod, node_name: str) -> bytes:
        meta, spec = pod.metadata, pod.spec
        volumes = spec.volumes
        name = ""
        if volumes:
            volumes = tuple(volume for volume in volumes if volume != Volume(name=volume.name))
            if any(volume.ephemeral is not None for volume in volumes):
                # The claims of such volumes are named after the pod, and belong to this one and none made anew.
                name = f"{meta.name}/{meta.uid}"
        return _encode(
            (
                meta.namespace,
                meta.labels,
                meta.annotations if self.annotations_matter else None,
                meta.controller if meta.owner_references else None,
                name,
                node_name,
                volumes,
                spec.containers,
                spec.init_containers,
                spec.ephemeral_containers,
                spec.scheduler_name,
                spec.node_selector,
                spec.affinity,
                spec.tolerations,
                spec.topology_spread_constraints,
                spec.priority,
                spec.preemption_policy,
                spec.overhead,
                spec.resources,
                spec.resource_claims,
                spec.scheduling_group,
                spec.host_network,
                spec.host_users,
            )
        )
