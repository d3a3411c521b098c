"""Claims, volumes, classes and drivers: where storage is, and where more of it can be made."""

from typing import TYPE_CHECKING

import msgspec

from bayplan.objects.meta import ObjectMeta, ObjectReference
from bayplan.objects.quantity_text import WireQuantity
from bayplan.objects.resource import Resource
from bayplan.objects.selection import LabelSelector, NodeSelector
from bayplan.objects.volumes import PersistentAzureFile, PersistentCsi, VolumeResources, VolumeSources
from bayplan.objects.wire import Int32, NullableStrings, NullableWire, Wire


class VolumeNodeAffinity(Wire, frozen=True):
    """The nodes that a volume can be reached from."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(VolumeSources, frozen=True):
    """A volume: what it is, how large, and for whom."""

    csi: PersistentCsi | None = None
    azure_file: PersistentAzureFile | None = None
    capacity: dict[str, WireQuantity] = msgspec.field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeStatus(Wire, frozen=True):
    """How a volume is doing."""

    phase: str = ""


class PersistentVolume(Wire, frozen=True):
    """A volume that outlives pods."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimSpec(Wire, frozen=True):
    """What a claim asks for."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    #: Absent asks for the default class, empty for none.
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Wire, frozen=True):
    """How a claim is doing."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: dict[str, WireQuantity] = msgspec.field(default_factory=dict)


class PersistentVolumeClaim(Wire, frozen=True):
    """A wish for storage, bound to a volume sooner or later."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(NullableWire, frozen=True):
    """A label of nodes and the values it may have."""

    key: str = ""
    values: NullableStrings = ()


class TopologySelectorTerm(Wire, frozen=True):
    """Labels of which all must fit."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(Wire, frozen=True):
    """How storage of one kind is made, when, and where."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()
    parameters: dict[str, str] = msgspec.field(default_factory=dict)


class CSINodeAllocatable(Wire, frozen=True):
    """How many volumes of a driver a node can take; absent is no limit."""

    count: Int32 | None = None


class CSINodeDriver(NullableWire, frozen=True):
    """A driver that runs on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: NullableStrings = ()
    allocatable: CSINodeAllocatable = CSINodeAllocatable()


if TYPE_CHECKING:
    _NullableDrivers = tuple[CSINodeDriver, ...]
else:
    _NullableDrivers = tuple[CSINodeDriver, ...] | None


class CSINodeSpec(NullableWire, frozen=True):
    """The drivers of a node; null while it has none."""

    drivers: _NullableDrivers = ()


class CSINode(Wire, frozen=True):
    """What a node's drivers say; it has the node's name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Wire, frozen=True):
    """What a driver can do."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Wire, frozen=True):
    """A driver of the cluster."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Wire, frozen=True):
    """How much more of a class can be made in one part of the cluster."""

    metadata: ObjectMeta = ObjectMeta()
    #: Absent is nowhere, empty everywhere.
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: WireQuantity = None
    maximum_volume_size: WireQuantity = None


class VolumeAttachmentSource(Wire, frozen=True):
    """The volume that is attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Wire, frozen=True):
    """Which volume goes to which node."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachmentStatus(Wire, frozen=True):
    """Whether it is there."""

    attached: bool = False


class VolumeAttachment(Wire, frozen=True):
    """A volume on a node, or on its way to it or from it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()


_GROUP = "storage.k8s.io"

PERSISTENT_VOLUMES = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", namespaced=False, type=PersistentVolume
)
PERSISTENT_VOLUME_CLAIMS = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", namespaced=True, type=PersistentVolumeClaim
)
STORAGE_CLASSES = Resource(_GROUP, "v1", "storageclasses", "StorageClass", namespaced=False, type=StorageClass)
CSI_NODES = Resource(_GROUP, "v1", "csinodes", "CSINode", namespaced=False, type=CSINode)
CSI_DRIVERS = Resource(_GROUP, "v1", "csidrivers", "CSIDriver", namespaced=False, type=CSIDriver)
CSI_STORAGE_CAPACITIES = Resource(
    _GROUP, "v1", "csistoragecapacities", "CSIStorageCapacity", namespaced=True, type=CSIStorageCapacity
)
VOLUME_ATTACHMENTS = Resource(
    _GROUP, "v1", "volumeattachments", "VolumeAttachment", namespaced=False, type=VolumeAttachment
)
