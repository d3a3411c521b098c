"""DefaultPreemption: pods of lower priority make room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bayplan.contract.aftermath import Aftermath
from bayplan.plugins.arguments import Int32, range_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.objects.pod import Pod
    from bayplan.plugins.arguments import Problem

_MOST_PERCENT = 100


class Helper(Protocol):
    """Who knows how to find victims."""

    def preempt(self, pod: Pod, rejection: Any, wanted: int) -> tuple[Any, str]:
        """The best preemption there is, and what there is to say about it; so many candidates are enough."""


@dataclass(frozen=True, slots=True)
class DefaultPreemption:
    """Find the node where the least important pods would have to go.

    kube-scheduler looks for so many candidates and takes the best of those. Where room is all that is missing, all
    nodes are known here, and the best of all is taken; elsewhere the arguments bound the search as they do there.
    """

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def post_filter(self, pod: Pod, rejection: Any, helper: Helper) -> Aftermath:
        """No node is feasible."""
        wanted = self.candidates_among(len(rejection.resolvable))
        preemption, said = helper.preempt(pod, rejection, wanted)
        return Aftermath(preemption, f"preemption: {said}")

    def candidates_among(self, nodes: int) -> int:
        """How many candidates are enough where so many nodes come into question."""
        share = nodes * self.min_candidate_nodes_percentage // 100
        return min(max(share, self.min_candidate_nodes_absolute), nodes)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        yield from range_problem("minCandidateNodesPercentage", percentage, 0, _MOST_PERCENT)
        yield from range_problem("minCandidateNodesAbsolute", absolute, 0)
        if percentage == 0 and absolute == 0:
            yield "minCandidateNodesPercentage", "is 0, and so is minCandidateNodesAbsolute: no node would be looked at"
