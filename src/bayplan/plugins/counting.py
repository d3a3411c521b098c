"""Counting pods by topology domain, kept up with as pods come and go.

A `Tally` counts for one topology key: how much each row adds, which domain each row is in, and the sum for each domain.
What a pod adds is asked once for its group (its namespace and labels) and once for its affinity terms, not for each
pod. Pods that come and go are taken from the log; the rows of nodes that changed are moved to their new domains. So the
cost is that of what happened, not that of the cluster; only who falls behind the log counts anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.arrays import Ids, Ints, grown, joined
from bayplan.columns.labels import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bayplan.columns.affinity import Terms
    from bayplan.columns.arrays import Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Group, Placement

    #: What a pod adds to the tally of each key: key, weight, and how many matches that is.
    Weights = tuple[tuple[str, int, int], ...]

_MOST_KNOWN = 20_000


class Tally:
    """Weights by row and by domain of one topology key."""

    __slots__ = ("by_domain", "by_row", "domain", "labelled", "matches", "members")

    def __init__(self) -> None:
        self.by_row: Ints = np.zeros(0, dtype=np.int64)
        #: How many matches each row's weight is made of.
        self.matches: Ints = np.zeros(0, dtype=np.int64)
        #: The domain of each row, ABSENT for rows that do not count.
        self.domain: Ids = np.zeros(0, dtype=np.int32)
        self.by_domain: Ints = np.zeros(0, dtype=np.int64)
        #: How many rows each domain has.
        self.members: Ints = np.zeros(0, dtype=np.int64)
        #: How many matches there are on rows that are in a domain.
        self.labelled = 0

    def fit(self, rows: int, domains: int) -> None:
        """Make room."""
        if len(self.by_row) < rows:
            self.by_row, self.matches = grown(self.by_row, rows), grown(self.matches, rows)
            self.domain = grown(self.domain, rows, ABSENT)
        if len(self.by_domain) < domains:
            self.by_domain, self.members = grown(self.by_domain, domains), grown(self.members, domains)

    def add(self, row: int, weight: int, matches: int) -> int:
        """Count something in, or out with the signs turned. Returns the domain."""
        self.by_row[row] += weight
        self.matches[row] += matches
        domain = int(self.domain[row])
        if domain >= 0:
            self.by_domain[domain] += weight
            self.labelled += matches
        return domain

    def move(self, row: int, domain: int) -> None:
        """A row is in another domain now, or in none."""
        weight, matches, old = int(self.by_row[row]), int(self.matches[row]), int(self.domain[row])
        if old >= 0:
            self.by_domain[old] -= weight
            self.members[old] -= 1
            self.labelled -= matches
        if domain >= 0:
            self.by_domain[domain] += weight
            self.members[domain] += 1
            self.labelled += matches
        self.domain[row] = domain

    def clear(self) -> None:
        """Nothing is counted; the domains stay."""
        self.by_row[:] = 0
        self.matches[:] = 0
        self.by_domain[:] = 0
        self.labelled = 0


class Tallies:
    """A tally for each topology key that matters, following the cluster together."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        group: Callable[[Group], Weights] | None = None,
        terms: Callable[[Terms], Weights] | None = None,
        alive_only: bool = False,
        domains: Callable[[str, Rows], Ids] | None = None,
        keys: Iterable[str] = (),
    ) -> None:
        self._cluster = cluster
        self._group = group
        self._terms = terms
        self._alive_only = alive_only
        self._domains = domains or self._by_label
        self._of_group: dict[Group, Weights] = {}
        self._of_terms: dict[Terms, Weights] = {}
        # Who counts by terms alone need not hear of pods that have none.
        self._log = cluster.pods.log if group is not None else cluster.pods.terms_log
        self._pod_position = -1
        self._node_position = -1
        self._namespaces = -1
        self.by_key: dict[str, Tally] = {}
        for key in keys:
            self.tally(key)

    def tally(self, key: str) -> Tally:
        """The tally of a key, begun when it is asked for first."""
        tally = self.by_key.get(key)
        if tally is None:
            tally = self.by_key[key] = Tally()
            self._place_all(key, tally)
        return tally

    def catch_up(self) -> list[tuple[str, int]] | None:
        """Take in what has happened. Returns the domains whose sum changed, by key; None where all may have."""
        cluster = self._cluster
        if (
            self._pod_position == self._log.position
            and self._node_position == cluster.nodes.node_log.position
            and self._namespaces == cluster.namespaces.version
        ):
            return []
        everything = False
        if self._namespaces != cluster.namespaces.version:
            self._namespaces = cluster.namespaces.version
            self._of_group.clear()
            self._of_terms.clear()
            self._pod_position = -1
        for tally in self.by_key.values():
            tally.fit(cluster.nodes.size, 0)
        entries = self._log.since(self._pod_position) if self._pod_position >= 0 else None
        changed: list[tuple[str, int]] = []
        if entries is None:
            everything = True
            self._count_anew()
        else:
            self._take_in(entries, changed)
        self._pod_position = self._log.position
        if self._node_position != cluster.nodes.node_log.position:
            everything |= self._move_rows()
        return None if everything else changed

    def rows_in(self, changed: list[tuple[str, int]] | None) -> Rows | None:
        """The rows that are in domains that changed."""
        if not changed and changed is not None:
            return None
        size = self._cluster.nodes.size
        if changed is None:
            return slice(0, size)
        by_key: dict[str, set[int]] = {}
        for key, domain in changed:
            if domain >= 0:
                by_key.setdefault(key, set()).add(domain)
        rows: Rows | None = None
        for key, domains in by_key.items():
            rows = joined(rows, self._rows_of_domains(key, domains))
        return slice(0, size) if rows is not None and not isinstance(rows, slice) and 4 * len(rows) > size else rows

    def _rows_of_domains(self, key: str, domains: set[int]) -> Rows:
        ids = self._cluster.nodes.label_ids(key)
        if len(domains) == 1:
            return np.flatnonzero(ids == domains.pop())
        # One place more, and the last: it answers for rows without the label, whose number is -1.
        among = np.zeros(len(self.by_key[key].by_domain) + 1, dtype=np.bool_)
        among[list(domains)] = True
        return np.flatnonzero(among[ids])

    def _by_label(self, key: str, rows: Rows) -> Ids:
        return self._cluster.nodes.label_ids(key)[rows]

    def _place_all(self, key: str, tally: Tally) -> None:
        """Put every row into its domain."""
        size = self._cluster.nodes.size
        ids = self._domains(key, slice(0, size))
        column = self._cluster.nodes.label(key)
        tally.fit(size, len(column.values))
        tally.domain[:] = ids
        tally.members[:] = np.bincount(ids[ids >= 0], minlength=len(tally.members))

    def _move_rows(self) -> bool:
        """Put the rows of nodes that changed into their domains. Returns whether any moved."""
        table = self._cluster.nodes
        entries = table.node_log.since(self._node_position) if self._node_position >= 0 else None
        self._node_position = table.node_log.position
        rows = np.arange(table.size) if entries is None else np.unique(np.asarray(entries, dtype=np.intp))
        moved = False
        for key, tally in self.by_key.items():
            domains = self._domains(key, rows)
            tally.fit(table.size, len(table.label(key).values))
            for index in np.flatnonzero(tally.domain[rows] != domains).tolist():
                tally.move(int(rows[index]), int(domains[index]))
                moved = True
        return moved or entries is None

    def _take_in(self, entries: list[tuple[Placement, int]], changed: list[tuple[str, int]]) -> None:
        """Count pods in and out. Most are none that count, and must cost next to nothing."""
        of_group, of_terms = self._of_group, self._of_terms
        for placement, sign in entries:
            if self._group is not None:
                weights = of_group.get(placement.group)
                if weights is None:
                    weights = self._weights_of_group(placement.group)
                if weights and not (self._alive_only and placement.pod.is_terminating):
                    self._add(weights, placement.row, sign, changed)
            if self._terms is not None and placement.terms is not None:
                weights = of_terms.get(placement.terms)
                if weights is None:
                    weights = self._weights_of_terms(placement.terms)
                if weights:
                    self._add(weights, placement.row, sign, changed)

    def _add(self, weights: Weights, row: int, sign: int, changed: list[tuple[str, int]]) -> None:
        for key, weight, matches in weights:
            changed.append((key, self.tally(key).add(row, sign * weight, sign * matches)))

    def _count_anew(self) -> None:
        for tally in self.by_key.values():
            tally.clear()
        pods = self._cluster.pods
        for group in pods.groups() if self._group is not None else ():
            weights = self._weights_of_group(group)
            if weights:
                self._add_rows(weights, group.alive if self._alive_only else group.rows)
        for terms, rows in pods.terms.items() if self._terms is not None else ():
            weights = self._weights_of_terms(terms)
            if weights:
                self._add_rows(weights, rows)

    def _add_rows(self, weights: Weights, rows: dict[int, int]) -> None:
        for key, weight, matches in weights:
            tally = self.tally(key)
            for row, count in rows.items():
                tally.add(row, count * weight, count * matches)

    def _weights_of_group(self, group: Group) -> Weights:
        weights = self._of_group.get(group)
        if weights is None:
            assert self._group is not None
            if len(self._of_group) > _MOST_KNOWN:
                self._of_group.clear()
            weights = self._of_group[group] = self._group(group)
        return weights

    def _weights_of_terms(self, terms: Terms) -> Weights:
        weights = self._of_terms.get(terms)
        if weights is None:
            assert self._terms is not None
            if len(self._of_terms) > _MOST_KNOWN:
                self._of_terms.clear()
            weights = self._of_terms[terms] = self._terms(terms)
        return weights


def grouped(pairs: Iterable[tuple[str, int]]) -> Weights:
    """Weights of matches, added up by key."""
    totals: dict[str, list[int]] = {}
    for key, weight in pairs:
        total = totals.setdefault(key, [0, 0])
        total[0] += weight
        total[1] += 1
    return tuple((key, weight, matches) for key, (weight, matches) in totals.items())
