"""Making room: which pods of lower priority would have to go, and from which node it hurts least.

For a node, all pods of lower priority are supposed to be gone; if the pod then fits, they come back one after the
other, the most important first and those whose budgets would be violated before the others, as long as it still fits.
Those that cannot come back are the victims. Nodes are compared as kube-scheduler compares them: fewest violated
budgets, then the least important most important victim, then the least sum of priorities, the fewest victims, and the
most recently started.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.verdicts import Verdict, reject
from bayplan.engine.budgets import Budgets
from bayplan.engine.preemption import Preemption
from bayplan.engine.rejection import NOT_HELPFUL, listed
from bayplan.engine.supposing import Supposition, supposing
from bayplan.engine.yielding import rejection_of, yields_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Placement
    from bayplan.engine.plan import Plan
    from bayplan.engine.rejection import Rejection
    from bayplan.objects.pod import Pod

_NOBODY = reject("No preemption victims found for incoming pod", resolvable=False)
_PRIORITY_OFFSET = 2**31
#: Later than any start: a pod that has not started has just been decided.
_NOT_STARTED = "~"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The victims on one node, the most important first."""

    row: int
    victims: tuple[Placement, ...]
    violations: int

    @property
    def cost(self) -> tuple[int, int, int, int]:
        """What is compared, the least being the best; then comes `started`, the latest being the best."""
        priorities = [victim.pod.priority for victim in self.victims]
        return self.violations, priorities[0], sum(one + _PRIORITY_OFFSET for one in priorities), len(priorities)

    @property
    def started(self) -> str:
        """When the first of the most important victims started."""
        highest = max(victim.pod.priority for victim in self.victims)
        return min(started(victim.pod) for victim in self.victims if victim.pod.priority == highest)

    def is_better_than(self, other: Candidate) -> bool:
        """Whether it hurts less."""
        return self.cost < other.cost or (self.cost == other.cost and self.started > other.started)


class Preempting:
    """The search for victims, for one pod."""

    def __init__(self, cluster: Cluster, plan: Plan, pod: Pod) -> None:
        self._cluster = cluster
        self._plan = plan
        self._pod = pod

    def preempt(self, rejection: Rejection) -> tuple[Preemption | None, str]:
        """The best preemption there is, and what there is to say about it."""
        refused = self._not_eligible(rejection)
        if refused:
            return None, refused
        candidates, verdicts = self.candidates(rejection.resolvable)
        if not candidates:
            return None, self._message(rejection, verdicts)
        best = best_of(candidates)
        node = self._cluster.nodes.name(best.row)
        victims = tuple(victim.pod for victim in best.victims)
        said = f"found a potential placement for pod on node {node}, preempting {len(victims)} victims"
        return Preemption(node, victims, best.violations), said

    def candidates(self, rows: Iterable[int]) -> tuple[list[Candidate], dict[int, Verdict]]:
        """What would have to go from each of these rows, or why nothing helps there."""
        budgets = Budgets(self._cluster.budgets)
        found: list[Candidate] = []
        verdicts: dict[int, Verdict] = {}
        for row in rows:
            outcome = self._on(row, budgets)
            if isinstance(outcome, Verdict):
                verdicts[row] = outcome
            else:
                found.append(outcome)
        self._plan.refresh()
        return found, verdicts

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

    def _message(self, rejection: Rejection, verdicts: dict[int, Verdict]) -> str:
        reasons: Counter[str] = Counter()
        for verdict in verdicts.values():
            reasons.update(verdict.reasons)
        if len(verdicts) < rejection.nodes:
            reasons[NOT_HELPFUL] += rejection.nodes - len(verdicts)
        return f"0/{rejection.nodes} nodes are available:{listed(reasons)}"

    def _on(self, row: int, budgets: Budgets) -> Candidate | Verdict:
        lower = [one for one in self._cluster.pods.on(row) if one.pod.priority < self._pod.priority]
        if not lower:
            return _NOBODY
        # Sorted before anybody goes: where a pod stands among those of its node changes as others go.
        by_importance = sorted(lower, key=importance)
        with supposing(self._cluster) as suppose:
            for one in lower:
                suppose.goes(one.pod.metadata.key)
            rejected = self._rejects(row, suppose)
            if rejected is not None:
                return rejected
            return self._reprieve(row, by_importance, budgets, suppose)

    def _reprieve(
        self, row: int, by_importance: Sequence[Placement], budgets: Budgets, suppose: Supposition
    ) -> Candidate:
        """Let those stay that can; the others are the victims."""
        protected = budgets.violated_by([one.pod for one in by_importance])
        first = [one for one in by_importance if one.pod.metadata.key in protected]
        then = [one for one in by_importance if one.pod.metadata.key not in protected]
        victims: list[Placement] = []
        for one in (*first, *then):
            suppose.comes_back(one)
            if self._rejects(row, suppose) is not None:
                suppose.goes(one.pod.metadata.key)
                victims.append(one)
        if first and then:
            victims.sort(key=by_importance.index)
        violations = sum(one.pod.metadata.key in protected for one in victims)
        return Candidate(row, tuple(victims), violations)

    def _rejects(self, row: int, suppose: Supposition) -> Verdict | None:
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


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The one that hurts least; of equals, the first."""
    return equals_of_best(candidates)[0]


def equals_of_best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that hurt least by all that is compared."""
    if not candidates:
        return []
    least = min(candidate.cost for candidate in candidates)
    cheapest = [candidate for candidate in candidates if candidate.cost == least]
    if len(cheapest) == 1:
        return cheapest
    latest = max(candidate.started for candidate in cheapest)
    return [candidate for candidate in cheapest if candidate.started == latest]


def importance(placement: Placement) -> tuple[int, str, int]:
    """A key that sorts the most important first: by priority, then by who started first."""
    return -placement.pod.priority, started(placement.pod), placement.index


def started(pod: Pod) -> str:
    """When a pod started; times of this form sort as text."""
    return pod.status.start_time or _NOT_STARTED


def is_being_preempted(pod: Pod) -> bool:
    """Whether a pod ends to make room for another."""
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False
