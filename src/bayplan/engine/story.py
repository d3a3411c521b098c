"""The story of a pod: who rejected which nodes and why, who gave which points, what was chosen and why it won.

A story costs next to nothing until it is read. It points at the plan that the decision was made with, and reading it
undoes, on copies, what has changed in the plan since (`journal`). Of a decision that is too long ago only the outcome
is left.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from bayplan.contract.verdicts import YES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.contract.scores import Measure
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.journal import Journal
    from bayplan.engine.plan import Plan
    from bayplan.engine.rejection import Rejection
    from bayplan.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class Points:
    """What one plugin gave one node."""

    plugin: str
    weight: int
    #: As the plugin said it.
    raw: float
    #: From 0 to 100, in relation to the other feasible nodes.
    normalized: int

    @property
    def weighted(self) -> int:
        """What was added up."""
        return self.weight * self.normalized


@dataclass(frozen=True, slots=True)
class NodeStory:
    """How one node fared."""

    node: str
    #: The first plugin that rejected it, with its verdict; none where the node was feasible.
    rejected_by: str | None
    verdict: Verdict
    #: None where nothing was scored: there was no feasible node, or only one.
    points: tuple[Points, ...] | None

    @property
    def total(self) -> int | None:
        """All points together."""
        return None if self.points is None else sum(points.weighted for points in self.points)


@dataclass(frozen=True, slots=True)
class Page:
    """A story, read."""

    nodes: tuple[NodeStory, ...]

    def of(self, node: str) -> NodeStory | None:
        """How this node fared."""
        return next((story for story in self.nodes if story.node == node), None)

    @property
    def ranked(self) -> tuple[NodeStory, ...]:
        """The feasible nodes, the best first."""
        feasible = [story for story in self.nodes if story.rejected_by is None]
        return tuple(sorted(feasible, key=lambda story: -(story.total or 0)))


class Story:
    """A decision, to be read later."""

    __slots__ = (
        "_count",
        "_journal",
        "_measures",
        "_names",
        "_overridden",
        "_plan",
        "node",
        "number",
        "pod",
        "rejection",
    )

    def __init__(
        self,
        pod: Pod,
        node: str | None,
        plan: Plan,
        journal: Journal,
        names: list[str],
        overridden: Mapping[int, tuple[str, Verdict]],
        rejection: Rejection | None,
        *,
        scored: bool,
    ) -> None:
        self.pod = pod
        #: The node that was chosen.
        self.node = node
        #: Which decision it was.
        self.number = journal.now
        #: Why there was none.
        self.rejection = rejection
        # Not to keep a plan that the engine has let go: then the details are gone with it.
        self._plan = ref(plan)
        self._journal = journal
        self._names = names
        self._count = len(names)
        self._overridden = overridden
        self._measures: tuple[Measure | None, ...] | None = plan.measures() if scored else None

    def read(self) -> Page | None:
        """The details, or None where they are gone."""
        plan = self._plan()
        if plan is None or not self._journal.remembers(self.number):
            return None
        number, size = self.number, self._count
        names = self._journal.as_of(number, NAMES, np.array(self._names, dtype=object), size)
        rejected_by: list[str | None] = [None] * size
        verdicts = [YES] * size
        for row, (plugin, verdict) in self._overridden.items():
            rejected_by[row], verdicts[row] = plugin, verdict
        for slot in plan.filters:
            codes = slot.codes_as_of(number, size)
            for row in np.flatnonzero(codes).tolist():
                if rejected_by[row] is None:
                    rejected_by[row], verdicts[row] = slot.name, slot.verdict(int(codes[row]))
        points = self._points(plan, number, size)
        return Page(
            tuple(
                NodeStory(
                    names[row],
                    rejected_by[row],
                    verdicts[row],
                    None if points is None or rejected_by[row] is not None else tuple(each[row] for each in points),
                )
                for row in range(size)
                if names[row]
            )
        )

    def _points(self, plan: Plan, number: int, size: int) -> list[list[Points]] | None:
        if self._measures is None:
            return None
        columns = []
        for share, measure in zip(plan.shares, self._measures, strict=True):
            if measure is None:
                continue
            slot = share.slot
            raw = slot.raw_as_of(number, size)
            normalized = slot.normalizer.apply(raw, measure)
            columns.append(
                [
                    Points(slot.name, share.weight, one, points)
                    for one, points in zip(raw.tolist(), normalized.tolist(), strict=True)
                ]
            )
        return columns


#: Whose numbers the names of rows are, in the journal.
NAMES = object()


class Stories:
    """The last stories, by pod."""

    __slots__ = ("_by_pod", "_order")

    def __init__(self, keep: int = 4096) -> None:
        self._order: deque[Story] = deque(maxlen=keep)
        self._by_pod: dict[str, Story] = {}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, story: Story) -> None:
        """Keep a story, and let the oldest go when there are too many."""
        order = self._order
        if len(order) == order.maxlen:
            oldest = order[0]
            key = oldest.pod.metadata.key
            if self._by_pod.get(key) is oldest:
                del self._by_pod[key]
        order.append(story)
        self._by_pod[story.pod.metadata.key] = story

    def of(self, key: str) -> Story | None:
        """The last story of a pod, by its namespace and name."""
        return self._by_pod.get(key)
