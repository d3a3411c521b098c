"""What a choice of node means for a pod's claims, taken for granted until the API server has been told."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from bayplan.columns.nodes import Nodes
from bayplan.contract.effects import PatchObject
from bayplan.contract.verdicts import YES, Verdict, reject
from bayplan.objects.meta import ObjectReference
from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim
from bayplan.plugins.storage.claims import BOUND_BY_CONTROLLER, SELECTED_NODE
from bayplan.plugins.volumebinding.candidates import names_claim
from bayplan.plugins.volumebinding.plan import make_plan
from bayplan.plugins.volumebinding.search import MEANINGS, search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.contract.effects import Effect
    from bayplan.objects.meta import ObjectMeta
    from bayplan.plugins.storage.claims import Claims
    from bayplan.plugins.volumebinding.search import Found

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)


def assume_bindings(claims: Claims, node: str, cluster: Cluster) -> Verdict:
    """Take for granted that the claims get on this node what was found for them."""
    row = cluster.nodes.row_of.get(node)
    if row is None:
        return reject(f'node "{node}" is not there any more')
    plan = make_plan(claims, cluster)
    if plan.rejection is not None:
        return plan.rejection
    if plan.is_settled:
        return YES
    found = search(plan, Nodes(cluster, slice(row, row + 1)))
    if found.codes[0]:
        return MEANINGS[int(found.codes[0])]
    for claim, volume in _taken(found):
        bound = _bound(volume, claim)
        if bound != volume:
            cluster.volumes.assume(bound)
    made = [selected.provision.claim for selected in plan.selected]
    made += [choice.unbound.claim for choice in found.choices if choice.taken[0] < 0]
    for claim in made:
        cluster.claims.assume(_with_annotation(claim, SELECTED_NODE, node))
    return YES


def forget_bindings(claims: Claims, cluster: Cluster) -> None:
    """Take nothing for granted any more that was for these claims."""
    for volume in _assumed_volumes(claims, cluster):
        cluster.volumes.restore(volume.metadata.key)
    for key in claims.names():
        cluster.claims.restore(key)


def write_bindings(claims: Claims, cluster: Cluster) -> Iterator[Effect]:
    """What the API server is to be told: volumes first, as kube-scheduler does, then claims."""
    for volume in _assumed_volumes(claims, cluster):
        patch: dict[str, object] = {
            "metadata": {"annotations": dict(volume.metadata.annotations)},
            "spec": {"claimRef": msgspec.to_builtins(volume.spec.claim_ref)},
        }
        yield _patch("PersistentVolume", volume.metadata, patch)
    for key in dict.fromkeys(claims.names()):
        claim = cluster.claims.get(key)
        if claim is not None and cluster.claims.is_assumed(key):
            annotations = {SELECTED_NODE: claim.metadata.annotations[SELECTED_NODE]}
            yield _patch("PersistentVolumeClaim", claim.metadata, {"metadata": {"annotations": annotations}})


def _taken(found: Found) -> Iterator[tuple[PersistentVolumeClaim, PersistentVolume]]:
    for choice in found.choices:
        if choice.taken[0] >= 0:
            yield choice.unbound.claim, choice.volumes[int(choice.taken[0])]


def _bound(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume with this claim's name on it. One that a person reserved for the claim keeps their mark."""
    meta, reference = claim.metadata, volume.spec.claim_ref
    wanted = (meta.namespace, meta.name, meta.uid)
    if not names_claim(volume, claim):
        volume = _with_annotation(volume, BOUND_BY_CONTROLLER, "yes", keep=True)
    if reference is not None and (reference.namespace, reference.name, reference.uid) == wanted:
        return volume
    reference = ObjectReference(
        kind="PersistentVolumeClaim",
        api_version="v1",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )
    return msgspec.structs.replace(volume, spec=msgspec.structs.replace(volume.spec, claim_ref=reference))


def _assumed_volumes(claims: Claims, cluster: Cluster) -> list[PersistentVolume]:
    keys = set(claims.names())
    return [volume for volume in cluster.volumes.assumed() if _claim_key(volume) in keys]


def _claim_key(volume: PersistentVolume) -> str:
    reference = volume.spec.claim_ref
    return f"{reference.namespace}/{reference.name}" if reference is not None else ""


def _patch(kind: str, meta: ObjectMeta, patch: dict[str, object]) -> PatchObject:
    return PatchObject(kind, meta.key, meta.resource_version, patch)


def _with_annotation(one: T, key: str, value: str, *, keep: bool = False) -> T:
    """The same with an annotation; `keep` leaves one that is there as it is."""
    meta = one.metadata
    if keep and key in meta.annotations:
        return one
    noted = msgspec.structs.replace(meta, annotations={**meta.annotations, key: value})
    return msgspec.structs.replace(one, metadata=noted)
