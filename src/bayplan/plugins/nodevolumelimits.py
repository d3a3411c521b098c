"""NodeVolumeLimits: a node can take only so many volumes of a driver, and none where the driver is not.

The limits are in the node's CSINode. What counts against them are the volumes of the node's pods, each once, and those
that VolumeAttachments say are there besides. In-tree volumes count as those of the drivers that took them over.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Bools, Ids, Ints, Rows, rows_of
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import YES, Verdict, Verdicts, reject
from bayplan.errors import ValidationError
from bayplan.plugins.storage.attached import AttachedVolumes
from bayplan.plugins.storage.attaching import Attachable, attachable_of, inline_attachables
from bayplan.plugins.storage.claims import Claims, claim_not_found
from bayplan.plugins.storage.migration import moved_kind

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass

_TOO_MANY = reject("node(s) exceed max volume count")


@dataclass(frozen=True)
class NodeVolumeLimits:
    """Keep pods off nodes that cannot take their volumes too."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> RoomForVolumes | None:
        """Nothing to say of pods without claims and in-tree volumes."""
        volumes = pod.spec.volumes
        if not volumes:
            return None
        claims = Claims.of(pod.pod)
        if claims is None and not any(moved_kind(volume) is not None for volume in volumes):
            return None
        return RoomForVolumes(pod, claims, cluster)


class RoomForVolumes:
    """The volumes of a class of pods, against what each node has room for."""

    reads = Reads.NODE | Reads.LOAD | Reads.CLUSTER

    def __init__(self, pod: PodClass, claims: Claims | None, cluster: Cluster) -> None:
        self._pod = pod
        self._claims = claims
        self._cluster = cluster
        self._attached = cluster.shared(AttachedVolumes)
        self._position = 0
        self._versions = (-1, -1, -1, -1)
        #: What the pods need, by driver; each volume once.
        self._needs: dict[str, tuple[Attachable, ...]] = {}
        #: Drivers that no pod may be placed without.
        self._indispensable: frozenset[str] = frozenset()
        #: What is wrong with the pods: then all nodes are rejected for it.
        self._missing: Verdict | None = None
        self._problem: ValidationError | None = None
        #: By code. Drivers add theirs.
        self._meanings: list[Verdict] = [YES, _TOO_MANY]

    def catch_up(self) -> Rows | None:
        """All rows when the pods need something else than before, else those where something came or went."""
        before = self._needs, self._indispensable, self._missing
        self._look_up()
        self._attached.follow()
        log, position = self._attached.log, self._position
        self._position = log.position
        if before != (self._needs, self._indispensable, self._missing):
            return slice(0, self._cluster.nodes.size)
        rows = log.since(position)
        return slice(0, self._cluster.nodes.size) if rows is None else rows_of(rows)

    def refusal(self) -> None:
        """A claim of another pod's, or a volume that no driver can serve, is an error and not a verdict."""
        if self._problem is not None:
            raise self._problem

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """First whether the drivers are there, then whether they have room."""
        codes: Ids = np.zeros(len(nodes), dtype=np.int32)
        if self._missing is not None:
            codes[:] = self._code(self._missing)
            return Verdicts(codes, self._meanings)
        for driver, needs in self._needs.items():
            new = self._new(needs, nodes)
            columns = self._attached.driver(driver)
            if driver in self._indispensable:
                absent = self._code(reject(f"{driver} CSI driver is not installed on the node"))
                codes[(codes <= 1) & self._counted(needs, nodes) & ~columns.installed[nodes.rows]] = absent
            exceeding = (new > 0) & (columns.taken[nodes.rows] + new > columns.limit[nodes.rows])
            codes[(codes == 0) & exceeding] = 1
        return Verdicts(codes, self._meanings)

    def _counted(self, needs: tuple[Attachable, ...], nodes: Nodes) -> Bools:
        """Where any of these counts: in-tree volumes do not on nodes without a CSINode."""
        if any(not volume.moved for volume in needs):
            return np.ones(len(nodes), dtype=np.bool_)
        return self._attached.has_csi_node[nodes.rows]

    def _new(self, needs: tuple[Attachable, ...], nodes: Nodes) -> Ints:
        """How many of these volumes the nodes' pods do not have yet."""
        new: Ints = np.zeros(self._cluster.nodes.size, dtype=np.int64)
        for volume in needs:
            new += 1
            there = self._attached.rows_of.get(volume.identity)
            if there:
                new[list(there)] -= 1
        return new[nodes.rows]

    def _code(self, verdict: Verdict) -> int:
        if verdict not in self._meanings:
            self._meanings.append(verdict)
        return self._meanings.index(verdict)

    def _look_up(self) -> None:
        cluster = self._cluster
        versions = (
            cluster.claims.version,
            cluster.volumes.version,
            cluster.storage_classes.version,
            cluster.csi_drivers.version,
        )
        if versions == self._versions:
            return
        self._missing, self._problem, self._needs = None, None, {}
        try:
            needs = self._needed()
        except ValidationError as error:
            self._problem, self._missing = error, reject(str(error), resolvable=False)
            needs = []
        by_driver: defaultdict[str, list[Attachable]] = defaultdict(list)
        for volume in needs:
            by_driver[volume.driver].append(volume)
        self._needs = {driver: tuple(volumes) for driver, volumes in by_driver.items()}
        self._indispensable = frozenset(driver for driver in self._needs if self._is_indispensable(driver))
        self._versions = versions

    def _needed(self) -> list[Attachable]:
        """The volumes that count. Two mounts of one volume are one, whichever way they are named."""
        found: dict[str, Attachable] = {volume.identity: volume for volume in inline_attachables(self._pod.pod)}
        claims = self._claims
        for mount in claims.mounts if claims is not None else ():
            assert claims is not None
            if not mount.claim:
                raise ValidationError("PersistentVolumeClaim had no name")
            claim = self._cluster.claims.get(claims.key(mount))
            if claim is None:
                reason = f"looking up PVC {claims.key(mount)}: {claim_not_found(mount.claim)}"
                self._missing = reject(reason, resolvable=False)
                return []
            foreign = claims.disowned(mount, claim)
            if foreign:
                raise ValidationError(foreign)
            volume = attachable_of(claim, self._cluster)
            if volume is not None:
                found[volume.identity] = volume
        return list(found.values())

    def _is_indispensable(self, name: str) -> bool:
        driver = self._cluster.csi_drivers.get(name)
        return driver is not None and bool(driver.spec.prevent_pod_scheduling_if_missing)
