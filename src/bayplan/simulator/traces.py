"""Traces: what an unmodified kube-scheduler decided, step by step. docs/traces.md has the format."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from bayplan.errors import UsageError, ValidationError
from bayplan.objects.node import NAMESPACES, NODES
from bayplan.objects.pod import PODS, Pod
from bayplan.objects.storage import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from bayplan.objects.wire import decode
from bayplan.objects.workloads import (
    POD_DISRUPTION_BUDGETS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.contract.events import ClusterObject

_FORMS: dict[str, type] = {
    resource.kind: resource.type
    for resource in (
        PODS,
        NODES,
        NAMESPACES,
        SERVICES,
        REPLICATION_CONTROLLERS,
        REPLICA_SETS,
        STATEFUL_SETS,
        POD_DISRUPTION_BUDGETS,
        PRIORITY_CLASSES,
        PERSISTENT_VOLUMES,
        PERSISTENT_VOLUME_CLAIMS,
        STORAGE_CLASSES,
        CSI_NODES,
        CSI_DRIVERS,
        CSI_STORAGE_CAPACITIES,
        VOLUME_ATTACHMENTS,
    )
}
#: What a gzipped trace may come to; those of 5,000 nodes and 100,000 pods have a tenth of it.
_MOST_BYTES = 1 << 30
_OUTCOMES = ("bound", "unschedulable", "gated")


@dataclass(frozen=True, slots=True)
class Decided:
    """A pod came, or was released, and was decided."""

    pod: Pod
    outcome: str
    node: str | None = None
    message: str = ""
    #: Normalised and weighted, by plugin and node; empty where nothing was compared.
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    nominated: str | None = None
    victims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Updated:
    """An object is there from now on as it stands here."""

    object: ClusterObject


@dataclass(frozen=True, slots=True)
class Deleted:
    """Something went away."""

    kind: str
    key: str


Step: TypeAlias = Decided | Updated | Deleted


@dataclass(frozen=True, slots=True)
class Trace:
    """What was there in the beginning, and what happened."""

    name: str
    objects: tuple[ClusterObject, ...]
    steps: tuple[Step, ...]
    #: The KubeSchedulerConfiguration that the scheduler ran with; None for the default profile.
    config: dict[str, Any] | None = None
    meta: dict[str, Any] = field(default_factory=dict)


class _Written(msgspec.Struct):
    meta: dict[str, Any] = {}
    objects: list[msgspec.Raw] = []
    steps: list[msgspec.Raw] = []


class _WrittenStep(msgspec.Struct):
    create: msgspec.Raw = msgspec.Raw()
    update: msgspec.Raw = msgspec.Raw()
    delete: str | None = None
    outcome: str | None = None
    node: str | None = None
    message: str | None = None
    scores: dict[str, dict[str, int]] = {}
    totals: dict[str, int] = {}
    nominated: str | None = None
    victims: tuple[str, ...] = ()


class _Kind(msgspec.Struct):
    kind: str = ""


def read_trace(path: Path) -> Trace:
    """A trace from a file, gzipped or not. A UsageError says which part of it cannot be meant."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = _unpacked(data)
    except (OSError, EOFError, zlib.error) as error:
        problem = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{path} cannot be read: {problem}", remedy="give a trace that bayplan record wrote"
        ) from error
    return parse_trace(data, str(path))


def _unpacked(data: bytes) -> bytes:
    with gzip.open(io.BytesIO(data)) as file:
        unpacked = file.read(_MOST_BYTES + 1)
    if len(unpacked) > _MOST_BYTES:
        raise OSError(f"it unpacks to more than {_MOST_BYTES >> 20} MB")
    return unpacked


def parse_trace(data: bytes, name: str) -> Trace:
    """A trace from JSON."""
    try:
        written = msgspec.json.decode(data, type=_Written)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _unfit(name, "it", error) from error
    if not written.steps:
        raise UsageError(f"{name} has no steps", remedy="give a trace that bayplan record wrote")
    objects = tuple(_object(raw, name, f"objects[{index}]") for index, raw in enumerate(written.objects))
    steps = tuple(_step(raw, name, f"steps[{index}]") for index, raw in enumerate(written.steps))
    config = written.meta.get("config")
    if config is not None and not isinstance(config, dict):
        raise UsageError(f"{name}: meta.config is no object", remedy="leave it out for the default profile")
    return Trace(name, objects, steps, config, written.meta)


def _step(raw: msgspec.Raw, name: str, path: str) -> Step:
    try:
        step = msgspec.json.decode(raw, type=_WrittenStep)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unfit(name, path, error) from error
    if step.delete is not None:
        return _deleted(step.delete, name, path)
    came = step.create or step.update
    if not came:
        raise UsageError(f"{name}: {path} is neither create, update nor delete", remedy="see docs/traces.md")
    one = _object(came, name, path)
    if step.outcome is None and not step.create:
        return Updated(one)
    if not isinstance(one, Pod) or step.outcome not in _OUTCOMES:
        raise UsageError(
            f"{name}: {path} has the outcome {step.outcome!r} for a {type(one).__name__}",
            remedy=f"a pod's is one of {', '.join(_OUTCOMES)}",
        )
    if step.outcome == "bound" and not step.node:
        raise UsageError(f"{name}: {path} is bound and has no node", remedy="name it in node")
    return Decided(
        pod=one,
        outcome=step.outcome,
        node=step.node,
        message=step.message or "",
        scores=step.scores,
        totals=step.totals,
        nominated=step.nominated,
        victims=step.victims,
    )


def _deleted(text: str, name: str, path: str) -> Deleted:
    """`namespace/name` of a pod, or `Kind/name`, `Kind/namespace/name` of anything."""
    first, _, rest = text.partition("/")
    if first[:1].isupper():
        if first not in _FORMS:
            raise UsageError(f"{name}: {path} deletes a {first}, which placement does not read", remedy="leave it out")
        return Deleted(first, rest)
    return Deleted("Pod", text)


def _object(raw: msgspec.Raw, name: str, path: str) -> ClusterObject:
    try:
        kind = msgspec.json.decode(raw, type=_Kind).kind
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unfit(name, path, error) from error
    form = _FORMS.get(kind)
    if form is None:
        raise UsageError(f"{name}: {path} is a {kind or 'thing of no kind'}", remedy=f"known are {', '.join(_FORMS)}")
    try:
        found: ClusterObject = decode(form, raw)
    except (ValidationError, RecursionError) as error:
        raise _unfit(name, path, error) from error
    if not found.metadata.name:
        raise UsageError(f"{name}: {path} has no name", remedy="give it metadata.name")
    return found


def _unfit(name: str, path: str, error: Exception) -> UsageError:
    return UsageError(f"{name}: {path} cannot be read: {error}", remedy="see docs/traces.md")


def empty_object(kind: str, key: str) -> ClusterObject:
    """An object of this kind and name, to say that it is gone."""
    namespace, _, name = key.rpartition("/")
    found: ClusterObject = decode(
        _FORMS[kind], json.dumps({"metadata": {"name": name, "namespace": namespace}}).encode()
    )
    return found
