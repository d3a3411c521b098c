"""What if: pods that come or go for the time of a question.

They do so through the same tables and logs as real ones, so every plugin takes them in by the same code; and they are
taken back by its exact opposite. That the cluster is afterwards as it was before is a property that tests hold it to.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Placement
    from bayplan.objects.pod import Pod


class Supposition:
    """Comings and goings that are taken back in the end, the last first."""

    __slots__ = ("_cluster", "_done")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        #: The key of a pod that came, or the placement of one that went.
        self._done: list[str | Placement] = []

    def comes(self, pod: Pod, row: int) -> None:
        """A pod is on this row; nothing if it is on some row already."""
        key = pod.metadata.key
        if key not in self._cluster.pods.by_key:
            self._cluster.pods.add(pod, row)
            self._done.append(key)

    def goes(self, key: str) -> None:
        """A pod is not on its row any more."""
        placement = self._cluster.pods.remove(key)
        assert placement is not None
        self._done.append(placement)

    def comes_back(self, placement: Placement) -> None:
        """One that went is there again."""
        pod = placement.pod
        self._cluster.pods.add(pod, placement.row)
        self._done.append(pod.metadata.key)

    def take_back(self) -> None:
        """All is as it was."""
        while self._done:
            done = self._done.pop()
            if isinstance(done, str):
                self._cluster.pods.remove(done)
            else:
                self._cluster.pods.restore(done)


@contextmanager
def supposing(cluster: Cluster) -> Iterator[Supposition]:
    """Suppose for the length of a block."""
    supposition = Supposition(cluster)
    try:
        yield supposition
    finally:
        supposition.take_back()
