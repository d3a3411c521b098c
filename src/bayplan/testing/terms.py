"""Parts of pods and nodes that are long on the wire and short here: taints, affinity, spreading."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from bayplan.objects.pod import (
    Affinity,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from bayplan.objects.selection import LabelSelector, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.objects.taints import Taint, Toleration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PodTerm: TypeAlias = PodAffinityTerm | WeightedPodAffinityTerm
NodeTerm: TypeAlias = NodeSelectorTerm | PreferredSchedulingTerm

T = TypeVar("T")


def among(
    labels: Mapping[str, str] | LabelSelector | None,
    *,
    by: str,
    namespaces: Iterable[str] = (),
    namespace_labels: Mapping[str, str] | None = None,
) -> PodAffinityTerm:
    """The pods with these labels, in the same domain: for `near` and `far`. Without namespaces, those of its own."""
    return PodAffinityTerm(
        label_selector=_selector(labels),
        topology_key=by,
        namespaces=tuple(namespaces),
        namespace_selector=None if namespace_labels is None else LabelSelector(dict(namespace_labels)),
    )


def where(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    """The nodes with such a label: `where("disk", "In", "ssd")`; or of this name, by the key `metadata.name`."""
    asked = (NodeSelectorRequirement(key, operator, values),)
    return NodeSelectorTerm(match_fields=asked) if key == "metadata.name" else NodeSelectorTerm(match_expressions=asked)


@overload
def wish(weight: int, term: PodAffinityTerm) -> WeightedPodAffinityTerm: ...
@overload
def wish(weight: int, term: NodeSelectorTerm) -> PreferredSchedulingTerm: ...
def wish(weight: int, term: PodAffinityTerm | NodeSelectorTerm) -> WeightedPodAffinityTerm | PreferredSchedulingTerm:
    """The same, but it need not be."""
    if isinstance(term, PodAffinityTerm):
        return WeightedPodAffinityTerm(weight, term)
    return PreferredSchedulingTerm(weight, term)


def evenly(
    labels: Mapping[str, str] | LabelSelector | None, *, by: str, skew: int = 1, strict: bool = True, **more: Any
) -> TopologySpreadConstraint:
    """The pods with these labels, spread over domains: strictly, or as well as can be."""
    action = "DoNotSchedule" if strict else "ScheduleAnyway"
    return TopologySpreadConstraint(skew, by, action, _selector(labels), **more)


def taint(text: str) -> Taint:
    """As kubectl writes it: `gpu=yes:NoSchedule`, or without the value."""
    label, _, effect = text.rpartition(":")
    key, _, value = label.partition("=")
    return Taint(key, value, effect)


def toleration(text: str) -> Toleration:
    """Of such a taint; of any value without one, of any effect without one: `gpu`. Of everything: `*`."""
    label, _, effect = text.partition(":")
    key, equals, value = label.partition("=")
    return Toleration("" if key == "*" else key, "Equal" if equals else "Exists", value, effect)


def as_taint(given: str | Taint) -> Taint:
    """The taint, in whichever form it was given."""
    return taint(given) if isinstance(given, str) else given


def as_toleration(given: str | Toleration) -> Toleration:
    """The toleration, in whichever form it was given."""
    return toleration(given) if isinstance(given, str) else given


def affinity_of(*, nodes: Iterable[NodeTerm], near: Iterable[PodTerm], far: Iterable[PodTerm]) -> Affinity | None:
    """All of it, None where there is none. Terms for nodes are alternatives; those for pods must all hold."""
    demanded, wished = _split(nodes, NodeSelectorTerm, PreferredSchedulingTerm)
    of_nodes = NodeAffinity(NodeSelector(demanded) if demanded else None, wished) if demanded or wished else None
    of_near, of_far = _pods(near), _pods(far)
    return Affinity(of_nodes, of_near, of_far) if of_nodes or of_near or of_far else None


def _pods(terms: Iterable[PodTerm]) -> PodAffinity | None:
    demanded, wished = _split(terms, PodAffinityTerm, WeightedPodAffinityTerm)
    return PodAffinity(demanded, wished) if demanded or wished else None


W = TypeVar("W")


def _split(terms: Iterable[T | W], demand: type[T], wish: type[W]) -> tuple[tuple[T, ...], tuple[W, ...]]:
    listed = tuple(terms)
    return tuple(t for t in listed if isinstance(t, demand)), tuple(t for t in listed if isinstance(t, wish))


def _selector(labels: Mapping[str, str] | LabelSelector | None) -> LabelSelector | None:
    return labels if labels is None or isinstance(labels, LabelSelector) else LabelSelector(dict(labels))
