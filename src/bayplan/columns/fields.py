"""Columns of one's own: anything that can be read off a node, kept up to date with it.

::

    CELSIUS = annotation("example.com/celsius", float, missing=20.0)
    nodes[CELSIUS]  # an array, a value a node
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from bayplan.columns.arrays import grown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayplan.objects.node import Node

V = TypeVar("V", bound=float)

_BOOL: type = bool
#: Of integers: beyond it they do not fit their column.
_LARGEST = 2**63 - 1
_TRUE = frozenset({"true", "yes", "1"})


@dataclass(frozen=True, slots=True)
class NodeField(Generic[V]):
    """A value of each node. Equal fields share a column, so make each once, beside the plugin that reads it."""

    name: str
    #: A function of the node alone. What it raises is the failure of the plugin that asks for the field.
    read: Callable[[Node], V]
    #: What rows without a node hold. If it is an integer, so must all values be.
    missing: V


@lru_cache(1024, typed=True)
def annotation(key: str, form: type[V], *, missing: V) -> NodeField[V]:
    """An annotation of nodes as a number; missing where there is none or it is not a finite number."""
    return _of_text(f"annotation {key}", lambda node: node.metadata.annotations.get(key), form, missing)


@lru_cache(1024, typed=True)
def label(key: str, form: type[V], *, missing: V) -> NodeField[V]:
    """A label of nodes as a number; missing where there is none or it is not a finite number."""
    return _of_text(f"label {key}", lambda node: node.metadata.labels.get(key), form, missing)


def _of_text(name: str, find: Callable[[Node], str | None], form: type[V], missing: V) -> NodeField[V]:
    # The column's type is that of what is missing: 20 for a temperature must not make integers of all.
    return NodeField(name, _parsed(find, form, form(missing)), form(missing))


def _parsed(find: Callable[[Node], str | None], form: type[V], missing: V) -> Callable[[Node], V]:
    def read(node: Node) -> V:
        text = find(node)
        if text is None:
            return missing
        try:
            value: Any = form(text.lower() in _TRUE) if form is _BOOL else form(text)
        except (ValueError, OverflowError):
            return missing
        fits = math.isfinite(value) if isinstance(value, float) else abs(value) <= _LARGEST
        found: V = value if fits else missing
        return found

    return read


def _read(field: NodeField[Any], node: Node) -> Any:
    value = field.read(node)
    if isinstance(value, float) and not isinstance(field.missing, float):
        raise TypeError(f"{field.name} is {value} on {node.metadata.name}, and by what is missing a whole number")
    return value


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
                    column[row] = _read(field, node)
            self._columns[field] = column
        return column

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has, or that it is gone.

        A field that cannot be read is let go: who asks for it next has it made anew, and hears of it.
        """
        for field, column in list(self._columns.items()):
            try:
                column[row] = field.missing if node is None else _read(field, node)
            except Exception:  # noqa: BLE001 - whatever a stranger's function raises
                del self._columns[field]

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
