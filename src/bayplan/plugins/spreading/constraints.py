"""Constraints, compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.objects.labels import Selector, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.objects.pod import TopologySpreadConstraint

STRICT, ANYWAY = "DoNotSchedule", "ScheduleAnyway"
HOSTNAME = "kubernetes.io/hostname"
_MOST_SKEW = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Constraint:
    """How evenly pods that a selector selects must lie over the values of a label of nodes."""

    key: str
    max_skew: int
    selector: Selector
    min_domains: int = 1
    #: Whether nodes that the pod cannot go to by its affinity are left out of the count.
    honors_affinity: bool = True
    #: Whether those are left out whose taints the pod does not tolerate.
    honors_taints: bool = False


def compile_constraints(
    constraints: Iterable[TopologySpreadConstraint], labels: Mapping[str, str], action: str
) -> tuple[Constraint, ...]:
    """Those that are meant for this case, for pods with these labels. A ValidationError for a broken selector."""
    return tuple(_compile(one, labels) for one in constraints if one.when_unsatisfiable == action)


def _compile(one: TopologySpreadConstraint, labels: Mapping[str, str]) -> Constraint:
    selector = compile_label_selector(one.label_selector)
    same = {key: labels[key] for key in one.match_label_keys if key in labels}
    if same:
        selector = selector.with_requirements(Selector.of_labels(same).requirements)
    return Constraint(
        key=one.topology_key,
        # As the API has it: beyond that, scores that it is added to would not fit their integers.
        max_skew=min(max(one.max_skew, 1), _MOST_SKEW),
        selector=selector,
        min_domains=1 if one.min_domains is None else one.min_domains,
        honors_affinity=one.node_affinity_policy in {None, "Honor"},
        honors_taints=one.node_taints_policy == "Honor",
    )
