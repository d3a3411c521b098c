"""What happens to a cluster, as the core hears of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bayplan.objects.node import Namespace, Node
    from bayplan.objects.pod import Pod
    from bayplan.objects.storage import (
        CSIDriver,
        CSINode,
        CSIStorageCapacity,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        VolumeAttachment,
    )
    from bayplan.objects.workloads import (
        PodDisruptionBudget,
        PriorityClass,
        ReplicaSet,
        ReplicationController,
        Service,
        StatefulSet,
    )

    #: Everything that placement reads.
    ClusterObject: TypeAlias = (
        Pod
        | Node
        | Namespace
        | Service
        | ReplicationController
        | ReplicaSet
        | StatefulSet
        | PodDisruptionBudget
        | PriorityClass
        | PersistentVolume
        | PersistentVolumeClaim
        | StorageClass
        | CSINode
        | CSIDriver
        | CSIStorageCapacity
        | VolumeAttachment
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """An object is there, or has changed."""

    object: ClusterObject


@dataclass(frozen=True, slots=True)
class Gone:
    """An object is not there any more; this is how it was last."""

    object: ClusterObject


Event: TypeAlias = Seen | Gone
