"""What is known of the claims of a pod before any node is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.contract.verdicts import Verdict, reject
from bayplan.plugins.storage.claims import (
    BIND_COMPLETED,
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    claim_not_found,
    class_of_claim,
    class_of_volume,
)
from bayplan.plugins.volumebinding.candidates import Candidates, candidates_for, requested_size
from bayplan.plugins.volumebinding.provisioning import Provision, provision_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.columns.cluster import Cluster
    from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
    from bayplan.plugins.storage.claims import Claims, Mount

_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, slots=True)
class Unbound:
    """A claim that waits for its first consumer, and that no node has been selected for."""

    claim: PersistentVolumeClaim
    candidates: Candidates
    #: What is done where no candidate can be reached.
    otherwise: Provision


@dataclass(frozen=True, slots=True)
class Selected:
    """A claim that a volume is being made for, on this node."""

    node: str
    provision: Provision


@dataclass(frozen=True, slots=True)
class Plan:
    """All that the search needs to know. Equal plans find the same."""

    #: Why no node will do.
    refusal: Verdict | None = None
    #: What is so wrong that kube-scheduler gives up on the pod for now; empty for nothing.
    problem: str = ""
    #: The volumes of the claims that are bound; None for one that is not there.
    bound: tuple[PersistentVolume | None, ...] = ()
    selected: tuple[Selected, ...] = ()
    #: The smallest request first, so that it does not take what only a larger one needs.
    unbound: tuple[Unbound, ...] = ()

    @property
    def rejection(self) -> Verdict | None:
        """The refusal; or what is wrong, as one."""
        if self.refusal is None and self.problem:
            return reject(self.problem, resolvable=False)
        return self.refusal

    @property
    def is_settled(self) -> bool:
        """Whether all claims are bound, so that nothing is left to decide."""
        return not self.selected and not self.unbound


def make_plan(claims: Claims, cluster: Cluster) -> Plan:
    """The plan for these claims as they are now."""
    found: list[PersistentVolumeClaim] = []
    for mount in claims.mounts:
        claim = cluster.claims.get(claims.key(mount))
        why = _unusable(claims, mount, claim)
        if claim is None or why:
            return Plan(reject(why, resolvable=False))
        found.append(claim)
    return _sorted_out(found, cluster)


def _unusable(claims: Claims, mount: Mount, claim: PersistentVolumeClaim | None) -> str:
    """Why nothing can be placed with this claim, in kube-scheduler's words; empty where it can."""
    if claim is None:
        if mount.ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{mount.claim}"'
        return claim_not_found(mount.claim)
    if claim.status.phase == "Lost":
        bound_to = claim.spec.volume_name
        return f'persistentvolumeclaim "{mount.claim}" bound to non-existent persistentvolume "{bound_to}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{mount.claim}" is being deleted'
    return claims.disowned(mount, claim)


def _sorted_out(claims: list[PersistentVolumeClaim], cluster: Cluster) -> Plan:
    bound = [claim for claim in claims if _is_bound(claim)]
    waiting = [claim for claim in claims if not _is_bound(claim)]
    classes = [cluster.storage_classes.get(class_of_claim(claim)) for claim in waiting]
    for claim, found in zip(waiting, classes, strict=True):
        if found is not None and found.volume_binding_mode is None:
            return Plan(problem=f'VolumeBindingMode not set for StorageClass "{class_of_claim(claim)}"')
    if not all(_waits(claim, found) for claim, found in zip(waiting, classes, strict=True)):
        return Plan(reject(_UNBOUND, resolvable=False))
    free = [claim for claim in waiting if SELECTED_NODE not in claim.metadata.annotations]
    volumes = _by_class(cluster.volumes, {class_of_claim(claim) for claim in free}) if free else {}
    return Plan(
        bound=tuple(cluster.volumes.get(claim.spec.volume_name) for claim in bound),
        selected=tuple(
            Selected(claim.metadata.annotations[SELECTED_NODE], provision_for(claim, cluster))
            for claim in waiting
            if SELECTED_NODE in claim.metadata.annotations
        ),
        unbound=tuple(
            Unbound(claim, candidates_for(claim, volumes[class_of_claim(claim)]), provision_for(claim, cluster))
            for claim in sorted(free, key=requested_size)
        ),
    )


def _is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def _waits(claim: PersistentVolumeClaim, found: StorageClass | None) -> bool:
    """Whether it is for the scheduler to bind a claim. One that names its volume already is the controller's."""
    if found is None or claim.spec.volume_name:
        return False
    return found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _by_class(volumes: Iterable[PersistentVolume], names: set[str]) -> dict[str, list[PersistentVolume]]:
    found: dict[str, list[PersistentVolume]] = {name: [] for name in names}
    for volume in volumes:
        name = class_of_volume(volume)
        if name in found:
            found[name].append(volume)
    return found
