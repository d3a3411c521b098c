"""A trace as it is recorded: the cluster at its beginning, and a step for each thing that happened."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.recorder.attempts import Attempt


@dataclass(slots=True)
class Trace:
    """What the scheduler was told and what it said, in the order in which it happened."""

    meta: dict[str, Any]
    objects: list[Object] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def outcomes(self) -> dict[str, int]:
        """How many decisions came out how."""
        counts = dict.fromkeys(("bound", "unschedulable", "gated"), 0)
        for step in self.steps:
            if "outcome" in step:
                counts[step["outcome"]] += 1
        return counts


def bound_step(event: str, pod: Object, node: str, attempt: Attempt, victims: list[str]) -> dict[str, Any]:
    """A pod found its node, if need be by making room there."""
    step = {event: pod, "outcome": "bound", "node": node}
    if attempt.nominated:
        return step | {"nominated": attempt.nominated, "victims": sorted(victims)}
    if not attempt.totals:
        return step
    return step | {"scores": attempt.sorted_scores(), "totals": dict(sorted(attempt.totals.items()))}


def unbound_step(event: str, pod: Object, outcome: str, message: str) -> dict[str, Any]:
    """A pod found none, or may not look for one yet."""
    return {event: pod, "outcome": outcome, "message": message}


def without_status(pod: Object) -> Object:
    """A pod as it stands in a step: what was asked for, without what became of it."""
    kept = {name: value for name, value in stored(pod).items() if name != "status"}
    return kept | {"spec": {name: value for name, value in pod["spec"].items() if name != "nodeName"}}


def stored(content: Object) -> Object:
    """An object as the API server keeps it, without the record of who wrote which field."""
    metadata = {name: value for name, value in content["metadata"].items() if name != "managedFields"}
    return content | {"metadata": metadata}


def write_trace(trace: Trace, path: Path) -> int:
    """Write a trace, the same bytes for the same content whenever it is written; gives how many."""
    content = {"meta": trace.meta, "objects": trace.objects, "steps": trace.steps}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0) if path.suffix == ".gz" else text.encode()
    try:
        path.write_bytes(packed)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}", remedy="choose another file") from error
    return len(packed)


def read_trace(path: Path) -> Trace:
    """Read a trace, packed or plain."""
    raw = path.read_bytes()
    return Trace(**json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw))
