"""What a control plane says when it is used wrongly, and how its servers are told what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayplan.errors import EnvironmentFault, UsageError
from bayplan.testing.controlplane import Answer, Binaries, ControlPlane, ControlPlaneConfig
from bayplan.testing.controlplane.servers import write_scheduler_config

KUBECONFIG = Path("/pki/scheduler.kubeconfig")


@pytest.fixture
def assets(tmp_path: Path) -> Binaries:
    """An etcd that ends at once, and nothing else."""
    (tmp_path / "assets").mkdir()
    etcd = tmp_path / "assets" / "etcd"
    etcd.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    etcd.chmod(0o755)
    (tmp_path / "assets" / "kube-apiserver").touch(mode=0o755)
    return Binaries(tmp_path / "assets")


def test_a_part_that_was_not_asked_for_is_absent() -> None:
    plane = ControlPlane()
    with pytest.raises(UsageError, match=r"kube-scheduler is not a part .*; start it, and ask for it"):
        _ = plane.scheduler
    with pytest.raises(UsageError, match="etcd is not a part"):
        plane.expire_history()
    with pytest.raises(UsageError, match="kube-apiserver is not a part"):
        _ = plane.admin
    with pytest.raises(UsageError, match="a log is not a part"):
        _ = plane.logs
    assert plane.pids == {}
    plane.stop()


def test_a_start_that_fails_shows_why_and_keeps_only_the_logs(
    assets: Binaries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    plane = ControlPlane(ControlPlaneConfig(binaries=assets))
    with pytest.raises(EnvironmentFault, match=r"(?s)etcd ended before it was ready.*no room") as caught:
        plane.start()
    assert plane.kept_logs is not None
    assert caught.value.__notes__ == [f"The control plane's logs are kept in {plane.kept_logs}"]
    (home,) = (tmp_path / "t").iterdir()
    assert list(home.iterdir()) == [plane.kept_logs]
    assert (plane.kept_logs / "etcd.log").read_text() == "no room\n"
    plane.stop()
    assert plane.kept_logs.exists()
    with pytest.raises(UsageError, match="started already; make another one"):
        plane.start()


def test_the_schedulers_connection_and_leadership_are_filled_in(tmp_path: Path) -> None:
    path = write_scheduler_config(tmp_path / "c", {"parallelism": 2, "clientConnection": {"qps": 9}}, KUBECONFIG)
    assert json.loads(path.read_text()) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(KUBECONFIG), "qps": 9},
        "parallelism": 2,
    }


def test_what_a_scheduler_configuration_says_is_left_alone(tmp_path: Path) -> None:
    wanted = {"leaderElection": {"leaderElect": True}, "clientConnection": {"kubeconfig": "/mine"}}
    written = json.loads(write_scheduler_config(tmp_path / "c", wanted, KUBECONFIG).read_text())
    assert {name: written[name] for name in wanted} == wanted


@pytest.mark.parametrize(("status", "ok"), [(199, False), (200, True), (204, True), (300, False), (409, False)])
def test_an_answer_is_ok_in_the_200s(status: int, ok: bool) -> None:
    assert Answer(status, None).ok is ok
