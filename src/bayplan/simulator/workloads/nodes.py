"""Nodes of uneven make: labels that some lack, taints of every effect, images, odd capacities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

ZONE, REGION, HOSTNAME = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
ZONES = ("east-1", "east-2", "west-1", "west-2")
RACK = "example.com/rack"
GPU, FPGA = "example.com/gpu", "example.com/fpga"

MEBI, GIBI = 2**20, 2**30

#: The sizes of the images that pods run: below, between and above the bounds that ImageLocality cuts at.
IMAGE_SIZES = (9_000_000, 23 * MEBI, 120 * MEBI, 480_000_000, 900 * MEBI, 1_400 * MEBI, 3 * GIBI)

#: Key, value and effect of the taints there are. An odd one is a taint without a value.
TAINTS = (
    ("pool", "batch", "NoSchedule"),
    ("pool", "gpu", "NoSchedule"),
    ("drain", "", "NoExecute"),
    ("spot", "true", "PreferNoSchedule"),
    ("spot", "maybe", "PreferNoSchedule"),
    ("old-kernel", "", "PreferNoSchedule"),
)

#: No heartbeat is due, for nobody watches over these nodes.
_READY = {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None, "reason": "Up"}


def image(number: int) -> str:
    """The name of an image. No host is in it: nobody pulls these."""
    return f"library/work-{number}:v1"


def make_node(dice: Dice, number: int, *, tainted: float = 0.25) -> Object:
    """One node; `tainted` is how likely it has taints."""
    name = f"node-{number:03}"
    resources = _resources(dice)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": _labels(dice, name)},
        "spec": _spec(dice, tainted),
        "status": {
            "capacity": resources,
            # What the system keeps for itself is only ever taken from allocatable.
            "allocatable": _less_reserved(dice, resources),
            "conditions": [_READY],
            "images": _images(dice),
        },
    }


def make_nodes(dice: Dice, count: int, *, tainted: float = 0.25) -> list[Object]:
    """As many nodes as asked for, named by their number."""
    return [make_node(dice, number, tainted=tainted) for number in range(count)]


def relabel(dice: Dice, node: Object) -> Object:
    """The same node after an administrator was there: a label, a taint, or whether it takes pods has changed."""
    labels, spec = dict(node["metadata"]["labels"]), dict(node["spec"])
    what = dice.number(0, 4)
    if what == 0:
        labels["example.com/generation"] = str(dice.number(1, 9))
    elif what == 1:
        labels[ZONE] = dice.one(ZONES)
    elif what == 2:
        labels["disk"] = dice.one(("ssd", "hdd", "nvme"))
    elif what == 3:
        spec["taints"] = [] if spec.get("taints") else [_taint(dice)]
    else:
        spec["unschedulable"] = not spec.get("unschedulable", False)
    spec = {name: value for name, value in spec.items() if value}
    return {**node, "metadata": {**node["metadata"], "labels": labels}, "spec": spec}


def resize(dice: Dice, node: Object) -> Object:
    """The same node with more or fewer resources for pods, perhaps fewer than they use already."""
    resources = {**node["status"]["allocatable"], "cpu": f"{dice.number(500, 9000)}m"}
    if dice.chance(0.5):
        resources["memory"] = f"{dice.number(700, 20_000)}Mi"
    if dice.chance(0.2):
        resources.pop(GPU, None)
    return {**node, "status": {**node["status"], "allocatable": resources}}


def _labels(dice: Dice, name: str) -> dict[str, str]:
    labels = {HOSTNAME: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": dice.one(("amd64", "amd64", "arm64"))}
    if dice.chance(0.9):
        labels |= {ZONE: (zone := dice.one(ZONES)), REGION: zone[:4]}
    if dice.chance(0.7):
        labels["disk"] = dice.one(("ssd", "hdd", "nvme"))
    if dice.chance(0.6):
        labels["example.com/generation"] = str(dice.number(1, 9))
    if dice.chance(0.8):
        labels[RACK] = f"r{dice.number(1, 6)}"
    return labels


def _resources(dice: Dice) -> dict[str, str]:
    resources = {
        "cpu": dice.one(("2", "4", "7910m", "8", "15890m", "32")),
        "memory": dice.one(("4Gi", "8Gi", "16330452Ki", "32Gi", "64000M")),
        "pods": dice.one(("4", "12", "30", "110", "110")),
        "ephemeral-storage": dice.one(("20Gi", "100Gi", "98831908Ki")),
    }
    if dice.chance(0.3):
        resources[GPU] = str(dice.number(1, 8))
    if dice.chance(0.15):
        resources[FPGA] = str(dice.number(1, 3))
    if dice.chance(0.2):
        resources["hugepages-2Mi"] = dice.one(("256Mi", "1Gi"))
    return resources


def _less_reserved(dice: Dice, resources: dict[str, str]) -> dict[str, str]:
    return {**resources, "cpu": f"{dice.number(1500, 1990)}m"} if resources["cpu"] == "2" else dict(resources)


def _spec(dice: Dice, tainted: float) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if dice.chance(tainted):
        chosen = dice.some(TAINTS, 1, 2)
        # Two taints of one key and effect are refused by the API server.
        unique = {(key, effect): (key, value, effect) for key, value, effect in chosen}
        spec["taints"] = [_as_taint(*each) for each in unique.values()]
    if dice.chance(0.05):
        spec["unschedulable"] = True
    return spec


def _taint(dice: Dice) -> dict[str, str]:
    return _as_taint(*dice.one(TAINTS))


def _as_taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def _images(dice: Dice) -> list[dict[str, Any]]:
    return [
        {"names": [image(number), f"library/work-{number}@sha256:{number:064x}"], "sizeBytes": dice.one(IMAGE_SIZES)}
        for number in sorted(dice.some(range(8), 0, 5))
    ]
