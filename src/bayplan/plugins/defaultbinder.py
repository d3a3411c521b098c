"""DefaultBinder: a pod is bound by telling the API server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.effects import Bind

if TYPE_CHECKING:
    from bayplan.objects.pod import Pod


@dataclass(frozen=True)
class DefaultBinder:
    """Ask for the pod's binding. The binder sends it, and what came of it returns as an event."""

    def bind(self, pod: Pod, node: str) -> Bind:
        """What is to be done."""
        return Bind(pod, node)
