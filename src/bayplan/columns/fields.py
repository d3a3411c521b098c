"""Columns of one's own: anything that can be read off a node, kept up to date with it.

::

    CELSIUS = annotation("example.com/celsius", float, missing=20.0)
    nodes[CELSIUS]  # an array, a value a node
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from bayplan.columns.arrays import grown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayplan.objects.node import Node

V = TypeVar("V", bound=float)

_BOOL: type = bool
_TRUE = frozenset({"true", "yes", "1"})


@dataclass(frozen=True, slots=True)
class NodeField(Generic[V]):
    """A value of each node. Equal fields share a column, so make each once, beside the plugin that reads it."""

    name: str
    #: A function of the node alone.
    read: Callable[[Node], V]
    #: What rows without a node hold.
    missing: V


def annotation(key: str, form: type[V], *, missing: V) -> NodeField[V]:
    """An annotation of nodes as a number; missing where there is none or it is not a number."""
    return NodeField(
        f"annotation {key}", _parsed(lambda node: node.metadata.annotations.get(key), form, missing), missing
    )


def label(key: str, form: type[V], *, missing: V) -> NodeField[V]:
    """A label of nodes as a number; missing where there is none or it is not a number."""
    return NodeField(f"label {key}", _parsed(lambda node: node.metadata.labels.get(key), form, missing), missing)


def _parsed(find: Callable[[Node], str | None], form: type[V], missing: V) -> Callable[[Node], V]:
    def read(node: Node) -> V:
        text = find(node)
        if text is None:
            return missing
        try:
            return form(text.lower() in _TRUE) if form is _BOOL else form(text)
        except (ValueError, OverflowError):
            return missing

    return read


class FieldColumns:
    """The fields that have been asked for, with their columns."""

    __slots__ = ("_columns", "_length")

    def __init__(self, length: int) -> None:
        self._columns: dict[NodeField[Any], NDArray[Any]] = {}
        self._length = length

    def column(self, field: NodeField[Any], nodes: list[Node | None]) -> NDArray[Any]:
        """The column of a field, made from these nodes when it is asked for first."""
        column = self._columns.get(field)
        if column is None:
            column = np.full(self._length, field.missing)
            for row, node in enumerate(nodes):
                if node is not None:
                    column[row] = field.read(node)
            self._columns[field] = column
        return column

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has, or that it is gone."""
        for field, column in self._columns.items():
            column[row] = field.missing if node is None else field.read(node)

    def grow(self, length: int) -> None:
        """Make room for more nodes."""
        self._length = length
        self._columns = {field: grown(column, length, field.missing) for field, column in self._columns.items()}

    def check(self, nodes: list[Node | None]) -> None:
        """Assert what must always hold; for tests."""
        for field, column in self._columns.items():
            said = [field.missing if node is None else field.read(node) for node in nodes]
            assert len(column) == self._length
            assert np.array_equal(column[: len(nodes)], np.array(said, dtype=column.dtype), equal_nan=True)
