"""Some rows of the node table: what a vectorised plugin is given, and one row: what a scalar one is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.columns.resources import COMPARED, USUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Bools, Ids, Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.fields import NodeField
    from bayplan.objects.node import Node as NodeObject
    from bayplan.objects.pod import Pod


class Nodes:
    """Rows of the table, all of them or a few. Everything it gives has one entry a row, in the order of the rows."""

    __slots__ = ("_amounts", "_complete", "_length", "cluster", "rows", "table")

    def __init__(self, cluster: Cluster, rows: Rows) -> None:
        self.cluster = cluster
        self.table = cluster.nodes
        #: How to index an array that has an entry for each row of the table.
        self.rows = rows
        self._amounts: tuple[Ints, Ints, Ints] | None = None
        self._complete: bool | None = None
        self._length = rows.stop - rows.start if isinstance(rows, slice) else len(rows)

    @classmethod
    def every(cls, cluster: Cluster) -> Nodes:
        """All rows, those without a node included."""
        return cls(cluster, slice(0, cluster.nodes.size))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, field: NodeField[Any]) -> NDArray[Any]:
        """The values of a field of one's own."""
        values: NDArray[Any] = self.table.field(field)[self.rows]
        return values

    def __iter__(self) -> Iterator[Node]:
        """One by one; for those without a node there is nothing to ask, so they are left out by who calls this."""
        return (Node(self.cluster, row) for row in self.indices())

    def indices(self) -> Iterable[int]:
        """The rows as numbers."""
        rows = self.rows
        return range(rows.start, rows.stop) if isinstance(rows, slice) else rows.tolist()

    def allocatable(self, resource: str) -> Ints:
        """How much of a resource the nodes have."""
        return self.table.resources.allocatable[self.table.resources.number(resource), self.rows]

    def requested(self, resource: str) -> Ints:
        """How much of it their pods take."""
        return self.table.resources.requested[self.table.resources.number(resource), self.rows]

    def free(self, resource: str) -> Ints:
        """How much of it is left; below zero where a node is overcommitted."""
        return self.allocatable(resource) - self.requested(resource)

    def label_ids(self, key: str) -> Ids:
        """The numbers of a label's values, below zero where a node has no such label."""
        return self.table.label_ids(key)[self.rows]

    def labelled(self, key: str, *values: str) -> Bools:
        """Whether the nodes have a label: any value of it, or one of these."""
        ids = self.label_ids(key)
        if not values:
            return ids >= 0
        wanted = [self.table.label(key).values.find(value) for value in values]
        return np.isin(ids, [number for number in wanted if number >= 0])

    def usual_amounts(self) -> tuple[Ints, Ints, Ints]:
        """Of CPU, memory, ephemeral storage and pods what the nodes have and what is taken, and what they compare by.

        Read once for all who ask of the same nodes.
        """
        amounts = self._amounts
        if amounts is None:
            resources, rows = self.table.resources, self.rows
            usual = resources.allocatable[:USUAL], resources.requested[:USUAL], resources.compared
            if isinstance(rows, slice):
                amounts = usual[0][:, rows], usual[1][:, rows], usual[2][:, rows]
            else:  # `take` needs a quarter of the time that indexing does
                amounts = usual[0].take(rows, 1), usual[1].take(rows, 1), usual[2].take(rows, 1)
            self._amounts = amounts
        return amounts

    @property
    def complete(self) -> bool:
        """Whether all of them have CPU and memory, so that nobody has to mind that some might not."""
        if self._complete is None:
            self._complete = np.count_nonzero(self.usual_amounts()[0][:COMPARED]) == COMPARED * self._length
        return self._complete

    def zeros(self) -> Ints:
        """A zero a row, to begin with."""
        return np.zeros(self._length, dtype=np.int64)


class Node:
    """One node, as a scalar plugin sees it."""

    __slots__ = ("_row", "_table", "cluster")

    def __init__(self, cluster: Cluster, row: int) -> None:
        self.cluster = cluster
        self._table = cluster.nodes
        self._row = row

    @property
    def object(self) -> NodeObject:
        """The node as the API server has it."""
        node = self._table.nodes[self._row]
        assert node is not None
        return node

    @property
    def name(self) -> str:
        """Its name."""
        return self._table.name(self._row)

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.object.metadata.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        return self.object.metadata.annotations

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods on it."""
        return tuple(placement.pod for placement in self.cluster.pods.on(self._row))

    def __getitem__(self, field: NodeField[Any]) -> Any:
        """The value of a field of one's own."""
        return self._table.field(field)[self._row].item()

    def allocatable(self, resource: str) -> int:
        """How much of a resource it has."""
        resources = self._table.resources
        return resources.allocatable.item(resources.number(resource), self._row)

    def requested(self, resource: str) -> int:
        """How much of it its pods take."""
        resources = self._table.resources
        return resources.requested.item(resources.number(resource), self._row)

    def free(self, resource: str) -> int:
        """How much of it is left."""
        return self.allocatable(resource) - self.requested(resource)
