"""What one score adds to the ranking of nodes: its raw scores, normalised among the feasible, times its weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.contract.scores import AsTheyAre
from bayplan.engine.touched import Touched

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Ints
    from bayplan.contract.scores import Measure
    from bayplan.engine.slots import ScoreSlot


class Share:
    """The points of one score, by row."""

    __slots__ = (
        "_as_they_are",
        "_follows",
        "_position",
        "_renewed",
        "_scoring",
        "_skips",
        "measure",
        "points",
        "slot",
        "weight",
    )

    def __init__(self, slot: ScoreSlot, weight: int) -> None:
        self.slot = slot
        self.weight = weight
        #: Weighted; one number where all rows have the same.
        self.points: Ints | int = 0
        #: What the raw scores were measured by; None while the score has nothing to say.
        self.measure: Measure | None = None
        self._scoring: Any = slot.scoring
        self._as_they_are = isinstance(slot.normalizer, AsTheyAre)
        self._follows = hasattr(slot.scoring, "catch_up")
        self._skips = hasattr(slot.scoring, "has_say")
        self._renewed = -1
        self._position = 0

    @property
    def is_settled(self) -> bool:
        """Whether nothing but changes of nodes can change its points."""
        slot = self.slot
        return slot.reads_nodes_alone and self.measure is not None and (slot.uniform or self._as_they_are)

    def refresh(self, feasible: Bools, touched: Touched) -> None:
        """Bring the points up to date among these nodes, and note whose have changed."""
        slot = self.slot
        if not slot.among_feasible:
            slot.refresh()
            unchanged = slot.log.position == self._position and slot.renewed == self._renewed
            if unchanged and self.measure is not None and not self._skips and (slot.uniform or self._as_they_are):
                return  # whoever is feasible, the points are the same as before
            row = slot.only_row_since(self._renewed, self._position)
            if row is not None and self.points is slot.raw and not slot.uniform:
                self._position = slot.log.position
                touched.add((row,))
                return  # the points are shared with the slot, and one of them is new
        changed = self._take_in(feasible)
        if not self._has_say():
            if self.measure is not None:
                touched.add_all()
            self.points, self.measure = 0, None
            return
        before, self.measure = self.measure, self._measured(feasible)
        if self.slot.uniform:
            self._set_all_to(self.weight * int(self.slot.normalizer.apply(self.slot.raw[:1], self.measure)[0]), touched)
        elif self._as_they_are and self.weight == 1 and slot.raw.dtype == np.int64:
            # The raw scores are the points: they are shared with the slot, and so up to date already.
            if changed.everything or self.measure != before or self.points is not self.slot.raw:
                touched.add_all()
            touched.add_from(changed)
            self.points = self.slot.raw
        elif changed.everything or self.measure != before or isinstance(self.points, int):
            self._renew(touched)
        elif changed:
            self._update(changed, touched)

    def begin_anew(self) -> None:
        """Nothing is known of the points; the plugin failed."""
        self.points, self.measure, self._renewed = 0, None, -1

    def points_among(self, feasible: Bools) -> Ints | None:
        """What the points would be if only these nodes were feasible; None with nothing to say. Nothing is kept."""
        if self.measure is None:
            return None
        slot = self.slot
        raw = self._scoring.score_among(feasible) if slot.among_feasible else slot.raw
        return self.weight * slot.normalizer.apply(raw, slot.normalizer.measure(raw[feasible]))

    def points_of(self, row: int) -> int:
        """The points of one row."""
        return self.points if isinstance(self.points, int) else self.points.item(row)

    def _take_in(self, feasible: Bools) -> Touched:
        """The rows whose raw scores have changed; they are worked out here if they depend on who is feasible."""
        slot, changed = self.slot, Touched()
        if slot.among_feasible:
            if self._follows:
                self._scoring.catch_up()
            if self._has_say():
                slot.replace(self._scoring.score_among(feasible))
            changed.add_all()
            return changed
        if slot.renewed != self._renewed or slot.log.position != self._position:
            slot.tell(changed, self._renewed, self._position)
        self._renewed, self._position = slot.renewed, slot.log.position
        return changed

    def _measured(self, feasible: Bools) -> Measure:
        slot = self.slot
        if self._as_they_are:
            return ()
        if slot.uniform:
            return slot.normalizer.measure(slot.raw[:1])
        everywhere = np.count_nonzero(feasible) == len(feasible)
        return slot.normalizer.measure(slot.raw if everywhere else slot.raw[feasible])

    def _has_say(self) -> bool:
        return not self._skips or self._scoring.has_say()

    def _set_all_to(self, points: int, touched: Touched) -> None:
        if not isinstance(self.points, int) or self.points != points:
            self.points = points
            touched.add_all()

    def _renew(self, touched: Touched) -> None:
        assert self.measure is not None
        self.points = self.weight * self.slot.normalizer.apply(self.slot.raw, self.measure)
        touched.add_all()

    def _update(self, changed: Touched, touched: Touched) -> None:
        assert self.measure is not None
        assert not isinstance(self.points, int)
        raw = self.slot.raw
        if len(self.points) < len(raw):
            self.points = np.concatenate([self.points, np.zeros(len(raw) - len(self.points), dtype=np.int64)])
        touched.add_from(changed)
        row = changed.single
        if row is not None and self._as_they_are:
            self.points[row] = self.weight * raw.item(row)
            return
        rows = changed.take(len(raw))
        assert rows is not None
        self.points[rows] = self.weight * self.slot.normalizer.apply(raw[rows], self.measure)
