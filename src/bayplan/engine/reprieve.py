"""Victims, and what they are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from bayplan.contract.verdicts import reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bayplan.columns.pods import Placement
    from bayplan.objects.pod import Pod

#: There is no pod of lower priority on the node.
NOBODY = reject("No preemption victims found for incoming pod", resolvable=False)

_PRIORITY_OFFSET = 2**31
#: Later than any start: a pod that has not started has only just been placed.
_NOT_STARTED = 10**15
#: Text that is no such time is some number all the same, and one that stays below that.
_DIGITS, _DIGITS_OF_A_TIME = "0123456789", 14


@dataclass(frozen=True, slots=True)
class Candidate:
    """The victims on one node, the most important first."""

    row: int
    victims: tuple[Placement, ...]
    #: How many of them their disruption budgets would have kept.
    violations: int

    @property
    def cost(self) -> tuple[int, int, int, int]:
        """What is compared, the least being the best; then comes `started`, the latest being the best.

        Priorities count from their least possible, so that fewer victims are always cheaper.
        """
        priorities = [victim.pod.priority + _PRIORITY_OFFSET for victim in self.victims]
        return self.violations, priorities[0], sum(priorities), len(priorities)

    @property
    def started(self) -> int:
        """When the first of the most important victims started."""
        return started_number(self.victims)

    def is_better_than(self, other: Candidate) -> bool:
        """Whether it hurts less."""
        return self.cost < other.cost or (self.cost == other.cost and self.started > other.started)


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The one that hurts least; of equals, the first."""
    best = candidates[0]
    for candidate in candidates[1:]:
        if candidate.is_better_than(best):
            best = candidate
    return best


def by_importance(placements: Iterable[Placement]) -> list[Placement]:
    """The most important first: by priority, then by who started first, then in the order of the node."""
    return sorted(placements, key=lambda one: (-one.pod.priority, started(one.pod), one.index))


def started_number(victims: Sequence[Placement]) -> int:
    """When the first of the most important victims started."""
    highest = max(victim.pod.priority for victim in victims)
    return min(started(victim.pod) for victim in victims if victim.pod.priority == highest)


def started(pod: Pod) -> int:
    """When a pod started, as a number that grows with time."""
    time = pod.status.start_time
    return _NOT_STARTED if time is None else _number_of(time)


@lru_cache(4096)
def _number_of(time: str) -> int:
    """The digits of an RFC 3339 time to the second, as Kubernetes writes it, in UTC."""
    digits = "".join(character for character in time[:19] if character in _DIGITS)
    return int(digits[:_DIGITS_OF_A_TIME] or "0")


def yields_to(pod: Pod, other: Pod) -> bool:
    """Whether the room that the other was promised is not for this pod."""
    return other.priority >= pod.priority and other.metadata.uid != pod.metadata.uid


def is_being_preempted(pod: Pod) -> bool:
    """Whether a pod ends to make room for another."""
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False
