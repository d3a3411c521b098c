"""In-tree volumes, which are served by CSI drivers nowadays, as those drivers see them.

Seven kinds were moved. For five of them kube-scheduler counts and places volumes as their drivers would. It knows that
Azure files and vSphere disks have moved too, and leaves them alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from bayplan.errors import ValidationError
from bayplan.objects.selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bayplan.objects.pod import Volume
    from bayplan.objects.storage import CSINode, PersistentVolume
    from bayplan.objects.volumes import AzureDisk, VolumeSources

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
#: Between the zones of a volume's label that names several.
SEPARATOR = "__"
#: The annotation of a CSINode that lists the in-tree plugins whose volumes go through CSI there.
_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

_UNSPECIFIED = "UNSPECIFIED"
_AWS_VOLUME = re.compile(r"vol-[^/]*")
_GCE_ZONE_PARTS = 3


@dataclass(frozen=True, slots=True)
class Moved:
    """A kind of in-tree volume that a CSI driver took over."""

    plugin: str
    driver: str
    #: The driver's own label for zones; empty where it takes the volume's affinity as it is.
    zone_key: str = ""


_AWS = Moved("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
_GCE = Moved("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
_CINDER = Moved("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
_AZURE = Moved("kubernetes.io/azure-disk", "disk.csi.azure.com")
_PORTWORX = Moved("kubernetes.io/portworx-volume", "pxd.portworx.com")

#: The driver that makes the volumes of a class that still names the in-tree plugin; None where nobody counts them.
DRIVER_OF_PLUGIN: Mapping[str, str | None] = {
    **{moved.plugin: moved.driver for moved in (_AWS, _GCE, _CINDER, _AZURE, _PORTWORX)},
    "kubernetes.io/azure-file": None,
    "kubernetes.io/vsphere-volume": None,
}


@dataclass(frozen=True, slots=True)
class Handle:
    """What a volume is called by the driver that serves it."""

    driver: str
    name: str


def moved_kind(sources: VolumeSources) -> Moved | None:
    """The kind of an in-tree volume that is treated as its driver's; None for all others."""
    if sources.gce_persistent_disk is not None:
        return _GCE
    if sources.aws_elastic_block_store is not None:
        return _AWS
    if sources.cinder is not None:
        return _CINDER
    if sources.azure_disk is not None:
        return _AZURE
    return _PORTWORX if sources.portworx_volume is not None else None


def handle_of_inline(volume: Volume) -> Handle | None:
    """The handle of a volume that a pod names without a claim. A ValidationError where the driver cannot serve it."""
    moved = moved_kind(volume)
    if moved is None:
        return None
    if volume.gce_persistent_disk is not None:
        return Handle(moved.driver, _gce_handle("zones", _UNSPECIFIED, volume.gce_persistent_disk.pd_name))
    return Handle(moved.driver, _plain_name(volume))


def handle_of_volume(volume: PersistentVolume) -> Handle | None:
    """The handle of an in-tree PersistentVolume. A ValidationError where the driver cannot serve it."""
    moved = moved_kind(volume.spec)
    if moved is None:
        return None
    disk = volume.spec.gce_persistent_disk
    return Handle(moved.driver, _plain_name(volume.spec) if disk is None else _gce_name(volume, disk.pd_name))


def is_moved_on(node: CSINode | None, moved: Moved) -> bool:
    """Whether volumes of this kind go through CSI on a node."""
    if node is None:
        return False
    return moved.plugin in node.metadata.annotations.get(_MIGRATED_PLUGINS, "").split(",")


def moved_affinity(volume: PersistentVolume, moved: Moved) -> NodeSelector | None:
    """The node affinity of an in-tree volume in the labels of its driver.

    A ValidationError where the driver cannot serve it.
    """
    handle_of_volume(volume)
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    return _in_zones_of(required, volume.metadata.labels, moved.zone_key) if moved.zone_key else required


def _in_zones_of(required: NodeSelector | None, labels: Mapping[str, str], zone_key: str) -> NodeSelector | None:
    zone, region = _zone_labels(required, labels)
    if _has_values(required, zone):
        required = _renamed(required, zone, zone_key)
    elif zone in labels:
        zones = {part.strip() for part in labels[zone].split(SEPARATOR)} - {""}
        required = _narrowed(required, zone_key, tuple(sorted(zones))) if zones else required
    # Newer nodes have lost the beta label.
    return _renamed(required, region, REGION) if region == BETA_REGION and _has_values(required, region) else required


def _zone_labels(required: NodeSelector | None, labels: Mapping[str, str]) -> tuple[str, str]:
    """The generation of labels that a volume speaks of: in its affinity first, then in its own labels."""
    named = {asked.key for term in _terms(required) for asked in term.match_expressions}
    for known in (named, labels):
        if ZONE in known:
            return ZONE, REGION
        if BETA_ZONE in known:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _has_values(required: NodeSelector | None, key: str) -> bool:
    return any(asked.key == key and asked.values for term in _terms(required) for asked in term.match_expressions)


def _renamed(required: NodeSelector | None, old: str, new: str) -> NodeSelector:
    def rename(asked: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return msgspec.structs.replace(asked, key=new) if asked.key == old else asked

    return _each_term(required, lambda asked: tuple(map(rename, asked)))


def _narrowed(required: NodeSelector | None, key: str, zones: tuple[str, ...]) -> NodeSelector:
    added = NodeSelectorRequirement(key, "In", zones)
    return _each_term(required, lambda asked: (*asked, added))


def _each_term(
    required: NodeSelector | None,
    change: Callable[[tuple[NodeSelectorRequirement, ...]], tuple[NodeSelectorRequirement, ...]],
) -> NodeSelector:
    terms = _terms(required) or (NodeSelectorTerm(),)
    return NodeSelector(
        tuple(msgspec.structs.replace(term, match_expressions=change(term.match_expressions)) for term in terms)
    )


def _terms(required: NodeSelector | None) -> tuple[NodeSelectorTerm, ...]:
    return required.node_selector_terms if required is not None else ()


def _plain_name(sources: VolumeSources) -> str:
    if sources.aws_elastic_block_store is not None:
        return _aws_name(sources.aws_elastic_block_store.volume_id)
    if sources.azure_disk is not None:
        return _azure_name(sources.azure_disk)
    if sources.cinder is not None:
        return sources.cinder.volume_id
    assert sources.portworx_volume is not None
    return sources.portworx_volume.volume_id


def _aws_name(text: str) -> str:
    """The volume's id alone: `aws://` addresses have it as their path."""
    if not text.startswith("aws://"):
        return text
    try:
        name = unquote(urlsplit(text).path).strip("/")
    except ValueError as error:
        raise _untranslatable(f"Invalid disk name ({text}): {error}") from error
    if not _AWS_VOLUME.fullmatch(name):
        raise _untranslatable(f"Invalid format for AWS volume ({text})")
    return name


def _untranslatable(why: str) -> ValidationError:
    return ValidationError(f"failed to translate Kubernetes ID to EBS Volume ID {why}")


def _azure_name(disk: AzureDisk) -> str:
    if disk.kind is not None and disk.kind.lower() != "managed":
        raise ValidationError(f"kind({disk.kind}) is not supported in csi migration")
    return disk.disk_uri


def _gce_name(volume: PersistentVolume, disk: str) -> str:
    labels = volume.metadata.labels
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE, "")).split(SEPARATOR)
    if len(zones) > 1:
        return _gce_handle("regions", _gce_region(zones), disk)
    return _gce_handle("zones", zones[0] or _UNSPECIFIED, disk)


def _gce_handle(kind: str, place: str, disk: str) -> str:
    return f"projects/{_UNSPECIFIED}/{kind}/{place}/disks/{disk}"


def _gce_region(zones: list[str]) -> str:
    """The region that all these zones, such as `europe-west4-a`, are in."""
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != _GCE_ZONE_PARTS:
            raise _no_region(f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise _no_region(f"multiple or no regions gotten from zones, got: map[{listed}]")
    return regions.pop()


def _no_region(why: str) -> ValidationError:
    return ValidationError(f"failed to get region from zones: {why}")
