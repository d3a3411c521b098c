"""NodeUnschedulable: cordoned nodes take no pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import reject_where
from bayplan.objects.taints import Taint, is_tolerated

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.verdicts import Verdicts

_REASON = "node(s) were unschedulable"

#: What a cordoned node is taken to have, whether or not the taint has been written yet.
_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


@dataclass(frozen=True)
class NodeUnschedulable:
    """Refuse cordoned nodes, but not to pods that tolerate the taint that goes with it, as those of DaemonSets do."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> NotCordoned | None:
        """The same for all pods that do not tolerate it."""
        return None if is_tolerated(_CORDON, pod.spec.tolerations) else NotCordoned()


@dataclass(frozen=True, slots=True)
class NotCordoned:
    """Nodes that are open to pods."""

    @property
    def reads(self) -> Reads:
        """It is written in the node's spec."""
        return Reads.NODE

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """One look at a column."""
        return reject_where(nodes.table.unschedulable[nodes.rows], _REASON, resolvable=False)
