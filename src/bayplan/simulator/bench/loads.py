"""What the engine is measured with: clusters and streams of pods, as the bytes that an API server would send.

Shapes and names follow scheduler_perf, Kubernetes' own benchmark, so that figures can be laid side by side: nodes with
4 CPUs, 32Gi and room for 110 pods in ten zones; pods that ask for 100m and 500Mi.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    Shape = Callable[[int, random.Random], dict[str, Any]]

_ZONES = 10
#: What a node takes at the most.
PODS_PER_NODE = 110
_HOSTNAME = "kubernetes.io/hostname"
_ZONE = "topology.kubernetes.io/zone"
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Load:
    """A workload: what pods look like, and what is on the nodes before they come."""

    name: str
    about: str
    #: The spec and labels of pod number so many.
    shape: Shape
    #: Pods that are on the nodes already, as shapes; how many on each node.
    before: tuple[Shape, int] | None = None
    node_cpu: str = "4"


def node_bytes(index: int, load: Load) -> bytes:
    """A node."""
    name = f"node-{index:05}"
    labels = {
        _HOSTNAME: name,
        _ZONE: f"zone-{index % _ZONES}",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    amounts = {"cpu": load.node_cpu, "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": str(PODS_PER_NODE)}
    status = {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is ready"}],
    }
    metadata = {"name": name, "uid": f"node-uid-{index}", "resourceVersion": str(index + 1), "labels": labels}
    return _encode({"kind": "Node", "apiVersion": "v1", "metadata": metadata, "spec": {}, "status": status})


def pod_bytes(name: str, shape: dict[str, Any], node: str = "") -> bytes:
    """A pod, as the API server stores it: with the tolerations and the token volume that it adds."""
    container = {
        "name": "main",
        "image": "registry.example/work:v1",
        "resources": {"requests": shape.get("requests", {"cpu": "100m", "memory": "500Mi"})},
        "volumeMounts": [{"name": f"kube-api-access-{name}", "mountPath": "/var/run/secrets"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    spec = {
        "volumes": [{"name": f"kube-api-access-{name}", "projected": {"sources": [], "defaultMode": 420}}],
        "containers": [container],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        **shape.get("spec", {}),
    }
    if node:
        spec["nodeName"] = node
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": shape.get("labels", {}),
    }
    status = {"phase": "Running" if node else "Pending", "qosClass": "Burstable"}
    if node:
        status["startTime"] = "2026-01-01T00:00:00Z"
    return _encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status})


def _plain(_index: int, _dice: random.Random) -> dict[str, Any]:
    return {}


def _near(key: str, *, far: bool, required: bool, color: str) -> Shape:
    term = {"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": key, "namespaces": ["default"]}
    if required:
        affinity: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    else:
        affinity = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    spec = {"affinity": {"podAntiAffinity" if far else "podAffinity": affinity}}
    return lambda _index, _dice: {"labels": {"color": color}, "spec": spec}


def _spread(action: str) -> Shape:
    constraint = {
        "maxSkew": 5,
        "topologyKey": _ZONE,
        "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": {"color": "blue"}},
    }
    return lambda _index, _dice: {"labels": {"color": "blue"}, "spec": {"topologySpreadConstraints": [constraint]}}


def _of_zones(_index: int, _dice: random.Random) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": _ZONE, "operator": "In", "values": ["zone-1", "zone-2"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"spec": {"affinity": {"nodeAffinity": required}}}


def _small(_index: int, _dice: random.Random) -> dict[str, Any]:
    return {"requests": {"cpu": "900m", "memory": "500Mi"}}


def _important(_index: int, _dice: random.Random) -> dict[str, Any]:
    return {"requests": {"cpu": "3", "memory": "500Mi"}, "spec": {"priority": 10}}


def _half_hopeless(index: int, _dice: random.Random) -> dict[str, Any]:
    return {"requests": {"cpu": "9", "memory": "500Mi"}} if index % 2 else {}


def _mixed(classes: int) -> Shape:
    """Pods of so many kinds, a quarter of them with wishes or demands about other pods."""
    kinds: list[Shape] = [
        _plain,
        _of_zones,
        _near(_ZONE, far=False, required=False, color="red"),
        _plain,
        _spread("ScheduleAnyway"),
        _plain,
        _near(_HOSTNAME, far=True, required=True, color="green"),
        _plain,
    ]

    def shape(index: int, dice: random.Random) -> dict[str, Any]:
        number = dice.randrange(classes)
        made = dict(kinds[number % len(kinds)](index, dice))
        made["labels"] = {**made.get("labels", {}), "app": f"app-{number}"}
        made.setdefault("requests", {"cpu": f"{50 + 10 * (number % 20)}m", "memory": f"{100 + 50 * (number % 7)}Mi"})
        return made

    return shape


def load_named(name: str, classes: int) -> Load:
    """A workload by name."""
    loads = {load.name: load for load in LOADS}
    if name == "mixed":
        return Load("mixed", "", _mixed(classes))
    return loads[name]


LOADS = (
    Load("basic", "plain pods", _plain),
    Load(
        "anti-affinity",
        "pods that demand a host of their own",
        _near(_HOSTNAME, far=True, required=True, color="green"),
    ),
    Load("affinity", "pods that demand the zone of their kind", _near(_ZONE, far=False, required=True, color="blue")),
    Load(
        "preferred-affinity",
        "pods that wish for the host of their kind",
        _near(_HOSTNAME, far=False, required=False, color="red"),
    ),
    Load("spread", "pods that must lie evenly over zones", _spread("DoNotSchedule")),
    Load("preferred-spread", "pods that should lie evenly over zones", _spread("ScheduleAnyway")),
    Load("node-affinity", "pods that demand one of two zones", _of_zones),
    Load("preemption", "important pods on nodes full of others", _important, before=(_small, 4)),
    Load("unschedulable", "every other pod asks for more than any node has", _half_hopeless),
    Load("mixed", "many kinds of pods, a quarter of them with demands about others", _mixed(50)),
)


WORKLOADS = tuple(load.name for load in LOADS)


def pods(load: Load, count: int, dice: random.Random) -> Iterator[bytes]:
    """The pods that come, in order."""
    for index in range(count):
        yield pod_bytes(f"pod-{index:06}", load.shape(index, dice))
