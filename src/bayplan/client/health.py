"""How true a mirror is: what health checks, metrics and people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["idle", "listing", "watching", "waiting"]


@dataclass(frozen=True, slots=True)
class Health:
    """One reflector at one moment."""

    #: `pods`, `leases.coordination.k8s.io`.
    resource: str
    state: State
    #: Whether the first list has been delivered.
    synced: bool
    #: Seconds since the server last told us anything, or confirmed that there was nothing to tell. Up to a minute is
    #: normal in a quiet cluster; None before the first list.
    stale_seconds: float | None
    objects: int
    #: Objects that are there and cannot be read, by name.
    unreadable: tuple[str, ...]
    #: The version up to which the mirror is true; empty while only a list can tell.
    resource_version: str
    #: How often the collection was listed, a watch was opened, a change delivered, and something failed.
    lists: int
    watches: int
    changes: int
    failures: int
    #: Why it is waiting, or what went wrong last; empty once it has recovered.
    problem: str
