"""NodeAffinity: nodes by their labels and names, demanded and wished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.columns.arrays import bounded
from bayplan.contract.plugins import Reads
from bayplan.contract.scores import ByLargest
from bayplan.contract.verdicts import Verdict, Verdicts, reject, reject_first
from bayplan.errors import ValidationError
from bayplan.objects.nodeaffinity import (
    compile_node_selector,
    compile_preferred_affinity,
    compile_required_affinity,
)
from bayplan.plugins.selecting import matching_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.nodeaffinity import CompiledNodeSelector, CompiledTerm, RequiredNodeAffinity
    from bayplan.objects.pod import NodeAffinity as NodeAffinityStruct
    from bayplan.objects.selection import NodeSelector

_OWN = reject("node(s) didn't match Pod's node affinity/selector", resolvable=False)
_ENFORCED = reject("node(s) didn't match scheduler-enforced node affinity", resolvable=False)
_CONFLICT = reject("pod affinity terms conflict", resolvable=False)
_NAME = "metadata.name"
_MOST_WEIGHT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """Keep pods to the nodes that they select; among these, prefer those that they wish for."""

    #: Demanded and wished of all nodes, in addition to what a pod says.
    added_affinity: NodeAffinityStruct | None = None

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> AffinityFiltering | Verdict | None:
        """By what the pod selects and what is added to it."""
        required = _required_of(pod)
        added = self._added()
        if required is None and added is None and not pod.spec.node_selector:
            return None
        names = _names_in(required) if required is not None else None
        if names is not None and not names:
            return _CONFLICT
        return AffinityFiltering(compile_required_affinity(pod.spec), added, names)

    def filter_unprepared(self, pod: PodClass, cluster: Cluster) -> AffinityFiltering:
        """By the same, of each node: that names conflict, or leave few nodes, is found out in preparing alone."""
        return AffinityFiltering(compile_required_affinity(pod.spec), self._added(), None)

    def pre_score(self, pod: PodClass, cluster: Cluster) -> AffinityScoring | None:
        """By the wishes of the pod and those that are added."""
        affinity = pod.spec.affinity
        own = (
            affinity.node_affinity.preferred_during_scheduling_ignored_during_execution
            if (affinity is not None and affinity.node_affinity is not None)
            else ()
        )
        added = self.added_affinity.preferred_during_scheduling_ignored_during_execution if self.added_affinity else ()
        if not own and not added:
            return None
        terms = (*compile_preferred_affinity(own).terms, *compile_preferred_affinity(added).terms)
        # Below zero and beyond 32 bits no API server lets a weight through, and no points could be made of the sums.
        return AffinityScoring(tuple((bounded(weight, _MOST_WEIGHT), term) for weight, term in terms))

    def problems(self) -> Iterable[tuple[str, str]]:
        """What is wrong with what is added."""
        if self.added_affinity is None:
            return
        required = self.added_affinity.required_during_scheduling_ignored_during_execution
        if required is not None:
            path = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            for problem in compile_node_selector(required).problems:
                yield path, problem
        try:
            compile_preferred_affinity(self.added_affinity.preferred_during_scheduling_ignored_during_execution)
        except ValidationError as error:
            yield "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", str(error)

    def _added(self) -> CompiledNodeSelector | None:
        if self.added_affinity is None:
            return None
        required = self.added_affinity.required_during_scheduling_ignored_during_execution
        return None if required is None else compile_node_selector(required)


@dataclass(frozen=True, slots=True)
class AffinityFiltering:
    """For pods that demand this of a node."""

    required: RequiredNodeAffinity
    added: CompiledNodeSelector | None
    names: frozenset[str] | None
    reads = Reads.NODE

    def only(self) -> frozenset[str] | None:
        """The nodes that each term names, if each does."""
        return self.names

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """What is added comes first."""
        own = ~matching_rows(nodes, self.required)
        if self.added is None:
            return reject_first((own, _OWN))
        return reject_first((~matching_rows(nodes, self.added), _ENFORCED), (own, _OWN))


@dataclass(frozen=True, slots=True)
class AffinityScoring:
    """For pods that wish for this."""

    terms: tuple[tuple[int, CompiledTerm], ...]
    reads = Reads.NODE
    normalizer = ByLargest()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """The weights of the wishes that come true."""
        total = nodes.zeros()
        for weight, term in self.terms:
            total += weight * matching_rows(nodes, term)
        return total


def _required_of(pod: PodClass) -> NodeSelector | None:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def _names_in(selector: NodeSelector) -> frozenset[str] | None:
    """The names that the terms allow, None as soon as one of them allows any."""
    names: frozenset[str] = frozenset()
    if not selector.node_selector_terms:
        return None
    for term in selector.node_selector_terms:
        allowed: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == _NAME and field.operator == "In":
                values = frozenset(field.values)
                allowed = values if allowed is None else allowed & values
        if allowed is None:
            return None
        names |= allowed
    return names
