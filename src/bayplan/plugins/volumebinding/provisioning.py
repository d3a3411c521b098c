"""Volumes that are yet to be made: by whom, where, and whether there is room for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.errors import ValidationError
from bayplan.objects.labels import EVERYTHING, NOTHING, Operator, Selector, compile_label_selector, require
from bayplan.objects.quantity_text import value_of
from bayplan.plugins.storage.claims import STORAGE, class_of_claim
from bayplan.plugins.storage.reach import selected

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.storage import CSIStorageCapacity, PersistentVolumeClaim, StorageClass, TopologySelectorTerm

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


@dataclass(frozen=True, slots=True)
class Provision:
    """Making a volume for a claim."""

    claim: PersistentVolumeClaim
    storage_class: StorageClass | None
    #: Where there is room for one of this size; None where nobody keeps track of room.
    capacities: tuple[CSIStorageCapacity, ...] | None = None

    @property
    def is_possible(self) -> bool:
        """Whether the claim's class makes volumes at all."""
        return self.storage_class is not None and self.storage_class.provisioner not in {"", _NO_PROVISIONER}


def provision_for(claim: PersistentVolumeClaim, cluster: Cluster) -> Provision:
    """What making a volume for this claim takes."""
    storage_class = cluster.storage_classes.get(class_of_claim(claim))
    if storage_class is None or STORAGE not in claim.spec.resources.requests:
        return Provision(claim, storage_class)
    driver = cluster.csi_drivers.get(storage_class.provisioner)
    if driver is None or not driver.spec.storage_capacity:
        return Provision(claim, storage_class)
    size, name = value_of(claim.spec.resources.requests[STORAGE]), storage_class.metadata.name
    enough = (one for one in cluster.capacities if one.storage_class_name == name and _limit_of(one) >= size)
    return Provision(claim, storage_class, tuple(enough))


def allowed(provision: Provision, nodes: Nodes) -> Bools:
    """Where the class may make volumes."""
    terms = provision.storage_class.allowed_topologies if provision.storage_class is not None else ()
    if not terms:
        return np.ones(len(nodes), dtype=np.bool_)
    found: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for term in terms:
        found |= selected(_selector_of(term), nodes)
    return found


def roomy(provision: Provision, nodes: Nodes) -> Ints:
    """Which of the capacities has room for the volume at each node, by index; -1 for none."""
    found: Ints = np.full(len(nodes), -1, dtype=np.int64)
    for index, capacity in enumerate(provision.capacities or ()):
        found[(found < 0) & selected(_reach_of(capacity), nodes)] = index
    return found


def room_in(capacity: CSIStorageCapacity) -> int:
    """How much there is room for, in bytes, of volumes of any size."""
    return value_of(capacity.capacity)


def _limit_of(capacity: CSIStorageCapacity) -> int:
    """How large a single volume can be; -1 where none can be made."""
    most = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return -1 if most is None else value_of(most)


def _selector_of(term: TopologySelectorTerm) -> Selector:
    if not term.match_label_expressions:
        return NOTHING
    try:
        return EVERYTHING.with_requirements(
            require(asked.key, Operator.IN, asked.values) for asked in term.match_label_expressions
        )
    except ValidationError:
        return NOTHING


def _reach_of(capacity: CSIStorageCapacity) -> Selector:
    try:
        return compile_label_selector(capacity.node_topology)
    except ValidationError:
        return NOTHING
