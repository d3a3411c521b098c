"""Pods on nodes, counted by what they have in common.

A *group* is the pods of one namespace with the same labels: all that a selector can tell of them. Who counts the pods
that a selector selects asks each group once, not each pod. `log` has every coming and going, for those who keep counts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bayplan.columns.log import ChangeLog
from bayplan.objects.requests import beyond_count, count_held, has_resize_status, requests_held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bayplan.columns.affinity import Terms
    from bayplan.columns.podclass import HostPort, PodClass, PodClasses
    from bayplan.columns.resources import Load
    from bayplan.columns.table import NodeTable
    from bayplan.objects.pod import Pod


#: A namespace, and labels without their order.
GroupKey = tuple[str, frozenset[tuple[str, str]]]


class Group:
    """Pods of one namespace with the same labels: how many there are on each row."""

    __slots__ = ("alive", "key", "labels", "namespace", "rows")

    def __init__(self, key: GroupKey, labels: Mapping[str, str]) -> None:
        self.key = key
        self.namespace = key[0]
        self.labels = labels
        #: All of them, by row.
        self.rows: dict[int, int] = {}
        #: Those that have not been told to end, by row.
        self.alive: dict[int, int] = {}


class Placement:
    """A pod on a row, with what it takes there."""

    __slots__ = ("group", "index", "load", "pod", "pod_class", "row", "terms")

    def __init__(self, pod: Pod, pod_class: PodClass, row: int, load: Load, group: Group, terms: Terms | None) -> None:
        self.pod = pod
        self.pod_class = pod_class
        self.row = row
        self.load = load
        self.group = group
        #: Its pod affinity; None where it has none, or a broken one.
        self.terms = terms
        #: Where it stands among the pods of its row.
        self.index = 0


class PodTable:
    """All pods on nodes that are there."""

    def __init__(self, nodes: NodeTable, classes: PodClasses) -> None:
        self._nodes = nodes
        self._classes = classes
        #: Only those that have pods.
        self._groups: dict[GroupKey, Group] = {}
        #: By namespace and name.
        self.by_key: dict[str, Placement] = {}
        #: The same pods by row. Each knows its place in the list.
        self._on_row: dict[int, list[Placement]] = {}
        #: The pods that have affinity terms, by these terms, then by row.
        self.terms: dict[Terms, dict[int, int]] = {}
        #: How often each port is taken, by row.
        self.ports: dict[int, Counter[HostPort]] = {}
        #: How many pods there are of each priority.
        self.priorities: Counter[int] = Counter()
        #: How many pods name a claim, by its namespace and name.
        self.claims: Counter[str] = Counter()
        #: Each coming (1) and going (-1) of a pod.
        self.log: ChangeLog[tuple[Placement, int]] = ChangeLog(keep=65_536)
        #: Those of pods that have affinity terms alone, which are few.
        self.terms_log: ChangeLog[tuple[Placement, int]] = ChangeLog(keep=65_536)

    def groups(self) -> Iterable[Group]:
        """All groups that have pods."""
        return self._groups.values()

    def on(self, row: int) -> Sequence[Placement]:
        """The pods on a row, in the order in which kube-scheduler would have them: the last takes a leaver's place."""
        return self._on_row.get(row, ())

    def any_below(self, priority: int) -> bool:
        """Whether there is any pod of lower priority."""
        return any(one < priority for one in self.priorities)

    def add(self, pod: Pod, row: int) -> Placement:
        """Count a pod in."""
        pod_class = self._classes.class_of_placed(pod)
        terms = pod_class.terms
        placement = Placement(
            pod,
            pod_class,
            row,
            self._nodes.resources.add(row, self.load_of(pod, pod_class)),
            self._group_of(pod_class),
            None if terms is None or isinstance(terms, Exception) else terms,
        )
        self._enter(placement)
        self._note(placement, 1)
        return placement

    def remove(self, key: str) -> Placement | None:
        """Count a pod out."""
        placement = self.by_key.get(key)
        if placement is None:
            return None
        self._nodes.resources.remove(placement.row, placement.load)
        self._leave(placement)
        self._note(placement, -1)
        return placement

    def restore(self, placement: Placement) -> None:
        """Undo the last `remove`: all is as it was before, the order of the pods too."""
        placement.load = self._nodes.resources.add(placement.row, placement.load)
        self._enter(placement, placement.index)
        self._note(placement, 1)

    def load_of(self, pod: Pod, pod_class: PodClass) -> Load:
        """What a pod takes on a node, from its class unless it is being resized."""
        if has_resize_status(pod):
            return self._count(pod)
        load = pod_class.load
        if load is None:
            load = pod_class.load = self._count(pod)
        return load

    def _count(self, pod: Pod) -> Load:
        return self._nodes.resources.load_of(count_held(pod), beyond_count(requests_held(pod)))

    def check(self) -> None:
        """Assert what must always hold; for tests."""
        placements = [placement for on_row in self._on_row.values() for placement in on_row]
        assert {id(one) for one in placements} == {id(one) for one in self.by_key.values()}
        for row, on_row in self._on_row.items():
            assert [(one.row, one.index) for one in on_row] == [(row, index) for index in range(len(on_row))]
        for key, one in self.by_key.items():
            assert one.pod.metadata.key == key
            assert self._nodes.nodes[one.row] is not None
            assert self._groups[one.group.key] is one.group
        for row in range(self._nodes.size):
            self._nodes.resources.check_requested(row, [one.load for one in self.on(row)])
        self._check_counts(placements)

    def _check_counts(self, placements: list[Placement]) -> None:
        rows, alive, terms = Counter[Any](), Counter[Any](), Counter[Any]()
        ports, claims = Counter[Any](), Counter[str]()
        for one in placements:
            rows[one.group.key, one.row] += 1
            alive[one.group.key, one.row] += not one.pod.is_terminating
            terms[one.terms, one.row] += one.terms is not None
            ports.update((one.row, port) for port in one.pod_class.host_ports)
            claims.update(claims_of(one.pod))
        groups = self._groups.items()
        assert {(key, row): count for key, group in groups for row, count in group.rows.items()} == rows
        assert {(key, row): count for key, group in groups for row, count in group.alive.items()} == +alive
        assert all(group.rows for _, group in groups)
        assert {(one, row): count for one, rows in self.terms.items() for row, count in rows.items()} == +terms
        assert {(row, port): count for row, taken in self.ports.items() for port, count in taken.items()} == ports
        assert self.claims == claims

    def _group_of(self, pod_class: PodClass) -> Group:
        group = pod_class.group
        if group is None:
            key = (pod_class.namespace, frozenset(pod_class.labels.items()))
            group = pod_class.group = self._groups.get(key) or Group(key, pod_class.labels)
        return group

    def _enter(self, placement: Placement, index: int | None = None) -> None:
        pod, row, group = placement.pod, placement.row, placement.group
        key = pod.metadata.key
        self.by_key[key] = placement
        self._insert(placement, index)
        if not group.rows:  # it was let go when its last pod went, and may have been made anew by another class
            placement.group = group = placement.pod_class.group = self._groups.setdefault(group.key, group)
        group.rows[row] = group.rows.get(row, 0) + 1
        if not pod.is_terminating:
            group.alive[row] = group.alive.get(row, 0) + 1
        if placement.terms is not None:
            _count(self.terms.setdefault(placement.terms, {}), row, 1)
        self.priorities[pod.priority] += 1
        if placement.pod_class.host_ports:
            self.ports.setdefault(row, Counter()).update(placement.pod_class.host_ports)
        if pod.spec.volumes:
            self.claims.update(claims_of(pod))

    def _leave(self, placement: Placement) -> None:
        pod, row, group = placement.pod, placement.row, placement.group
        key = pod.metadata.key
        del self.by_key[key]
        on_row = self._on_row[row]
        last = on_row.pop()
        if last is not placement:
            on_row[placement.index] = last
            last.index = placement.index
        _count(group.rows, row, -1)
        if not pod.is_terminating:
            _count(group.alive, row, -1)
        if not group.rows:
            del self._groups[group.key]
        if placement.terms is not None:
            rows = self.terms[placement.terms]
            _count(rows, row, -1)
            if not rows:
                del self.terms[placement.terms]
        _take_away(self.priorities, (pod.priority,))
        if placement.pod_class.host_ports:
            _take_away(self.ports[row], placement.pod_class.host_ports)
        if pod.spec.volumes:
            _take_away(self.claims, claims_of(pod))

    def _insert(self, placement: Placement, index: int | None) -> None:
        on_row = self._on_row.get(placement.row)
        if on_row is None:
            on_row = self._on_row[placement.row] = []
        if index is None or index == len(on_row):
            placement.index = len(on_row)
            on_row.append(placement)
            return
        moved = on_row[index]
        moved.index = len(on_row)
        on_row.append(moved)
        on_row[index] = placement

    def _note(self, placement: Placement, sign: int) -> None:
        self._nodes.load_log.append(placement.row)
        self.log.append((placement, sign))
        if placement.terms is not None:
            self.terms_log.append((placement, sign))


def claims_of(pod: Pod) -> Iterable[str]:
    """The claims that a pod names, by namespace and name."""
    meta = pod.metadata
    for volume in pod.spec.volumes:
        # kube-scheduler does not count the claims of ephemeral volumes, each of which is one pod's own.
        if volume.persistent_volume_claim is not None:
            yield f"{meta.namespace}/{volume.persistent_volume_claim.claim_name}"


def _count(rows: dict[int, int], row: int, sign: int) -> None:
    count = rows.get(row, 0) + sign
    if count:
        rows[row] = count
    else:
        del rows[row]


def _take_away(counter: Counter, things: Iterable) -> None:  # type: ignore[type-arg]
    for thing in things:
        counter[thing] -= 1
        if not counter[thing]:
            del counter[thing]
