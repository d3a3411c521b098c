"""What came of what the core wanted done, as the binder tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Bound:
    """A pod was bound. The watch will say so too, sooner or later."""

    key: str
    uid: str


@dataclass(frozen=True, slots=True)
class NotBound:
    """A pod was certainly not bound."""

    key: str
    uid: str
    reason: str


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A binding was sent and no answer came: the room stays taken until somebody has looked."""

    key: str
    uid: str


Outcome: TypeAlias = Bound | NotBound | Doubtful


@dataclass(frozen=True, slots=True)
class Wait:
    """A permit is given later, or not at all when the time is over."""

    #: Seconds; no longer than 15 minutes, as kube-scheduler has it.
    timeout: float = 60.0
