"""The node table: a row a node, a column for whatever is read of it.

Rows of nodes that left are used again. Rows without a node are in the arrays all the same; `live` tells them apart.
Two logs say which rows changed: `node_log` when the node itself did, `load_log` when pods came or went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Bools, Ids, grown
from bayplan.columns.fields import FieldColumns
from bayplan.columns.images import Images
from bayplan.columns.interning import Interner
from bayplan.columns.labels import LabelColumn, LabelColumns
from bayplan.columns.log import ChangeLog
from bayplan.columns.resources import Resources
from bayplan.objects.requests import beyond_count_on_wire, count_allocatable

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from bayplan.columns.fields import NodeField
    from bayplan.objects.node import Node
    from bayplan.objects.taints import Taint

_FIRST_LENGTH = 16


class NodeTable:
    """All nodes. Only the cluster writes to it; everybody may read."""

    def __init__(self) -> None:
        #: How many rows there are, those without a node included. Never shrinks.
        self.size = 0
        #: How many nodes there are.
        self.count = 0
        #: By row; None where there is no node. As long as there are rows.
        self.nodes: list[Node | None] = []
        #: The row of each node that is there, by its name.
        self.row_of: dict[str, int] = {}
        self.resources = Resources(_FIRST_LENGTH)
        self.images = Images()
        self.taint_sets: Interner[tuple[Taint, ...]] = Interner()
        self.feature_sets: Interner[frozenset[str]] = Interner()
        self.node_log: ChangeLog[int] = ChangeLog()
        self.load_log: ChangeLog[int] = ChangeLog()
        #: The rows without a node, each once.
        self._free: list[int] = []
        #: How long the arrays are; `size` at the least.
        self._length = _FIRST_LENGTH
        self._live: Bools = np.zeros(_FIRST_LENGTH, dtype=np.bool_)
        self._unschedulable: Bools = np.zeros(_FIRST_LENGTH, dtype=np.bool_)
        self._taint_set: Ids = np.zeros(_FIRST_LENGTH, dtype=np.int32)
        self._feature_set: Ids = np.zeros(_FIRST_LENGTH, dtype=np.int32)
        self._labels = LabelColumns(_FIRST_LENGTH)
        self._fields = FieldColumns(_FIRST_LENGTH)
        self.taint_sets.number(())
        self.feature_sets.number(frozenset())

    @property
    def live(self) -> Bools:
        """Whether there is a node in the row."""
        return self._live[: self.size]

    @property
    def unschedulable(self) -> Bools:
        """Whether the node is cordoned."""
        return self._unschedulable[: self.size]

    @property
    def taint_set(self) -> Ids:
        """The node's taints, as a number in `taint_sets`."""
        return self._taint_set[: self.size]

    @property
    def feature_set(self) -> Ids:
        """What the node declares to be able to do, as a number in `feature_sets`."""
        return self._feature_set[: self.size]

    def label(self, key: str) -> LabelColumn:
        """The column of a label. Its `ids` are as long as the table can get without growing: take rows of it."""
        return self._labels.column(key, self.nodes)

    def label_ids(self, key: str) -> Ids:
        """The numbers of a label's values, by row."""
        return self.label(key).ids[: self.size]

    def field(self, field: NodeField[Any]) -> NDArray[Any]:
        """The values of a field of one's own, by row."""
        return self._fields.column(field, self.nodes)[: self.size]

    def name(self, row: int) -> str:
        """The name of the node in this row."""
        node = self.nodes[row]
        return node.metadata.name if node is not None else ""

    def put(self, node: Node) -> int:
        """Add a node, or write down that it changed. Returns its row."""
        has = node.status.allocatable
        numbers, beyond = count_allocatable(has), beyond_count_on_wire(has)  # first, as they may refuse
        row = self.row_of.get(node.metadata.name)
        if row is None:
            row = self._free.pop() if self._free else self._new_row()
            self.row_of[node.metadata.name] = row
            self.count += 1
        self._write(row, node)
        self.resources.set_allocatable(row, numbers, beyond)
        return row

    def remove(self, name: str) -> int | None:
        """Forget a node. Returns the row that was its."""
        row = self.row_of.pop(name, None)
        if row is None:
            return None
        self._write(row, None)
        self.resources.clear(row)
        self._free.append(row)
        self.count -= 1
        return row

    def check(self) -> None:
        """Assert what must always hold; for tests."""
        assert len(self.nodes) == self.size <= self._length
        assert self.count == len(self.row_of)
        assert {node.metadata.name: row for row, node in enumerate(self.nodes) if node is not None} == self.row_of
        assert sorted(self._free) == [row for row, node in enumerate(self.nodes) if node is None]
        for row, node in enumerate(self.nodes):
            self._check_row(row, node)
        self._labels.check(self.nodes)
        self._fields.check(self.nodes)
        self.images.check(self.nodes)

    def _check_row(self, row: int, node: Node | None) -> None:
        assert self._live.item(row) == (node is not None)
        assert self._unschedulable.item(row) == (node is not None and node.spec.unschedulable)
        assert self.taint_sets.things[self._taint_set[row]] == (node.spec.taints if node else ())
        assert self.feature_sets.things[self._feature_set[row]] == frozenset(
            node.status.declared_features if node else ()
        )
        has = node.status.allocatable if node is not None else {}
        self.resources.check_allocatable(row, count_allocatable(has), beyond_count_on_wire(has))

    def _write(self, row: int, node: Node | None) -> None:
        self.nodes[row] = node
        self._live[row] = node is not None
        self._unschedulable[row] = node is not None and node.spec.unschedulable
        self._taint_set[row] = self.taint_sets.number(node.spec.taints if node else ())
        self._feature_set[row] = self.feature_sets.number(frozenset(node.status.declared_features if node else ()))
        self._labels.put(row, node)
        self._fields.put(row, node)
        self.images.put(row, node)
        self.node_log.append(row)

    def _new_row(self) -> int:
        row = self.size
        if row == self._length:
            self._grow(2 * self._length)
        self.size += 1
        self.nodes.append(None)
        return row

    def _grow(self, length: int) -> None:
        self._length = length
        for name in ("_live", "_unschedulable", "_taint_set", "_feature_set"):
            setattr(self, name, grown(getattr(self, name), length))
        self.resources.grow(length)
        self._labels.grow(length)
        self._fields.grow(length)
        for log in (self.node_log, self.load_log):
            log.keep_at_least(4 * length)
