"""What pods belong to: the Services and controllers whose selectors default spreading goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.pods import APPS

if TYPE_CHECKING:
    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

_IMAGE = "library/work-0:v1"

#: Kind, its API, and its name in these scenarios.
_OWNERS = {
    "ReplicaSet": ("apps/v1", "shop-7c9"),
    "StatefulSet": ("apps/v1", "store"),
    "ReplicationController": ("v1", "mail"),
}
_APP = {"ReplicaSet": "shop", "StatefulSet": "store", "ReplicationController": "mail"}


def make_services(namespace: str = "default") -> list[Object]:
    """A Service for two of the apps; the others have none."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": app, "namespace": namespace},
            "spec": {"selector": {"app": app}, "clusterIP": "None", "ports": [{"port": 80}]},
        }
        for app in APPS[:2]
    ]


def make_owners() -> list[Object]:
    """One controller of each kind that owns pods. Nobody runs them: their pods come from the scenario."""
    return [_owner(kind) for kind in _OWNERS]


def add_owner(dice: Dice, pod: Object) -> None:
    """Let a pod belong to one of `make_owners`, with the labels it selects by.

    The reference's uid is made up: placement looks owners up by their name.
    """
    kind = dice.one(list(_OWNERS))
    api, name = _OWNERS[kind]
    reference = {"apiVersion": api, "kind": kind, "name": name, "uid": f"made-up-{name}", "controller": True}
    pod["metadata"] |= {"namespace": "default", "ownerReferences": [reference]}
    pod["metadata"]["labels"]["app"] = _APP[kind]


def _owner(kind: str) -> Object:
    api, name = _OWNERS[kind]
    labels = {"app": _APP[kind]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": _IMAGE}]}}
    spec: dict[str, Any] = {"replicas": 0, "template": template}
    spec["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}
