"""PodTopologySpread: pods of a kind lie evenly over zones, hosts, or whatever a label tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.objects.pod import TopologySpreadConstraint
from bayplan.plugins.arguments import below, name_problems
from bayplan.plugins.spreading.constraints import ANYWAY, STRICT, Constraint, compile_constraints
from bayplan.plugins.spreading.defaults import DefaultSelector
from bayplan.plugins.spreading.filtering import SpreadFiltering
from bayplan.plugins.spreading.scoring import SpreadScoring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.plugins.arguments import Problem

SYSTEM, LIST = "System", "List"

#: What holds for pods that say nothing themselves, unless a list is given.
_SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key="kubernetes.io/hostname", when_unsatisfiable=ANYWAY),
    TopologySpreadConstraint(max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=ANYWAY),
)


@dataclass(frozen=True, slots=True)
class PodTopologySpread:
    """Keep pods off domains that have too many of their kind; among the rest, prefer those with fewer."""

    #: For pods that say nothing themselves and belong to a Service or a controller.
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = SYSTEM

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> SpreadFiltering | None:
        """By the constraints that must hold."""
        constraints = self._constraints(pod, STRICT)
        return SpreadFiltering(pod, cluster, constraints, self._defaults(pod, cluster)) if constraints else None

    def pre_score(self, pod: PodClass, cluster: Cluster) -> SpreadScoring | None:
        """By the constraints that should hold."""
        constraints = self._constraints(pod, ANYWAY)
        if not constraints:
            return None
        strict = bool(pod.spec.topology_spread_constraints) or self.defaulting_type != SYSTEM
        return SpreadScoring(pod, cluster, constraints, self._defaults(pod, cluster), all_keys=strict)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        if self.defaulting_type not in {SYSTEM, LIST}:
            yield "defaultingType", f"{self.defaulting_type!r} is none of {SYSTEM}, {LIST}"
        elif self.defaulting_type == SYSTEM and self.default_constraints:
            yield "defaultingType", f"is {SYSTEM}, but defaultConstraints are given; use {LIST}"
        for index, one in enumerate(self.default_constraints):
            yield from below(f"defaultConstraints[{index}]", self._problems_of(one, self.default_constraints[:index]))

    def _problems_of(
        self, one: TopologySpreadConstraint, before: tuple[TopologySpreadConstraint, ...]
    ) -> Iterator[Problem]:
        if one.max_skew <= 0:
            yield "maxSkew", f"{one.max_skew} is not above 0"
        if not one.topology_key:
            yield "topologyKey", "is missing"
        else:
            yield from name_problems("topologyKey", one.topology_key)
        if one.when_unsatisfiable not in {STRICT, ANYWAY}:
            yield "whenUnsatisfiable", f"{one.when_unsatisfiable!r} is none of {STRICT}, {ANYWAY}"
        if one.label_selector is not None:
            yield "labelSelector", "must not be given: it is worked out for each pod"
        if any((one.topology_key, one.when_unsatisfiable) == (o.topology_key, o.when_unsatisfiable) for o in before):
            yield "", f"{one.topology_key} with {one.when_unsatisfiable} is there already"

    def _constraints(self, pod: PodClass, action: str) -> tuple[Constraint, ...]:
        own = pod.spec.topology_spread_constraints
        defaults = _SYSTEM_DEFAULTS if self.defaulting_type == SYSTEM else self.default_constraints
        return compile_constraints(own or defaults, pod.labels, action)

    def _defaults(self, pod: PodClass, cluster: Cluster) -> DefaultSelector | None:
        """Who works out the selector, for pods that say nothing themselves."""
        return None if pod.spec.topology_spread_constraints else DefaultSelector(pod, cluster)
