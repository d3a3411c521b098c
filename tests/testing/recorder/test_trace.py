"""Traces on disk, and the form of a step."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import UsageError
from bayplan.testing.recorder.attempts import Attempt
from bayplan.testing.recorder.trace import Trace, bound_step, read_trace, unbound_step, without_status, write_trace

if TYPE_CHECKING:
    from pathlib import Path


def pod(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "default", "managedFields": [{"manager": "x"}]}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def test_a_trace_is_read_as_it_was_written_packed_or_plain(tmp_path: Path) -> None:
    trace = Trace({"flavour": "mine"}, [pod()], [{"delete": "default/wéb"}])
    for name in ("t.json", "t.json.gz"):
        write_trace(trace, tmp_path / name)
        assert read_trace(tmp_path / name) == trace


def test_the_same_trace_is_the_same_bytes_whenever_and_wherever_it_is_written(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json.gz", tmp_path / "b.json.gz"
    for path in (first, second):
        assert write_trace(Trace({}), path) == path.stat().st_size
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[4:8] == b"\0\0\0\0", "gzip's header keeps no time"
    assert json.loads(gzip.decompress(first.read_bytes())) == {"meta": {}, "objects": [], "steps": []}


def test_a_file_that_cannot_be_written_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose another file"):
        write_trace(Trace({}), tmp_path / "missing" / "t.json")


def test_a_pod_in_a_step_is_what_was_asked_for_not_what_became_of_it() -> None:
    kept = without_status(pod(nodeName="a", priority=5))
    assert kept == {"kind": "Pod", "metadata": {"name": "web", "namespace": "default"}, "spec": {"priority": 5}}


def test_a_bound_pod_that_was_compared_has_scores_with_nodes_in_order() -> None:
    step = bound_step("create", pod(), "b", Attempt({"Fit": {"b": 2, "a": 1}}, {"b": 2, "a": 1}), [])
    assert list(step) == ["create", "outcome", "node", "scores", "totals"]
    assert list(step["totals"]) == ["a", "b"]


def test_a_bound_pod_with_one_feasible_node_has_no_scores() -> None:
    assert list(bound_step("create", pod(), "a", Attempt(), [])) == ["create", "outcome", "node"]


def test_a_pod_for_which_room_was_made_says_where_and_of_whom() -> None:
    step = bound_step("create", pod(), "a", Attempt(nominated="a"), ["default/z", "default/b"])
    assert (step["nominated"], step["victims"]) == ("a", ["default/b", "default/z"])


def test_outcomes_are_counted() -> None:
    steps = [unbound_step("create", pod(), "gated", "closed"), bound_step("update", pod(), "a", Attempt(), [])]
    assert Trace({}, [], [*steps, {"delete": "default/web"}]).outcomes() == {"bound": 1, "unschedulable": 0, "gated": 1}
