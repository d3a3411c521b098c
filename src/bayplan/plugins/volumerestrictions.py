"""VolumeRestrictions: disks that one node may have once, and claims that one pod may have.

Two rules that have little to do with each other. A disk that a pod names without a claim conflicts with the same disk
in another pod of the node, unless both only read it. A claim of access mode ReadWriteOncePod is for one pod in the
whole cluster: while another uses it, no node will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Ids, Rows, rows_of
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import YES, Verdict, Verdicts, reject
from bayplan.plugins.storage.claims import READ_WRITE_ONCE_POD, claim_not_found

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.pod import Pod, Volume

_DISK_CONFLICT = "node(s) had no available disk"
_CLAIM_CONFLICT = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_TAKEN, _IN_USE = 1, 2


@dataclass(frozen=True)
class VolumeRestrictions:
    """Keep a pod off nodes that have its disks already, and off all while its claim is another's."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> VolumeConflicts | None:
        """Nothing to say of pods that name neither a disk of these kinds nor a claim."""
        volumes = pod.spec.volumes
        if not volumes:
            return None
        disks = tuple(volume for volume in volumes if _is_exclusive(volume))
        named = (volume.persistent_volume_claim for volume in volumes)
        claims = tuple(dict.fromkeys(claim.claim_name for claim in named if claim is not None))
        return VolumeConflicts(pod.namespace, disks, claims, cluster) if disks or claims else None


class VolumeConflicts:
    """The disks and claims of a class of pods, against all that others have."""

    reads = Reads.NODE | Reads.LOAD | Reads.CLUSTER

    def __init__(self, namespace: str, disks: tuple[Volume, ...], claims: tuple[str, ...], cluster: Cluster) -> None:
        self._namespace = namespace
        self._disks = disks
        self._claims = claims
        self._cluster = cluster
        #: How often claims changed when they were looked up last.
        self._version = -1
        #: Those of the claims that are for one pod alone, by namespace and name.
        self._exclusive: tuple[str, ...] = ()
        self._refusal: Verdict | None = None
        self._in_use = False
        self._positions = (0, 0)
        #: By code; refusals come after these.
        self._meanings = [YES, reject(_DISK_CONFLICT), reject(_CLAIM_CONFLICT)]

    def catch_up(self) -> Rows | None:
        """All rows when a claim becomes another's, or is no more; else those that look different."""
        before = self._in_use, self._refusal
        if self._version != self._cluster.claims.version:
            self._version = self._cluster.claims.version
            self._refusal, self._exclusive = self._looked_up()
        self._in_use = any(self._cluster.pods.claims[key] > 0 for key in self._exclusive)
        touched = self._touched()
        return slice(0, self._cluster.nodes.size) if before != (self._in_use, self._refusal) else touched

    def refusal(self) -> Verdict | None:
        """A claim that is not there."""
        return self._refusal

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """The disks first, as kube-scheduler does."""
        if self._refusal is not None:
            return Verdicts(np.full(len(nodes), self._code_of(self._refusal), dtype=np.int32), self._meanings)
        codes: Ids = np.full(len(nodes), _IN_USE if self._in_use else 0, dtype=np.int32)
        if self._disks:
            for index, row in enumerate(nodes.indices()):
                if self._is_taken(row):
                    codes[index] = _TAKEN
        return Verdicts(codes, self._meanings)

    def _code_of(self, verdict: Verdict) -> int:
        if verdict not in self._meanings:
            self._meanings.append(verdict)
        return self._meanings.index(verdict)

    def _looked_up(self) -> tuple[Verdict | None, tuple[str, ...]]:
        exclusive = []
        for name in self._claims:
            key = f"{self._namespace}/{name}"
            claim = self._cluster.claims.get(key)
            if claim is None:
                return reject(claim_not_found(name), resolvable=False), ()
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                exclusive.append(key)
        return None, tuple(exclusive)

    def _touched(self) -> Rows | None:
        """Where pods came or went, if there are disks; and new nodes, of which nothing was said yet."""
        table, (nodes, loads) = self._cluster.nodes, self._positions
        self._positions = table.node_log.position, table.load_log.position
        rows = table.node_log.since(nodes)
        more = table.load_log.since(loads) if self._disks else []
        return slice(0, table.size) if rows is None or more is None else rows_of(rows + more)

    def _is_taken(self, row: int) -> bool:
        others = self._cluster.pods.on(row)
        return any(_conflict(disk, other.pod) for other in others if other.pod.spec.volumes for disk in self._disks)


def _is_exclusive(volume: Volume) -> bool:
    return (
        volume.gce_persistent_disk is not None
        or volume.aws_elastic_block_store is not None
        or volume.iscsi is not None
        or volume.rbd is not None
    )


def _conflict(volume: Volume, other: Pod) -> bool:
    return any(_same_disk(volume, theirs) for theirs in other.spec.volumes)


def _same_disk(ours: Volume, theirs: Volume) -> bool:
    """Whether two volumes are one disk that cannot be mounted for both."""
    gce, other_gce = ours.gce_persistent_disk, theirs.gce_persistent_disk
    if gce is not None and other_gce is not None and gce.pd_name == other_gce.pd_name:
        return not (gce.read_only and other_gce.read_only)
    aws, other_aws = ours.aws_elastic_block_store, theirs.aws_elastic_block_store
    if aws is not None and other_aws is not None and aws.volume_id == other_aws.volume_id:
        return True  # not even for reading
    iscsi, other_iscsi = ours.iscsi, theirs.iscsi
    if iscsi is not None and other_iscsi is not None and iscsi.iqn == other_iscsi.iqn:
        return not (iscsi.read_only and other_iscsi.read_only)
    rbd, other_rbd = ours.rbd, theirs.rbd
    if rbd is None or other_rbd is None or (rbd.pool, rbd.image) != (other_rbd.pool, other_rbd.image):
        return False
    return not (rbd.read_only and other_rbd.read_only) and not set(rbd.monitors).isdisjoint(other_rbd.monitors)
