"""What the core wants done. It does nothing itself: the binder does, and what came of it returns as events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from bayplan.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind a pod to a node."""

    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class Evict:
    """Delete a pod to make room for another."""

    pod: Pod
    preemptor: Pod
    node: str


@dataclass(frozen=True, slots=True)
class PatchStatus:
    """Tell in a pod's status that it could not be placed, and which node it waits for."""

    pod: Pod
    reason: str
    message: str
    #: None leaves it as it is, the empty text takes it away.
    nominated_node: str | None = None


@dataclass(frozen=True, slots=True)
class PatchObject:
    """Change an object: a claim's annotation, a volume's claim."""

    kind: str
    key: str
    resource_version: str
    patch: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """Tell the owner of an object what happened to it, as an event."""

    regarding: Pod
    reason: str
    note: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Come back at this time, whatever happens."""

    time: float


Effect: TypeAlias = Bind | Evict | PatchStatus | PatchObject | Record | WakeAt
