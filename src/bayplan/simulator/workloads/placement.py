"""What pods say about where they want to be: node affinity, pods near and far, spreading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.nodes import HOSTNAME, RACK, REGION, ZONE, ZONES
from bayplan.simulator.workloads.pods import APPS, NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

_TOPOLOGIES = (ZONE, ZONE, HOSTNAME, RACK, REGION, "disk")
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def add_node_affinity(dice: Dice, pod: Object, names: Sequence[str]) -> None:
    """A selector, required and preferred terms, now and then one node by its name."""
    spec = pod["spec"]
    if dice.chance(0.15):
        spec["nodeSelector"] = {"disk": dice.one(("ssd", "hdd", "nvme"))}
    affinity: dict[str, Any] = {}
    if dice.chance(0.3):
        affinity[_REQUIRED] = {"nodeSelectorTerms": [_node_term(dice, names) for _ in range(dice.number(1, 2))]}
    if dice.chance(0.5):
        affinity[_PREFERRED] = [
            {"weight": dice.number(1, 100), "preference": {"matchExpressions": [_node_expression(dice)]}}
            for _ in range(dice.number(1, 3))
        ]
    if affinity:
        spec.setdefault("affinity", {})["nodeAffinity"] = affinity


def add_pod_affinity(dice: Dice, pod: Object) -> None:
    """Near some pods and far from others, required or preferred, in this namespace or by a selector of them."""
    for name, likely in (("podAffinity", 0.4), ("podAntiAffinity", 0.45)):
        terms: dict[str, Any] = {}
        if dice.chance(likely * 0.7):
            terms[_REQUIRED] = [_pod_term(dice) for _ in range(dice.weighted({1: 4, 2: 1}))]
        if dice.chance(likely):
            terms[_PREFERRED] = [
                {"weight": dice.number(1, 100), "podAffinityTerm": _pod_term(dice)} for _ in range(dice.number(1, 2))
            ]
        if terms:
            pod["spec"].setdefault("affinity", {})[name] = terms


def add_spread(dice: Dice, pod: Object) -> None:
    """One to three constraints, of which no two may be of one topology and one kind."""
    constraints = {}
    for _ in range(dice.weighted({1: 3, 2: 2, 3: 1})):
        constraint = _spread_constraint(dice)
        constraints[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
    pod["spec"]["topologySpreadConstraints"] = list(constraints.values())


def _node_term(dice: Dice, names: Sequence[str]) -> dict[str, Any]:
    if dice.chance(0.12):
        operator = dice.one(("In", "In", "NotIn"))
        fields = [{"key": "metadata.name", "operator": operator, "values": [dice.one(names)]}]
        return {"matchFields": fields} | ({"matchExpressions": [_node_expression(dice)]} if dice.chance(0.3) else {})
    return {"matchExpressions": [_node_expression(dice) for _ in range(dice.number(1, 2))]}


def _node_expression(dice: Dice) -> dict[str, Any]:
    number = [str(dice.number(1, 9))]
    return dice.one(
        (
            {"key": ZONE, "operator": "In", "values": dice.some(ZONES, 1, 3)},
            {"key": ZONE, "operator": "NotIn", "values": dice.some(ZONES, 1, 2)},
            {"key": "disk", "operator": "In", "values": dice.some(("ssd", "hdd", "nvme"), 1, 2)},
            {"key": "disk", "operator": "Exists"},
            {"key": RACK, "operator": "DoesNotExist"},
            {"key": "example.com/generation", "operator": "Gt", "values": number},
            {"key": "example.com/generation", "operator": "Lt", "values": number},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        )
    )


def _pod_term(dice: Dice) -> dict[str, Any]:
    term: dict[str, Any] = {"labelSelector": _pod_selector(dice), "topologyKey": dice.one(_TOPOLOGIES)}
    whose = dice.number(0, 9)
    if whose in (0, 1):
        term["namespaces"] = dice.some(NAMESPACES, 1, 2)
    if whose in (1, 2, 3):
        term["namespaceSelector"] = dice.one(
            ({}, {"matchLabels": {"team": "red"}}, {"matchExpressions": [{"key": "team", "operator": "Exists"}]})
        )
    if dice.chance(0.15):
        term[dice.one(("matchLabelKeys", "mismatchLabelKeys"))] = ["release"]
    return term


def _pod_selector(dice: Dice) -> dict[str, Any]:
    others = {"key": "app", "operator": "In", "values": dice.some(APPS, 1, 2)}
    return dice.one(
        (
            {"matchLabels": {"app": dice.one(APPS)}},
            {"matchLabels": {"app": dice.one(APPS)}},
            {"matchExpressions": [others]},
            {"matchLabels": {"tier": dice.one(("front", "back", "data"))}},
            {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
            {"matchLabels": {"app": dice.one(APPS)}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        )
    )


def _spread_constraint(dice: Dice) -> dict[str, Any]:
    hard = dice.chance(0.5)
    constraint: dict[str, Any] = {
        "maxSkew": dice.weighted({1: 4, 2: 3, 5: 1}),
        "topologyKey": dice.one((ZONE, ZONE, HOSTNAME, RACK)),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": _pod_selector(dice),
    }
    if hard and dice.chance(0.3):
        constraint["minDomains"] = dice.number(1, 6)
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if dice.chance(0.3):
            constraint[policy] = dice.one(("Honor", "Ignore"))
    if dice.chance(0.25):
        constraint["matchLabelKeys"] = ["release"]
    return constraint
