"""The core: events and the time go in, what is to be done comes out. It does nothing itself, and reads no clock.

`place` decides for one pod, and lets it take its room. `handle` takes in what the watch says, `settle` what the binder
says, and `wake` the time. All return effects.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bayplan.cache.cache import Cache
from bayplan.contract.effects import Bind, Evict, PatchStatus, Record, WakeAt
from bayplan.contract.events import Seen
from bayplan.contract.outcomes import Bound, Doubtful, Wait
from bayplan.contract.verdicts import YES, Verdict
from bayplan.engine.blame import blaming
from bayplan.engine.engine import Engine
from bayplan.engine.lifting import name_of
from bayplan.errors import PluginFailure, ValidationError
from bayplan.objects.pod import Pod
from bayplan.reservations.reservations import Reservation, Reservations, State

if TYPE_CHECKING:
    from bayplan.contract.effects import Effect
    from bayplan.contract.events import Event
    from bayplan.contract.outcomes import Outcome
    from bayplan.engine.engine import Decision
    from bayplan.engine.policy import Policy

_UNSCHEDULABLE, _FAILED = "Unschedulable", "SchedulerError"


class Core:
    """A scheduler without hands."""

    def __init__(self, *policies: Policy) -> None:
        self.cache = Cache(annotations_matter=any(policy.reads_annotations for policy in policies))
        self.engine = Engine(self.cache.cluster, policies)
        self.reservations = Reservations()

    def handle(self, event: Event, now: float) -> list[Effect]:
        """The watch says that something has changed."""
        one = event.object
        if isinstance(one, Pod):
            self._reconsider(one, there=isinstance(event, Seen))
        self.cache.apply(event)
        return self._alarm()

    def place(self, pod: Pod, now: float) -> list[Effect]:
        """Decide for a pod that is yet to be placed. Nothing for one that is placed already."""
        if self.reservations.get(pod.metadata.key) is not None:
            return []
        try:
            decision = self.engine.decide(pod)
        except (PluginFailure, ValidationError) as error:
            return _not_placed(pod, _FAILED, str(error))
        if decision.node is None:
            return self._make_room(decision)
        return self._reserve(pod, decision.node, now)

    def settle(self, outcome: Outcome, now: float) -> list[Effect]:
        """The binder says what came of a binding. Of a pod that is not held any more it says so too late."""
        held = self.reservations.get(outcome.key, outcome.uid)
        if held is None:
            return []
        if isinstance(outcome, Bound):
            # The room stays taken; that it is so is for the watch to confirm.
            self.reservations.settle(outcome.key)
            return [Record(held.pod, "Scheduled", f"Successfully assigned {outcome.key} to {held.node}")]
        if isinstance(outcome, Doubtful):
            self.reservations.doubt(outcome.key, outcome.uid)
            return []
        self.reservations.undo(outcome.key)
        return _not_placed(held.pod, _FAILED, outcome.reason)

    def permit(self, key: str, plugin: str, verdict: Verdict = YES) -> list[Effect]:
        """A plugin that asked to wait permits a pod, or rejects it."""
        if not verdict:
            return self._give_up(key, plugin, verdict)
        held = self.reservations.permit(key, plugin)
        return [] if held is None else self._bind(held)

    def wake(self, now: float) -> list[Effect]:
        """Time has passed."""
        effects: list[Effect] = []
        for held in self.reservations.late(now):
            self.reservations.undo(held.pod.metadata.key)
            late = ", ".join(sorted(held.permits))
            effects += _not_placed(held.pod, _UNSCHEDULABLE, f"rejected due to timeout after waiting at plugin {late}")
        return [*effects, *self._alarm()]

    # ── on the way to a node ──

    def _reserve(self, pod: Pod, node: str, now: float) -> list[Effect]:
        policy = self.engine.policies[pod.spec.scheduler_name or "default-scheduler"]
        held = Reservation(pod, node)
        self.cache.assume(pod, node)
        held.undo.append(partial(self.cache.forget, pod.metadata.key))
        self.reservations.hold(held, {}, now)
        rejected = self._run_reserves(held, policy)
        waits: dict[str, float] = {}
        if rejected is None:
            waits, rejected = _permits_of(pod, node, policy)
        if rejected is not None:
            return self._give_up(pod.metadata.key, *rejected)
        if not waits:
            return self._bind(held)
        held.permits = {}
        self.reservations.settle(pod.metadata.key)
        self.reservations.hold(held, waits, now)
        return self._alarm()

    def _run_reserves(self, held: Reservation, policy: Policy) -> tuple[str, Verdict] | None:
        cluster = self.cache.cluster
        for plugin in policy.reserves:
            reserve = getattr(plugin, "reserve", None)
            if reserve is None:
                continue
            # Undone even if it fails half-way: `unreserve` must bear being called without `reserve`.
            held.undo.append(partial(plugin.unreserve, held.pod, held.node, cluster))
            verdict = reserve(held.pod, held.node, cluster)
            if not verdict:
                return name_of(plugin), verdict
        return None

    def _bind(self, held: Reservation) -> list[Effect]:
        policy = self.engine.policies[held.pod.spec.scheduler_name or "default-scheduler"]
        effects: list[Effect] = []
        try:
            for plugin in policy.pre_binds:
                pre_bind = getattr(plugin, "pre_bind", None)
                if pre_bind is not None:
                    with blaming(name_of(plugin), "preparing to bind"):
                        effects += pre_bind(held.pod, held.node, self.cache.cluster)
        except PluginFailure as error:
            self.reservations.undo(held.pod.metadata.key)
            return _not_placed(held.pod, _FAILED, str(error))
        held.state = State.BINDING
        return [*effects, Bind(held.pod, held.node)]

    def _give_up(self, key: str, plugin: str, verdict: Verdict) -> list[Effect]:
        held = self.reservations.undo(key)
        if held is None:
            return []
        reasons = ", ".join(verdict.reasons) or f"rejected by {plugin}"
        return _not_placed(held.pod, _UNSCHEDULABLE, f"0/1 nodes are available: 1 {reasons}.")

    def _make_room(self, decision: Decision) -> list[Effect]:
        """Tell that no node would do, and have the victims go if that helps."""
        pod, preemption = decision.pod, decision.preemption
        nominated = None
        effects: list[Effect] = []
        if preemption is not None:
            nominated = preemption.node
            self.cache.cluster.nominate(pod, nominated)
            effects += [Evict(victim, pod, nominated) for victim in preemption.victims if not victim.is_terminating]
        return [*effects, *_not_placed(pod, _UNSCHEDULABLE, decision.message, nominated)]

    def _reconsider(self, pod: Pod, *, there: bool) -> None:
        """What the watch says of a pod settles its reservation, whatever the binder will say."""
        key = pod.metadata.key
        held = self.reservations.get(key)
        if held is None:
            return
        same = held.pod.metadata.uid == pod.metadata.uid
        if same and there and pod.spec.node_name == held.node:
            self.reservations.settle(key)
        elif (there and pod.spec.node_name) or same is not there:
            # It is elsewhere, or gone, or another pod has its name.
            self.reservations.undo(key)

    def _alarm(self) -> list[Effect]:
        deadline = self.reservations.next_deadline()
        return [] if deadline is None else [WakeAt(deadline)]


def _permits_of(pod: Pod, node: str, policy: Policy) -> tuple[dict[str, float], tuple[str, Verdict] | None]:
    waits: dict[str, float] = {}
    for plugin in policy.permits:
        permit: Any = getattr(plugin, "permit", None)
        if permit is None:
            continue
        said: Verdict | Wait = permit(pod, node)
        if isinstance(said, Wait):
            waits[name_of(plugin)] = said.timeout
        elif not said:
            return {}, (name_of(plugin), said)
    return waits, None


def _not_placed(pod: Pod, reason: str, message: str, nominated: str | None = None) -> list[Effect]:
    return [
        Record(pod, "FailedScheduling", message, warning=True),
        PatchStatus(pod, reason, message, nominated_node=nominated),
    ]
