"""What a trace leaves out, told from what it has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayplan.objects.storage import PersistentVolume
from bayplan.simulator.missing import missing_services, notes_on, settled
from bayplan.simulator.traces import Trace, parse_trace


def step(name: str, labels: dict[str, str], *, spread: bool, **metadata: Any) -> dict[str, Any]:
    scores: dict[str, Any] = {"NodeResourcesFit": {"a": 1, "b": 2}}
    if spread:
        scores["PodTopologySpread"] = {"a": 0, "b": 200}
    meta = {"name": name, "namespace": "default", "labels": labels, **metadata}
    pod = {"kind": "Pod", "metadata": meta, "spec": {"containers": []}}
    return {"create": pod, "outcome": "bound", "node": "b", "scores": scores, "totals": {"a": 1, "b": 2}}


def trace(*steps: dict[str, Any], objects: list[dict[str, Any]] | None = None) -> Trace:
    return parse_trace(json.dumps({"objects": objects or [], "steps": steps}).encode(), "t.json")


def selectors(found: Trace) -> list[tuple[str, dict[str, str] | None]]:
    return [(one.metadata.namespace, one.spec.selector) for one in missing_services(found)]


def test_a_service_is_told_from_the_pods_that_were_spread() -> None:
    found = trace(
        step("one", {"app": "web", "pod": "1"}, spread=True),
        step("two", {"app": "web", "pod": "2"}, spread=True),
        step("three", {"app": "db", "pod": "3"}, spread=False),
    )
    assert selectors(found) == [("default", {"app": "web"})]


def test_a_label_that_a_pod_has_that_was_not_spread_selects_nothing() -> None:
    found = trace(
        step("one", {"tier": "x", "app": "web"}, spread=True),
        step("two", {"tier": "x", "app": "mail"}, spread=True),
        step("three", {"tier": "x"}, spread=False),
    )
    assert selectors(found) == [("default", {"app": "web"}), ("default", {"app": "mail"})]


def test_each_namespace_has_services_of_its_own() -> None:
    found = trace(
        step("one", {"app": "web"}, spread=True),
        step("two", {"app": "web"}, spread=False, namespace="other"),
    )
    assert selectors(found) == [("default", {"app": "web"})]


def test_nothing_is_inferred_where_services_are_listed() -> None:
    service = {"kind": "Service", "metadata": {"name": "db", "namespace": "default"}}
    assert selectors(trace(step("one", {"app": "web"}, spread=True), objects=[service])) == []


def test_nothing_is_inferred_where_a_service_comes_later() -> None:
    service = {"kind": "Service", "metadata": {"name": "web", "namespace": "default"}}
    assert selectors(trace({"update": service}, step("one", {"app": "web"}, spread=True))) == []


def test_pods_that_a_controller_spreads_need_no_service() -> None:
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True, "apiVersion": "apps/v1"}
    assert selectors(trace(step("one", {"app": "web"}, spread=True, ownerReferences=[owner]))) == []


@pytest.mark.parametrize(
    ("status", "spec", "phase"),
    [
        ({"phase": "Pending"}, {}, "Available"),
        ({}, {}, "Available"),
        ({"phase": "Pending"}, {"claimRef": {"name": "c", "namespace": "default"}}, "Pending"),
        ({"phase": "Failed"}, {}, "Failed"),
    ],
)
def test_a_volume_that_nobody_claims_is_available_moments_later(
    status: dict[str, Any], spec: dict[str, Any], phase: str
) -> None:
    volume = {"kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": spec, "status": status}
    [one] = trace(step("one", {}, spread=False), objects=[volume]).objects
    after = settled(one)
    assert isinstance(after, PersistentVolume)
    assert after.status.phase == phase
    notes = [(note.kind, note.name) for note in notes_on([one], [])]
    assert notes == ([("PersistentVolume", "disk")] if after is not one else [])


def test_an_inferred_service_is_noted_with_its_labels() -> None:
    services = missing_services(trace(step("one", {"app": "web"}, spread=True)))
    [note] = notes_on([], services)
    assert (note.kind, note.name) == ("Service", "default/missing-0")
    assert "app=web" in note.said
