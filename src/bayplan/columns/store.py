"""Objects of one kind by name, with what we have asked to be changed in them and not yet seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from bayplan.columns.log import ChangeLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayplan.objects.meta import ObjectMeta


class _Named(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


T = TypeVar("T", bound=_Named)


class Store(Generic[T]):
    """The objects of one kind, by namespace and name.

    An object can be assumed to have changed already: until the watch brings a newer one, readers see the assumed.
    """

    __slots__ = ("_assumed", "_objects", "log")

    def __init__(self) -> None:
        self._objects: dict[str, T] = {}
        self._assumed: dict[str, T] = {}
        #: The names of the objects that changed.
        self.log: ChangeLog[str] = ChangeLog()

    @property
    def version(self) -> int:
        """Moves with every change: who derives something from all objects remembers it."""
        return self.log.position

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        if not self._assumed:
            return iter(self._objects.values())
        return (self._assumed.get(key, one) for key, one in self._objects.items())

    def get(self, key: str) -> T | None:
        """The object of this name, assumed changes included."""
        return self._assumed.get(key) or self._objects.get(key)

    def put(self, one: T) -> None:
        """Write down what the watch says. What was assumed of an older version is over."""
        key = one.metadata.key
        assumed = self._assumed.get(key)
        if assumed is not None and assumed.metadata.resource_version != one.metadata.resource_version:
            del self._assumed[key]
        self._objects[key] = one
        self.log.append(key)

    def remove(self, key: str) -> None:
        """Forget an object."""
        self._assumed.pop(key, None)
        if self._objects.pop(key, None) is not None:
            self.log.append(key)

    def assume(self, one: T) -> None:
        """Take a change of ours for granted until the watch brings a newer version. The version stays the old one."""
        key = one.metadata.key
        if key in self._objects:
            self._assumed[key] = one
            self.log.append(key)

    def restore(self, key: str) -> None:
        """Take nothing for granted of this object any more."""
        if self._assumed.pop(key, None) is not None:
            self.log.append(key)

    def is_assumed(self, key: str) -> bool:
        """Whether readers see a change that the watch has not confirmed."""
        return key in self._assumed

    def assumed(self) -> Iterable[T]:
        """What is seen of the objects that have changes the watch has not confirmed."""
        return self._assumed.values()
