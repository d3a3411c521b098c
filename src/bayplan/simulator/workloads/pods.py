"""Pods and what they ask for by themselves: resources, ports, images, tolerations, a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.nodes import FPGA, GPU, image

if TYPE_CHECKING:
    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

NAMESPACES = ("default", "blue", "green")
#: A host port on this address takes it on all of them.
_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - nothing is bound to it

APPS = ("shop", "mail", "index", "store", "queue")


def make_pod(dice: Dice, number: int, *, size: float = 1.0) -> Object:
    """A pod with what almost every pod has; `size` scales what it requests."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number:04}",
            "namespace": dice.weighted({"default": 6, "blue": 2, "green": 2}),
            "labels": _labels(dice),
        },
        "spec": {
            "containers": _containers(dice, size),
            # Nobody runs these pods, so nobody could end them with grace.
            "terminationGracePeriodSeconds": 0,
            # Most flavours are not about preemption; some of their pods try it all the same.
            **({"preemptionPolicy": "Never"} if dice.chance(0.6) else {}),
            **_tolerations(dice),
        },
    }


def add_extras(dice: Dice, pod: Object) -> None:
    """What fewer pods have: init containers, sidecars, overhead, a budget for the whole pod, host ports."""
    spec = pod["spec"]
    if dice.chance(0.2):
        spec["initContainers"] = _init_containers(dice)
    if dice.chance(0.1):
        spec["overhead"] = {"cpu": "120m", "memory": "96Mi"}
    if dice.chance(0.1):
        _give_pod_level_resources(dice, spec)
    if dice.chance(0.2):
        spec["containers"][0]["ports"] = [_host_port(dice)]


def add_scarce_resources(dice: Dice, pod: Object) -> None:
    """Storage on the node, devices, huge pages."""
    resources = pod["spec"]["containers"][0]["resources"]
    requests, limits = resources.setdefault("requests", {}), resources.setdefault("limits", {})
    if dice.chance(0.4):
        requests["ephemeral-storage"] = dice.one(("500M", "2Gi", "12Gi"))
    if dice.chance(0.35):
        name = GPU if dice.chance(0.7) else FPGA
        requests[name] = limits[name] = str(dice.weighted({1: 6, 2: 2, 4: 1}))
    if dice.chance(0.1):
        requests["hugepages-2Mi"] = limits["hugepages-2Mi"] = "64Mi"
        requests.setdefault("memory", "128Mi")


def _labels(dice: Dice) -> dict[str, str]:
    labels = {"app": dice.one(APPS)}
    if dice.chance(0.5):
        labels["release"] = dice.one(("canary", "stable"))
    if dice.chance(0.5):
        labels["tier"] = dice.one(("front", "back", "data"))
    return labels


def _containers(dice: Dice, size: float) -> list[dict[str, Any]]:
    first = {"name": "main", "image": image(dice.number(0, 7)), "resources": _requests(dice, size)}
    if not dice.chance(0.25):
        return [first]
    second = {"requests": {"cpu": "35m", "memory": "48Mi"}}
    return [first, {"name": "proxy", "image": image(dice.number(0, 7)), "resources": second}]


def _requests(dice: Dice, size: float) -> dict[str, Any]:
    """Anything from nothing at all, which scoring has to guess, to more than a small node has."""
    requests = {}
    if dice.chance(0.85):
        requests["cpu"] = f"{int(dice.one((20, 100, 250, 333, 800, 1900)) * size)}m"
    if dice.chance(0.8):
        requests["memory"] = f"{int(dice.one((50, 180, 256, 700, 1500, 3000)) * size)}Mi"
    return {"requests": requests} if requests else {}


def _init_containers(dice: Dice) -> list[dict[str, Any]]:
    once = {"name": "setup", "image": image(1), "resources": {"requests": {"cpu": "900m", "memory": "200Mi"}}}
    beside = {
        "name": "agent",
        "image": image(2),
        "restartPolicy": "Always",
        "resources": {"requests": {"cpu": "70m", "memory": "90Mi"}},
    }
    return dice.one(([once], [beside], [once, beside], [beside, once]))


def _give_pod_level_resources(dice: Dice, spec: dict[str, Any]) -> None:
    """A budget of the whole pod: at least what its containers request together, or the API server refuses it."""
    spec["resources"] = {"requests": {"cpu": "4", "memory": "5Gi"}}
    if dice.chance(0.5):
        del spec["resources"]["requests"]["memory"]


def _host_port(dice: Dice) -> dict[str, Any]:
    port: dict[str, Any] = {"containerPort": 80, "hostPort": dice.one((7000, 7000, 7001))}
    if dice.chance(0.3):
        port["protocol"] = "UDP"
    if dice.chance(0.4):
        port["hostIP"] = dice.one(("127.0.0.1", "10.0.0.7", _EVERY_ADDRESS))
    return port


def _tolerations(dice: Dice) -> dict[str, Any]:
    if not dice.chance(0.35):
        return {}
    every = (
        {"key": "pool", "operator": "Equal", "value": "batch", "effect": "NoSchedule"},
        {"key": "pool", "operator": "Exists"},
        {"key": "pool", "value": "gpu"},
        {"key": "spot", "operator": "Exists", "effect": "PreferNoSchedule"},
        {"key": "spot", "value": "maybe", "effect": "PreferNoSchedule"},
        {"key": "drain", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"operator": "Exists"},
    )
    return {"tolerations": dice.some(every, 1, 2)}
