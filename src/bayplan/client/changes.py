"""What a reflector tells: one object came, changed or went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import msgspec

if TYPE_CHECKING:
    from bayplan.client.codec import KubernetesObject

    T = TypeVar("T", bound=KubernetesObject)
else:
    T = TypeVar("T")

ChangeKind = Literal["added", "modified", "deleted"]


# A struct and not a dataclass: a busy cluster makes tens of thousands of these a second, and it is built ten times
# faster. It holds no reference back to itself, so the garbage collector need not look at it.
class Change(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One object before and after. An object that is deleted and made anew under its name is two changes."""

    #: As it was last delivered; None for one that is new.
    old: T | None
    #: As it is now; None for one that is gone.
    new: T | None

    @property
    def kind(self) -> ChangeKind:
        """Which of the three this is."""
        if self.old is None:
            return "added"
        return "deleted" if self.new is None else "modified"

    @property
    def object(self) -> T:
        """The object as it is now, or as it was last known."""
        known = self.old if self.new is None else self.new
        assert known is not None
        return known
