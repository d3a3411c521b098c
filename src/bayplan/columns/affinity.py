"""Pod affinity terms, compiled: which pods each of them means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayplan.objects.labels import NOTHING, Selector, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.objects.pod import Pod, PodAffinity, PodAffinityTerm

_MOST_WEIGHT = 2**31 - 1
_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Term:
    """The pods of some namespaces that a selector selects, within one domain of a topology."""

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector = NOTHING
    #: Below zero for what is wished away; nothing for what is required.
    weight: int = 0

    def means(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str] | None) -> bool:
        """Whether a pod with these labels is meant. A namespace that is not known has no labels."""
        if namespace not in self.namespaces and not self._selects(namespace_labels):
            return False
        return self.selector.matches(labels)

    def _selects(self, namespace_labels: Mapping[str, str] | None) -> bool:
        return self.namespace_selector.matches(_NO_LABELS if namespace_labels is None else namespace_labels)

    def means_of_known(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str] | None
    ) -> bool:
        """The same for the terms of the pod that is placed: kube-scheduler looks their namespaces up by selector.

        So a namespace that is not known is selected only by the selector that selects everything.
        """
        if namespace not in self.namespaces:
            selector = self.namespace_selector
            if not (selector.empty or (namespace_labels is not None and selector.matches(namespace_labels))):
                return False
        return self.selector.matches(labels)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """All terms of a pod. Two pods with the same ones share them.

    They are looked up for every pod that comes or goes, so the hash of all that is in them is worked out once.
    """

    required: tuple[Term, ...] = ()
    forbidden: tuple[Term, ...] = ()
    #: Wishes for and against, with their weights.
    preferred: tuple[Term, ...] = ()
    _hash: int = field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.required, self.forbidden, self.preferred)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Terms) or other._hash != self._hash:
            return False
        return (self.required, self.forbidden, self.preferred) == (other.required, other.forbidden, other.preferred)


def compile_terms(pod: Pod) -> Terms | None:
    """The terms of a pod, None if it has no pod affinity at all. A ValidationError where a selector is broken."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return None
    namespace = pod.metadata.namespace
    near, far = affinity.pod_affinity, affinity.pod_anti_affinity
    return Terms(
        required=_required(near, namespace),
        forbidden=_required(far, namespace),
        preferred=(*_preferred(near, namespace, 1), *_preferred(far, namespace, -1)),
    )


def _required(affinity: PodAffinity | None, namespace: str) -> tuple[Term, ...]:
    terms: Iterable[PodAffinityTerm] = (
        affinity.required_during_scheduling_ignored_during_execution if affinity is not None else ()
    )
    return tuple(_compile(term, namespace, 0) for term in terms)


def _preferred(affinity: PodAffinity | None, namespace: str, sign: int) -> tuple[Term, ...]:
    if affinity is None:
        return ()
    wishes = affinity.preferred_during_scheduling_ignored_during_execution
    return tuple(_compile(wish.pod_affinity_term, namespace, sign * wish.weight) for wish in wishes)


def _compile(term: PodAffinityTerm, namespace: str, weight: int) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    # matchLabelKeys and mismatchLabelKeys are merged into the selector by the API server.
    return Term(
        topology_key=term.topology_key,
        selector=compile_label_selector(term.label_selector),
        namespaces=frozenset((namespace,) if own else term.namespaces),
        namespace_selector=compile_label_selector(term.namespace_selector),
        # Beyond 32 bits no API server lets it through, and sums of it would not stay within 64.
        weight=min(max(weight, -_MOST_WEIGHT), _MOST_WEIGHT),
    )
