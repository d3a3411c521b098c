"""Leaving pods the room that they were promised.

A pod for which others were evicted is *nominated* to their node, and comes later. Until then no pod of lower priority
may take that room: on such a node a pod must fit beside those that are nominated to it, and without them too, since
they may yet go elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.engine.reprieve import yields_to
from bayplan.engine.supposing import supposing

if TYPE_CHECKING:
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.engine import Engine
    from bayplan.engine.plan import Plan
    from bayplan.objects.pod import Pod


def yield_to_nominated(engine: Engine, plan: Plan, pod: Pod) -> dict[int, tuple[str, Verdict]]:
    """The rows that are feasible only as long as the pods that are nominated to them do not come."""
    rejected: dict[int, tuple[str, Verdict]] = {}
    cluster = engine.cluster
    for name, waiting in list(cluster.nominated().items()):
        row = cluster.nodes.row_of.get(name)
        if row is None or not plan.feasible[row]:
            continue
        ahead = [one for one in waiting.values() if yields_to(pod, one)]
        if not ahead:
            continue
        with supposing(cluster) as suppose:
            for one in ahead:
                suppose.comes(one, row)
            verdict = rejection_of(plan, row)
        if verdict is not None:
            rejected[row] = verdict
        plan.refresh()
    return rejected


def rejection_of(plan: Plan, row: int) -> tuple[str, Verdict] | None:
    """The first plugin that rejects a row now, with its verdict."""
    plan.refresh()
    if plan.feasible[row]:
        return None
    for slot in plan.filters:
        code = int(slot.codes[row])
        if code:
            return slot.name, slot.verdict(code)
    return None
