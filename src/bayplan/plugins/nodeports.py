"""NodePorts: a port of a node goes to one pod at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import Verdicts, reject_where

if TYPE_CHECKING:
    from collections.abc import Collection

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import HostPort, PodClass

_REASON = "node(s) didn't have free ports for the requested pod ports"
_ANY = "0.0.0.0"  # noqa: S104 - a value of the API


@dataclass(frozen=True, slots=True)
class NodePorts:
    """Keep pods off nodes where a port that they need is taken."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> PortFiltering | None:
        """By the ports that the pod takes on its node."""
        return PortFiltering(pod.host_ports) if pod.host_ports else None


@dataclass(frozen=True, slots=True)
class PortFiltering:
    """For pods that take these ports."""

    wanted: tuple[HostPort, ...]
    reads = Reads.LOAD

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """No where one of them is taken. Few nodes have any taken, so those are looked at."""
        taken = nodes.cluster.pods.ports
        conflicts = [self._conflicts(taken.get(row, ())) for row in nodes.indices()]
        return reject_where(np.array(conflicts, dtype=np.bool_), _REASON)

    def _conflicts(self, taken: Collection[HostPort]) -> bool:
        return bool(taken) and any(_conflict(one, other) for one in self.wanted for other in taken)


def _conflict(one: HostPort, other: HostPort) -> bool:
    """The same port of the same protocol, on the same address or on all of them."""
    if one[1:] != other[1:]:
        return False
    return one[0] == other[0] or _ANY in {one[0], other[0]}
