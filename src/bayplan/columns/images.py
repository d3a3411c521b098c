"""Which nodes have which images, and how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.columns.arrays import bounded

if TYPE_CHECKING:
    from bayplan.objects.node import Node

#: Larger than any disk; a product with the count of nodes stays exact in a float.
_LARGEST = 2**50


class Image:
    """An image by one of its names. As kube-scheduler has it, the first node to tell of it says how large it is."""

    __slots__ = ("rows", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()


class Images:
    """All images by name."""

    __slots__ = ("_by_name", "_names_on", "version")

    def __init__(self) -> None:
        self._by_name: dict[str, Image] = {}
        self._names_on: dict[int, tuple[str, ...]] = {}
        #: Moves whenever some image comes to a node or leaves one.
        self.version = 0

    def find(self, name: str) -> Image | None:
        """The image of this name, if some node has it."""
        return self._by_name.get(name)

    def put(self, row: int, node: Node | None) -> None:
        """Write down what a node has, or that it is gone."""
        sizes = {name: image.size_bytes for image in node.status.images for name in image.names} if node else {}
        names = tuple(sizes)
        if self._names_on.get(row, ()) == names:
            return
        self.version += 1
        self._take_from(row)
        for name in names:
            image = self._by_name.setdefault(name, Image(bounded(sizes[name], _LARGEST)))
            image.rows.add(row)
        self._names_on[row] = names

    def _take_from(self, row: int) -> None:
        for name in self._names_on.pop(row, ()):
            image = self._by_name[name]
            image.rows.discard(row)
            if not image.rows:
                del self._by_name[name]
