"""Claims, volumes and what is around them, for tests: builders and strategies in one, since few tests need more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from bayplan.objects.meta import ObjectReference
from bayplan.objects.storage import (
    CSIDriver,
    CSINode,
    CSINodeAllocatable,
    CSINodeDriver,
    CSINodeSpec,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from bayplan.testing.builders import ZONE, meta
from bayplan.testing.features import CLAIMS, NAMESPACES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DRIVER = "disks.example.com"
_BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def claim(
    name: str,
    *,
    namespace: str,
    volume: str = "",
    storage_class: str = "waits",
    size: str = "1Gi",
    mode: str = "ReadWriteOnce",
    version: str = "1",
) -> PersistentVolumeClaim:
    """A claim, bound to a volume if one is named."""
    content: dict[str, Any] = {
        "spec": {
            "storageClassName": storage_class,
            "volumeName": volume,
            "accessModes": [mode],
            "resources": {"requests": {"storage": size}},
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }
    made = msgspec.convert(content, PersistentVolumeClaim)
    head = meta(name, namespace, annotations=_BOUND if volume else {}, version=version)
    return msgspec.structs.replace(made, metadata=head)


def volume(
    name: str,
    *,
    zone: str = "",
    storage_class: str = "waits",
    size: str = "2Gi",
    claimed_by: str = "",
    csi: bool = True,
) -> PersistentVolume:
    """A volume that all nodes can reach, or those of a zone."""
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}
    content: dict[str, Any] = {
        "spec": {
            "storageClassName": storage_class,
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce", "ReadWriteOncePod"],
            **({"csi": {"driver": DRIVER, "volumeHandle": name}} if csi else {}),
            **({"nodeAffinity": {"required": required}} if zone else {}),
        },
        "status": {"phase": "Bound" if claimed_by else "Available"},
    }
    made = msgspec.convert(content, PersistentVolume)
    spec = made.spec
    if claimed_by:
        namespace, _, claimant = claimed_by.partition("/")
        uid = meta(claimant, namespace).uid
        spec = msgspec.structs.replace(spec, claim_ref=ObjectReference("", namespace, claimant, uid))
    return msgspec.structs.replace(made, metadata=meta(name, labels={ZONE: zone} if zone else {}), spec=spec)


def storage_class(name: str, *, waits: bool = True, provisioner: str = DRIVER) -> StorageClass:
    """A class whose claims wait for their first consumer, or are bound at once."""
    return StorageClass(meta(name), provisioner, "WaitForFirstConsumer" if waits else "Immediate")


def csi_node(name: str, limit: int | None) -> CSINode:
    """A node's driver, with how many volumes it takes."""
    return CSINode(meta(name), CSINodeSpec((CSINodeDriver(DRIVER, allocatable=CSINodeAllocatable(limit)),)))


def csi_driver(*, tracks_capacity: bool) -> CSIDriver:
    """The driver."""
    content = {"metadata": {"name": DRIVER}, "spec": {"storageCapacity": tracks_capacity}}
    return msgspec.convert(content, CSIDriver)


def capacity(zone: str, size: str) -> CSIStorageCapacity:
    """Room for volumes in a zone."""
    content = {
        "metadata": {"name": f"room-{zone}", "namespace": "one"},
        "storageClassName": "waits",
        "capacity": size,
        "nodeTopology": {"matchLabels": {ZONE: zone}},
    }
    return msgspec.convert(content, CSIStorageCapacity)


def attachment(volume: str, node: str) -> VolumeAttachment:
    """A volume on its way to a node."""
    content = {
        "metadata": {"name": f"{volume}-{node}"},
        "spec": {"attacher": DRIVER, "nodeName": node, "source": {"persistentVolumeName": volume}},
    }
    return msgspec.convert(content, VolumeAttachment)


_nodes = st.sampled_from(["n0", "n1", "n2"])
_namespaces = st.sampled_from(NAMESPACES)
_claims = st.sampled_from(CLAIMS)
_volumes = st.sampled_from(["v0", "v1"])
_versions = st.sampled_from("123")
_sizes = st.sampled_from(["1Gi", "3Gi"])
_zones = st.sampled_from(["", "a", "b"])

#: Strategies by kind.
KINDS: dict[str, SearchStrategy[Any]] = {
    "PersistentVolumeClaim": st.builds(
        claim,
        _claims,
        namespace=_namespaces,
        volume=st.sampled_from(["", "", "v0", "v1"]),
        storage_class=st.sampled_from(["waits", "at-once"]),
        size=_sizes,
        mode=st.sampled_from(["ReadWriteOnce", "ReadWriteOncePod"]),
        version=_versions,
    ),
    "PersistentVolume": st.builds(
        volume, _volumes, zone=_zones, claimed_by=st.sampled_from(["", "one/c0"]), csi=st.booleans()
    ),
    "StorageClass": st.builds(
        storage_class,
        st.sampled_from(["waits", "at-once"]),
        waits=st.booleans(),
        provisioner=st.sampled_from([DRIVER, "kubernetes.io/no-provisioner"]),
    ),
    "CSINode": st.builds(csi_node, _nodes, st.sampled_from([None, 0, 1])),
    "CSIDriver": st.builds(csi_driver, tracks_capacity=st.booleans()),
    "CSIStorageCapacity": st.builds(capacity, st.sampled_from("ab"), _sizes),
    "VolumeAttachment": st.builds(attachment, _volumes, _nodes),
}
