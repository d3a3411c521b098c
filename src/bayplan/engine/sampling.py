"""Looking for feasible nodes among a part of them only, as kube-scheduler does in large clusters.

Here it saves nothing, all nodes are known anyway. It is done where a configuration asks for it, because it is also a
policy: pods go round the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools
    from bayplan.columns.table import NodeTable

#: Fewer feasible nodes than this are never enough.
_AT_LEAST = 100
_AT_LEAST_PERCENT = 5
_ALL = 100


class Sampling:
    """Where to begin looking, going on from where it ended the last time."""

    __slots__ = ("_begin",)

    def __init__(self) -> None:
        self._begin = 0

    def sample(self, feasible: Bools, nodes: NodeTable, percentage: int | None) -> Bools:
        """The first feasible nodes, as many as are wanted."""
        wanted = enough(nodes.count, percentage)
        rows = np.flatnonzero(feasible)
        if wanted >= nodes.count or not len(rows):
            return feasible
        begin = int(np.searchsorted(rows, self._begin % max(len(feasible), 1)))
        chosen = np.roll(rows, -begin)[:wanted]
        self._begin = int(chosen[-1]) + 1
        sampled = np.zeros_like(feasible)
        sampled[chosen] = True
        return sampled


def enough(nodes: int, percentage: int | None) -> int:
    """How many feasible nodes are enough; 0 percent leaves it to the size of the cluster, None wants all."""
    if percentage is None or percentage >= _ALL or nodes < _AT_LEAST:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, _AT_LEAST_PERCENT)
    return max(nodes * percentage // 100, _AT_LEAST)
