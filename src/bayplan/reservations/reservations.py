"""Reservations: what stands between a decision and its confirmation.

::

            hold                 permitted              bound, seen
    ─────────────▶ waiting ─────────────────▶ binding ─────────────▶ nothing
                      │                          │
                      │ rejected, too late       │ not bound
                      ▼                          ▼
                   to be undone, in the reverse order of what was done

A reservation that is in doubt, because a binding was sent and no answer came, stays until somebody has looked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bayplan.objects.pod import Pod

#: No permit is waited for any longer, as kube-scheduler has it.
LONGEST_WAIT = 15 * 60.0


class State(Enum):
    """How far a reservation has come."""

    WAITING = "waiting for permits"
    BINDING = "being bound"
    DOUBTFUL = "perhaps bound"


@dataclass(slots=True)
class Reservation:
    """A pod's hold on a node."""

    pod: Pod
    node: str
    #: What undoes the steps that were taken for it, in the order in which they were taken.
    undo: list[Callable[[], None]] = field(default_factory=list)
    #: The plugins whose permit is outstanding, each with the time at which it is too late.
    permits: dict[str, float] = field(default_factory=dict)
    state: State = State.BINDING

    @property
    def deadline(self) -> float | None:
        """When the first permit is too late; None if none is outstanding."""
        return min(self.permits.values(), default=None)


class Reservations:
    """All reservations, by the pod's namespace and name."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[str, Reservation] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Reservation]:
        return iter(self._held.values())

    def get(self, key: str, uid: str | None = None) -> Reservation | None:
        """The reservation of a pod; with a uid, of this very pod and of none before it with the same name."""
        held = self._held.get(key)
        return None if held is None or (uid is not None and held.pod.metadata.uid != uid) else held

    def hold(self, reservation: Reservation, waits: Mapping[str, float], now: float) -> None:
        """Begin. With plugins to wait for, each with its seconds, it is not to be bound before they permit it."""
        key = reservation.pod.metadata.key
        assert key not in self._held, "a pod that is placed is not placed again"
        reservation.permits = {plugin: now + min(time, LONGEST_WAIT) for plugin, time in waits.items()}
        reservation.state = State.WAITING if reservation.permits else State.BINDING
        self._held[key] = reservation

    def permit(self, key: str, plugin: str) -> Reservation | None:
        """A plugin permits a pod. Returns its reservation if that was the last that was missing."""
        held = self._held.get(key)
        if held is None or held.permits.pop(plugin, None) is None or held.permits:
            return None
        held.state = State.BINDING
        return held

    def doubt(self, key: str, uid: str) -> None:
        """Nobody knows whether the pod was bound."""
        held = self.get(key, uid)
        if held is not None:
            held.state = State.DOUBTFUL

    def settle(self, key: str) -> None:
        """The pod is bound, or gone for good: nothing is to be undone."""
        self._held.pop(key, None)

    def undo(self, key: str) -> Reservation | None:
        """The pod is not bound and will not be: undo what was done for it, the last first."""
        held = self._held.pop(key, None)
        if held is not None:
            for step in reversed(held.undo):
                step()
            held.undo.clear()
        return held

    def late(self, now: float) -> list[Reservation]:
        """Those that have waited too long."""
        return [held for held in self._held.values() if held.deadline is not None and held.deadline <= now]

    def next_deadline(self) -> float | None:
        """When the next one has waited too long."""
        deadlines = [held.deadline for held in self._held.values()]
        return min((time for time in deadlines if time is not None), default=None)
