"""VolumeZone: volumes that are labelled with zones or regions are used there.

A rule from before volumes had a node affinity. It looks at the labels of volumes that claims are bound to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayplan.columns.arrays import Bools, Ids, Rows, rows_of
from bayplan.columns.labels import ABSENT
from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import YES, Verdict, Verdicts, reject
from bayplan.plugins.storage.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_not_found,
    class_not_found,
    class_of_claim,
    volume_not_found,
)
from bayplan.plugins.storage.migration import BETA_REGION, BETA_ZONE, REGION, SEPARATOR, ZONE
from bayplan.plugins.storage.reach import having

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.objects.storage import PersistentVolume, PersistentVolumeClaim

_CONFLICT = reject("node(s) had no available volume zone", resolvable=False)
_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
#: What nodes that have lost the beta labels have instead.
_SUCCESSOR = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class _Place(NamedTuple):
    """A label of a volume, with the values that a node may have for it."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class VolumeZone:
    """Keep pods in the zones of their volumes."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> VolumePlaces | None:
        """Nothing to say of pods that name no claim. Ephemeral ones it never looks at."""
        named = (volume.persistent_volume_claim for volume in pod.spec.volumes)
        claims = tuple(claim.claim_name for claim in named if claim is not None)
        return VolumePlaces(pod.namespace, claims, cluster) if claims else None


class VolumePlaces:
    """The places of the volumes of a class of pods."""

    reads = Reads.NODE | Reads.CLUSTER

    def __init__(self, namespace: str, claims: tuple[str, ...], cluster: Cluster) -> None:
        self._namespace = namespace
        self._claims = claims
        self._cluster = cluster
        self._versions = (-1, -1, -1)
        self._places: tuple[_Place, ...] = ()
        self._refusal: Verdict | None = None
        self._position = 0
        #: By code; refusals come after these.
        self._meanings = [YES, _CONFLICT]

    def catch_up(self) -> Rows | None:
        """All rows when the volumes' places are others than before; else those of nodes that changed."""
        cluster, before = self._cluster, (self._places, self._refusal)
        versions = cluster.claims.version, cluster.volumes.version, cluster.storage_classes.version
        if versions != self._versions:
            self._places, self._refusal = self._looked_up()
            self._versions = versions
        log, position = cluster.nodes.node_log, self._position
        self._position = log.position
        if before != (self._places, self._refusal):
            return slice(0, cluster.nodes.size)
        rows = log.since(position)
        return slice(0, cluster.nodes.size) if rows is None else rows_of(rows)

    def refusal(self) -> Verdict | None:
        """A claim, volume or class that is not there, or a volume that should be and is not."""
        return self._refusal

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """Nodes without any of these labels have all volumes: such a cluster has one zone and does not say so."""
        if self._refusal is not None:
            return Verdicts(np.full(len(nodes), self._code_of(self._refusal), dtype=np.int32), self._meanings)
        if not self._places:
            return Verdicts(np.zeros(len(nodes), dtype=np.int32), self._meanings)
        away: Bools = np.zeros(len(nodes), dtype=np.bool_)
        for place in self._places:
            away |= ~_is_at(place, nodes)
        somewhere: Bools = np.zeros(len(nodes), dtype=np.bool_)
        for key in _LABELS:
            somewhere |= nodes.label_ids(key) != ABSENT
        return Verdicts((away & somewhere).astype(np.int32), self._meanings)

    def _code_of(self, verdict: Verdict) -> int:
        if verdict not in self._meanings:
            self._meanings.append(verdict)
        return self._meanings.index(verdict)

    def _looked_up(self) -> tuple[tuple[_Place, ...], Verdict | None]:
        places: list[_Place] = []
        for name in self._claims:
            claim = self._cluster.claims.get(f"{self._namespace}/{name}")
            problem = self._problem(name, claim)
            if problem:
                return (), reject(problem, resolvable=False)
            volume = self._cluster.volumes.get(claim.spec.volume_name) if claim is not None else None
            if volume is not None:
                places += _places_of(volume)
        return tuple(places), None

    def _problem(self, name: str, claim: PersistentVolumeClaim | None) -> str:
        """Why the zone of a claim cannot be told, in kube-scheduler's words; empty where it can."""
        if not name:
            return "PersistentVolumeClaim had no name"
        if claim is None:
            return claim_not_found(name)
        bound_to = claim.spec.volume_name
        if not bound_to:
            return self._problem_of_unbound(class_of_claim(claim))
        return "" if self._cluster.volumes.get(bound_to) is not None else volume_not_found(bound_to)

    def _problem_of_unbound(self, class_name: str) -> str:
        if not class_name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        found = self._cluster.storage_classes.get(class_name)
        if found is None:
            return class_not_found(class_name)
        if found.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{class_name}"'
        waits = found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        return "" if waits else "PersistentVolume had no name"


def _places_of(volume: PersistentVolume) -> Iterator[_Place]:
    """Its zone and region labels. A list of zones with a gap in it is taken for none at all."""
    labels = volume.metadata.labels
    for key in _LABELS:
        if key in labels:
            values = [value.strip() for value in labels[key].split(SEPARATOR)]
            if all(values):
                yield _Place(key, tuple(values))


def _is_at(place: _Place, nodes: Nodes) -> Bools:
    column = nodes.table.label(place.key)
    fitting = having(column, place.values, nodes)
    if place.key in _SUCCESSOR:
        ids: Ids = column.ids[nodes.rows]
        fitting |= (ids == ABSENT) & having(nodes.table.label(_SUCCESSOR[place.key]), place.values, nodes)
    return fitting
