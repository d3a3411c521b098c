"""Pods that matter more than others, the budgets that protect the others, and what fills a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.pods import APPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

_PRIORITIES = {0: 3.0, 10: 2.0, 100: 2.0, 1000: 2.0, 100_000: 1.0}


def add_priority(dice: Dice, pod: Object) -> None:
    """How much a pod matters, and whether it may make room for itself."""
    spec = pod["spec"]
    spec.pop("preemptionPolicy", None)
    spec["priority"] = dice.weighted(_PRIORITIES)
    if dice.chance(0.12):
        spec["preemptionPolicy"] = "Never"


def make_budgets(dice: Dice) -> list[Object]:
    """Budgets of which some are used up: whoever evicts pods of theirs violates them.

    Nobody counts for them here: a budget allows what its status says, however many pods there are.
    """
    budgets = [
        _budget(namespace, app, {"matchLabels": {"app": app}}, dice.weighted({0: 9, 1: 2, 2: 1}))
        for namespace in ("default", "blue")
        for app in APPS[:4]
    ]
    # It stands beside that of its first app: such a pod is under two budgets.
    several = {"matchExpressions": [{"key": "app", "operator": "In", "values": list(APPS[3:])}]}
    return [*budgets, _budget("default", "several", several, 1)]


def fill(dice: Dice, node: Object, first: int, count: int) -> list[Object]:
    """Pods that run on a node from the beginning, of many priorities, with the moment they started."""
    return [_running(dice, node["metadata"]["name"], first + number) for number in range(count)]


def make_hungry_pod(dice: Dice, pod: Object, names: Sequence[str]) -> None:
    """Make a pod ask for so much that it fits nowhere in a full cluster, and matter enough to make room."""
    spec = pod["spec"]
    requests = {"cpu": dice.one(("1200m", "1900m", "2600m")), "memory": dice.one(("600Mi", "1500Mi", "3Gi"))}
    spec["containers"] = [{"name": "main", "image": "library/work-0:v1", "resources": {"requests": requests}}]
    spec["priority"] = dice.weighted({5: 1, 50: 2, 500: 3, 5000: 3})
    spec.pop("preemptionPolicy", None)
    if dice.chance(0.4):
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [dice.one(names)]}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}


def _running(dice: Dice, node: str, number: int) -> Object:
    requests = {"cpu": dice.one(("300m", "700m", "1100m")), "memory": dice.one(("200Mi", "900Mi", "1800Mi"))}
    # Seconds apart, and some at the same one: the start decides between victims that are equal in all else.
    started = f"2026-01-01T{dice.number(0, 3):02}:{dice.number(0, 59):02}:00Z"
    metadata: dict[str, Any] = {
        "name": f"old-{number:04}",
        "namespace": dice.one(("default", "default", "blue")),
        "labels": {"app": dice.one(APPS), "part": "filling"},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "image": "library/work-3:v1", "resources": {"requests": requests}}],
            "priority": dice.weighted({-10: 1, 0: 3, 10: 3, 100: 2, 1000: 1}),
            "terminationGracePeriodSeconds": 0,
        },
        "status": {"phase": "Running", "startTime": started},
    }


def _budget(namespace: str, name: str, selector: dict[str, Any], allowed: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "minAvailable": 2,
            "selector": selector,
        },
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": 2 + allowed,
            "desiredHealthy": 2,
            "expectedPods": 2 + allowed,
        },
    }
