"""Which driver's volume a claim stands for: what counts against how many a node can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.errors import ValidationError
from bayplan.plugins.storage.claims import class_of_claim, mount_of
from bayplan.plugins.storage.migration import DRIVER_OF_PLUGIN, handle_of_inline, handle_of_volume

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.objects.pod import Pod
    from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim


@dataclass(frozen=True, slots=True)
class Attachable:
    """A volume that takes one of a driver's places on a node. Pods that use the same one share the place."""

    driver: str
    name: str
    #: Whether it counts only where there is a CSINode, as in-tree volumes do.
    moved: bool = False

    @property
    def identity(self) -> str:
        """What tells it from all others, of other drivers too."""
        return f"{self.driver}/{self.name}"


def attachable_of(claim: PersistentVolumeClaim, cluster: Cluster) -> Attachable | None:
    """The volume of a claim, or the one that will be made for it; None where nobody counts it."""
    volume = cluster.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is None:
        return _to_be_made(claim, cluster)
    csi = volume.spec.csi
    if csi is None:
        return _of_in_tree(volume)
    return Attachable(csi.driver, csi.volume_handle) if csi.driver and csi.volume_handle else None


def inline_attachables(pod: Pod) -> Iterator[Attachable]:
    """The in-tree volumes that a pod names without a claim. A ValidationError where a driver cannot serve one."""
    for volume in pod.spec.volumes:
        if mount_of(pod, volume) is not None:
            continue
        try:
            handle = handle_of_inline(volume)
        except ValidationError as error:
            raise ValidationError(f"converting volume({volume.name}) from inline to csi: {error}") from error
        if handle is not None:
            yield Attachable(handle.driver, handle.name, moved=True)


def _of_in_tree(volume: PersistentVolume) -> Attachable | None:
    try:
        handle = handle_of_volume(volume)
    except ValidationError:
        return None
    return Attachable(handle.driver, handle.name, moved=True) if handle is not None and handle.name else None


def _to_be_made(claim: PersistentVolumeClaim, cluster: Cluster) -> Attachable | None:
    """By its class, under a name that no volume has. Without a class it must be bound before a pod can use it."""
    found = cluster.storage_classes.get(class_of_claim(claim))
    if found is None:
        return None
    name = f"(to be made) {claim.metadata.key}"
    driver = DRIVER_OF_PLUGIN.get(found.provisioner, found.provisioner)
    return Attachable(driver, name, moved=found.provisioner in DRIVER_OF_PLUGIN) if driver else None
