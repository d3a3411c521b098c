"""Which rows have changed since somebody looked, worked out once for all who looked at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bayplan.columns.arrays import rows_of
from bayplan.columns.nodes import Nodes

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster


class Place(NamedTuple):
    """Up to where somebody has read."""

    nodes: int = -1
    loads: int = -1


class Changes:
    """The rows that changed, for readers at any place."""

    __slots__ = ("_cluster", "_known", "_now")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._now = Place()
        self._known: dict[tuple[Place, bool], Nodes | None] = {}

    def now(self) -> Place:
        """Where a reader is that has read everything."""
        table = self._cluster.nodes
        now = self._now
        if now.nodes != table.node_log.position or now.loads != table.load_log.position:
            now = self._now = Place(table.node_log.position, table.load_log.position)
            self._known.clear()
        return now

    def since(self, place: Place, *, loads: bool) -> Nodes | None:
        """The nodes that changed, or, with `loads`, whose pods did; None if there are none."""
        now = self.now()
        if place is now:
            return None
        key = (place, loads)
        if key not in self._known:
            self._known[key] = self._collect(place, loads=loads)
        return self._known[key]

    def _collect(self, place: Place, *, loads: bool) -> Nodes | None:
        table = self._cluster.nodes
        changed: list[int] = []
        if place.nodes != table.node_log.position:
            rows = table.node_log.since(place.nodes)
            if rows is None:
                return Nodes.every(self._cluster)
            changed = rows
        if loads and place.loads != table.load_log.position:
            rows = table.load_log.since(place.loads)
            if rows is None:
                return Nodes.every(self._cluster)
            changed = changed + rows
        if len(changed) >= table.size:
            return Nodes.every(self._cluster)
        found = rows_of(changed)
        return None if found is None else Nodes(self._cluster, found)
