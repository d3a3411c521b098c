"""PrioritySort: the order in which pods are tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayplan.objects.pod import Pod


@dataclass(frozen=True)
class PrioritySort:
    """Pods of higher priority first; among equals the queue keeps them in the order of their arrival."""

    def queue_sort(self, pod: Pod) -> tuple[int, ...]:
        """Smaller is earlier. When a pod came is the queue's to know, and settles what is equal here."""
        return (-pod.priority,)
