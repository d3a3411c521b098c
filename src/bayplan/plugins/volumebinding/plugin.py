"""The plugin itself: its arguments and its points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.verdicts import YES, Verdict
from bayplan.plugins.arguments import Int64, UtilizationShapePoint, below, range_problem, shape_problems
from bayplan.plugins.storage.claims import Claims
from bayplan.plugins.volumebinding.binding import assume_bindings, forget_bindings, write_bindings
from bayplan.plugins.volumebinding.findings import NO_CLAIMS, NoClaims, RoomLeft, VolumesFound, findings_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.effects import Effect
    from bayplan.objects.pod import Pod
    from bayplan.plugins.arguments import Problem

_EMPTIER_IS_BETTER = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))


@dataclass(frozen=True)
class VolumeBinding:
    """Put pods where their claims are bound or can be, and bind the claims that waited for them."""

    #: How long the volumes may take to be bound before the pod is.
    bind_timeout_seconds: Int64 = 600
    #: The points for the percentage of a node's storage that the pod would use.
    shape: tuple[UtilizationShapePoint, ...] = _EMPTIER_IS_BETTER

    def __post_init__(self) -> None:
        if not self.shape:
            object.__setattr__(self, "shape", _EMPTIER_IS_BETTER)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of the arguments."""
        yield from range_problem("bindTimeoutSeconds", self.bind_timeout_seconds, 0)
        yield from below("shape", shape_problems(self.shape))

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> VolumesFound | None:
        """Nothing to say of pods without claims."""
        claims = Claims.of(pod.pod)
        return None if claims is None else VolumesFound(findings_for(claims, self.shape, cluster))

    def pre_score(self, pod: PodClass, cluster: Cluster) -> RoomLeft | NoClaims:
        """Points even for pods without claims, though none."""
        claims = Claims.of(pod.pod)
        return NO_CLAIMS if claims is None else RoomLeft(findings_for(claims, self.shape, cluster))

    def reserve(self, pod: Pod, node: str, cluster: Cluster) -> Verdict:
        """Take the bindings for granted, so that the next pod does not get the same volumes."""
        claims = Claims.of(pod)
        return YES if claims is None else assume_bindings(claims, node, cluster)

    def unreserve(self, pod: Pod, node: str, cluster: Cluster) -> None:
        """Take them for granted no longer."""
        claims = Claims.of(pod)
        if claims is not None:
            forget_bindings(claims, cluster)

    def pre_bind(self, pod: Pod, node: str, cluster: Cluster) -> Iterable[Effect]:
        """Write what was taken for granted."""
        claims = Claims.of(pod)
        return () if claims is None else tuple(write_bindings(claims, cluster))
