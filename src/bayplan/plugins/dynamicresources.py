"""DynamicResources: claims to devices. They are not placed yet, and a pod that has some is left alone.

kube-scheduler would allocate devices for it, node by node. Whoever ignored the claims would place the pod where its
devices are not. So it is refused as a whole, before any node is looked at and before anything is preempted for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayplan.contract.aftermath import Aftermath
from bayplan.contract.plugins import Reads
from bayplan.contract.scores import AsTheyAre
from bayplan.contract.verdicts import reject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.arrays import Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.verdicts import Verdict
    from bayplan.objects.pod import Pod
    from bayplan.plugins.arguments import Problem, Seconds

_LEFT_ALONE = reject(
    "the pod has spec.resourceClaims, and Bayplan does not place claims to devices yet: it is left alone",
    resolvable=False,
)


@dataclass(frozen=True)
class DynamicResources:
    """Refuse pods with claims to devices. The arguments are read, checked, and of no effect until claims are placed."""

    filter_timeout: Seconds = 10.0
    binding_timeout: Seconds = 600.0

    def problems(self) -> Iterator[Problem]:
        """As kube-scheduler: no time below zero, and at least a second for binding."""
        if self.filter_timeout < 0:
            yield "filterTimeout", "is below zero"
        if self.binding_timeout < 1:
            yield "bindingTimeout", "is less than a second"

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> Verdict | None:
        """Nothing to say of pods without claims."""
        return _LEFT_ALONE if pod.spec.resource_claims else None

    def post_filter(self, pod: Pod, rejection: Any, helper: object) -> Aftermath:
        """Nothing to give back. Over a pod that it was not told of kube-scheduler's stumbles, and says so."""
        if "DynamicResources" in rejection.unreached:
            return Aftermath(said="not found", final=True)
        return Aftermath()

    def pre_score(self, pod: PodClass, cluster: Cluster) -> NoPreference:
        """Without claims all nodes are the same to it. It says so, as kube-scheduler's does: no points for any."""
        return NoPreference()


@dataclass(frozen=True, slots=True)
class NoPreference:
    """No node is better than another."""

    reads = Reads.NODE
    normalizer = AsTheyAre()

    def score_nodes(self, nodes: Nodes) -> Ints:
        """Nothing for any."""
        return nodes.zeros()
