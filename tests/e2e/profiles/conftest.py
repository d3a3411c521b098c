"""A kube-scheduler that reads a configuration, says what it makes of it, and leaves. It needs no cluster."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.binaries import find_binaries

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.testing.controlplane.binaries import Binaries

_PROGRAM = "kube-scheduler"
_KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "users": [{"name": "none", "user": {}}],
    "current-context": "none",
}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip where the other programs are without it; where none are, all is skipped as one.

    Not in the fixture, so that all these skips are one line.
    """
    if "kube_scheduler" in getattr(item, "fixturenames", ()) and (reason := _reason_to_skip()):
        pytest.skip(reason)


@cache
def _reason_to_skip() -> str | None:
    try:
        binaries = find_binaries()
    except EnvironmentFault:
        # The fixtures of control planes say so, for every test that needs any program.
        return None
    return None if binaries.has(_PROGRAM) else f"{_PROGRAM} is not among these programs"


@dataclass(frozen=True, slots=True)
class Answer:
    """What kube-scheduler made of a configuration."""

    #: The whole of it, defaults included; None where it refused.
    effective: Any
    #: For each profile and point, the plugins in order with their weights.
    plugins: list[dict[str, list[tuple[str, int]]]]
    #: Why it refused.
    complaint: str


@dataclass(frozen=True, slots=True)
class KubeScheduler:
    """Asks the real one."""

    program: Path
    directory: Path

    def text(self, document: Any) -> str:
        """A document as text, with the kubeconfig in it that it wants to see."""
        if isinstance(document, str):
            return document.replace("KUBECONFIG", str(self.directory / "kubeconfig"))
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        client = {"kubeconfig": str(self.directory / "kubeconfig"), **document.get("clientConnection", {})}
        return json.dumps({**head, **document, "clientConnection": client})

    def ask(self, text: str) -> Answer:
        """Have it read a configuration."""
        file, written = self.directory / "config", self.directory / "written"
        (self.directory / "kubeconfig").write_text(json.dumps(_KUBECONFIG))
        file.write_text(text)
        written.unlink(missing_ok=True)
        command = [str(self.program), "-v=2", "--secure-port=0", f"--config={file}", f"--write-config-to={written}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        lines = done.stderr.strip().splitlines()
        effective = yaml.safe_load(written.read_text()) if written.exists() else None
        started = [
            json.loads(one.split("Plugins=", 1)[1]) for one in lines if "starts to work with those plugins" in one
        ]
        return Answer(effective, [_lists(one) for one in started], "" if effective else lines[-1])


def _lists(plugins: dict[str, Any]) -> dict[str, list[tuple[str, int]]]:
    return {
        point[0].lower() + point[1:]: [(one["Name"], one["Weight"]) for one in own["Enabled"] or ()]
        for point, own in plugins.items()
    }


@pytest.fixture
def kube_scheduler(control_plane_binaries: Binaries, tmp_path: Path) -> KubeScheduler:
    """The real one."""
    return KubeScheduler(control_plane_binaries.path(_PROGRAM), tmp_path)
