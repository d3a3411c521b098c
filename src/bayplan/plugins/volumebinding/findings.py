"""What was found for some claims, kept: searched again only where a node changed, or everywhere when the plan did."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from bayplan.columns.arrays import Ids, Ints, Rows, grown, rows_of
from bayplan.columns.log import ChangeLog
from bayplan.columns.nodes import Nodes
from bayplan.contract.plugins import Reads
from bayplan.contract.scores import AsTheyAre
from bayplan.contract.verdicts import Verdict, Verdicts
from bayplan.errors import ValidationError
from bayplan.plugins.storage.migration import moved_kind
from bayplan.plugins.volumebinding.plan import Plan, make_plan
from bayplan.plugins.volumebinding.scoring import points
from bayplan.plugins.volumebinding.search import MEANINGS, search

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.contract.scores import Normalizer
    from bayplan.plugins.storage.claims import Claims
    from bayplan.plugins.volumebinding.scoring import Shape


class Findings:
    """Verdicts and points for the pods that have these claims."""

    def __init__(self, claims: Claims, shape: Shape, cluster: Cluster) -> None:
        self.cluster = cluster
        self.plan = Plan()
        self.codes: Ids = np.zeros(0, dtype=np.int32)
        self.points: Ints = np.zeros(0, dtype=np.int64)
        #: By code: those of the search, then refusals.
        self.meanings = list(MEANINGS)
        #: Rows that were searched again.
        self.log: ChangeLog[int] = ChangeLog(keep=1024)
        #: How often all were.
        self.renewed = 0
        self._claims = claims
        self._shape = shape
        self._versions: tuple[int, ...] = ()
        self._csi_nodes = -1
        self._position = 0

    def follow(self) -> None:
        """Take in what has happened since."""
        table = self.cluster.nodes
        everywhere = self._plan_again()
        position, self._position = self._position, table.node_log.position
        rows = None if everywhere else table.node_log.since(position)
        if rows is None or len(rows) > table.size:
            self._search(slice(0, table.size))
            self.renewed += 1
        elif rows:
            changed = rows_of(rows)
            assert changed is not None
            self._search(changed)
            for row in rows:
                self.log.append(row)

    def refusal(self) -> Verdict | None:
        """Why no node will do. What kube-scheduler gives up over is an error here too."""
        if self.plan.problem:
            raise ValidationError(self.plan.problem)
        return self.plan.refusal

    def _plan_again(self) -> bool:
        """Whether what was found is worth nothing any more."""
        cluster = self.cluster
        stores = (cluster.claims, cluster.volumes, cluster.storage_classes, cluster.csi_drivers, cluster.capacities)
        versions = tuple(store.version for store in stores)
        changed = not self._versions
        if versions != self._versions:
            before, self.plan = self.plan, make_plan(self._claims, cluster)
            changed = changed or self.plan != before
            self._versions = versions
        if cluster.csi_nodes.version != self._csi_nodes:
            self._csi_nodes = cluster.csi_nodes.version
            changed = changed or any(one is not None and moved_kind(one.spec) is not None for one in self.plan.bound)
        return changed

    def _search(self, rows: Rows) -> None:
        """Search these rows. What fails over data that breaks the rules is tried again, and all rows with it."""
        versions, self._versions = self._versions, ()
        size = self.cluster.nodes.size
        if len(self.codes) < size:
            self.codes, self.points = grown(self.codes, 2 * size), grown(self.points, 2 * size)
        if self.plan.rejection is not None:
            self.codes[rows], self.points[rows] = self._code_of(self.plan.rejection), 0
        else:
            found = search(self.plan, Nodes(self.cluster, rows))
            self.codes[rows] = found.codes
            self.points[rows] = points(found, self._shape)
        self._versions = versions

    def _code_of(self, verdict: Verdict) -> int:
        if verdict not in self.meanings:
            self.meanings.append(verdict)
        return self.meanings.index(verdict)


class _Reader:
    """One of the two that read findings, each at its own pace. Those of the same findings are the same."""

    reads = Reads.NODE | Reads.CLUSTER

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._renewed = -1
        self._position = 0

    def __hash__(self) -> int:
        return hash((type(self), id(self._findings)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._findings is self._findings

    def catch_up(self) -> Rows | None:
        """The rows that were searched again since it was asked last."""
        findings = self._findings
        findings.follow()
        renewed, self._renewed = self._renewed, findings.renewed
        position, self._position = self._position, findings.log.position
        rows = findings.log.since(position) if renewed == findings.renewed else None
        return slice(0, findings.cluster.nodes.size) if rows is None else rows_of(rows)


class VolumesFound(_Reader):
    """Where the claims work out."""

    def refusal(self) -> Verdict | None:
        """A claim that is not there, or that somebody else has to bind first."""
        return self._findings.refusal()

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """What was found."""
        return Verdicts(self._findings.codes[nodes.rows], self._findings.meanings)


class RoomLeft(_Reader):
    """How much room the volumes leave."""

    @property
    def normalizer(self) -> Normalizer:
        """They are points."""
        return AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """What was found."""
        return self._findings.points[nodes.rows]


class NoClaims:
    """For pods without claims: nothing on every node, which kube-scheduler lists all the same."""

    reads = Reads.NODE

    @property
    def normalizer(self) -> Normalizer:
        """They are points."""
        return AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """No points."""
        return nodes.zeros()


NO_CLAIMS = NoClaims()


def findings_for(claims: Claims, shape: Shape, cluster: Cluster) -> Findings:
    """The findings for these claims: the same for a filter and a score, as long as one of them reads it."""
    known = cluster.shared(_known)
    found = known.get((claims, shape))
    if found is None:
        found = known[claims, shape] = Findings(claims, shape, cluster)
    return found


def _known(_: Cluster) -> WeakValueDictionary[tuple[Claims, Shape], Findings]:
    return WeakValueDictionary()
