"""Every folder of examples/ is run here, as its README says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.testing.controlplane import ControlPlane

pytestmark = pytest.mark.e2e

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def running(script: Path, kubeconfig: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {"PATH": os.environ["PATH"], "KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(
        [sys.executable, script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        giving_up = threading.Timer(60, program.kill)
        giving_up.start()
        try:
            yield program
        finally:
            giving_up.cancel()
            program.kill()


def test_no_example_is_left_out() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    # Those that need no cluster are run by tests/test_examples.py.
    assert folders == {"cool-racks", "follow-pods"}


def test_follow_pods_counts_them_by_node(control_plane: ControlPlane, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    node = f"node-{namespace}"
    with running(EXAMPLES / "follow-pods" / "follow_pods.py", control_plane.admin.kubeconfig) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stderr.readline().startswith("ready: ")
        spec = {"containers": [{"name": "c", "image": "x"}], "nodeName": node}
        for name in ("one", "two"):
            made = control_plane.request("POST", pods, {"metadata": {"name": name}, "spec": spec})
            assert made.ok, made
        control_plane.request("DELETE", f"{pods}/one?gracePeriodSeconds=0")
        lines = [program.stdout.readline().strip() for _ in range(3)]
    assert lines == [
        f"{node}: 0 -> 1 ({namespace}/one came)",
        f"{node}: 1 -> 2 ({namespace}/two came)",
        f"{node}: 2 -> 1 ({namespace}/one went)",
    ]
