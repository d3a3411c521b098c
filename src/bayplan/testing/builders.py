"""Objects for tests, made of what a test is about and nothing else.

::

    pod("web", cpu="500m", labels={"app": "web"}, near=[among({"app": "db"}, by=ZONE)])
    node("n1", cpu="4", memory="8Gi", labels={ZONE: "a"}, taints=["gpu=yes:NoSchedule"])

What is not said is as little as can be: a pod requests nothing, a node has room for 110 pods. Fields of the spec that
have no argument of their own go by their names in `bayplan.objects`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bayplan.objects.meta import ObjectMeta, OwnerReference, ResourceVersion, Uid
from bayplan.objects.node import ContainerImage, Namespace, Node, NodeSpec, NodeStatus
from bayplan.objects.pod import (
    Container,
    ContainerPort,
    PersistentVolumeClaimSource,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Volume,
)
from bayplan.objects.selection import LabelSelector
from bayplan.objects.workloads import (
    LabelledSpec,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    ReplicaSet,
    SelectorSpec,
    Service,
)
from bayplan.testing.terms import affinity_of, as_taint, as_toleration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.objects.pod import TopologySpreadConstraint
    from bayplan.objects.taints import Taint, Toleration
    from bayplan.testing.terms import NodeTerm, PodTerm

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"

NAMESPACE = "default"
_NOTHING: Mapping[str, str] = {}
_DELETED = "2026-01-01T00:00:00Z"


def meta(
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] = _NOTHING,
    annotations: Mapping[str, str] = _NOTHING,
    uid: str | None = None,
    version: str = "1",
    owner: str = "",
    deleted: bool = False,
) -> ObjectMeta:
    """What every object has. The owner is its controller, such as `ReplicaSet/web`."""
    return ObjectMeta(
        name=name,
        namespace=namespace,
        uid=Uid(f"uid of {namespace}/{name}" if uid is None else uid),
        resource_version=ResourceVersion(version),
        labels=dict(labels),
        annotations=dict(annotations),
        owner_references=(_controller(owner),) if owner else (),
        deletion_timestamp=_DELETED if deleted else None,
    )


def pod(
    name: str = "pod",
    *,
    namespace: str = NAMESPACE,
    labels: Mapping[str, str] = _NOTHING,
    annotations: Mapping[str, str] = _NOTHING,
    uid: str | None = None,
    owner: str = "",
    deleted: bool = False,
    cpu: str | None = None,
    memory: str | None = None,
    requests: Mapping[str, Any] = _NOTHING,
    image: str = "",
    host_ports: Iterable[int | ContainerPort] = (),
    claims: Iterable[str] = (),
    node: str = "",
    node_selector: Mapping[str, str] = _NOTHING,
    nodes: Iterable[NodeTerm] = (),
    near: Iterable[PodTerm] = (),
    far: Iterable[PodTerm] = (),
    tolerations: Iterable[str | Toleration] = (),
    spread: Iterable[TopologySpreadConstraint] = (),
    priority: int | None = None,
    nominated: str = "",
    phase: str = "",
    started: str | None = None,
    status: PodStatus | None = None,
    **spec: Any,
) -> Pod:
    """A pod of one container; `node` is where it is already. `spec` are further fields of the PodSpec."""
    container = Container(
        name="main",
        image=image,
        resources=_requirements(requests, cpu=cpu, memory=memory),
        ports=tuple(ContainerPort(one) if isinstance(one, int) else one for one in host_ports),
    )
    fields: dict[str, Any] = {
        "containers": (container,),
        "node_name": node,
        "node_selector": dict(node_selector),
        "affinity": affinity_of(nodes=nodes, near=near, far=far),
        "tolerations": tuple(map(as_toleration, tolerations)),
        "topology_spread_constraints": tuple(spread),
        "priority": priority,
        "volumes": tuple(Volume(name=claim, persistent_volume_claim=_claim(claim)) for claim in claims),
    }
    return Pod(
        meta(name, namespace, labels=labels, annotations=annotations, uid=uid, owner=owner, deleted=deleted),
        PodSpec(**(fields | spec)),
        status or PodStatus(phase=phase, nominated_node_name=nominated, start_time=started),
    )


def on(pod: Pod, node: str) -> Pod:
    """The same pod, on a node."""
    return replace(pod, spec=replace(pod.spec, node_name=node))


def node(
    name: str = "node",
    *,
    cpu: str = "4",
    memory: str = "8Gi",
    pods: int = 110,
    resources: Mapping[str, Any] = _NOTHING,
    labels: Mapping[str, str] = _NOTHING,
    annotations: Mapping[str, str] = _NOTHING,
    taints: Iterable[str | Taint] = (),
    unschedulable: bool = False,
    images: Mapping[str, int] = _NOTHING,  # type: ignore[assignment]
    features: Iterable[str] = (),
) -> Node:
    """A node, its name in its hostname label. Images are by name, with their sizes."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": str(pods), **resources}
    return Node(
        meta(name, labels={HOSTNAME: name, **labels}, annotations=annotations),
        NodeSpec(unschedulable=unschedulable, taints=tuple(map(as_taint, taints))),
        NodeStatus(
            allocatable=allocatable,
            images=tuple(ContainerImage((image,), size) for image, size in images.items()),
            declared_features=tuple(features),
        ),
    )


def namespace(name: str = NAMESPACE, *, labels: Mapping[str, str] = _NOTHING) -> Namespace:
    """A namespace."""
    return Namespace(meta(name, labels=labels))


def service(name: str, selector: Mapping[str, str] | None, *, namespace: str = NAMESPACE) -> Service:
    """A Service that selects pods of its namespace."""
    return Service(meta(name, namespace), LabelledSpec(None if selector is None else dict(selector)))


def replica_set(name: str, selector: Mapping[str, str], *, namespace: str = NAMESPACE) -> ReplicaSet:
    """A ReplicaSet; pods are its own by `owner="ReplicaSet/<name>"`."""
    return ReplicaSet(meta(name, namespace), SelectorSpec(LabelSelector(match_labels=dict(selector))))


def budget(
    name: str,
    selector: Mapping[str, str] | LabelSelector | None,
    *,
    allowed: int = 0,
    disrupted: Iterable[str] = (),
    namespace: str = NAMESPACE,
) -> PodDisruptionBudget:
    """A PodDisruptionBudget that lets so many of the pods go."""
    chosen = selector if selector is None or isinstance(selector, LabelSelector) else LabelSelector(dict(selector))
    status = PodDisruptionBudgetStatus(disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted))
    return PodDisruptionBudget(meta(name, namespace), PodDisruptionBudgetSpec(chosen), status)


def _requirements(requests: Mapping[str, Any], **named: str | None) -> ResourceRequirements:
    amounts = {name: amount for name, amount in named.items() if amount is not None} | dict(requests)
    return ResourceRequirements(amounts) if amounts else ResourceRequirements()


def _claim(name: str) -> PersistentVolumeClaimSource:
    return PersistentVolumeClaimSource(name)


def _controller(owner: str) -> OwnerReference:
    kind, _, name = owner.partition("/")
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    return OwnerReference(api_version=version, kind=kind, name=name, uid=Uid(f"uid of {owner}"), controller=True)
