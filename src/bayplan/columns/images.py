"""Which nodes have which images, and how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.columns.arrays import bounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.objects.node import Node

#: Larger than any disk; a product with the count of nodes stays exact in a float.
_LARGEST = 2**50
_NONE: dict[str, int] = {}


class Image:
    """An image by one of its names. As kube-scheduler has it, the first node to tell of it says how large it is."""

    __slots__ = ("rows", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()


class Images:
    """All images by name."""

    __slots__ = ("_by_name", "_sizes_on", "version")

    def __init__(self) -> None:
        self._by_name: dict[str, Image] = {}
        self._sizes_on: dict[int, dict[str, int]] = {}
        #: Moves whenever some image comes to a node or leaves one.
        self.version = 0

    def find(self, name: str) -> Image | None:
        """The image of this name, if some node has it."""
        return self._by_name.get(name)

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has, or that it is gone."""
        sizes: dict[str, int] = {}
        for image in node.status.images if node is not None else ():
            for name in image.names:
                sizes.setdefault(name, bounded(image.size_bytes, _LARGEST))
        if self._sizes_on.get(row, _NONE) == sizes:
            return
        self.version += 1
        self._take_from(row)
        for name, size in sizes.items():
            self._by_name.setdefault(name, Image(size)).rows.add(row)
        self._sizes_on[row] = sizes

    def _take_from(self, row: int) -> None:
        for name in self._sizes_on.pop(row, _NONE):
            image = self._by_name[name]
            image.rows.discard(row)
            if not image.rows:
                del self._by_name[name]

    def check(self, nodes: Sequence[Node | None]) -> None:
        """Assert what must always hold; for tests."""
        rows_of: dict[str, set[int]] = {}
        for row, node in enumerate(nodes):
            for image in node.status.images if node is not None else ():
                for name in image.names:
                    rows_of.setdefault(name, set()).add(row)
        assert {name: image.rows for name, image in self._by_name.items()} == rows_of
