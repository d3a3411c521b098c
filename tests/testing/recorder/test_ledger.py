"""The ledger finds what a recorder could get wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bayplan.testing.recorder.ledger import check
from bayplan.testing.recorder.trace import Trace

STORED = {"uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **STORED}, "spec": {}}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", **STORED}, "spec": spec}


def good() -> Trace:
    scores = {"Fit": {"a": 3, "b": 5}, "Spread": {"a": 1, "b": 1}}
    no = "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods. preemption: not eligible"
    gates = [{"name": "g"}]
    return Trace(
        {},
        [node("a"), node("b"), pod("old", nodeName="a")],
        [
            {"create": pod("p"), "outcome": "bound", "node": "b", "scores": scores, "totals": {"a": 4, "b": 6}},
            {"create": pod("q"), "outcome": "unschedulable", "message": no},
            {"create": pod("r"), "outcome": "bound", "node": "a", "nominated": "a", "victims": ["ns/old"]},
            {"create": pod("s", schedulingGates=gates), "outcome": "gated", "message": "closed"},
            {"update": pod("s"), "outcome": "bound", "node": "a"},
            {"delete": "ns/p"},
            {"delete": "Node/b"},
        ],
    )


def test_a_good_trace_passes() -> None:
    check(good())


def test_of_a_cluster_without_nodes_there_is_nothing_to_count() -> None:
    refused = {"create": pod("p"), "outcome": "unschedulable", "message": "no nodes available to schedule pods"}

    check(Trace({}, [], [refused]))
    with pytest.raises(AssertionError):
        check(Trace({}, [node("a")], [refused]))


@pytest.mark.parametrize(
    ("step", "change"),
    [
        pytest.param(0, {"node": "a"}, id="not among the best"),
        pytest.param(0, {"node": "c"}, id="a node that is not there"),
        pytest.param(0, {"totals": {"a": 4, "b": 7}}, id="totals that are no sums"),
        pytest.param(0, {"totals": {"a": 4, "b": 6, "c": 0}}, id="a total without scores"),
        pytest.param(0, {"scores": {"Fit": {"b": 6}}, "totals": {"b": 6}}, id="one node compared"),
        pytest.param(0, {"create": pod("p", nodeName="b")}, id="the answer in the question"),
        pytest.param(1, {"message": ""}, id="no message"),
        pytest.param(1, {"message": "0/3 nodes are available: 3 Too many pods"}, id="another number of nodes"),
        pytest.param(1, {"message": "0/2 nodes are available: 1 Too many pods"}, id="a node without a reason"),
        pytest.param(2, {"victims": ["ns/p"]}, id="a victim elsewhere"),
        pytest.param(2, {"victims": []}, id="room made by nobody"),
        pytest.param(4, {"update": pod("t")}, id="released without gates"),
        pytest.param(5, {"delete": "ns/q"}, id="deleting what found no node"),
        pytest.param(6, {"delete": "Node/c"}, id="deleting what is not there"),
    ],
)
def test_a_mistake_is_found_in_its_step(step: int, change: dict[str, Any]) -> None:
    trace = copy.deepcopy(good())
    trace.steps[step] |= change
    with pytest.raises((AssertionError, KeyError)) as caught:
        check(trace)
    assert f"in step {step} of the trace" in caught.value.__notes__
