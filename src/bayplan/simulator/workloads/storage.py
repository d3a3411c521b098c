"""Volumes that are there before the pods: bound claims, zones, attach limits, disks named in the pod itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.nodes import HOSTNAME, REGION, ZONE, ZONES
from bayplan.simulator.workloads.scenario import Delete, Update

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Action, Object

DRIVER, SECOND_DRIVER = "disks.example.com", "files.example.com"
CLASS = "attached"

#: The claims that pods of one scenario share: few enough that two pods often want the same one.
CLAIMS = 24


def make_bound_storage(dice: Dice, nodes: Sequence[Object]) -> list[Object]:
    """A class that binds at once, its bound volumes, some claims that will never be bound, and attach limits."""
    objects: list[Object] = [_storage_class(CLASS, DRIVER, "Immediate")]
    for number in range(CLAIMS):
        objects += _pair(dice, number, [node["metadata"]["name"] for node in nodes])
    objects.append(make_claim("unbound", {}, storage_class=CLASS))
    return objects + [csi_node(dice, node) for node in nodes if dice.chance(0.8)]


def add_volumes(dice: Dice, pod: Object) -> None:
    """Claims, of which a few do not exist or are not bound, and disks named in the pod itself."""
    volumes: list[dict[str, Any]] = []
    for number in range(dice.weighted({0: 2, 1: 5, 2: 2})):
        # Claims live in one namespace; a pod of another one looks for a claim that is not there.
        claim = dice.weighted({f"claim-{dice.number(0, CLAIMS - 1)}": 30, "unbound": 1, "nowhere": 1})
        read_only = {"readOnly": True} if dice.chance(0.15) else {}
        volumes.append({"name": f"v{number}", "persistentVolumeClaim": {"claimName": claim, **read_only}})
    if dice.chance(0.3):
        volumes.append({"name": "inline", **_inline(dice)})
    if volumes:
        pod["spec"]["volumes"] = volumes
        if dice.chance(0.9):
            pod["metadata"]["namespace"] = "default"


def csi_node(dice: Dice, node: Object) -> Object:
    """What a node's storage drivers say about it, with few places for volumes."""
    name = node["metadata"]["name"]
    driver: dict[str, Any] = {"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE]}
    if dice.chance(0.8):
        driver["allocatable"] = {"count": dice.number(1, 3)}
    drivers = [driver]
    if dice.chance(0.5):
        second = {"name": SECOND_DRIVER, "nodeID": name, "topologyKeys": [HOSTNAME], "allocatable": {"count": 1}}
        drivers.append(second)
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def change_storage(dice: Dice, nodes: Sequence[Object]) -> Action:
    """An administrator's hand: a driver's limits on a node change, or a driver goes away from it."""
    node = dice.one(nodes)
    if dice.chance(0.3):
        return Delete("CSINode", "", node["metadata"]["name"])
    return Update(csi_node(dice, node))


def make_claim(
    name: str,
    spec: dict[str, Any],
    *,
    storage_class: str,
    size: str = "1Gi",
    modes: Sequence[str] = ("ReadWriteOnce",),
    namespace: str = "default",
) -> Object:
    """A claim; without a volume's name in its spec it is not bound."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": list(modes),
            "resources": {"requests": {"storage": size}},
            "storageClassName": storage_class,
            **spec,
        },
    }


def make_volume(name: str, source: dict[str, Any], *, storage_class: str, size: str = "1Gi", **spec: Any) -> Object:
    """A volume that outlives its claim, so that no controller looks for somebody to delete it."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": spec.pop("labels", {})},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage_class,
            **source,
            **spec,
        },
    }


def required_nodes(key: str, values: Sequence[str]) -> dict[str, Any]:
    """A volume's node affinity."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    return {"required": {"nodeSelectorTerms": terms}}


def storage_class(name: str, provisioner: str, **more: Any) -> Object:
    """A class whose claims wait for their first consumer."""
    return {**_storage_class(name, provisioner, "WaitForFirstConsumer"), **more}


def _storage_class(name: str, provisioner: str, mode: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def _pair(dice: Dice, number: int, names: Sequence[str]) -> list[Object]:
    """A volume and its claim, each naming the other: the volume controller has only to agree."""
    modes = [dice.weighted({"ReadWriteOnce": 6, "ReadWriteOncePod": 3, "ReadWriteMany": 2})]
    placed = _placement(dice, names)
    source = _source(dice, number)
    where: dict[str, Any] = {"claimRef": {"namespace": "default", "name": f"claim-{number}"}, "accessModes": modes}
    volume = make_volume(f"volume-{number}", source, storage_class=CLASS, **where, **placed)
    return [volume, make_claim(f"claim-{number}", {"volumeName": f"volume-{number}"}, storage_class=CLASS, modes=modes)]


def _source(dice: Dice, number: int) -> dict[str, Any]:
    if dice.chance(0.15):
        return {"nfs": {"server": "10.0.0.9", "path": f"/exports/{number}"}}
    driver = DRIVER if dice.chance(0.7) else SECOND_DRIVER
    return {"csi": {"driver": driver, "volumeHandle": f"handle-{number}"}}


def _placement(dice: Dice, names: Sequence[str]) -> dict[str, Any]:
    """Zone labels, as cloud volumes once had them, or node affinity, or neither."""
    where = dice.number(0, 5)
    if where == 0:
        return {"labels": {ZONE: "__".join(sorted(dice.some(ZONES, 1, 2)))}}
    if where == 1:
        return {"labels": {ZONE: dice.one(ZONES), REGION: dice.one(("east", "west"))}}
    if where == 2:
        return {"nodeAffinity": required_nodes(ZONE, dice.some(ZONES, 1, 3))}
    if where == 3:
        return {"nodeAffinity": required_nodes(HOSTNAME, dice.some(names, 1, 4))}
    return {}


def _inline(dice: Dice) -> dict[str, Any]:
    """Disks that two pods may share on one node only when both read, or never."""
    read_only, which = dice.chance(0.4), dice.number(1, 2)
    return dice.one(
        (
            {"gcePersistentDisk": {"pdName": f"disk-{which}", "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": f"vol-{which}", "readOnly": read_only}},
            {"rbd": {"monitors": ["m1", f"m{which}"], "image": f"img-{which}", "pool": "p", "readOnly": read_only}},
            {
                "iscsi": {
                    "targetPortal": f"10.0.0.{which}:3260",
                    "iqn": f"iqn.2001-04.com.example:disk-{which}",
                    "lun": 0,
                    "readOnly": read_only,
                }
            },
        )
    )
