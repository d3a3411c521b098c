"""SchedulingGates: a pod with gates is not even tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.verdicts import YES, reject

if TYPE_CHECKING:
    from bayplan.contract.verdicts import Verdict
    from bayplan.objects.pod import Pod


@dataclass(frozen=True)
class SchedulingGates:
    """Keep a pod out of the queue until whoever put the gates there has taken the last of them away."""

    def pre_enqueue(self, pod: Pod) -> Verdict:
        """Yes without gates; else no, naming them as kube-scheduler does."""
        gates = pod.spec.scheduling_gates
        if not gates:
            return YES
        names = " ".join(gate.name for gate in gates)
        return reject(f"waiting for scheduling gates: [{names}]", resolvable=False)
