"""One decision: which node a pod should go to, or why there is none, and who would have to make room.

The engine only decides. It changes nothing in the cluster, so a decision that is not carried out leaves no trace.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import msgspec
import numpy as np

from bayplan.contract.aftermath import Aftermath
from bayplan.contract.verdicts import Verdict
from bayplan.engine.blame import blaming
from bayplan.engine.changes import Changes
from bayplan.engine.journal import Journal
from bayplan.engine.lifting import (
    NoPoints,
    name_of,
    prepare_alone,
    prepare_filter,
    prepare_filter_alone,
    prepare_score,
)
from bayplan.engine.plan import Plan
from bayplan.engine.preempting import Kept, Preempting
from bayplan.engine.rejection import Rejection, collect
from bayplan.engine.sampling import Sampling
from bayplan.engine.slots import FilterSlot, ScoreSlot
from bayplan.engine.story import NAMES, Stories, Story
from bayplan.engine.yielding import yield_to_nominated
from bayplan.errors import PluginFailure, ValidationError

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.engine.policy import Policy
    from bayplan.engine.preemption import Preemption
    from bayplan.objects.pod import Pod

#: How many bytes all plans together may take, roughly: so many for each row, and for what else belongs to a class.
_PLAN_BYTES, _BYTES_A_ROW, _BYTES_A_CLASS = 300_000_000, 25, 60_000
#: However large the cluster, this many plans are kept.
_FEWEST_PLANS = 64


class Decision(msgspec.Struct, frozen=True):
    """What came of looking at a pod."""

    pod: Pod
    #: Where it should go; None where no node will do.
    node: str | None
    story: Story
    rejection: Rejection | None = None
    #: What was found to help, or why nothing does.
    preemption: Preemption | None = None
    message: str = ""
    #: How many nodes would do.
    feasible: int = 0


@dataclass
class _Kept:
    """What is kept of one policy."""

    policy: Policy
    plans: OrderedDict[bytes, Plan] = field(default_factory=OrderedDict)


class Engine:
    """Decides for the pods of a cluster, one at a time."""

    def __init__(
        self, cluster: Cluster, policies: tuple[Policy, ...] | Policy, *, journal: Journal | None = None
    ) -> None:
        policies = policies if isinstance(policies, tuple) else (policies,)
        self.cluster = cluster
        self.journal = journal or Journal()
        self.stories = Stories()
        self.policies = {policy.scheduler_name: policy for policy in policies}
        self._kept = {policy.scheduler_name: _Kept(policy) for policy in policies}
        self._changes = Changes(cluster)
        self._slots: WeakValueDictionary[Any, FilterSlot | ScoreSlot] = WeakValueDictionary()
        self._sampling = Sampling()
        self._preempting = Kept(self._changes)
        self._names: list[str] = []
        self._names_position = 0

    def decide(self, pod: Pod) -> Decision:
        """Decide for a pod. Nothing changes by it."""
        kept = self._kept[pod.spec.scheduler_name or "default-scheduler"]
        self.journal.now += 1
        self._note_names()
        plan = self.plan(pod, kept)
        plan.refresh()
        overridden: dict[int, tuple[str, Verdict]] = {}
        if self.cluster.nominated():
            overridden = yield_to_nominated(self, plan, pod)
        if plan.count > len(overridden) and plan.refusal() is None:
            decision = self._choose(pod, plan, kept.policy, overridden)
        else:
            decision = self._reject(pod, plan, kept.policy, overridden)
        self.stories.add(decision.story)
        return decision

    def plan(self, pod: Pod, kept: _Kept | None = None) -> Plan:
        """The plan of a pod's class."""
        if kept is None:
            kept = self._kept[pod.spec.scheduler_name or "default-scheduler"]
        try:
            pod_class = self.cluster.classes.class_of(pod)
        except ValidationError as error:
            raise ValidationError(f"Pod {pod.metadata.key}: {error.problem}", remedy=error.remedy) from error
        plan = kept.plans.get(pod_class.key)
        if plan is None:
            plan = kept.plans[pod_class.key] = self._make_plan(pod_class, kept.policy)
            if len(kept.plans) > _most_plans(self.cluster.nodes.size):
                kept.plans.popitem(last=False)
        elif len(kept.plans) > 1:
            kept.plans.move_to_end(pod_class.key)
        return plan

    def preempt(self, pod: Pod, rejection: Rejection, wanted: int) -> tuple[Preemption | None, str]:
        """The best way to make room for a pod, and what there is to say about it.

        Where nodes have to be tried out one by one, so many candidates are enough.
        """
        return self.preempting(pod).preempt(rejection, wanted)

    def preempting(self, pod: Pod) -> Preempting:
        """The search for victims for this pod."""
        return Preempting(self.cluster, self.plan(pod), pod, self._preempting)

    def _choose(self, pod: Pod, plan: Plan, policy: Policy, overridden: dict[int, tuple[str, Verdict]]) -> Decision:
        nominated = self._nominated_row(pod, plan, overridden)
        count = plan.count - len(overridden)
        scored = False
        if nominated is not None:
            row, count = nominated, 1
        elif overridden or policy.percentage_of_nodes is not None:
            feasible = plan.feasible.copy()
            feasible[list(overridden)] = False
            feasible = self._sampling.sample(feasible, self.cluster.nodes, policy.percentage_of_nodes)
            count = int(np.count_nonzero(feasible))
            scored = count > 1
            if scored:
                plan.rank()
            row = int((plan.rank_among(feasible) if scored else feasible).argmax())
        elif count == 1:
            row = int(plan.feasible.argmax())
        else:
            plan.rank()
            scored = True
            row = int(plan.ranking.argmax())
        node = self.cluster.nodes.name(row)
        story = Story(pod, node, plan, self.journal, self._names, overridden, None, scored=scored)
        return Decision(pod, node, story, feasible=count)

    def _reject(self, pod: Pod, plan: Plan, policy: Policy, overridden: dict[int, tuple[str, Verdict]]) -> Decision:
        rejection = _with_unreached(collect(plan, self.cluster.nodes, overridden), policy)
        story = Story(pod, None, plan, self.journal, self._names, overridden, rejection, scored=False)
        if not self.cluster.nodes.count:
            return Decision(pod, None, story, rejection, message="no nodes available to schedule pods")
        said: list[str] = []
        for plugin in policy.post_filters:
            aftermath = _after(plugin, pod, rejection, self)
            if aftermath.preemption is not None:
                message = rejection.message(aftermath.said)
                return Decision(pod, None, story, rejection, aftermath.preemption, message)
            if aftermath.said:
                said.append(aftermath.said)
            if aftermath.final:
                said = said[-1:]
                break
        return Decision(pod, None, story, rejection, message=rejection.message(", ".join(said)))

    def _nominated_row(self, pod: Pod, plan: Plan, overridden: dict[int, tuple[str, Verdict]]) -> int | None:
        """The row of the node that the pod was promised, if it will do: then no other is looked at."""
        name: str | None = pod.status.nominated_node_name
        if not name and self.cluster.nominated():
            name = self.cluster.nominated_node(pod.metadata.key)
        row = self.cluster.nodes.row_of.get(name) if name else None
        if row is None or row in overridden or not plan.feasible[row]:
            return None
        return row

    def _make_plan(self, pod_class: PodClass, policy: Policy) -> Plan:
        filters: list[FilterSlot] = []
        refusal: tuple[str, Verdict] | None = None
        preparing = [
            *((plugin, prepare_alone) for plugin in policy.only_prepared),
            *(
                (plugin, prepare_filter_alone if name_of(plugin) in policy.unprepared_filters else prepare_filter)
                for plugin in policy.filters
            ),
        ]
        for plugin, prepare in preparing:
            filtering = prepare(plugin, pod_class, self.cluster)
            if isinstance(filtering, Verdict):
                refusal = refusal or (name_of(plugin), filtering)
            elif filtering is not None:
                filters.append(self._filter_slot(name_of(plugin), filtering))
        scores: list[tuple[ScoreSlot, int]] = []
        unscorable: PluginFailure | None = None
        for plugin, weight in policy.scores:
            try:
                scoring = prepare_score(plugin, pod_class, self.cluster)
            except PluginFailure as failure:
                unscorable = unscorable or failure
                continue
            if scoring is None and name_of(plugin) in policy.unprepared_scores:
                scoring = NoPoints()
            if scoring is not None:
                scores.append((self._score_slot(name_of(plugin), scoring), weight))
        return Plan(pod_class, self.cluster, filters, scores, refusal, unscorable)

    def _filter_slot(self, name: str, filtering: Any) -> FilterSlot:
        slot = self._slots.get((name, "filter", filtering))
        if slot is None:
            slot = FilterSlot(name, filtering, self.cluster, self._changes, self.journal)
            self._slots[name, "filter", filtering] = slot
        assert isinstance(slot, FilterSlot)
        return slot

    def _score_slot(self, name: str, scoring: Any) -> ScoreSlot:
        slot = self._slots.get((name, "score", scoring))
        if slot is None:
            slot = ScoreSlot(name, scoring, self.cluster, self._changes, self.journal)
            self._slots[name, "score", scoring] = slot
        assert isinstance(slot, ScoreSlot)
        return slot

    def _note_names(self) -> None:
        """Keep the names of rows, for stories of nodes that have since gone."""
        table = self.cluster.nodes
        if self._names_position == table.node_log.position:
            return
        changed = table.node_log.since(self._names_position)
        self._names_position = table.node_log.position
        names = self._names
        known = len(names)
        names.extend([""] * (table.size - known))
        for row in range(table.size) if changed is None else changed:
            name = table.name(row)
            if names[row] != name:
                if row < known:  # even that there was none: the row of a node that left is another's now
                    self.journal.note(NAMES, slice(row, row + 1), np.array([names[row]], dtype=object))
                names[row] = name


def _after(plugin: Any, pod: Pod, rejection: Rejection, engine: Engine) -> Aftermath:
    post_filter = getattr(plugin, "post_filter", None)
    if post_filter is None:
        return Aftermath()
    with blaming(name_of(plugin), "looking for a way to make room"):
        aftermath: Aftermath = post_filter(pod, rejection, engine)
    return aftermath


def _with_unreached(rejection: Rejection, policy: Policy) -> Rejection:
    """A pod that one plugin refuses is not shown to those after it."""
    if rejection.refusal is None:
        return rejection
    names = [name_of(plugin) for plugin in (*policy.only_prepared, *policy.filters)]
    after = names[names.index(rejection.refusal[0]) + 1 :]
    return replace(rejection, unreached=tuple(after))


def _most_plans(rows: int) -> int:
    return max(_FEWEST_PLANS, _PLAN_BYTES // (_BYTES_A_ROW * rows + _BYTES_A_CLASS))
