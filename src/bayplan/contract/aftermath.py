"""What a plugin says when no node is feasible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Whether something was found to help, and what is told about it."""

    #: Who would have to go from where; None if that would not help.
    preemption: Any = None
    #: Added to the message.
    said: str = ""
    #: Whether nobody else is to be asked, though nothing was found.
    final: bool = False
