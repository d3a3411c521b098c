"""The objects of the cluster under record: made, changed and removed as a scenario wants it, by kind and name."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.controlplane import Answer, ControlPlane


@dataclass(frozen=True, slots=True)
class _Kind:
    prefix: str
    plural: str
    namespaced: bool = True
    #: Whether the status is written by itself.
    status: bool = False


_CORE, _APPS, _STORAGE = "/api/v1", "/apis/apps/v1", "/apis/storage.k8s.io/v1"

_KINDS = {
    "Namespace": _Kind(_CORE, "namespaces", namespaced=False),
    "Node": _Kind(_CORE, "nodes", namespaced=False, status=True),
    "Pod": _Kind(_CORE, "pods", status=True),
    "Service": _Kind(_CORE, "services"),
    "ReplicationController": _Kind(_CORE, "replicationcontrollers"),
    "ReplicaSet": _Kind(_APPS, "replicasets"),
    "StatefulSet": _Kind(_APPS, "statefulsets"),
    "PodDisruptionBudget": _Kind("/apis/policy/v1", "poddisruptionbudgets", status=True),
    "StorageClass": _Kind(_STORAGE, "storageclasses", namespaced=False),
    "CSIDriver": _Kind(_STORAGE, "csidrivers", namespaced=False),
    "CSINode": _Kind(_STORAGE, "csinodes", namespaced=False),
    "CSIStorageCapacity": _Kind(_STORAGE, "csistoragecapacities"),
    "PersistentVolume": _Kind(_CORE, "persistentvolumes", namespaced=False),
    "PersistentVolumeClaim": _Kind(_CORE, "persistentvolumeclaims"),
}

_SERVERS_OWN = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"}


def plural(kind: str) -> str:
    """The kind's name in paths, and in the scheduler's metrics."""
    return _known(kind).plural


class ObjectStore:
    """What the API server keeps, as JSON objects."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        #: How many writes made a new version of an object: as many events are on their way to whoever watches.
        self.writes = 0

    def create(self, content: Object) -> Object:
        """Make an object with the status it comes with, and give it as it was stored."""
        made: Object = self._expect("POST", _collection(content), _as_new(content)).body
        self.writes += 1
        return self._with_status(made, content.get("status"))

    def put(self, content: Object) -> Object:
        """Let an object be as it stands here, whether it was there or not."""
        kind, metadata = content["kind"], content["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        there = self.get(kind, namespace, name)
        if there is None:
            return self.create(content)
        wanted = _as_new(content)
        wanted["metadata"]["resourceVersion"] = version = there["metadata"]["resourceVersion"]
        put: Object = self._expect("PUT", _path(kind, namespace, name), wanted).body
        self.writes += put["metadata"]["resourceVersion"] != version
        return self._with_status(put, content.get("status"))

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """An object, or None when it is not there."""
        path = _path(kind, namespace, name)
        answer = self._plane.request("GET", path)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        _check(answer, "GET", path)
        found: Object = answer.body
        return found

    def list(self, kind: str) -> list[Object]:
        """All objects of a kind. Items of a list do not say what they are, so it is added."""
        listed = self._expect("GET", f"{_known(kind).prefix}/{plural(kind)}").body
        head = {"kind": kind, "apiVersion": listed["apiVersion"]}
        return [head | item for item in listed["items"]]

    def delete(self, kind: str, namespace: str, name: str) -> bool:
        """Remove an object at once; whether it was there."""
        path = _path(kind, namespace, name)
        answer = self._plane.request("DELETE", path, {"gracePeriodSeconds": 0})
        if answer.status != HTTPStatus.NOT_FOUND:
            _check(answer, "DELETE", path)
        return answer.ok

    def _with_status(self, made: Object, status: dict[str, Any] | None) -> Object:
        current = made.get("status", {})
        if not status or not _KINDS[made["kind"]].status or status.items() <= current.items():
            return made
        metadata = made["metadata"]
        path = _path(made["kind"], metadata.get("namespace", ""), metadata["name"])
        written: Object = self._expect("PUT", f"{path}/status", made | {"status": current | status}).body
        self.writes += written["metadata"]["resourceVersion"] != metadata["resourceVersion"]
        return written

    def _expect(self, method: str, path: str, content: object = None) -> Answer:
        return _check(self._plane.request(method, path, content), method, path, content)


def _as_new(content: Object) -> Object:
    """An object without what only the API server may say, so that objects of a trace can be used again."""
    kept = {name: value for name, value in content["metadata"].items() if name not in _SERVERS_OWN}
    return content | {"metadata": kept}


def _check(answer: Answer, method: str, path: str, content: object = None) -> Answer:
    if answer.ok:
        return answer
    name = f" of {content['metadata']['name']}" if isinstance(content, dict) else ""
    said = answer.body.get("message") if isinstance(answer.body, dict) else answer.body
    raise UsageError(
        f"the API server refused {method} {path}{name} with {answer.status}: {said}",
        remedy="change the scenario to what it allows",
    )


def _known(kind: str) -> _Kind:
    if kind not in _KINDS:
        raise UsageError(f"a {kind} cannot be recorded", remedy=f"use only {', '.join(_KINDS)}")
    return _KINDS[kind]


def _collection(content: Object) -> str:
    kind, namespace = _known(content["kind"]), content["metadata"].get("namespace", "default")
    return f"{kind.prefix}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{kind.prefix}/{kind.plural}"


def _path(kind: str, namespace: str, name: str) -> str:
    where = {"kind": kind, "metadata": {"namespace": namespace} if namespace else {}}
    return f"{_collection(where)}/{name}"
