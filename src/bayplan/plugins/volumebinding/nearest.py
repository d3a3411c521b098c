"""The first of many volumes that each node can reach.

A cluster with a disk in every node has as many volumes as nodes, and each is for one node. Trying every volume on every
node would take the square of that. So volumes that ask for values of one label, as such disks do, are looked up by the
value that a node has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.objects.labels import Operator
from bayplan.plugins.storage.reach import compiled, reachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Ids, Ints
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.labels import Requirement
    from bayplan.objects.selection import NodeSelector

#: Stands behind all numbers.
_BEHIND = 2**62


def first_reachable(affinities: Sequence[NodeSelector | None], nodes: Nodes) -> Ints:
    """For each node the number of the first volume it can reach, by the volumes' affinities; -1 for none."""
    first: Ints = np.full(len(nodes), _BEHIND, dtype=np.int64)
    tables: dict[str, Ints] = {}
    others: list[int] = []
    for number, affinity in enumerate(affinities):
        asked = _only_label(affinity)
        if asked is None:
            others.append(number)
        else:
            _enter(asked, number, tables, nodes)
    for key, table in tables.items():
        ids: Ids = nodes.table.label(key).ids[nodes.rows]
        np.minimum(first, table[ids], out=first)
    for number in others:
        if (first < number).all():
            break
        np.minimum(first, np.where(reachable(affinities[number], nodes), number, _BEHIND), out=first)
    return np.where(first == _BEHIND, -1, first)


def _only_label(affinity: NodeSelector | None) -> Requirement | None:
    """What is asked of the one label that the affinity names, if it is so simple."""
    if affinity is None:
        return None
    terms = compiled(affinity).terms
    if len(terms) != 1 or terms[0].problems or len(terms[0].labels.requirements) != 1:
        return None
    (asked,) = terms[0].labels.requirements
    return asked if asked.operator is Operator.IN else None


def _enter(asked: Requirement, number: int, tables: dict[str, Ints], nodes: Nodes) -> None:
    """Note the number with each of the values, unless an earlier one is there."""
    column = nodes.table.label(asked.key)
    table = tables.get(asked.key)
    if table is None:
        # The last entry is for nodes without the label, whose number is -1.
        table = tables[asked.key] = np.full(len(column.values) + 1, _BEHIND, dtype=np.int64)
    for value in asked.values:
        known = column.values.find(value)
        if known >= 0 and table[known] == _BEHIND:
            table[known] = number
