"""The claims that a pod mounts, and the words in which kube-scheduler refuses a pod over one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.objects.meta import Uid
    from bayplan.objects.pod import Pod, Volume
    from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim

#: Set by the volume controller once it has looked at a claim that names a volume.
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
#: Says of a volume's claim that it was not a person who wrote it there.
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
#: The node that a volume is to be made for; a scheduler writes it, and the provisioner takes it away if it fails.
SELECTED_NODE = "volume.kubernetes.io/selected-node"
#: Where the class stood before it had a field; it still wins over the field.
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"
#: What all sizes of storage are written under.
STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume of a pod that stands for a claim."""

    claim: str
    #: Whether the claim is made for this pod alone and named after it.
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class Owner:
    """The pod that ephemeral claims must belong to."""

    name: str
    uid: Uid


@dataclass(frozen=True, slots=True)
class Claims:
    """All that the volume plugins read of most pods: the claims, in the order of the pod's volumes."""

    namespace: str
    mounts: tuple[Mount, ...]
    #: None where no claim is ephemeral, so that pods with the same claims are equal here.
    owner: Owner | None = None

    @classmethod
    def of(cls, pod: Pod) -> Claims | None:
        """The claims of a pod, None if it mounts none."""
        if not pod.spec.volumes:
            return None
        mounts = tuple(_mounts(pod))
        if not mounts:
            return None
        owned = any(mount.ephemeral for mount in mounts)
        return cls(pod.metadata.namespace, mounts, Owner(pod.metadata.name, pod.metadata.uid) if owned else None)

    def key(self, mount: Mount) -> str:
        """The namespace and name of a claim."""
        return f"{self.namespace}/{mount.claim}"

    def names(self) -> Iterator[str]:
        """The namespaces and names of all of them."""
        return map(self.key, self.mounts)

    def disowned(self, mount: Mount, claim: PersistentVolumeClaim) -> str:
        """Why this pod may not use a claim that only looks like its own; empty where it may."""
        if not mount.ephemeral or self.owner is None:
            return ""
        controller = claim.metadata.controller
        if controller is not None and controller.uid == self.owner.uid:
            return ""
        pod = f"{self.namespace}/{self.owner.name}"
        return f"PVC {self.key(mount)} was not created for pod {pod} (pod is not owner)"


def _mounts(pod: Pod) -> Iterator[Mount]:
    for volume in pod.spec.volumes:
        mount = mount_of(pod, volume)
        if mount is not None:
            yield mount


def mount_of(pod: Pod, volume: Volume) -> Mount | None:
    """The claim that a volume of a pod stands for."""
    if volume.persistent_volume_claim is not None:
        return Mount(volume.persistent_volume_claim.claim_name)
    if volume.ephemeral is not None:
        return Mount(f"{pod.metadata.name}-{volume.name}", ephemeral=True)
    return None


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The storage class that a claim asks for; empty for none."""
    beta = claim.metadata.annotations.get(_BETA_CLASS)
    return (claim.spec.storage_class_name or "") if beta is None else beta


def class_of_volume(volume: PersistentVolume) -> str:
    """The storage class that a volume belongs to."""
    beta = volume.metadata.annotations.get(_BETA_CLASS)
    return volume.spec.storage_class_name if beta is None else beta


def claim_not_found(name: str) -> str:
    """There is no such claim."""
    return f'persistentvolumeclaim "{name}" not found'


def volume_not_found(name: str) -> str:
    """There is no such volume."""
    return f'persistentvolume "{name}" not found'


def class_not_found(name: str) -> str:
    """There is no such storage class."""
    return f'storageclass.storage.k8s.io "{name}" not found'
