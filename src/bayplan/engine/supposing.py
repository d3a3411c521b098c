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
    from bayplan.objects.pod import Pod


class Supposition:
    """Comings and goings that are taken back in the end."""

    __slots__ = ("_cluster", "_done")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._done: list[tuple[Pod, str, bool]] = []

    def comes(self, pod: Pod, node: str) -> None:
        """A pod is on this node."""
        if self._cluster.pod_on_node(pod.metadata.key) is None:
            self._cluster.put_pod(pod, node)
            self._done.append((pod, node, True))

    def goes(self, pod: Pod, node: str) -> None:
        """A pod is not on its node any more."""
        self._cluster.remove_pod(pod.metadata.key)
        self._done.append((pod, node, False))

    def take_back(self) -> None:
        """All is as it was."""
        while self._done:
            pod, node, came = self._done.pop()
            if came:
                self._cluster.remove_pod(pod.metadata.key)
            else:
                self._cluster.put_pod(pod, node)


@contextmanager
def supposing(cluster: Cluster) -> Iterator[Supposition]:
    """Suppose for the length of a block."""
    supposition = Supposition(cluster)
    try:
        yield supposition
    finally:
        supposition.take_back()
