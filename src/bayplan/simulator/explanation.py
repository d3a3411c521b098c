"""Why a pod of a trace went where it went, or nowhere: played up to it, and told as data."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayplan.contract.verdicts import Kind
from bayplan.engine.account import lead, rejections
from bayplan.errors import UsageError
from bayplan.objects.pod import Pod
from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import Decided

if TYPE_CHECKING:
    from bayplan.engine.account import Lead, RejectedNodes
    from bayplan.engine.engine import Decision
    from bayplan.engine.story import NodeStory, Page
    from bayplan.simulator.traces import Trace


@dataclass(frozen=True, slots=True)
class Attempt:
    """One look at a pod. There are two where others had to make room for it."""

    decision: Decision
    page: Page

    @property
    def message(self) -> str:
        """What is told of a pod without a node, without what preemption adds to it."""
        rejection = self.decision.rejection
        return self.decision.message if rejection is None or not rejection.nodes else rejection.message()

    @property
    def said(self) -> str:
        """What came of trying to make room."""
        return self.decision.message.removeprefix(self.message).strip()

    @property
    def refusal(self) -> tuple[str, tuple[str, ...]] | None:
        """The plugin that refused the pod as such, so that no node was looked at, and its reasons."""
        rejection = self.decision.rejection
        if rejection is None or rejection.refusal is None:
            return None
        return rejection.refusal[0], rejection.refusal[1].reasons

    @property
    def ranked(self) -> tuple[NodeStory, ...]:
        """The feasible nodes, the best first."""
        return () if self.refusal else self.page.ranked

    @property
    def rejections(self) -> tuple[RejectedNodes, ...]:
        """Who rejected which nodes, and why."""
        return () if self.refusal else rejections(self.page)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything there is to say of one pod."""

    trace: str
    index: int
    #: What was recorded.
    step: Decided
    #: Ours; none for a pod that was not tried.
    attempts: tuple[Attempt, ...]
    #: Where the two differ.
    disagreements: tuple[dict[str, Any], ...]

    @property
    def node(self) -> str | None:
        """The node that the pod goes to: of several equally good ones, that which kube-scheduler drew."""
        if not self.attempts:
            return None
        ours = self.attempts[-1].decision.node
        return self.step.node if ours is not None and self._is_as_good(self.step.node, ours) else ours

    @property
    def lead(self) -> Lead | None:
        """Why it won."""
        return lead(self.attempts[-1].page, self.node) if self.node else None

    def _is_as_good(self, theirs: str | None, ours: str) -> bool:
        page = self.attempts[-1].page
        one, other = page.of(theirs or ""), page.of(ours)
        return one is not None and other is not None and one.rejected_by is None and one.total == other.total

    def data(self) -> dict[str, Any]:
        """For programs."""
        step = self.step
        return {
            "trace": self.trace,
            "step": self.index,
            "pod": step.pod.metadata.key,
            "outcome": _outcome(self),
            "node": self.node,
            "recorded": {"outcome": step.outcome, "node": step.node, "message": step.message or None},
            "lead": _lead_data(self.lead),
            "attempts": [_attempt_data(attempt) for attempt in self.attempts],
            "disagreements": list(self.disagreements),
        }


def explain(trace: Trace, key: str) -> Explanation:
    """Play a trace up to the last decision on a pod."""
    index = _find(trace, key)
    replay = Replay(trace)
    for number in range(index):
        replay.step(number, trace.steps[number])
    attempts: list[Attempt] = []
    replay.on_decision = lambda decision: attempts.append(_attempt(decision))
    step = trace.steps[index]
    assert isinstance(step, Decided)
    replay.step(index, step)
    disagreements = tuple(one for one in replay.agreement.disagreements if one["step"] == index)
    return Explanation(trace.name, index, step, tuple(attempts), disagreements)


def pods_of(trace: Trace) -> list[str]:
    """The pods that are decided in a trace."""
    return list(dict.fromkeys(step.pod.metadata.key for step in trace.steps if isinstance(step, Decided)))


def _find(trace: Trace, key: str) -> int:
    found = [
        index for index, step in enumerate(trace.steps) if isinstance(step, Decided) and step.pod.metadata.key == key
    ]
    if found:
        return found[-1]
    for one in trace.objects:
        if isinstance(one, Pod) and one.metadata.key == key:
            raise UsageError(
                f"{trace.name}: pod {key} ran on {one.spec.node_name} before the first step, and nothing tells why",
                remedy="ask for a pod that came later",
            )
    raise UsageError(f"{trace.name} has no pod {key}", remedy=_suggestion(key, pods_of(trace)))


def _suggestion(key: str, known: list[str]) -> str:
    """The same name in another namespace, or names that are written nearly the same."""
    name = key.rpartition("/")[2]
    names = {one.rpartition("/")[2] for one in known}
    wanted = {name} & names or set(difflib.get_close_matches(name, names))
    near = [one for one in known if one.rpartition("/")[2] in wanted]
    return f"did you mean {' or '.join(near[:3])}?" if near else "give it as NAMESPACE/NAME"


def _attempt(decision: Decision) -> Attempt:
    page = decision.story.read()
    assert page is not None
    return Attempt(decision, page)


def _outcome(explanation: Explanation) -> str:
    if not explanation.attempts:
        return explanation.step.outcome
    return "bound" if explanation.node else "unschedulable"


def _lead_data(one: Lead | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "total": one.winner.total,
        "runner_up": one.runner_up and {"node": one.runner_up.node, "total": one.runner_up.total},
        "points": one.points,
        "equals": one.equals,
        "differences": dict(one.differences),
    }


def _attempt_data(attempt: Attempt) -> dict[str, Any]:
    decision = attempt.decision
    refusal, preemption = attempt.refusal, decision.preemption
    return {
        "node": decision.node,
        "message": decision.message or None,
        "refused_by": refusal and {"plugin": refusal[0], "reasons": list(refusal[1])},
        "preemption": preemption
        and {
            "node": preemption.node,
            "victims": [pod.metadata.key for pod in preemption.victims],
            "violations": preemption.violations,
        },
        "preemption_said": attempt.said or None,
        "feasible": [_node_data(story) for story in attempt.ranked],
        "rejected": [_rejection_data(one) for one in attempt.rejections],
    }


def _node_data(story: NodeStory) -> dict[str, Any]:
    points = [
        {
            "plugin": one.plugin,
            "weight": one.weight,
            "raw": one.raw,
            "normalized": one.normalized,
            "points": one.weighted,
        }
        for one in story.points or ()
    ]
    return {"node": story.node, "total": story.total, "points": points}


def _rejection_data(one: RejectedNodes) -> dict[str, Any]:
    return {
        "plugin": one.plugin,
        "reasons": list(one.verdict.reasons),
        "preemption_may_help": one.verdict.kind is Kind.UNSCHEDULABLE,
        "count": len(one.nodes),
        "nodes": list(one.nodes),
    }
