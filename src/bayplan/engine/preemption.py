"""What preemption comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayplan.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class Preemption:
    """Pods that must go from a node so that another can come."""

    node: str
    #: The most important first.
    victims: tuple[Pod, ...]
    #: How many of them their disruption budgets would have kept.
    violations: int = 0
