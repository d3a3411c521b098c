"""Playing a trace through the engine: at each step it decides too, and then follows what was decided then."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from bayplan.cache.cache import Cache
from bayplan.contract.events import Gone, Seen
from bayplan.engine.engine import Engine
from bayplan.errors import PluginFailure, UsageError, ValidationError
from bayplan.profiles.configuration import default_configuration, read_configuration
from bayplan.profiles.policy import policies_of
from bayplan.simulator.agreement import Agreement
from bayplan.simulator.chance import possible_preemption
from bayplan.simulator.missing import missing_services, notes_on, settled
from bayplan.simulator.traces import Decided, Deleted, Updated, empty_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayplan.engine.engine import Decision
    from bayplan.engine.policy import Policy
    from bayplan.engine.story import Page
    from bayplan.objects.pod import Pod
    from bayplan.simulator.traces import Step, Trace


_GATED = "Scheduling is blocked due to non-empty scheduling gates"


class Replay:
    """One trace, on the way through the engine."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        policies = playable(trace)
        self.cache = Cache(annotations_matter=any(policy.reads_annotations for policy in policies))
        self.engine = Engine(self.cache.cluster, policies)
        self.agreement = Agreement()
        #: Called with each decision of ours, before the next step.
        self.on_decision: Callable[[Decision], None] | None = None
        services = missing_services(trace)
        #: What was taken to be otherwise than the trace says.
        came = [step.object for step in trace.steps if isinstance(step, Updated)]
        self.notes = tuple(notes_on([*trace.objects, *came], services))
        for index, one in enumerate(trace.objects):
            with _at(trace, f"objects[{index}]"):
                self.cache.apply(Seen(settled(one)))
        for service in services:
            self.cache.apply(Seen(service))

    def run(self) -> Agreement:
        """Play all steps."""
        for index, step in enumerate(self.trace.steps):
            self.step(index, step)
        return self.agreement

    def step(self, index: int, step: Step) -> None:
        """Play one step. A UsageError for objects that nobody could count."""
        self.agreement.steps += 1
        with _at(self.trace, f"steps[{index}]"):
            if isinstance(step, Deleted):
                self.cache.apply(Gone(self._last_seen(step)))
            elif isinstance(step, Updated):
                self.cache.apply(Seen(settled(step.object)))
            else:
                self._decide(index, step)

    def _last_seen(self, step: Deleted) -> Any:
        pod = self.cache.cluster.pod_on_node(step.key) if step.kind == "Pod" else None
        return pod or empty_object(step.kind, step.key)

    def _decide(self, index: int, step: Decided) -> None:
        where = {"trace": self.trace.name, "step": index, "pod": step.pod.metadata.key}
        try:
            self._compare(step, where)
        except PluginFailure as failure:
            self.agreement.judge("choice", False, ours=str(failure), theirs=step.node or step.outcome, **where)
        self._follow(step)

    def _compare(self, step: Decided, where: dict[str, Any]) -> None:
        gate = _gate(self._policy(step.pod), step.pod)
        if gate or step.outcome == "gated":
            self.agreement.compare("choice", "gated" if gate else "decided", step.outcome, **where)
            if step.message:
                # Not the scheduler says this of a gated pod, but the API server, in the condition that it begins with.
                self.agreement.compare("message", _GATED if gate else "", step.message, **where)
            return
        decision = self._ask(step.pod)
        if step.nominated is not None:
            decision = self._preempt(step, decision, where)
        if step.outcome == "bound":
            self._compare_bound(step, decision, where)
        else:
            self._compare_unschedulable(step, decision, where)

    def _ask(self, pod: Pod) -> Decision:
        decision = self.engine.decide(pod)
        if self.on_decision is not None:
            self.on_decision(decision)
        return decision

    def _preempt(self, step: Decided, decision: Decision, where: dict[str, Any]) -> Decision:
        """Compare whom we would evict, let the victims go, and ask again for the pod that was promised the node."""
        assert step.nominated is not None
        theirs = {"node": step.nominated, "victims": sorted(step.victims)}
        ours = possible_preemption(self.engine, self.cache, step, decision)
        self.agreement.compare("preemption", ours, theirs, **where)
        self._evict(step)
        status = msgspec.structs.replace(step.pod.status, nominated_node_name=step.nominated)
        return self._ask(msgspec.structs.replace(step.pod, status=status))

    def _compare_bound(self, step: Decided, decision: Decision, where: dict[str, Any]) -> None:
        page = decision.story.read()
        assert page is not None
        ranked = page.ranked
        feasible = {story.node for story in ranked}
        if step.nominated is not None:
            self.agreement.compare("choice", decision.node, step.node, **where)
            return
        theirs = set(step.totals) or {step.node or ""}
        self.agreement.compare("feasible", sorted(feasible), sorted(theirs), **where)
        if step.totals and ranked:
            self._compare_scores(step, page, where)
            best = {story.node for story in ranked if story.total == ranked[0].total}
            self.agreement.judge("choice", step.node in best, ours=sorted(best), theirs=step.node, **where)
        else:
            self.agreement.compare("choice", decision.node, step.node, **where)

    def _compare_scores(self, step: Decided, page: Page, where: dict[str, Any]) -> None:
        ours: dict[tuple[str, str], int] = {}
        for story in page.ranked:
            for points in story.points or ():
                ours[points.plugin, story.node] = points.weighted
            ours["total", story.node] = story.total or 0
        theirs = {(plugin, node): score for plugin, nodes in step.scores.items() for node, score in nodes.items()}
        theirs |= {("total", node): total for node, total in step.totals.items()}
        for plugin, node in sorted(ours.keys() | theirs.keys()):
            key = plugin, node
            self.agreement.compare("scores", ours.get(key), theirs.get(key), plugin=plugin, node=node, **where)

    def _compare_unschedulable(self, step: Decided, decision: Decision, where: dict[str, Any]) -> None:
        self.agreement.compare("feasible", [] if decision.node is None else [decision.node], [], **where)
        self.agreement.compare("message", decision.message, step.message, **where)
        if decision.preemption is not None:
            ours = {"node": decision.preemption.node}
            self.agreement.compare("preemption", ours, {"node": step.nominated}, **where)

    def _follow(self, step: Decided) -> None:
        """What was decided then happens, whatever we would have done."""
        self._evict(step)
        if step.outcome == "bound":
            spec = msgspec.structs.replace(step.pod.spec, node_name=step.node or "")
            self.cache.apply(Seen(msgspec.structs.replace(step.pod, spec=spec)))

    def _evict(self, step: Decided) -> None:
        for key in step.victims:
            pod = self.cache.cluster.pod_on_node(key)
            if pod is not None:
                self.cache.apply(Gone(pod))

    def _policy(self, pod: Pod) -> Policy:
        return self.engine.policies[_scheduler_of(pod)]


@contextmanager
def _at(trace: Trace, place: str) -> Iterator[None]:
    """Say where in the trace an object stands that cannot be meant."""
    try:
        yield
    except ValidationError as error:
        raise UsageError(f"{trace.name}: {place}: {error.problem}", remedy=error.remedy) from error


def playable(trace: Trace) -> tuple[Policy, ...]:
    """The policies that a trace's pods are decided by. A UsageError says why it cannot be played."""
    policies = policies_of_trace(trace)
    names = {policy.scheduler_name for policy in policies}
    for index, step in enumerate(trace.steps):
        if isinstance(step, Decided) and _scheduler_of(step.pod) not in names:
            raise UsageError(
                f"{trace.name}: steps[{index}]: pod {step.pod.metadata.key} asks for the scheduler "
                f"{_scheduler_of(step.pod)!r}, which is not configured",
                remedy=f"meta.config has {', '.join(sorted(names))}",
            )
    return policies


def policies_of_trace(trace: Trace) -> tuple[Policy, ...]:
    """What the trace was recorded with. That they looked at all nodes is part of how traces are recorded."""
    if trace.config is None:
        configuration = default_configuration()
    else:
        configuration = read_configuration(msgspec.json.encode(trace.config).decode(), f"{trace.name}: meta.config")
    return policies_of(configuration)


def _scheduler_of(pod: Pod) -> str:
    return pod.spec.scheduler_name or "default-scheduler"


def _gate(policy: Policy, pod: Pod) -> str:
    """Why a pod may not even be tried, or nothing."""
    for plugin in policy.pre_enqueue:
        pre_enqueue = getattr(plugin, "pre_enqueue", None)
        verdict = pre_enqueue(pod) if pre_enqueue is not None else None
        if verdict is not None and not verdict:
            return ", ".join(verdict.reasons)
    return ""
