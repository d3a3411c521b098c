"""NodeName: a pod that names its node goes to no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import reject_where

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.verdicts import Verdicts

_REASON = "node(s) didn't match the requested node name"


@dataclass(frozen=True)
class NodeName:
    """Refuse all nodes but the one in the pod's spec."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> OnlyThatNode | None:
        """Nothing for pods that name no node, as nearly all that are yet to be placed."""
        name = pod.spec.node_name
        return OnlyThatNode(name) if name else None


@dataclass(frozen=True, slots=True)
class OnlyThatNode:
    """The node of this name, whether it is there or not."""

    name: str

    @property
    def reads(self) -> Reads:
        """A node's name is its own."""
        return Reads.NODE

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """No to all rows but one."""
        row = nodes.table.row_of.get(self.name, -1)
        others = np.asarray(np.arange(nodes.table.size)[nodes.rows] != row)
        return reject_where(others, _REASON, resolvable=False)

    def only(self) -> frozenset[str]:
        """Just the one."""
        return frozenset({self.name})
