"""A cluster, written down so that two of them can be compared.

Numbers that only say in which order things came (rows, interned values) are left out; names stand instead. So a cluster
after any history and one that was built from its last objects have the same picture.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.store import Store

_STORES = (
    "namespaces",
    "services",
    "replication_controllers",
    "replica_sets",
    "stateful_sets",
    "budgets",
    "priority_classes",
    "volumes",
    "claims",
    "storage_classes",
    "csi_nodes",
    "csi_drivers",
    "capacities",
    "attachments",
)

Picture = dict[str, Any]


def picture(cluster: Cluster, *, order: bool = False) -> Picture:
    """All there is. `order` also has the order of the pods on each node, which preemption reads."""
    table = cluster.nodes
    names = {row: name for name, row in table.row_of.items()}
    return {
        "nodes": {name: _node(cluster, row, order=order) for name, row in table.row_of.items()},
        "groups": _by_name({group.key: group.rows for group in cluster.pods.groups()}, names),
        "alive": _by_name({group.key: group.alive for group in cluster.pods.groups()}, names),
        "terms": _by_name(cluster.pods.terms, names),
        "claims": dict(cluster.pods.claims),
        "strays": {node: dict(pods) for node, pods in cluster.strays().items()},
        "nominated": {node: dict(pods) for node, pods in cluster.nominated().items()},
        **{name: _objects(getattr(cluster, name)) for name in _STORES},
    }


def _node(cluster: Cluster, row: int, *, order: bool) -> Picture:
    table = cluster.nodes
    one = table.nodes[row]
    pods = [placement.pod for placement in cluster.pods.on(row)]
    return {
        "object": one,
        "live": table.live.item(row),
        "unschedulable": table.unschedulable.item(row),
        "taints": table.taint_sets.things[table.taint_set.item(row)],
        "features": table.feature_sets.things[table.feature_set.item(row)],
        "pods": [pod.metadata.key for pod in pods] if order else {pod.metadata.key: pod for pod in pods},
        "ports": dict(cluster.pods.ports.get(row, Counter())),
        **_amounts(cluster, row),
    }


def _amounts(cluster: Cluster, row: int) -> Picture:
    resources = cluster.nodes.resources
    named = list(enumerate(resources.names))
    return {
        "allocatable": {name: n for i, name in named if (n := resources.allocatable.item(i, row))},
        "requested": {name: n for i, name in named if (n := resources.requested.item(i, row))},
        "compared": resources.compared[:, row].tolist(),
    }


def _by_name(counts: Mapping[Any, Mapping[int, int]], names: Mapping[int, str]) -> dict[Any, dict[str, int]]:
    return {thing: {names[row]: count for row, count in rows.items()} for thing, rows in counts.items()}


def _objects(store: Store[Any]) -> dict[str, Any]:
    return {one.metadata.key: one for one in store}
