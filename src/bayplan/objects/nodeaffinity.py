"""Node selectors and node affinity, compiled.

A term that breaks the rules does not spoil the others: it matches no node, and its problems count only where no other
term matches. So a compiled selector always answers, and carries its `problems` beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.errors import ValidationError
from bayplan.objects.fields import FieldRequirement
from bayplan.objects.labels import EVERYTHING, STRUCTURED_OPERATORS, Requirement, Selector, require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bayplan.objects.pod import PodSpec, PreferredSchedulingTerm
    from bayplan.objects.selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

_NAME_FIELD = "metadata.name"


@dataclass(frozen=True, slots=True)
class CompiledTerm:
    """Labels and fields that must all hold; with problems, it holds for no node."""

    labels: Selector
    fields: tuple[FieldRequirement, ...] = ()
    problems: tuple[str, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of this name, with these labels, satisfies it."""
        if self.problems or not self.labels.matches(labels):
            return False
        # A node without a name has no fields, and then kube-scheduler does not ask for any.
        return not name or all(field.matches({_NAME_FIELD: name}) for field in self.fields)


@dataclass(frozen=True, slots=True)
class CompiledNodeSelector:
    """Terms of which one must hold. Empty terms are left out, so that without terms no node matches."""

    terms: tuple[CompiledTerm, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What breaks the rules. kube-scheduler hears of it from nodes that no other term matches."""
        return tuple(problem for term in self.terms for problem in term.problems)

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether some term holds for this node."""
        return any(term.matches(name, labels) for term in self.terms)


@dataclass(frozen=True, slots=True)
class RequiredNodeAffinity:
    """A pod's nodeSelector and its required node affinity: both must hold."""

    labels: Selector = EVERYTHING
    selector: CompiledNodeSelector | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What breaks the rules in the node affinity; a nodeSelector cannot."""
        return self.selector.problems if self.selector is not None else ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the pod may go to this node."""
        return self.labels.matches(labels) and (self.selector is None or self.selector.matches(name, labels))


@dataclass(frozen=True, slots=True)
class PreferredNodeAffinity:
    """Weighted terms; every one that holds counts."""

    terms: tuple[tuple[int, CompiledTerm], ...] = ()

    def score(self, name: str, labels: Mapping[str, str]) -> int:
        """The weights of the terms that hold for this node, together."""
        return sum(weight for weight, term in self.terms if term.matches(name, labels))


def compile_node_selector(selector: NodeSelector) -> CompiledNodeSelector:
    """The compiled form; what breaks the rules is in its `problems`."""
    terms = enumerate(selector.node_selector_terms)
    return CompiledNodeSelector(
        tuple(_compile_term(term, f"nodeSelectorTerms[{index}]") for index, term in terms if not _is_empty(term))
    )


def compile_required_affinity(spec: PodSpec) -> RequiredNodeAffinity:
    """What a pod demands of its node."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return RequiredNodeAffinity(
        Selector.of_labels(spec.node_selector),
        compile_node_selector(required) if required is not None else None,
    )


def compile_preferred_affinity(preferences: Sequence[PreferredSchedulingTerm]) -> PreferredNodeAffinity:
    """What a pod wishes of its node. A ValidationError lists all problems: here kube-scheduler gives up on the pod.

    Terms of weight 0 and empty terms are not even looked at.
    """
    compiled = [
        (term.weight, _compile_term(term.preference, f"[{index}]"))
        for index, term in enumerate(preferences)
        if term.weight and not _is_empty(term.preference)
    ]
    problems = [problem for _, term in compiled for problem in term.problems]
    if problems:
        raise ValidationError("; ".join(problems))
    return PreferredNodeAffinity(tuple(compiled))


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _compile_term(term: NodeSelectorTerm, path: str) -> CompiledTerm:
    requirements: list[Requirement] = []
    fields: list[FieldRequirement] = []
    problems: list[str] = []
    for index, asked in enumerate(term.match_expressions):
        try:
            requirements.append(_require_label(asked))
        except ValidationError as error:
            problems.append(f"{path}.matchExpressions[{index}]: {error}")
    for index, asked in enumerate(term.match_fields):
        try:
            fields.append(_require_field(asked))
        except ValidationError as error:
            problems.append(f"{path}.matchFields[{index}]: {error}")
    return CompiledTerm(EVERYTHING.with_requirements(requirements), tuple(fields), tuple(problems))


def _require_label(asked: NodeSelectorRequirement) -> Requirement:
    operator = STRUCTURED_OPERATORS.get(asked.operator)
    if operator is None:
        raise ValidationError(
            f"{asked.operator!r} is not an operator", remedy=f"use one of {', '.join(STRUCTURED_OPERATORS)}"
        )
    return require(asked.key, operator, asked.values)


def _require_field(asked: NodeSelectorRequirement) -> FieldRequirement:
    if asked.operator not in {"In", "NotIn"}:
        raise ValidationError(f"{asked.operator!r} is not an operator for fields", remedy="use In or NotIn")
    if len(asked.values) != 1:
        raise ValidationError(f"field {asked.key!r} has {len(asked.values)} values", remedy="give exactly one")
    return FieldRequirement(asked.key, asked.values[0], negated=asked.operator == "NotIn")
