"""What one plugin says of all nodes for one kind of pods, kept, and asked again only of nodes that changed.

Classes of pods of which a plugin reads the same share a slot: all that tolerate the same taints, all that request the
same. `log` says which rows changed in a slot, for the plans that are made of it; `renewed` counts how often so many
did that a plan had better look at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from bayplan.columns.arrays import Ids, Ints, joined
from bayplan.columns.log import ChangeLog
from bayplan.columns.nodes import Nodes
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import YES
from bayplan.engine.blame import blame
from bayplan.engine.changes import Place
from bayplan.engine.journal import longer, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.contract.plugins import Filtering, Rooming, Scoring
    from bayplan.contract.verdicts import Meanings, Verdict, Verdicts
    from bayplan.engine.changes import Changes
    from bayplan.engine.journal import Journal
    from bayplan.engine.touched import Touched

#: When more rows than this change at once, plans look at all.
_FEW = 256


class _Slot:
    """Rows of numbers that follow the cluster."""

    def __init__(
        self, name: str, reader: Filtering | Scoring, cluster: Cluster, changes: Changes, journal: Journal
    ) -> None:
        #: The plugin's.
        self.name = name
        self._reads_load = Reads.LOAD in reader.reads
        #: Whether nothing but changes of nodes can change what it says.
        self.reads_nodes_alone = reader.reads == Reads.NODE
        self._catch_up: Callable[[], Rows | None] | None = getattr(reader, "catch_up", None)
        self._cluster = cluster
        self._changes = changes
        self._journal = journal
        self._place = Place()
        self.log: ChangeLog[int] = ChangeLog(keep=1024)
        self.renewed = 0
        #: The last rows that changed together, with the positions in the log before and after.
        self._together: tuple[int, int, NDArray[np.intp]] | None = None

    def only_row_since(self, renewed: int, position: int) -> int | None:
        """The row that has changed since somebody read up to here, if it is just one."""
        if self.renewed != renewed or self.log.position != position + 1:
            return None
        return self.log.last

    def tell(self, touched: Touched, renewed: int, position: int) -> None:
        """Tell somebody who has read up to here which rows have changed since."""
        together = self._together
        if self.renewed != renewed:
            touched.add_all()
        elif together is not None and together[:2] == (position, self.log.position):
            touched.add_array(together[2])
        else:
            touched.add_since(self.log.since(position))

    def _stale(self) -> Nodes | None:
        """The nodes to be asked again; from now on they count as asked."""
        place = self._changes.now()
        if self.reads_nodes_alone and self._place.nodes == place.nodes:
            self._place = place
            return None
        if self._catch_up is not None:
            try:
                rows = self._catch_up()
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                self._fail("following the cluster", error)
            first = self._place.nodes < 0
            before, self._place = self._place, place
            if first:
                return Nodes.every(self._cluster)
            if before.nodes != place.nodes:
                # Whatever it follows, a node that is new or has changed is to be looked at.
                changed = self._changes.since(before, loads=False)
                rows = joined(rows, None if changed is None else changed.rows)
            return None if rows is None else Nodes(self._cluster, rows)
        if self._place is place:
            return None
        if self._place.nodes < 0:
            self._place = place
            return Nodes.every(self._cluster)
        stale = self._changes.since(self._place, loads=self._reads_load)
        self._place = place
        return stale

    def _fail(self, doing: str, error: Exception) -> NoReturn:
        """What was to be asked again counted as asked: nothing does, until the plugin answers."""
        self._place = Place()
        blame(self.name, doing, error)

    def _overwrite_one(self, values: NDArray[Any], rows: slice, new: int) -> None:
        """Take a row's new value in, and tell of it if it is really new."""
        row = rows.start
        if values.item(row) != new:
            self._journal.note(self, rows, values[rows].copy())
            values[row] = new
            self.log.append(row)

    def _overwrite(self, values: NDArray[Any], nodes: Nodes, new: NDArray[Any]) -> None:
        """Take the new values in, and tell of those that are really new."""
        rows = nodes.rows
        if isinstance(rows, slice) and len(nodes) == 1:
            self._overwrite_one(values, rows, new.item(0))
            return
        old = values[rows]
        differs = old != new
        count = np.count_nonzero(differs)
        if not count:
            return
        if isinstance(rows, slice):
            where = np.flatnonzero(differs)
            where += rows.start
            old, new = old[differs], new[differs]
        elif 2 * count > len(differs):
            # That some are the same matters less than that all who read the same rows tell of the same ones.
            where = rows
        else:
            where, old, new = rows[differs], old[differs], new[differs]
        self._journal.note(self, where, old)
        values[where] = new
        if len(where) > _FEW:
            self.renewed += 1
        else:
            before = self.log.position
            self.log.extend(where.tolist())
            self._together = (before, self.log.position, where)


class FilterSlot(_Slot):
    """The verdicts of one filter."""

    def __init__(self, name: str, filtering: Filtering, cluster: Cluster, changes: Changes, journal: Journal) -> None:
        super().__init__(name, filtering, cluster, changes, journal)
        self.filtering = filtering
        self._one: Callable[[Nodes, int], int] | None = getattr(filtering, "filter_one", None)
        #: The filter once more, for those who ask whether it judges by room alone; None if it does not.
        self.rooming: Rooming | None = cast("Rooming", filtering) if hasattr(filtering, "needs") else None
        self._is_inert: Callable[[], bool] | None = getattr(filtering, "is_inert", None)
        self.codes: Ids = np.zeros(cluster.nodes.size, dtype=np.int32)
        self._meanings: Meanings = ()
        #: Used when the filter's numbers mean something else every time: numbers of our own, below zero, since those
        #: that the filter gave before are still in codes and in stories.
        self._own: dict[Verdict, int] | None = None
        self._renumbered: dict[int, Verdict] = {}

    def is_inert(self) -> bool:
        """Whether no coming or going of pods can change what it says now."""
        return self.reads_nodes_alone or (self._is_inert is not None and self._is_inert())

    def refresh(self) -> None:
        """Ask again where it is needed."""
        nodes = self._stale()
        size = self._cluster.nodes.size
        if len(self.codes) < size:
            self.codes = cast(Ids, longer(self.codes, size))
        if nodes is None or not len(nodes):
            return
        # Not `blaming`: this is done for every pod, and a `try` costs nothing until it is needed.
        try:
            if self._one is not None and isinstance(nodes.rows, slice) and len(nodes) == 1 and self._meanings != ():
                self._overwrite_one(self.codes, nodes.rows, self._one(nodes, nodes.rows.start))
            else:
                self._overwrite(self.codes, nodes, self._translated(self.filtering.filter_nodes(nodes)))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._fail("filtering nodes", error)

    def verdict(self, code: int) -> Verdict:
        """What a number in `codes` means."""
        return self._meanings[code] if code >= 0 else self._renumbered[code]

    def codes_as_of(self, number: int, size: int) -> Ids:
        """The codes as they were at a decision."""
        return self._journal.as_of(number, self, self.codes, size)

    def _translated(self, verdicts: Verdicts) -> Ids:
        if self._own is None:
            if self._meanings == ():
                self._meanings = verdicts.meanings
            if verdicts.meanings is self._meanings:
                return verdicts.codes
            self._own = {YES: 0}
        numbers = {int(code): self._number_of(verdicts.meanings[int(code)]) for code in np.unique(verdicts.codes)}
        return np.array([numbers[code] for code in verdicts.codes.tolist()], dtype=np.int32)

    def _number_of(self, verdict: Verdict) -> int:
        own = self._own
        assert own is not None
        number = own.get(verdict)
        if number is None:
            number = own[verdict] = -len(own)
            self._renumbered[number] = verdict
        return number


class ScoreSlot(_Slot):
    """The raw scores of one plugin."""

    def __init__(self, name: str, scoring: Scoring, cluster: Cluster, changes: Changes, journal: Journal) -> None:
        super().__init__(name, scoring, cluster, changes, journal)
        self.scoring = scoring
        self._one: Callable[[Nodes, int], int] | None = getattr(scoring, "score_one", None)
        self.normalizer = scoring.normalizer
        #: Whether it must be asked with the feasible nodes, for every pod anew.
        self.among_feasible = Reads.FEASIBLE in scoring.reads
        self.raw: NDArray[Any] = np.zeros(cluster.nodes.size, dtype=np.int64)
        #: Whether all rows have the same; then it does not matter which are feasible.
        self.uniform = False

    def refresh(self) -> None:
        """Ask again where it is needed."""
        nodes = self._stale()
        size = self._cluster.nodes.size
        if len(self.raw) < size:
            self.raw = longer(self.raw, size)
            # Whoever made points of them has fewer now than there are, even if no score is told of as changed.
            self.renewed += 1
        if nodes is None or not len(nodes):
            return
        try:
            if self._one is not None and isinstance(nodes.rows, slice) and len(nodes) == 1 and not self.uniform:
                self._overwrite_one(self.raw, nodes.rows, self._one(nodes, nodes.rows.start))
                return
            new = self.scoring.score_nodes(nodes)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._fail("scoring nodes", error)
        if new.dtype != self.raw.dtype:
            self.raw = self.raw.astype(np.float64)
        self._overwrite(self.raw, nodes, new)
        self._note_uniformity(nodes, new)

    def replace(self, raw: NDArray[Any]) -> None:
        """Take in the scores among the nodes that are feasible now."""
        size = self._cluster.nodes.size
        if len(self.raw) < size:
            self.raw = longer(self.raw, size)
        self._journal.note(self, whole(self.raw), self.raw)
        self.raw = raw
        self.renewed += 1

    def _note_uniformity(self, nodes: Nodes, new: NDArray[Any]) -> None:
        if len(nodes) == len(self.raw):
            self.uniform = bool((new == new[0]).all())
        elif self.uniform:
            # Among the unchanged rows there is one that has what all had.
            self.uniform = bool((new == new[0]).all()) and bool((self.raw == new[0]).all())

    def raw_as_of(self, number: int, size: int) -> Ints:
        """The scores as they were at a decision."""
        return self._journal.as_of(number, self, self.raw, size)
