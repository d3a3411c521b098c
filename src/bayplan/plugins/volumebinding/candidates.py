"""Volumes that are there and could be bound to a claim, the best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.objects.labels import Selector, compile_label_selector
from bayplan.objects.quantity_text import read_quantity
from bayplan.plugins.storage.claims import STORAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.objects.quantity import Quantity
    from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim

_FILESYSTEM = "Filesystem"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The volumes for one claim."""

    #: Those that name the claim. The first of them is it or nothing is: its node is the claim's.
    reserved: tuple[PersistentVolume, ...] = ()
    #: Those for any claim, the smallest first.
    free: tuple[PersistentVolume, ...] = ()


def requested_size(claim: PersistentVolumeClaim) -> Quantity:
    """How much a claim asks for."""
    return read_quantity(claim.spec.resources.requests.get(STORAGE))


def capacity_of(volume: PersistentVolume) -> Quantity:
    """How large a volume is."""
    return read_quantity(volume.spec.capacity.get(STORAGE))


def names_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is bound to a claim, or reserved for it, by a person or by us."""
    reference, meta = volume.spec.claim_ref, claim.metadata
    if reference is None or (reference.namespace, reference.name) != (meta.namespace, meta.name):
        return False
    return not reference.uid or reference.uid == meta.uid


def candidates_for(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> Candidates:
    """The volumes of the claim's class that fit, wherever they can be reached from."""
    size = requested_size(claim)
    fitting = [volume for volume in volumes if _fits(volume, claim, size)]
    wanted = claim.spec.selector
    selector = compile_label_selector(wanted) if wanted is not None else Selector()
    free = [volume for volume in fitting if volume.spec.claim_ref is None and _is_free(volume, claim, selector)]
    return Candidates(
        reserved=tuple(volume for volume in fitting if volume.spec.claim_ref is not None),
        free=tuple(sorted(free, key=capacity_of)),
    )


def _fits(volume: PersistentVolume, claim: PersistentVolumeClaim, size: Quantity) -> bool:
    """What is asked even of a volume that names the claim."""
    ours, theirs = volume.spec, claim.spec
    if ours.claim_ref is not None and not names_claim(volume, claim):
        return False
    return (
        (ours.volume_mode or _FILESYSTEM) == (theirs.volume_mode or _FILESYSTEM)
        and (ours.volume_attributes_class_name or "") == (theirs.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
        and capacity_of(volume) >= size
    )


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim, selector: Selector) -> bool:
    """What is asked of a volume that names no claim."""
    return (
        volume.status.phase == "Available"
        and selector.matches(volume.metadata.labels)
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
    )
