"""What becomes of a pod's claims on each node: whether it works out, and which volumes it would take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.verdicts import YES, Verdict, reject
from bayplan.errors import ValidationError
from bayplan.plugins.storage.migration import is_moved_on, moved_affinity, moved_kind
from bayplan.plugins.storage.reach import reachable
from bayplan.plugins.volumebinding.nearest import first_reachable
from bayplan.plugins.volumebinding.provisioning import allowed, roomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.columns.arrays import Bools, Ids, Ints
    from bayplan.columns.nodes import Nodes
    from bayplan.objects.selection import NodeSelector
    from bayplan.objects.storage import PersistentVolume
    from bayplan.plugins.storage.migration import Moved
    from bayplan.plugins.volumebinding.plan import Plan, Unbound
    from bayplan.plugins.volumebinding.provisioning import Provision

_AWAY, _NO_MATCH, _NO_ROOM, _NO_VOLUME = 1, 2, 4, 8
#: In the order in which kube-scheduler lists them.
_REASONS = {
    _AWAY: "node(s) didn't match PersistentVolume's node affinity",
    _NO_MATCH: "node(s) didn't find available persistent volumes to bind",
    _NO_ROOM: "node(s) did not have enough free storage",
    _NO_VOLUME: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}


def _meaning(code: int) -> Verdict:
    return reject(*(text for bit, text in _REASONS.items() if code & bit), resolvable=False) if code else YES


#: By code, which is the sum of the reasons' numbers.
MEANINGS: Sequence[Verdict] = tuple(_meaning(code) for code in range(16))
_NONE = -1


@dataclass(slots=True)
class Choice:
    """What one unbound claim would get on each node."""

    unbound: Unbound
    #: The volumes to choose from: those that name the claim, then the others.
    volumes: tuple[PersistentVolume, ...]
    #: The number of the volume that is taken on each node; -1 for one that is to be made.
    taken: Ints
    #: By the volumes' names.
    number_of: dict[str, int]


@dataclass(slots=True)
class Room:
    """Where there is room for a volume that is to be made."""

    provision: Provision
    #: Where it is to be made.
    needed: Bools
    #: The capacity that has room for it, by its number; -1 where nobody keeps track.
    capacity: Ints


@dataclass(slots=True)
class Found:
    """The outcome on some nodes."""

    #: What is against it, as the sum of reasons; 0 for nothing.
    codes: Ids
    choices: list[Choice] = field(default_factory=list)
    rooms: list[Room] = field(default_factory=list)


def search(plan: Plan, nodes: Nodes) -> Found:
    """Try every node, all at once. The plan must not be a refusal."""
    found = Found(np.zeros(len(nodes), dtype=np.int32))
    _check_bound(plan, nodes, found)
    elsewhere: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for selected in plan.selected:
        elsewhere |= ~_is_row(nodes, selected.node)
    found.codes[elsewhere] |= _NO_MATCH
    for unbound in plan.unbound:
        found.choices.append(_choose(unbound, found.choices, nodes))
    _provide(plan, nodes, found, ~elsewhere)
    return found


def _check_bound(plan: Plan, nodes: Nodes, found: Found) -> None:
    """Each volume must be there and within reach; the first that is not decides what is said."""
    fine: Bools = np.ones(len(nodes), dtype=np.bool_)
    for volume in plan.bound:
        if volume is None:
            found.codes[fine] |= _NO_VOLUME
            return
        reached = _reached(volume, nodes)
        found.codes[fine & ~reached] |= _AWAY
        fine &= reached


def _reached(volume: PersistentVolume, nodes: Nodes) -> Bools:
    reached = reachable(_affinity_of(volume), nodes)
    moved = moved_kind(volume.spec)
    if moved is not None:
        there = _moved_rows(moved, nodes)
        if there.any():
            reached = np.where(there, _reached_through_driver(volume, moved, nodes), reached)
    return reached


def _moved_rows(moved: Moved, nodes: Nodes) -> Bools:
    csi_nodes, table = nodes.cluster.csi_nodes, nodes.table
    return np.array([is_moved_on(csi_nodes.get(table.name(row)), moved) for row in nodes.indices()], dtype=np.bool_)


def _reached_through_driver(volume: PersistentVolume, moved: Moved, nodes: Nodes) -> Bools:
    try:
        return reachable(moved_affinity(volume, moved), nodes)
    except ValidationError:
        # kube-scheduler fails for the pod when it comes to such a node. Here the node fails, and others may do.
        return np.zeros(len(nodes), dtype=np.bool_)


def _choose(unbound: Unbound, before: Sequence[Choice], nodes: Nodes) -> Choice:
    """The first of the candidates, best first, that is within reach and not taken by an earlier claim of the pod."""
    candidates = unbound.candidates
    volumes = (*candidates.reserved, *candidates.free)
    number_of = {volume.metadata.name: number for number, volume in enumerate(volumes)}
    choice = Choice(unbound, volumes, np.full(len(nodes), _NONE, dtype=np.int64), number_of)
    open_: Bools = np.ones(len(nodes), dtype=np.bool_)
    for number, volume in enumerate(candidates.reserved):
        # A volume that names the claim is the only one for it, even out of reach.
        here = open_ & ~_is_taken(volume, before, nodes)
        choice.taken[here & reachable(_affinity_of(volume), nodes)] = number
        open_ &= ~here
    if any(name in other.number_of for other in before for name in number_of):
        _choose_besides(choice, before, open_, nodes)
    else:
        first = first_reachable([_affinity_of(volume) for volume in candidates.free], nodes)
        found = open_ & (first >= 0)
        choice.taken[found] = first[found] + len(candidates.reserved)
    return choice


def _choose_besides(choice: Choice, before: Sequence[Choice], open_: Bools, nodes: Nodes) -> None:
    """Choose among the volumes that name no claim where earlier claims of the pod may have taken some."""
    for volume in choice.unbound.candidates.free:
        if not open_.any():
            return
        within = open_ & ~_is_taken(volume, before, nodes) & reachable(_affinity_of(volume), nodes)
        choice.taken[within] = choice.number_of[volume.metadata.name]
        open_ = open_ & ~within


def _is_taken(volume: PersistentVolume, before: Sequence[Choice], nodes: Nodes) -> Bools:
    taken: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for choice in before:
        number = choice.number_of.get(volume.metadata.name)
        if number is not None:
            taken |= choice.taken == number
    return taken


def _provide(plan: Plan, nodes: Nodes, found: Found, open_: Bools) -> None:
    """Make what is missing; the first claim that this does not work for decides what is said."""
    everywhere: Bools = np.ones(len(nodes), dtype=np.bool_)
    wanted = [(selected.provision, everywhere) for selected in plan.selected]
    wanted += [(choice.unbound.otherwise, choice.taken == _NONE) for choice in found.choices]
    for provision, missing in wanted:
        needed = missing & open_
        if not needed.any():
            continue
        possible = allowed(provision, nodes) if provision.is_possible else ~everywhere
        found.codes[needed & ~possible] |= _NO_MATCH
        open_ = open_ & (possible | ~needed)
        if provision.capacities is not None:
            room = roomy(provision, nodes)
            found.codes[needed & possible & (room == _NONE)] |= _NO_ROOM
            open_ = open_ & ((room != _NONE) | ~needed)
            found.rooms.append(Room(provision, needed, room))


def _affinity_of(volume: PersistentVolume) -> NodeSelector | None:
    affinity = volume.spec.node_affinity
    return affinity.required if affinity is not None else None


def _is_row(nodes: Nodes, name: str) -> Bools:
    row = nodes.table.row_of.get(name, -1)
    rows = np.arange(nodes.rows.start, nodes.rows.stop) if isinstance(nodes.rows, slice) else nodes.rows
    named: Bools = rows == row
    return named
