"""A plugin, asked plainly: nothing is kept, and each form that it has can be asked for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.columns.nodes import Node, Nodes
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import YES, Verdict
from bayplan.engine.lifting import filters, prepare_filter, prepare_score, scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.columns.arrays import Bools
    from bayplan.columns.cluster import Cluster
    from bayplan.objects.pod import Pod

#: By the name of the node.
SaidOf = dict[str, Verdict]
Scored = dict[str, float]


class Asking:
    """One plugin and the pods of one class, on a cluster as it is now."""

    def __init__(self, plugin: Any, pod: Pod, cluster: Cluster) -> None:
        self.plugin, self.pod, self.cluster = plugin, pod, cluster
        pod_class = cluster.classes.class_of(pod)
        prepared: Any = prepare_filter(plugin, pod_class, cluster) if filters(plugin) else None
        self.filtering: Any = None if isinstance(prepared, Verdict) else prepared
        self.scoring: Any = prepare_score(plugin, pod_class, cluster) if scores(plugin) else None
        one: Any
        for one in (self.filtering, self.scoring):
            if hasattr(one, "catch_up"):
                one.catch_up()
        #: Why the pod is refused as such, whatever the node.
        self.refusal = prepared if isinstance(prepared, Verdict) else self._refusal()

    def every_row(self) -> list[Nodes]:
        """The rows with nodes, each alone."""
        rows = sorted(self.cluster.nodes.row_of.values())
        return [Nodes(self.cluster, slice(row, row + 1)) for row in rows]

    def together(self) -> list[Nodes]:
        """All rows at once."""
        return [Nodes.every(self.cluster)]

    def apart(self) -> list[Nodes]:
        """The rows with nodes at once, as an array of their numbers."""
        return [Nodes(self.cluster, np.array(sorted(self.cluster.nodes.row_of.values()), dtype=np.intp))]

    def verdicts(self, groups: Iterable[Nodes]) -> SaidOf:
        """What the filter says of these nodes; yes to all if it has nothing to say."""
        said: SaidOf = {}
        for nodes in groups:
            verdicts = None if self.filtering is None else self.filtering.filter_nodes(nodes)
            assert verdicts is None or len(verdicts) == len(nodes), "as many verdicts as nodes"
            for index, row in enumerate(nodes.indices()):
                if self.cluster.nodes.nodes[row] is not None:
                    said[self.cluster.nodes.name(row)] = YES if verdicts is None else verdicts[index]
        return said

    def verdicts_one_by_one(self) -> SaidOf | None:
        """What the shortcut for a single row says; None if there is none."""
        filtering = self.filtering
        if not hasattr(filtering, "filter_one"):
            return None
        meanings = filtering.filter_nodes(Nodes.every(self.cluster)).meanings
        return {
            self.cluster.nodes.name(nodes.rows.start): meanings[filtering.filter_one(nodes, nodes.rows.start)]
            for nodes in self.every_row()
            if isinstance(nodes.rows, slice)
        }

    def verdicts_of_scalar(self) -> SaidOf | None:
        """What the scalar form says where there is a vectorised one too; None if not."""
        if not (hasattr(self.plugin, "filter") and hasattr(self.plugin, "filter_nodes")):
            return None
        return {node.name: self.plugin.filter(self.pod, node) for node in self._nodes()}

    def scores(self, groups: Iterable[Nodes]) -> Scored:
        """What the score says of these nodes; nothing if it has nothing to say."""
        scoring = self.scoring
        if not self._has_say():
            return {}
        scored: Scored = {}
        for nodes in groups:
            said = scoring.score_nodes(nodes)
            assert len(said) == len(nodes), "as many scores as nodes"
            for index, row in enumerate(nodes.indices()):
                if self.cluster.nodes.nodes[row] is not None:
                    scored[self.cluster.nodes.name(row)] = said[index].item()
        return scored

    def scores_one_by_one(self) -> Scored | None:
        """What the shortcut for a single row says; None if there is none."""
        scoring = self.scoring
        if not hasattr(scoring, "score_one"):
            return None
        return {
            self.cluster.nodes.name(nodes.rows.start): scoring.score_one(nodes, nodes.rows.start)
            for nodes in self.every_row()
            if isinstance(nodes.rows, slice)
        }

    def scores_of_scalar(self) -> Scored | None:
        """What the scalar form says where there is a vectorised one too; None if not."""
        if not (hasattr(self.plugin, "score") and hasattr(self.plugin, "score_nodes")):
            return None
        return {node.name: self.plugin.score(self.pod, node) for node in self._nodes()}

    def raw_among(self, feasible: Bools) -> Any:
        """The scores of all rows where these are feasible; None if it has nothing to say."""
        scoring = self.scoring
        if not self._has_say():
            return None
        if Reads.FEASIBLE in scoring.reads:
            return scoring.score_among(feasible)
        return scoring.score_nodes(Nodes.every(self.cluster))

    def points_among(self, feasible: Bools) -> dict[str, int]:
        """The points of the feasible rows, in relation to one another."""
        raw = self.raw_among(feasible)
        if raw is None or not feasible.any():
            return {}
        normalizer = self.scoring.normalizer
        points = normalizer.apply(raw, normalizer.measure(raw[feasible]))
        return {self.cluster.nodes.name(row): int(points[row]) for row in np.flatnonzero(feasible).tolist()}

    def _refusal(self) -> Verdict | None:
        refusal: Verdict | None = self.filtering.refusal() if hasattr(self.filtering, "refusal") else None
        return refusal

    def _has_say(self) -> bool:
        return self.scoring is not None and (not hasattr(self.scoring, "has_say") or self.scoring.has_say())

    def _nodes(self) -> Iterable[Node]:
        return (Node(self.cluster, row) for row in self.cluster.nodes.row_of.values())
