"""What a story comes to: why a node won, and which kinds of nodes would not do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.story import NodeStory, Page


@dataclass(frozen=True, slots=True)
class RejectedNodes:
    """Nodes that one plugin rejected for the same reasons."""

    plugin: str
    verdict: Verdict
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """How far a node was ahead of the best of the others."""

    winner: NodeStory
    #: None where no other node was compared with it.
    runner_up: NodeStory | None
    #: How many nodes had as many points as the winner, itself included.
    equals: int
    #: What each plugin gave the winner more than the runner-up, the largest difference first; those that gave both
    #: the same are left out.
    differences: tuple[tuple[str, int], ...]

    @property
    def points(self) -> int | None:
        """How many more points it has."""
        if self.runner_up is None or self.winner.total is None or self.runner_up.total is None:
            return None
        return self.winner.total - self.runner_up.total


def rejections(page: Page) -> tuple[RejectedNodes, ...]:
    """Who rejected which nodes and why, those that most nodes share first."""
    groups: dict[tuple[str, Verdict], list[str]] = {}
    for story in page.nodes:
        if story.rejected_by is not None:
            groups.setdefault((story.rejected_by, story.verdict), []).append(story.node)
    found = [RejectedNodes(plugin, verdict, tuple(nodes)) for (plugin, verdict), nodes in groups.items()]
    return tuple(sorted(found, key=lambda one: (-len(one.nodes), one.plugin, one.verdict.reasons)))


def lead(page: Page, node: str) -> Lead | None:
    """Why this node won, or would have; None where it was not feasible."""
    ranked = page.ranked
    winner = next((story for story in ranked if story.node == node), None)
    if winner is None:
        return None
    others = [story for story in ranked if story is not winner]
    equals = 1 + sum(story.total == winner.total for story in others)
    runner_up = others[0] if others and winner.points is not None else None
    return Lead(winner, runner_up, equals, _differences(winner, runner_up))


def _differences(winner: NodeStory, runner_up: NodeStory | None) -> tuple[tuple[str, int], ...]:
    if runner_up is None:
        return ()
    pairs = zip(winner.points or (), runner_up.points or (), strict=True)
    differences = [(ours.plugin, ours.weighted - theirs.weighted) for ours, theirs in pairs]
    return tuple(sorted((one for one in differences if one[1]), key=lambda one: -abs(one[1])))
