"""The kinds of volume that placement tells apart, in pods and in PersistentVolumes alike.

All others, from `configMap` to `nfs`, can be mounted anywhere and are skipped.
"""

import msgspec

from bayplan.objects.quantity_text import WireQuantity
from bayplan.objects.wire import Int32, Wire


class GcePersistentDisk(Wire, frozen=True):
    """A disk of Google Compute Engine."""

    pd_name: str = ""
    read_only: bool = False


class AwsElasticBlockStore(Wire, frozen=True):
    """A disk of Amazon's."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class AzureDisk(Wire, frozen=True):
    """A disk of Azure's."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    #: Only those that are `Managed` are served by the CSI driver.
    kind: str | None = None


class AzureFile(Wire, frozen=True):
    """A file share of Azure's; its secret is in the pod's namespace."""

    secret_name: str = ""
    share_name: str = ""


class PersistentAzureFile(AzureFile, frozen=True):
    """A file share of Azure's, with a secret from anywhere."""

    secret_namespace: str | None = None


class Cinder(Wire, frozen=True):
    """A volume of OpenStack's."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class VsphereVolume(Wire, frozen=True):
    """A virtual disk of vSphere's."""

    volume_path: str = ""


class PortworxVolume(Wire, frozen=True):
    """A volume of Portworx's."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class Iscsi(Wire, frozen=True):
    """A target on the network that one node at a time may write to."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class Rbd(Wire, frozen=True):
    """An image in a Ceph pool that one node at a time may write to."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class Csi(Wire, frozen=True):
    """A volume that a CSI driver makes for one pod, and that ends with it."""

    driver: str = ""
    read_only: bool | None = None


class PersistentCsi(Csi, frozen=True):
    """A volume that a CSI driver knows by its handle."""

    volume_handle: str = ""


class VolumeSources(Wire, frozen=True):
    """Where a volume's bytes are: at most one is set. In-tree kinds count as those of the CSI driver they moved to.

    Pods and PersistentVolumes add what they write differently.
    """

    gce_persistent_disk: GcePersistentDisk | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    iscsi: Iscsi | None = None
    rbd: Rbd | None = None


class VolumeResources(Wire, frozen=True):
    """How much storage a claim asks for."""

    requests: dict[str, WireQuantity] = msgspec.field(default_factory=dict)
