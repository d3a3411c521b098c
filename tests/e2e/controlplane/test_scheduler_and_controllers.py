"""The whole control plane: kube-scheduler places pods on made-up nodes, kube-controller-manager makes them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bayplan.testing.controlplane import ControlPlaneConfig

if TYPE_CHECKING:
    from bayplan.testing.controlplane import Binaries, ControlPlane

pytestmark = pytest.mark.e2e

NODE = "made-up"


@pytest.fixture(scope="module")
def control_plane_config(control_plane_binaries: Binaries) -> ControlPlaneConfig:
    if not control_plane_binaries.has("kube-scheduler", "kube-controller-manager"):
        pytest.skip("kube-scheduler and kube-controller-manager are not among these programs")
    return ControlPlaneConfig(
        scheduler=True,
        controller_manager=True,
        scheduler_config={"profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "another"}]},
    )


@pytest.fixture(scope="module")
def plane(own_control_plane: ControlPlane) -> ControlPlane:
    """With one node that nobody runs: its status is written once, and no lease is asked for so soon."""
    node = {
        "metadata": {"name": NODE},
        "status": {
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "MadeUp", "lastHeartbeatTime": now()}],
        },
    }
    assert own_control_plane.request("POST", "/api/v1/nodes", node).status == 201
    return own_control_plane


@pytest.mark.parametrize("scheduler", ["default-scheduler", "another"])
def test_a_pod_lands_on_a_ready_node_with_either_profile(plane: ControlPlane, scheduler: str) -> None:
    pods = "/api/v1/namespaces/default/pods"
    spec = {"schedulerName": scheduler, "containers": [{"name": "main", "image": "example/none"}]}
    made = plane.request("POST", pods, {"metadata": {"name": f"for-{scheduler}"}, "spec": spec})
    assert made.status == 201, made
    plane.wait_until(lambda: node_of(plane, f"{pods}/for-{scheduler}") == NODE)


def test_a_job_gets_its_pod_from_the_controllers(plane: ControlPlane) -> None:
    plane.make_namespace("batch-jobs")
    template = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example/none"}]}
    job = {"metadata": {"name": "once"}, "spec": {"template": {"spec": template}}}
    assert plane.request("POST", "/apis/batch/v1/namespaces/batch-jobs/jobs", job).status == 201
    plane.wait_until(lambda: len(plane.request("GET", "/api/v1/namespaces/batch-jobs/pods").body["items"]) == 1)


def test_a_namespace_goes_away_when_it_is_deleted(plane: ControlPlane) -> None:
    plane.make_namespace("short-lived")
    plane.request("DELETE", "/api/v1/namespaces/short-lived")
    plane.wait_until(lambda: plane.request("GET", "/api/v1/namespaces/short-lived").status == 404)


def node_of(plane: ControlPlane, path: str) -> str:
    name: str = plane.request("GET", path).body["spec"].get("nodeName", "")
    return name


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
