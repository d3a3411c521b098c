"""All that is known of how one class of pods would fare on every node, ready for the next of them.

A plan brings the slots of its plugins together: which nodes are feasible, and what their points add up to. After a
placement one row has changed, and one row is worked out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayplan.columns.arrays import Bools, Ints, Rows
from bayplan.contract.scores import MOST_POINTS
from bayplan.engine.blame import blame, blaming
from bayplan.engine.journal import longer
from bayplan.engine.share import Share
from bayplan.engine.touched import Touched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.scores import Measure
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.room import RoomTable
    from bayplan.engine.slots import FilterSlot, ScoreSlot
    from bayplan.errors import PluginFailure

#: What an infeasible node ranks: below every sum of points.
INFEASIBLE = -1


class Plan:
    """One class of pods under one policy."""

    def __init__(
        self,
        pod_class: PodClass,
        cluster: Cluster,
        filters: list[FilterSlot],
        scores: list[tuple[ScoreSlot, int]],
        refusal: tuple[str, Verdict] | None = None,
        unscorable: PluginFailure | None = None,
    ) -> None:
        self.pod_class = pod_class
        self.filters = filters
        self.shares = [Share(slot, weight) for slot, weight in scores]
        self.feasible: Bools = np.zeros(0, dtype=np.bool_)
        #: How many nodes are feasible.
        self.count = 0
        #: The points of each row together; INFEASIBLE for those that are not feasible.
        self.ranking: NDArray[Any] = np.zeros(0, dtype=np.int64 if self._may_be_large() else np.int32)
        #: Who would have to make room on which node, once that has been asked.
        self.room: RoomTable | None = None
        self._cluster = cluster
        self._refusal = refusal
        #: Why nodes cannot be compared for these pods. It does not matter where there is nothing to compare.
        self._unscorable = unscorable
        self._refusing = [slot for slot in filters if hasattr(slot.filtering, "refusal")]
        self._narrowing = [slot for slot in filters if hasattr(slot.filtering, "only")]
        self._renewed = [-1] * len(filters)
        self._positions = [0] * len(filters)
        self._node_position = -1
        self._ranked_position = -1
        #: Those whose points may change though no node does.
        self._unsettled = self.shares
        self._moving = [(index, slot) for index, slot in enumerate(filters) if not slot.reads_nodes_alone]
        #: Rows to be filtered again.
        self._unfiltered = Touched(everything=True)
        #: Rows to be ranked again.
        self._unranked = Touched(everything=True)

    def _may_be_large(self) -> bool:
        """Whether points could add up to more than 32 bits hold; if not, half of the memory is enough."""
        return sum(MOST_POINTS * abs(share.weight) for share in self.shares) >= 2**31

    def refresh(self) -> None:
        """Bring the filters up to date."""
        unfiltered = self._unfiltered
        log = self._cluster.nodes.node_log
        nodes_changed = log.position != self._node_position
        for index, slot in enumerate(self.filters) if nodes_changed else self._moving:
            slot.refresh()
            if slot.renewed != self._renewed[index] or slot.log.position != self._positions[index]:
                slot.tell(unfiltered, self._renewed[index], self._positions[index])
                self._renewed[index], self._positions[index] = slot.renewed, slot.log.position
        if nodes_changed:
            unfiltered.add_since(log.since(self._node_position))
            self._node_position = log.position
        if unfiltered:
            self._refilter()

    def refusal(self) -> tuple[str, Verdict] | None:
        """The plugin that refuses these pods as such, with its verdict."""
        if self._refusal is not None:
            return self._refusal
        for slot in self._refusing:
            verdict = slot.filtering.refusal()  # type: ignore[attr-defined]
            if verdict is not None:
                return slot.name, verdict
        return None

    def narrowed(self) -> tuple[frozenset[str], tuple[str, ...]] | None:
        """The names of the nodes that alone can do, and the plugins that say so; None for all nodes."""
        names: frozenset[str] | None = None
        plugins: list[str] = []
        for slot in self._narrowing:
            only = slot.filtering.only()  # type: ignore[attr-defined]
            if only is not None:
                names = only if names is None else names & only
                plugins.append(slot.name)
        return None if names is None else (names, tuple(sorted(plugins)))

    def rank(self) -> None:
        """Bring the ranking up to date. Some node must be feasible."""
        if self._unscorable is not None:
            raise self._unscorable
        position = self._cluster.nodes.node_log.position
        nodes_changed = position != self._ranked_position
        self._ranked_position = position
        for share in self.shares if nodes_changed else self._unsettled:
            try:
                share.refresh(self.feasible, self._unranked)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                share.begin_anew()
                self._ranked_position = -1
                blame(share.slot.name, "scoring nodes", error)
        if nodes_changed:
            self._unsettled = [share for share in self.shares if not share.is_settled]
        size = len(self.feasible)
        if len(self.ranking) < size:
            self.ranking = longer(self.ranking, size)
        rows = self._unranked.take(size)
        if rows is None:
            return
        if isinstance(rows, slice) and rows.stop - rows.start == 1:
            row = rows.start
            self.ranking[row] = (
                sum(share.points_of(row) for share in self.shares) if self.feasible.item(row) else INFEASIBLE
            )
        else:
            self.ranking[rows] = self._ranked(rows)

    def rank_among(self, feasible: Bools) -> Ints:
        """The ranking as it would be if only these nodes were feasible; nothing is kept of it."""
        total: Ints = np.zeros(len(feasible), dtype=np.int64)
        for share in self.shares:
            with blaming(share.slot.name, "scoring nodes"):
                points = share.points_among(feasible)
            if points is not None:
                total += points
        return np.where(feasible, total, INFEASIBLE)

    def measures(self) -> tuple[Measure | None, ...]:
        """What each score was measured by, None for those that had nothing to say."""
        return tuple(share.measure for share in self.shares)

    def _refilter(self) -> None:
        size = self._cluster.nodes.size
        if len(self.feasible) < size:
            self.feasible = cast(Bools, longer(self.feasible, size))
        single = self._unfiltered.single
        if single is not None:
            self._unfiltered.take(size)
            self._refilter_one(single)
            return
        self._unranked.add_from(self._unfiltered)
        rows = self._unfiltered.take(size)
        assert rows is not None
        feasible = self._cluster.nodes.live[rows].copy()
        for slot in self.filters:
            feasible &= slot.codes[rows] == 0
        before = self.feasible[rows]
        self.count += int(np.count_nonzero(feasible)) - int(np.count_nonzero(before))
        self.feasible[rows] = feasible

    def _refilter_one(self, row: int) -> None:
        feasible = self._cluster.nodes.live.item(row) and not any(slot.codes.item(row) for slot in self.filters)
        if feasible != self.feasible.item(row):
            self.feasible[row] = feasible
            self.count += 1 if feasible else -1
            self._unranked.add((row,))

    def _ranked(self, rows: Rows) -> Ints:
        feasible = self.feasible[rows]
        common = sum(share.points for share in self.shares if isinstance(share.points, int))
        total: Ints = np.full(len(feasible), common, dtype=np.int64)
        for share in self.shares:
            if not isinstance(share.points, int):
                total += share.points[rows]
        if np.count_nonzero(feasible) == len(feasible):
            return total
        return np.where(feasible, total, INFEASIBLE)
