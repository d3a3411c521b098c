"""What we know of one collection, and how news of it become changes. Pure: the reflector does the talking.

The promise is that the changes delivered so far, applied in order to an empty dict, give exactly `objects`: nothing
is told twice, nothing is left out, whether the news came as single events or as a whole new list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayplan.client.changes import Change
from bayplan.client.codec import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bayplan.client.codec import KubernetesObject

    T = TypeVar("T", bound=KubernetesObject)
else:
    T = TypeVar("T")

NOTHING: tuple[Change[Any], ...] = ()


class Mirror(Generic[T]):
    """The objects of one collection, by `namespace/name`, as the server last told them."""

    __slots__ = ("_objects", "_unreadable")

    def __init__(self) -> None:
        self._objects: dict[str, T] = {}
        #: Objects that are there and do not decode. One that could be read before stays as it was then: a stale pod
        #: still takes its place on its node, which a missing one does not.
        self._unreadable: dict[str, Unreadable] = {}

    @property
    def objects(self) -> Mapping[str, T]:
        """What is there."""
        return self._objects

    @property
    def unreadable(self) -> Mapping[str, Unreadable]:
        """What is there and cannot be read in its present form."""
        return self._unreadable

    def replace(self, items: Iterable[T], unreadable: Iterable[Unreadable]) -> Iterator[Change[T]]:
        """Take over a whole list: give the difference, deletions first, since they make room for the rest.

        Each change is in force when it is given; the caller takes them all.
        """
        listed = {item.metadata.key: item for item in items}
        self._unreadable = {one.metadata.key: one for one in unreadable}
        for key, old in list(self._objects.items()):
            now = listed.get(key) or self._unreadable.get(key)
            if now is None or now.metadata.uid != old.metadata.uid:
                del self._objects[key]
                yield Change(old, None)
        for key, new in listed.items():
            known = self._objects.get(key)
            if known is None or known.metadata.resource_version != new.metadata.resource_version:
                self._objects[key] = new
                yield Change(known, new)

    def apply(self, kind: str, told: T | Unreadable) -> tuple[Change[T], ...]:
        """Take in one event of a watch: `ADDED`, `MODIFIED` or `DELETED`."""
        metadata = told.metadata
        key = metadata.key
        old = self._objects.get(key)
        if self._unreadable:
            self._unreadable.pop(key, None)
        if kind == "DELETED":
            return self._remove(key) if old is not None and old.metadata.uid == metadata.uid else NOTHING
        if isinstance(told, Unreadable):
            return self._set_aside(key, told)
        if old is None:
            self._objects[key] = told
            return (Change(None, told),)
        if old.metadata.uid != metadata.uid:
            self._objects[key] = told
            return Change(old, None), Change(None, told)
        if old.metadata.resource_version == metadata.resource_version:
            return NOTHING
        self._objects[key] = told
        return (Change(old, told),)

    def _remove(self, key: str) -> tuple[Change[T], ...]:
        return (Change(self._objects.pop(key), None),)

    def _set_aside(self, key: str, told: Unreadable) -> tuple[Change[T], ...]:
        self._unreadable[key] = told
        old = self._objects.get(key)
        return self._remove(key) if old is not None and old.metadata.uid != told.metadata.uid else NOTHING
