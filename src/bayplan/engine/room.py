"""Who would have to make room, where room is all that is missing.

Mostly a pod that fits nowhere lacks CPU, memory or the like, and nothing else about it depends on who else is on a
node. Then what would have to happen on a node follows from that node alone, and is kept until the node or its pods
change: the next important pod of the same class finds all but a few nodes worked out already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.engine.changes import Place
from bayplan.engine.reprieve import NOBODY, Candidate, by_importance, started_number, yields_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Placement
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.budgets import Budgets
    from bayplan.engine.changes import Changes
    from bayplan.engine.plan import Plan
    from bayplan.engine.slots import FilterSlot
    from bayplan.objects.pod import Pod

_COSTS = 5


def lacks_only_room(plan: Plan) -> FilterSlot | None:
    """The slot that judges by room, if none of the others can change its mind when pods come and go."""
    judge: FilterSlot | None = None
    for slot in plan.filters:
        if slot.rooming is not None:
            if judge is not None:
                return None
            judge = slot
        elif not slot.is_inert():
            return None
    return judge


class RoomTable:
    """For one class of pods: what would have to happen on each node."""

    def __init__(self, cluster: Cluster, plan: Plan, judge: FilterSlot, pod: Pod, changes: Changes) -> None:
        self._cluster = cluster
        self._plan = plan
        self._judge = judge
        self._priority = pod.priority
        #: The one of the class that is looked at now.
        self._pod = pod
        self._changes = changes
        self._place = Place()
        self._budgets: Budgets | None = None
        self._outcomes: list[Candidate | Verdict] = []
        #: What candidates are compared by, the least being the best, a row a criterion.
        self._costs: Ints = np.zeros((_COSTS, 0), dtype=np.int64)
        #: Rows whose pods some budget counts.
        self._budgeted: set[int] = set()
        self._promised: set[int] = set()

    def refresh(self, budgets: Budgets, pod: Pod) -> None:
        """Work out again what may be different now. Rows that were promised always are: to this pod, or to others."""
        self._pod = pod
        nodes = self._changes.since(self._place, loads=True) if self._place.nodes >= 0 else None
        first = self._place.nodes < 0
        self._place = self._changes.now()
        size = self._cluster.nodes.size
        rows: set[int] = set(range(size)) if first else set(nodes.indices() if nodes is not None else ())
        if budgets is not self._budgets:
            same = self._budgets is not None and budgets.counts_the_same(self._budgets)
            rows |= self._budgeted if same else set(range(size))
            self._budgets = budgets
        promised = {self._cluster.nodes.row_of.get(name, -1) for name in self._cluster.nominated()} - {-1}
        rows |= promised | self._promised
        self._promised = promised
        self._grow(size)
        for row in rows:
            self._work_out(row, budgets)

    def best(self, rows: NDArray[np.intp]) -> Candidate | None:
        """The candidate among these rows that hurts least; of equals, the first."""
        left = rows[self._costs[0, rows] >= 0]
        if not len(left):
            return None
        for criterion in self._costs:
            values = criterion[left]
            left = left[values == values.min()]
            if len(left) == 1:
                break
        outcome = self._outcomes[int(left[0])]
        return outcome if isinstance(outcome, Candidate) else None

    def outcomes(self, rows: Iterable[int]) -> Mapping[int, Candidate | Verdict]:
        """What would have to happen on these rows, or why nothing would help."""
        return {row: self._outcomes[row] for row in rows}

    def _grow(self, size: int) -> None:
        more = size - len(self._outcomes)
        if more > 0:
            self._outcomes += [NOBODY] * more
            self._costs = np.hstack([self._costs, np.full((_COSTS, more), -1, dtype=np.int64)])

    def _work_out(self, row: int, budgets: Budgets) -> None:
        self._budgeted.discard(row)
        outcome = self._outcomes[row] = self._on(row, budgets)
        if isinstance(outcome, Candidate):
            self._costs[:, row] = (*outcome.cost, -started_number(outcome.victims))
        else:
            self._costs[:, row] = -1

    def _on(self, row: int, budgets: Budgets) -> Candidate | Verdict:
        if self._cluster.nodes.nodes[row] is None:
            return NOBODY
        lower = [one for one in self._cluster.pods.on(row) if one.pod.priority < self._priority]
        if not lower:
            return NOBODY
        ordered = by_importance(lower)
        if budgets and any(budgets.matches(one.pod) for one in ordered):
            self._budgeted.add(row)
        room = _Room(self._cluster, self._judge, row, self._ahead(row))
        for one in ordered:
            room.leaves(one)
        rejected = room.rejection()
        if rejected is None:
            rejected = self._rejected_otherwise(row)
        if rejected is not None:
            return rejected
        return self._reprieved(row, ordered, budgets, room)

    def _reprieved(self, row: int, ordered: Sequence[Placement], budgets: Budgets, room: _Room) -> Candidate | Verdict:
        protected = budgets.violated_by([one.pod for one in ordered])
        first = [one for one in ordered if one.pod.metadata.key in protected]
        then = [one for one in ordered if one.pod.metadata.key not in protected] if protected else ordered
        victims = [one for one in (*first, *then) if not room.takes_back(one)]
        if not victims:
            return NOBODY  # a node that has room, though the pod as such was refused, or promised to others
        if first and then:
            victims.sort(key=ordered.index)
        return Candidate(row, tuple(victims), sum(one.pod.metadata.key in protected for one in victims))

    def _ahead(self, row: int) -> list[Pod]:
        """Pods of no lower priority that were promised room on this node."""
        waiting = self._cluster.nominated().get(self._cluster.nodes.name(row), {})
        return [one for one in waiting.values() if yields_to(self._pod, one)]

    def _rejected_otherwise(self, row: int) -> Verdict | None:
        for slot in self._plan.filters:
            code = int(slot.codes[row])
            if code and slot is not self._judge:
                return slot.verdict(code)
        return None


class _Room:
    """What is free on a node while pods leave and come back, in the resources that count."""

    def __init__(self, cluster: Cluster, judge: FilterSlot, row: int, ahead: Iterable[Pod]) -> None:
        filtering = judge.rooming
        assert filtering is not None
        self._filtering = filtering
        self._judge = judge
        resources = cluster.nodes.resources
        self._has = {number: resources.allocatable.item(number, row) for number, _ in filtering.needs()}
        self._taken = {number: resources.requested.item(number, row) for number in self._has}
        for pod in ahead:
            if pod.metadata.key not in cluster.pods.by_key:
                self._add(cluster.pods.load_of(pod, cluster.classes.class_of(pod))[0], 1)

    def leaves(self, placement: Placement) -> None:
        """A pod is gone."""
        self._add(placement.load[0], -1)

    def takes_back(self, placement: Placement) -> bool:
        """Let a pod come back, if there is still room for the other."""
        self._add(placement.load[0], 1)
        if self._fits():
            return True
        self._add(placement.load[0], -1)
        return False

    def rejection(self) -> Verdict | None:
        """Why there is no room."""
        if self._fits():
            return None
        return self._filtering.verdict_for(self._has, self._taken)

    def _fits(self) -> bool:
        has, taken = self._has, self._taken
        # A loop, because a generator costs more than the two or three resources there are.
        for number, amount in self._filtering.needs():  # noqa: SIM110
            if amount > has[number] - taken[number]:
                return False
        return True

    def _add(self, amounts: Iterable[tuple[int, int]], sign: int) -> None:
        taken = self._taken
        for number, amount in amounts:
            if number in taken:
                taken[number] += sign * amount
