"""Making room: which pods of lower priority would have to go, and from which node it hurts least.

For a node, all pods of lower priority are supposed to be gone; if the pod then fits, they come back one after the
other, the most important first and those whose budgets would be violated before the others, as long as it still fits.
Those that cannot come back are the victims. Nodes are compared as kube-scheduler compares them: fewest violated
budgets, then the least important most important victim, then the least sum of priorities, the fewest victims, and the
most recently started.

Where room is all that is missing, `room` knows the answer for every node. Otherwise (ports, distances between pods,
volumes) each node is tried out, which is slow; then, as kube-scheduler does it, only so many are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.verdicts import Verdict
from bayplan.engine.budgets import Budgets
from bayplan.engine.preemption import Preemption
from bayplan.engine.rejection import NOT_HELPFUL, listed
from bayplan.engine.reprieve import NOBODY, Candidate, best_of, by_importance, is_being_preempted, yields_to
from bayplan.engine.room import RoomTable, lacks_only_room
from bayplan.engine.supposing import Supposition, supposing
from bayplan.engine.yielding import rejection_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Placement
    from bayplan.engine.changes import Changes
    from bayplan.engine.plan import Plan
    from bayplan.engine.rejection import Rejection
    from bayplan.objects.pod import Pod


@dataclass(slots=True)
class Kept:
    """What is kept between searches."""

    changes: Changes
    budgets: Budgets | None = None
    budgets_version: int = -1
    #: Where to begin trying nodes out, so that not always the same ones are.
    begin: int = 0

    def budgets_of(self, cluster: Cluster) -> Budgets:
        """The budgets as they are now."""
        if self.budgets is None or self.budgets_version != cluster.budgets.version:
            self.budgets, self.budgets_version = Budgets(cluster.budgets), cluster.budgets.version
        return self.budgets


class Preempting:
    """The search for victims, for one pod."""

    def __init__(self, cluster: Cluster, plan: Plan, pod: Pod, kept: Kept) -> None:
        self._cluster = cluster
        self._plan = plan
        self._pod = pod
        self._kept = kept

    def preempt(self, rejection: Rejection, wanted: int) -> tuple[Preemption | None, str]:
        """The best preemption there is, and what there is to say about it."""
        refused = self._not_eligible(rejection)
        if refused:
            return None, refused
        if not self._cluster.pods.any_below(self._pod.priority):
            return None, self._message(rejection, Counter({NOBODY: len(rejection.resolvable)}))
        best, outcomes = self._search(rejection, wanted)
        if best is None:
            verdicts = Counter(outcome for outcome in outcomes.values() if isinstance(outcome, Verdict))
            return None, self._message(rejection, verdicts)
        node = self._cluster.nodes.name(best.row)
        victims = tuple(victim.pod for victim in best.victims)
        said = f"found a potential placement for pod on node {node}, preempting {len(victims)} victims"
        return Preemption(node, victims, best.violations), said

    def candidates(self, rejection: Rejection) -> list[Candidate]:
        """All that could be done, on every node that could be freed."""
        room = self._room()
        if room is not None:
            outcomes = room.outcomes(rejection.resolvable.tolist())
            return [outcome for outcome in outcomes.values() if isinstance(outcome, Candidate)]
        return self._try_out(rejection.resolvable.tolist(), len(rejection.resolvable))[0]

    def _search(self, rejection: Rejection, wanted: int) -> tuple[Candidate | None, Mapping[int, Candidate | Verdict]]:
        room = self._room()
        if room is not None:
            best = room.best(rejection.resolvable)
            return best, {} if best is not None else room.outcomes(rejection.resolvable.tolist())
        begin = int(np.searchsorted(rejection.resolvable, self._kept.begin))
        rows = np.roll(rejection.resolvable, -begin).tolist()
        found, verdicts = self._try_out(rows, wanted)
        self._kept.begin = rows[min(wanted, len(rows) - 1)] if rows else 0
        return best_of(found) if found else None, verdicts

    def _room(self) -> RoomTable | None:
        """The table of room, brought up to date; None where more is at stake."""
        judge = lacks_only_room(self._plan)
        if judge is None:
            return None
        room = self._plan.room
        if room is None:
            room = self._plan.room = RoomTable(self._cluster, self._plan, judge, self._pod, self._kept.changes)
        room.refresh(self._kept.budgets_of(self._cluster), self._pod)
        return room

    def _not_eligible(self, rejection: Rejection) -> str:
        pod = self._pod
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        row = self._cluster.nodes.row_of.get(pod.status.nominated_node_name)
        if row is None or row not in rejection.resolvable:
            return ""
        for placement in self._cluster.pods.on(row):
            if placement.pod.priority < pod.priority and is_being_preempted(placement.pod):
                return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _message(self, rejection: Rejection, verdicts: Counter[Verdict]) -> str:
        reasons: Counter[str] = Counter()
        for verdict, count in verdicts.items():
            for reason in verdict.reasons:
                reasons[reason] += count
        elsewhere = rejection.nodes - verdicts.total()
        if elsewhere:
            reasons[NOT_HELPFUL] += elsewhere
        return f"0/{rejection.nodes} nodes are available:{listed({k: v for k, v in reasons.items() if v})}"

    def _try_out(self, rows: Sequence[int], wanted: int) -> tuple[list[Candidate], dict[int, Candidate | Verdict]]:
        """Try nodes out, until there are enough candidates with one among them that violates no budget."""
        budgets = self._kept.budgets_of(self._cluster)
        found: list[Candidate] = []
        outcomes: dict[int, Candidate | Verdict] = {}
        for row in rows:
            outcome = outcomes[row] = self._on(row, budgets)
            if isinstance(outcome, Candidate):
                found.append(outcome)
                if len(found) >= wanted and any(not one.violations for one in found):
                    break
        self._plan.refresh()
        return found, outcomes

    def _on(self, row: int, budgets: Budgets) -> Candidate | Verdict:
        lower = [one for one in self._cluster.pods.on(row) if one.pod.priority < self._pod.priority]
        if not lower:
            return NOBODY
        # Sorted before anybody goes: where a pod stands among those of its node changes as others go.
        ordered = by_importance(lower)
        with supposing(self._cluster) as suppose:
            for one in lower:
                suppose.goes(one.pod.metadata.key)
            rejected = self._rejects(row)
            if rejected is not None:
                return rejected
            return self._reprieve(row, ordered, budgets, suppose)

    def _reprieve(self, row: int, ordered: Sequence[Placement], budgets: Budgets, suppose: Supposition) -> Candidate:
        """Let those stay that can; the others are the victims."""
        protected = budgets.violated_by([one.pod for one in ordered])
        first = [one for one in ordered if one.pod.metadata.key in protected]
        then = [one for one in ordered if one.pod.metadata.key not in protected]
        victims: list[Placement] = []
        for one in (*first, *then):
            suppose.comes_back(one)
            if self._rejects(row) is not None:
                suppose.goes(one.pod.metadata.key)
                victims.append(one)
        if first and then:
            victims.sort(key=ordered.index)
        violations = sum(one.pod.metadata.key in protected for one in victims)
        return Candidate(row, tuple(victims), violations)

    def _rejects(self, row: int) -> Verdict | None:
        """Why the pod would not fit now, beside pods that are nominated to the node and without them."""
        waiting = self._cluster.nominated().get(self._cluster.nodes.name(row), {})
        ahead = [one for one in waiting.values() if yields_to(self._pod, one)]
        if ahead:
            with supposing(self._cluster) as more:
                for one in ahead:
                    more.comes(one, row)
                rejected = rejection_of(self._plan, row)
            if rejected is not None:
                return rejected[1]
        rejected = rejection_of(self._plan, row)
        return None if rejected is None else rejected[1]
