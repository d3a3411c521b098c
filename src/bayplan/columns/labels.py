"""Labels of nodes as columns: for each key that somebody asks for, a number for the value on each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Ids, grown
from bayplan.columns.interning import Interner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bayplan.objects.node import Node

#: What stands for a label that a node does not have.
ABSENT = -1


class LabelColumn:
    """One key: the values there are, and which of them each node has."""

    __slots__ = ("ids", "key", "values")

    def __init__(self, key: str, length: int) -> None:
        self.key = key
        self.values: Interner[str] = Interner()
        #: By row; ABSENT where the node has no such label, or there is no node.
        self.ids: Ids = np.full(length, ABSENT, dtype=np.int32)

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has."""
        value = node.metadata.labels.get(self.key) if node is not None else None
        self.ids[row] = ABSENT if value is None else self.values.number(value)


class LabelColumns:
    """The columns that have been asked for. One that nobody asks for costs nothing."""

    __slots__ = ("_columns", "_length")

    def __init__(self, length: int) -> None:
        self._columns: dict[str, LabelColumn] = {}
        self._length = length

    def column(self, key: str, nodes: Iterable[Node | None]) -> LabelColumn:
        """The column of a key, made from these nodes when it is asked for first."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = LabelColumn(key, self._length)
            for row, node in enumerate(nodes):
                column.put(row, node)
        return column

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has, or that it is gone."""
        for column in self._columns.values():
            column.put(row, node)

    def grow(self, length: int) -> None:
        """Make room for more nodes."""
        self._length = length
        for column in self._columns.values():
            column.ids = grown(column.ids, length, ABSENT)

    def check(self, nodes: Sequence[Node | None]) -> None:
        """Assert what must always hold; for tests."""
        for column in self._columns.values():
            assert len(column.ids) == self._length
            for row, node in enumerate(nodes):
                value = None if node is None else node.metadata.labels.get(column.key)
                assert column.ids.item(row) == (ABSENT if value is None else column.values.find(value))
