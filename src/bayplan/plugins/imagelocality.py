"""ImageLocality: a pod starts sooner where its images are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.scores import MOST_POINTS, AsTheyAre

if TYPE_CHECKING:
    from bayplan.columns.arrays import Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass

_MEGABYTE = 1024 * 1024
#: Less than this does not count: it is there in no time.
_LEAST = 23 * _MEGABYTE
#: More than this for each image is as good as this.
_MOST_EACH = 1000 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class ImageLocality:
    """Prefer nodes that have much of what the pod runs, unless few nodes have it, lest all pods go there."""

    def pre_score(self, pod: PodClass, cluster: Cluster) -> ImageScoring:
        """By the images of containers and of volumes."""
        spec = pod.spec
        images = [container.image for container in (*spec.init_containers, *spec.containers)]
        images += [volume.image.reference for volume in spec.volumes if volume.image is not None]
        return ImageScoring(cluster, tuple(sorted(map(_with_tag, images))))


class ImageScoring:
    """For pods that run these images. How widely each is spread matters, so all nodes do."""

    reads = Reads.CLUSTER
    normalizer = AsTheyAre()

    def __init__(self, cluster: Cluster, images: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._images = images
        self._seen = (-1, -1, -1)

    def __hash__(self) -> int:
        return hash(self._images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImageScoring) and other._cluster is self._cluster and other._images == self._images

    def catch_up(self) -> Rows | None:
        """All rows when images came or went, or when the count of nodes changed."""
        nodes = self._cluster.nodes
        seen = (nodes.images.version, nodes.count, nodes.size)
        if seen == self._seen:
            return None
        self._seen = seen
        return slice(0, nodes.size)

    def score_nodes(self, nodes: Nodes) -> Ints:
        """The megabytes that are there, by how many nodes have them."""
        table = nodes.table
        bytes_there: Ints = np.zeros(table.size, dtype=np.int64)
        for name in self._images:
            image = table.images.find(name)
            if image is not None:
                rows = np.fromiter(image.rows, dtype=np.intp, count=len(image.rows))
                bytes_there[rows] += int(image.size * (len(image.rows) / table.count))
        most = _MOST_EACH * len(self._images)
        counted = np.clip(bytes_there[nodes.rows], _LEAST, max(most, _LEAST))
        if most <= _LEAST:
            return np.zeros_like(counted)
        return MOST_POINTS * (counted - _LEAST) // (most - _LEAST)


def _with_tag(image: str) -> str:
    return f"{image}:latest" if image.rfind(":") <= image.rfind("/") else image
