"""The part of the storage system that no control plane has, a driver that makes volumes; and waiting for the rest.

kube-controller-manager binds claims to volumes and makes the claims of ephemeral volumes. What a CSI driver's
provisioner does is played here: once the scheduler has chosen a node for a claim, a volume appears that this node can
reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.recorder.store import ObjectStore

_ZONE, _HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"

#: What the scheduler and the controllers leave on a claim while they bind it.
_BINDING_MARKS = (
    _SELECTED_NODE,
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)


def claim_names(pod: Object) -> Iterator[str]:
    """The claims a pod names, then those that are made for it."""
    for volume in pod["spec"].get("volumes", []):
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
    yield from ephemeral_claim_names(pod)


def ephemeral_claim_names(pod: Object) -> Iterator[str]:
    """The claims that live and die with a pod."""
    for volume in pod["spec"].get("volumes", []):
        if "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def as_created(claim: Object) -> Object:
    """A claim as it was before anybody bound it."""
    metadata = dict(claim["metadata"])
    kept = {key: value for key, value in metadata.pop("annotations", {}).items() if key not in _BINDING_MARKS}
    metadata |= {"annotations": kept} if kept else {}
    spec = {name: value for name, value in claim["spec"].items() if name != "volumeName"}
    return claim | {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


class Provisioner:
    """Makes a volume for each claim that was given a node."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._made: set[str] = set()

    def serve(self, pod: Object) -> None:
        """Look at a pod's claims and make the volumes that are due."""
        namespace = pod["metadata"]["namespace"]
        for name in dict.fromkeys(claim_names(pod)):
            claim = self._store.get("PersistentVolumeClaim", namespace, name)
            if claim is not None and self._is_due(claim):
                self._make(claim)

    def _is_due(self, claim: Object) -> bool:
        selected = claim["metadata"].get("annotations", {}).get(_SELECTED_NODE)
        if not selected or claim["spec"].get("volumeName") or claim["metadata"]["uid"] in self._made:
            return False
        return self._provisioner(claim) != _NO_PROVISIONER

    def _make(self, claim: Object) -> None:
        self._made.add(claim["metadata"]["uid"])
        node = self._store.get("Node", "", claim["metadata"]["annotations"][_SELECTED_NODE])
        assert node is not None, "the scheduler chose a node that is not there"
        self._store.create(_volume_for(claim, self._provisioner(claim), node))

    def _provisioner(self, claim: Object) -> str:
        chosen = self._store.get("StorageClass", "", claim["spec"]["storageClassName"])
        assert chosen is not None, "a claim without its class was given a node"
        name: str = chosen["provisioner"]
        return name


def settled_volumes(store: ObjectStore) -> bool:
    """Whether the volume controller has nothing left to do: every volume and every claim that names one is judged."""
    return all(volume["status"].get("phase") != "Pending" for volume in store.list("PersistentVolume")) and all(
        claim["status"].get("phase") == "Bound"
        for claim in store.list("PersistentVolumeClaim")
        if claim["spec"].get("volumeName")
    )


def _volume_for(claim: Object, driver: str, node: Object) -> Object:
    metadata, spec, labels = claim["metadata"], claim["spec"], node["metadata"].get("labels", {})
    key = _ZONE if _ZONE in labels else _HOSTNAME
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    expression: dict[str, Any] = {"key": key, "operator": "In", "values": [labels[key]]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": f"made-{metadata['uid']}",
            "annotations": {"pv.kubernetes.io/provisioned-by": driver},
        },
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": spec["storageClassName"],
            "csi": {"driver": driver, "volumeHandle": metadata["uid"]},
            "claimRef": reference,
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        },
    }
