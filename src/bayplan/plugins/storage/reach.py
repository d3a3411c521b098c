"""Which nodes a selector means, worked out for many at once: a look at each label's column instead of at each node."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.labels import ABSENT
from bayplan.objects.labels import Operator
from bayplan.objects.nodeaffinity import CompiledNodeSelector, compile_node_selector

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Ids
    from bayplan.columns.labels import LabelColumn
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.labels import Requirement, Selector
    from bayplan.objects.selection import NodeSelector

_AMONG = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_NOT_AMONG = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})


@lru_cache(65_536)
def compiled(selector: NodeSelector) -> CompiledNodeSelector:
    """A volume's node affinity, compiled; the volumes of a zone share theirs."""
    return compile_node_selector(selector)


def reachable(affinity: NodeSelector | None, nodes: Nodes) -> Bools:
    """Whether a volume with this node affinity can be reached from each node.

    kube-scheduler asks this of the labels alone. A node without a name has no fields to ask about, so `matchFields`
    demand nothing here.
    """
    if affinity is None:
        return np.ones(len(nodes), dtype=np.bool_)
    reached: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for term in compiled(affinity).terms:
        if not term.problems:
            reached |= selected(term.labels, nodes)
    return reached


def selected(selector: Selector, nodes: Nodes) -> Bools:
    """Whether a label selector selects each node."""
    chosen: Bools = np.full(len(nodes), not selector.nothing, dtype=np.bool_)
    for requirement in selector.requirements:
        chosen &= _holds(requirement, nodes)
    return chosen


def having(column: LabelColumn, values: tuple[str, ...], nodes: Nodes) -> Bools:
    """Whether each node has one of these values for a label."""
    ids: Ids = column.ids[nodes.rows]
    # A value that no node ever had has no number; ABSENT - 1 is nobody's.
    numbers = [number for number in map(column.values.find, values) if number >= 0] or [ABSENT - 1]
    found: Bools = ids == numbers[0] if len(numbers) == 1 else np.isin(ids, numbers)
    return found


def _holds(requirement: Requirement, nodes: Nodes) -> Bools:
    column, operator = nodes.table.label(requirement.key), requirement.operator
    if operator in _AMONG:
        return having(column, requirement.values, nodes)
    if operator in _NOT_AMONG:
        return ~having(column, requirement.values, nodes)
    ids: Ids = column.ids[nodes.rows]
    if operator is Operator.EXISTS:
        return ids >= 0
    if operator is Operator.DOES_NOT_EXIST:
        return ids < 0
    # Each value is compared once. The answer for ABSENT, which is -1, stands last.
    answers = [requirement.matches({requirement.key: value}) for value in column.values]
    return np.array([*answers, False], dtype=np.bool_)[ids]
