"""What an engine says after any history, against what one says that has just been made.

All that is kept between decisions is a shortcut to something plain. Here the plain way is gone as well, and all that
shows of a decision is compared: who may, what each plugin said and gave, who is best, who would have to go, the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.engine.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.columns.cluster import Cluster
    from bayplan.engine.engine import Decision
    from bayplan.engine.story import NodeStory, Page
    from bayplan.objects.pod import Pod

Shown = dict[str, Any]


def assert_as_anew(engine: Engine, pod: Pod) -> Decision:
    """Decide for a pod, and hold the decision to that of an engine made anew on the same cluster."""
    decision = engine.decide(pod)
    anew = Engine(engine.cluster, tuple(engine.policies.values()))
    expected = anew.decide(pod)
    assert shown(engine, decision) == shown(anew, expected)
    assert decision.node == expected.node
    assert ranking(engine, pod) == ranking(anew, pod)
    return decision


def assert_as_elsewhere(engine: Engine, decision: Decision, other: Cluster) -> None:
    """Hold a decision to that of an engine on another cluster with the same objects, which came in another order."""
    anew = Engine(other, tuple(engine.policies.values()))
    expected = shown(anew, anew.decide(decision.pod))
    said = shown(engine, decision)
    # Which of several equal victims goes depends on the order in which they came.
    said.pop("candidates")
    expected.pop("candidates")
    assert said == expected


def shown(engine: Engine, decision: Decision) -> Shown:
    """All of a decision that does not depend on which of several equals is taken."""
    page = decision.story.read()
    rejection = decision.rejection
    return {
        "nodes": None if page is None else by_node(page),
        "feasible": decision.feasible,
        "refused": None if rejection is None else rejection.message(),
        "candidates": _candidates(engine, decision),
        "message": decision.message if decision.preemption is None else "",
    }


def by_node(page: Page) -> Mapping[str, NodeStory]:
    """How each node fared."""
    return {story.node: story for story in page.nodes}


def ranking(engine: Engine, pod: Pod) -> list[int]:
    """What each row comes to, -1 for those that are not feasible."""
    plan = engine.plan(pod)
    plan.refresh()
    if not plan.count:
        return []
    plan.rank()
    assert plan.count == plan.feasible.sum()
    found: list[int] = plan.ranking.tolist()
    return found


def _candidates(engine: Engine, decision: Decision) -> list[tuple[str, list[str], int]] | None:
    """Who would have to go from where; None where nobody was looked for."""
    if decision.rejection is None or decision.rejection.refusal is not None:
        return None
    found = engine.preempting(decision.pod).candidates(decision.rejection)
    listed = sorted(
        (engine.cluster.nodes.name(one.row), [victim.pod.metadata.key for victim in one.victims], one.violations)
        for one in found
    )
    if decision.preemption is not None:
        chosen = decision.preemption
        victims = [pod.metadata.key for pod in chosen.victims]
        assert (chosen.node, victims, chosen.violations) in listed
        best = min(one.cost for one in found)
        assert any(one.cost == best and engine.cluster.nodes.name(one.row) == chosen.node for one in found)
    return listed
