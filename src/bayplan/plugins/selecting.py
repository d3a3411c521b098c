"""Node selectors over many nodes at once: each requirement is answered once for each value that its label has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.objects.labels import Operator
from bayplan.objects.nodeaffinity import CompiledNodeSelector, CompiledTerm, RequiredNodeAffinity

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.labels import Requirement, Selector


def matching_rows(nodes: Nodes, selector: RequiredNodeAffinity | CompiledNodeSelector | CompiledTerm) -> Bools:
    """Which of the nodes satisfy it."""
    if isinstance(selector, RequiredNodeAffinity):
        matching = _labelled(nodes, selector.labels)
        if selector.selector is not None:
            matching &= matching_rows(nodes, selector.selector)
        return matching
    if isinstance(selector, CompiledTerm):
        return _term(nodes, selector)
    found: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for term in selector.terms:
        found |= _term(nodes, term)
    return found


def _term(nodes: Nodes, term: CompiledTerm) -> Bools:
    if term.problems:
        return np.zeros(len(nodes), dtype=np.bool_)
    matching = _labelled(nodes, term.labels)
    for field in term.fields:
        # Of a node's fields, selectors know its name alone; any other is empty.
        named = _named(nodes, field.value) if field.field == "metadata.name" else _all(nodes, not field.value)
        matching &= ~named if field.negated else named
    return matching


def _labelled(nodes: Nodes, selector: Selector) -> Bools:
    matching = _all(nodes, not selector.nothing)
    for requirement in selector.requirements:
        matching &= _required(nodes, requirement)
    return matching


def _required(nodes: Nodes, requirement: Requirement) -> Bools:
    column = nodes.table.label(requirement.key)
    ids = column.ids[: nodes.table.size][nodes.rows]
    if requirement.operator in {Operator.EXISTS, Operator.DOES_NOT_EXIST}:
        return np.asarray((ids >= 0) == (requirement.operator is Operator.EXISTS))
    # The last entry answers for nodes without the label: their number is -1.
    answers: Bools = np.empty(len(column.values) + 1, dtype=np.bool_)
    answers[-1] = requirement.matches({})
    for number in np.unique(ids[ids >= 0]).tolist():
        answers[number] = requirement.matches({requirement.key: column.values.things[number]})
    matching: Bools = answers[ids]
    return matching


def _named(nodes: Nodes, name: str) -> Bools:
    row = nodes.table.row_of.get(name, -1)
    rows = np.arange(nodes.rows.start, nodes.rows.stop) if isinstance(nodes.rows, slice) else nodes.rows
    named: Bools = rows == row
    return named


def _all(nodes: Nodes, answer: bool) -> Bools:
    return np.full(len(nodes), answer, dtype=np.bool_)
