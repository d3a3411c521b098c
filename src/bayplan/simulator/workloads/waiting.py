"""Volumes that wait for their first consumer: local disks, disks made on demand, and how much room is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.nodes import HOSTNAME, ZONE, ZONES
from bayplan.simulator.workloads.scenario import Update
from bayplan.simulator.workloads.storage import csi_node, make_claim, make_volume, required_nodes, storage_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

LOCAL, DYNAMIC, UNMEASURED, ANYWHERE = "local-disks", "dynamic", "unmeasured", "anywhere"

#: Its CSIDriver says that capacity is to be looked at; the other one's says nothing.
MEASURED_DRIVER, PLAIN_DRIVER = "measured.example.com", "plain.example.com"

_SIZES = ("1Gi", "2Gi", "5Gi", "9Gi", "40Gi")


def make_waiting_storage(dice: Dice, nodes: Sequence[Object], claims: int) -> list[Object]:
    """Classes, drivers, capacities, local disks and as many unbound claims as asked for."""
    objects = [*_classes(), _driver(MEASURED_DRIVER, capacity=True), _driver(PLAIN_DRIVER, capacity=False)]
    objects += make_capacities(dice)
    for node in nodes:
        objects += _local_disks(dice, node)
        if dice.chance(0.7):
            objects.append(_csi_node(dice, node))
    return objects + [_claim(dice, number) for number in range(claims)]


def make_capacities(dice: Dice) -> list[Object]:
    """How much of a class is left in each zone, as the driver reports it; one zone has no report."""
    return [_capacity(dice, name, zone) for name in (DYNAMIC, ANYWHERE) for zone in ZONES[:3]]


def change_capacity(dice: Dice) -> Update:
    """A driver's next report for one zone."""
    return Update(_capacity(dice, dice.one((DYNAMIC, ANYWHERE)), dice.one(ZONES[:3])))


def add_waiting_volumes(dice: Dice, pod: Object, claims: int) -> None:
    """Claims of this scenario, and now and then one that lives and dies with the pod."""
    # No claim twice: kube-scheduler would choose a node for it twice, and fail on the conflict with itself.
    count = dice.weighted({0: 2, 1: 6, 2: 2})
    volumes: list[dict[str, Any]] = [
        {"name": f"v{number}", "persistentVolumeClaim": {"claimName": f"wait-{claim}"}}
        for number, claim in enumerate(dice.some(range(claims), count, count))
    ]
    if dice.chance(0.2):
        template = make_claim("", {}, storage_class=dice.one((LOCAL, DYNAMIC)), size=dice.one(_SIZES))
        volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": template["spec"]}}})
    if volumes:
        pod["metadata"]["namespace"] = "default"
        pod["spec"]["volumes"] = volumes


def _classes() -> list[Object]:
    zones = [{"matchLabelExpressions": [{"key": ZONE, "values": list(ZONES[:3])}]}]
    return [
        storage_class(LOCAL, "kubernetes.io/no-provisioner"),
        storage_class(DYNAMIC, MEASURED_DRIVER, allowedTopologies=zones),
        storage_class(ANYWHERE, MEASURED_DRIVER),
        storage_class(UNMEASURED, PLAIN_DRIVER),
    ]


def _driver(name: str, *, capacity: bool) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": name},
        "spec": {"attachRequired": False, "storageCapacity": capacity},
    }


def _capacity(dice: Dice, name: str, zone: str) -> Object:
    content: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"{name}-{zone}", "namespace": "default"},
        "storageClassName": name,
        "nodeTopology": {"matchLabels": {ZONE: zone}},
        "capacity": dice.one(("0", "3Gi", "8Gi", "30Gi", "100Gi")),
    }
    # A driver may say how large one volume can be: that, not the sum, is then what a claim must fit in.
    return content | ({"maximumVolumeSize": dice.one(("2Gi", "6Gi"))} if dice.chance(0.3) else {})


def _local_disks(dice: Dice, node: Object) -> list[Object]:
    name = node["metadata"]["name"]
    return [
        make_volume(
            f"disk-{name}-{number}",
            {"local": {"path": f"/mnt/disk-{number}"}},
            storage_class=LOCAL,
            size=dice.one(_SIZES),
            nodeAffinity=required_nodes(HOSTNAME, [name]),
            labels={"grade": dice.one(("gold", "silver"))},
        )
        for number in range(dice.weighted({0: 3, 1: 2, 2: 2, 3: 1}))
    ]


def _csi_node(dice: Dice, node: Object) -> Object:
    """Both of this module's drivers, with or without limits."""
    content = csi_node(dice, node)
    name = node["metadata"]["name"]
    drivers: list[dict[str, Any]] = []
    for driver in (MEASURED_DRIVER, PLAIN_DRIVER):
        limit = {"allocatable": {"count": dice.number(1, 4)}} if dice.chance(0.6) else {}
        drivers.append({"name": driver, "nodeID": name, "topologyKeys": [ZONE], **limit})
    return {**content, "spec": {"drivers": drivers}}


def _claim(dice: Dice, number: int) -> Object:
    name = dice.weighted({LOCAL: 4, DYNAMIC: 4, ANYWHERE: 2, UNMEASURED: 1})
    selector = {"selector": {"matchLabels": {"grade": "gold"}}} if name == LOCAL and dice.chance(0.3) else {}
    return make_claim(f"wait-{number}", selector, storage_class=name, size=dice.one(_SIZES))
