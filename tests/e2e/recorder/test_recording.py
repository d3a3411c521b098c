"""A scenario of a few steps, recorded from a real kube-scheduler by the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bayplan.testing.recorder import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.testing.controlplane import Binaries

pytestmark = pytest.mark.e2e

#: Two nodes that differ in their size: a pod on each, one behind a gate, one that makes room, one that fits nowhere.
SCENARIO = """
objects:
- &node
  apiVersion: v1
  kind: Node
  metadata: {name: large}
  status: &status {allocatable: {cpu: "2", memory: 4Gi, pods: "9"}, capacity: {cpu: "2", memory: 4Gi, pods: "9"}}
- {<<: *node, metadata: {name: small}, status: {allocatable: {cpu: "1", memory: 4Gi, pods: "9"}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: old, namespace: default}
  spec: {nodeName: small, priority: 0, terminationGracePeriodSeconds: 0, containers: [{name: c, image: i}]}
steps:
- create: &pod
    apiVersion: v1
    kind: Pod
    metadata: {name: first, namespace: default}
    spec: &spec
      priority: 5
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: i, resources: {requests: {cpu: 900m}}}]
- create: {<<: *pod, metadata: {name: shut, namespace: default}, spec: {<<: *spec, schedulingGates: [{name: x/y}]}}
- update: {<<: *pod, metadata: {name: shut, namespace: default}}
- create:
    <<: *pod
    metadata: {name: urgent, namespace: default}
    spec: {<<: *spec, priority: 9, containers: [{name: c, image: i, resources: {requests: {cpu: "1800m"}}}]}
- update: {<<: *node, metadata: {name: large, labels: {disk: ssd}}}
- delete: default/urgent
- create: {<<: *pod, metadata: {name: vast, namespace: default}, spec: {containers: [{name: c, image: i,
    resources: {requests: {cpu: "99"}}}]}}
- delete: Node/small
"""


@pytest.fixture(autouse=True)
def _needs_the_scheduler(control_plane_binaries: Binaries) -> None:
    if not control_plane_binaries.has("kube-scheduler"):
        pytest.skip("kube-scheduler is not among these programs")


def test_a_file_of_ones_own_is_recorded_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    command = [sys.executable, "-m", "bayplan", "record", "mine.yaml", "-o", "mine.json.gz", "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)
    assert (summary["bound"], summary["gated"], summary["unschedulable"], summary["preemptions"]) == (3, 1, 1, 1)

    trace = read_trace(tmp_path / "mine.json.gz")
    first, shut, released, urgent, relabelled, _, vast, removed = trace.steps
    assert first["node"] == "large"
    assert first["totals"]["large"] > first["totals"]["small"]
    assert (shut["outcome"], released["outcome"], released["node"]) == ("gated", "bound", "large")
    assert (urgent["nominated"], urgent["victims"]) == ("large", ["default/first", "default/shut"])
    assert relabelled["update"]["metadata"]["labels"] == {"disk": "ssd"}
    assert vast["message"].startswith("0/2 nodes are available: 2 Insufficient cpu")
    assert removed == {"delete": "Node/small"}


def test_what_the_api_server_refuses_is_said_and_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SCENARIO.replace("name: urgent", "name: Not_A_Name"))
    command = [sys.executable, "-m", "bayplan", "record", "mine.yaml", "-o", "mine.json.gz"]
    (temporary := tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "refused POST" in done.stderr
    assert "change the scenario to what it allows" in done.stderr
    assert not (tmp_path / "mine.json.gz").exists()
    assert list(temporary.iterdir()) == []
