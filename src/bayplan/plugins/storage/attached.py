"""The volumes on each node, by driver, and how many of each driver's a node can take.

Kept up to date row by row. What a row was made of is remembered (these claims, those volumes), so that a change of any
object makes just those rows anew that read it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bayplan.columns.arrays import Bools, Ints, grown
from bayplan.columns.log import ChangeLog
from bayplan.errors import ValidationError
from bayplan.plugins.storage.attaching import Attachable, attachable_of, inline_attachables
from bayplan.plugins.storage.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.objects.pod import Pod
    from bayplan.objects.storage import CSINode, VolumeAttachment

T = TypeVar("T")

#: What stands for no limit: more than can be on a node.
NO_LIMIT = 2**53


class DriverColumns:
    """One driver, on every row."""

    __slots__ = ("installed", "limit", "taken")

    def __init__(self, length: int) -> None:
        #: How many volumes of its the pods and VolumeAttachments of a node have.
        self.taken: Ints = np.zeros(length, dtype=np.int64)
        #: How many it can have.
        self.limit: Ints = np.full(length, NO_LIMIT, dtype=np.int64)
        #: Whether the node's CSINode lists the driver.
        self.installed: Bools = np.zeros(length, dtype=np.bool_)

    def grow(self, length: int) -> None:
        """Make room for more rows."""
        self.taken = grown(self.taken, length)
        self.limit = grown(self.limit, length, NO_LIMIT)
        self.installed = grown(self.installed, length, fill=False)


class AttachedVolumes:
    """What is attached where. One for a cluster: `cluster.shared(AttachedVolumes)`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._length = 0
        self._drivers: dict[str, DriverColumns] = {}
        #: Whether the row's node has a CSINode.
        self.has_csi_node: Bools = np.zeros(0, dtype=np.bool_)
        #: The rows where pods use a volume, by its identity.
        self.rows_of: dict[str, set[int]] = {}
        #: Rows that were made anew, for those who read them.
        self.log: ChangeLog[int] = ChangeLog()
        #: The identities of the volumes of the pods of each row.
        self._on: dict[int, frozenset[str]] = {}
        #: Drivers that a row has an entry for.
        self._drivers_on: dict[int, set[str]] = {}
        #: The rows that were made with an object, by its kind and name.
        self._readers: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        #: The names of VolumeAttachments by the node they are to, and the node of each.
        self._attachments_to: defaultdict[str, set[str]] = defaultdict(set)
        self._attached_to: dict[str, str] = {}
        #: How far each log has been read.
        self._read: dict[str, int] = {}

    def driver(self, name: str) -> DriverColumns:
        """The columns of a driver."""
        found = self._drivers.get(name)
        if found is None:
            found = self._drivers[name] = DriverColumns(self._length)
        return found

    def follow(self) -> None:
        """Take in what has happened since."""
        size = self._cluster.nodes.size
        dirty = self._changed()
        if self._length < size:
            self._grow(size)
        for row in range(size) if dirty is None else sorted(dirty):
            if row < size:
                self._make(row)
                self.log.append(row)

    def _grow(self, size: int) -> None:
        self._length = max(2 * self._length, size)
        self.has_csi_node = grown(self.has_csi_node, self._length, fill=False)
        for columns in self._drivers.values():
            columns.grow(self._length)
        self.log.keep_at_least(4 * self._length)

    def _changed(self) -> set[int] | None:
        """The rows that read something that changed; None for all."""
        cluster, dirty = self._cluster, set[int]()
        everything = False
        for kind, store in (("claim", cluster.claims), ("volume", cluster.volumes)):
            names = self._news(kind, store.log)
            everything |= names is None
            for name in names or ():
                dirty |= self._readers.pop((kind, name), set())
        everything |= not self._take_in_attachments(dirty)
        everything |= not self._take_in_rows(dirty)
        # Classes hardly ever change.
        everything |= self._news("class", cluster.storage_classes.log) != []
        return None if everything else dirty

    def _take_in_rows(self, dirty: set[int]) -> bool:
        """Nodes that changed, CSINodes that did, and pods with volumes that came or went."""
        cluster = self._cluster
        rows = self._news("node", cluster.nodes.node_log)
        names = self._news("csinode", cluster.csi_nodes.log)
        pods = self._news("pod", cluster.pods.log)
        if rows is None or names is None or pods is None:
            return False
        dirty.update(rows)
        dirty.update(self._rows_named(names))
        dirty.update(placement.row for placement, _ in pods if placement.pod.spec.volumes)
        return True

    def _take_in_attachments(self, dirty: set[int]) -> bool:
        store = self._cluster.attachments
        names = self._news("attachment", store.log)
        if names is None:
            self._attached_to.clear()
            self._attachments_to.clear()
        for name in [one.metadata.key for one in store] if names is None else names:
            found = store.get(name)
            before, now = self._attached_to.pop(name, None), found.spec.node_name if found is not None else None
            if before is not None:
                self._attachments_to[before].discard(name)
            if now is not None:
                self._attached_to[name] = now
                self._attachments_to[now].add(name)
            dirty.update(self._rows_named(node for node in (before, now) if node is not None))
        return names is not None

    def _news(self, kind: str, log: ChangeLog[T]) -> list[T] | None:
        position = self._read.get(kind, -1)
        self._read[kind] = log.position
        return log.since(position)

    def _rows_named(self, names: Iterable[str]) -> Iterator[int]:
        for name in names:
            row = self._cluster.nodes.row_of.get(name)
            if row is not None:
                yield row

    def _make(self, row: int) -> None:
        """Read a row from scratch."""
        self._clear(row)
        node = self._cluster.nodes.name(row)
        if not node:
            return
        drivers = {volume.identity: volume.driver for volume in self._volumes_on(row)}
        self._on[row] = frozenset(drivers)
        for identity in drivers:
            self.rows_of.setdefault(identity, set()).add(row)
        taken = Counter(drivers.values())
        taken.update(self._attached_besides(set(drivers), node, row))
        for driver, count in taken.items():
            self.driver(driver).taken[row] = count
        self._drivers_on[row] = {*taken, *self._limits_of(self._cluster.csi_nodes.get(node), row)}

    def _clear(self, row: int) -> None:
        for identity in self._on.pop(row, ()):
            rows = self.rows_of[identity]
            rows.discard(row)
            if not rows:
                del self.rows_of[identity]
        for name in self._drivers_on.pop(row, ()):
            columns = self._drivers[name]
            columns.taken[row], columns.limit[row], columns.installed[row] = 0, NO_LIMIT, False
        self.has_csi_node[row] = False

    def _limits_of(self, csi_node: CSINode | None, row: int) -> Iterator[str]:
        self.has_csi_node[row] = csi_node is not None
        for listed in csi_node.spec.drivers if csi_node is not None else ():
            columns, count = self.driver(listed.name), listed.allocatable.count
            columns.installed[row] = True
            columns.limit[row] = NO_LIMIT if count is None else min(count, NO_LIMIT)
            yield listed.name

    def _volumes_on(self, row: int) -> Iterator[Attachable]:
        for placement in self._cluster.pods.on(row):
            if placement.pod.spec.volumes:
                yield from self._volumes_of(placement.pod, row)

    def _volumes_of(self, pod: Pod, row: int) -> Iterator[Attachable]:
        """The volumes of a pod that is there. What cannot be told about it is not counted."""
        with suppress(ValidationError):
            yield from inline_attachables(pod)
        claims = Claims.of(pod)
        for mount in claims.mounts if claims is not None else ():
            assert claims is not None
            key = claims.key(mount)
            self._readers["claim", key].add(row)
            claim = self._cluster.claims.get(key)
            if claim is None or claims.disowned(mount, claim):
                continue
            if claim.spec.volume_name:
                self._readers["volume", claim.spec.volume_name].add(row)
            found = attachable_of(claim, self._cluster)
            if found is not None:
                yield found

    def _attached_besides(self, counted: set[str], node: str, row: int) -> Iterator[str]:
        """The drivers of the volumes that VolumeAttachments have on a node and no pod of it has."""
        for name in self._attachments_to.get(node, ()):
            attachment = self._cluster.attachments.get(name)
            identity = self._identity(attachment, row) if attachment is not None else ""
            if attachment is not None and identity and identity not in counted:
                counted.add(identity)
                yield attachment.spec.attacher

    def _identity(self, attachment: VolumeAttachment, row: int) -> str:
        """The volume that is attached, empty unless it is a CSI driver's and known."""
        name = attachment.spec.source.persistent_volume_name
        if not attachment.spec.attacher or name is None:
            return ""
        self._readers["volume", name].add(row)
        volume = self._cluster.volumes.get(name)
        csi = volume.spec.csi if volume is not None else None
        return f"{attachment.spec.attacher}/{csi.volume_handle}" if csi is not None else ""
