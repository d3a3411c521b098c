"""The commands as a person runs them, against a real API server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.testing.controlplane import ControlPlane

pytestmark = pytest.mark.e2e


def command(*arguments: str, kubeconfig: Path) -> tuple[list[str], dict[str, str]]:
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "KUBECONFIG": str(kubeconfig)}
    return [sys.executable, "-m", "bayplan", *arguments], environment


def run(*arguments: str, kubeconfig: Path) -> subprocess.CompletedProcess[str]:
    words, environment = command(*arguments, kubeconfig=kubeconfig)
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_cluster_says_where_and_who(control_plane: ControlPlane) -> None:
    done = run("cluster", "-o", "json", kubeconfig=control_plane.admin.kubeconfig)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["server"] == control_plane.url
    assert told["version"].startswith("v1.")
    assert told["user"]["name"] == control_plane.admin.name
    assert "system:masters" in told["user"]["groups"]


def test_watch_prints_every_change_as_it_happens_and_ends_on_ctrl_c(
    control_plane: ControlPlane, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    control_plane.request("POST", path, {"metadata": {"name": "early"}})
    words, environment = command(
        "watch", "cm", "-n", namespace, "-o", "json", kubeconfig=control_plane.admin.kubeconfig
    )
    with subprocess.Popen(
        words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs us in the background has us ignore interrupts, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as watching:
        giving_up = threading.Timer(60, watching.kill)
        giving_up.start()
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert watching.stderr.readline().startswith("ready: following 1 configmaps in namespace")
        control_plane.request("POST", path, {"metadata": {"name": "late"}})
        control_plane.request("DELETE", f"{path}/early")
        lines: list[dict[str, Any]] = [json.loads(watching.stdout.readline()) for _ in range(3)]
        watching.send_signal(signal.SIGINT)
        assert watching.wait() == 130
        assert watching.stderr.read().strip() == ""  # click ends the line of the ^C
        giving_up.cancel()
    assert [(line["change"], line["name"]) for line in lines] == [
        ("added", "early"),
        ("added", "late"),
        ("deleted", "early"),
    ]


def test_watch_once_lists_a_cluster_wide_resource(control_plane: ControlPlane) -> None:
    done = run("watch", "namespaces", "--once", kubeconfig=control_plane.admin.kubeconfig)
    assert done.returncode == 0
    assert {"default", "kube-system"} <= {line.split()[2] for line in done.stdout.splitlines()}


def test_what_the_person_may_not_see_is_said_in_a_sentence(control_plane: ControlPlane) -> None:
    done = run("watch", "secrets", kubeconfig=control_plane.user("somebody").kubeconfig)
    assert done.returncode == 1
    assert 'User "somebody" cannot list resource "secrets"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_cannot_be_watched_is_said_before_any_promise(control_plane: ControlPlane, namespace: str) -> None:
    done = run("watch", "componentstatuses", kubeconfig=control_plane.admin.kubeconfig)
    assert done.returncode == 1
    assert done.stderr == "bayplan: the server offers no watch for componentstatuses; what it offers is get, list\n"

    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    assert control_plane.request("POST", f"{rbac}/roles", {"metadata": {"name": "lister"}, "rules": rules}).ok
    binding = {
        "metadata": {"name": "lister"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "lister"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "lister"}],
    }
    assert control_plane.request("POST", f"{rbac}/rolebindings", binding).ok
    lister = control_plane.user("lister").kubeconfig
    control_plane.wait_until(lambda: run("watch", "cm", "-n", namespace, "--once", kubeconfig=lister).returncode == 0)
    done = run("watch", "cm", "-n", namespace, kubeconfig=lister)
    assert done.returncode == 1
    assert 'User "lister" cannot watch resource "configmaps"' in done.stderr
    assert "ready:" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["-l", "a in ("], "; write requirements such as"),
        (["--field-selector", "spec.x=1"], "; correct --field-selector"),
    ],
)
def test_a_selector_that_cannot_be_meant_is_wrong_use(
    control_plane: ControlPlane, arguments: list[str], remedy: str
) -> None:
    done = run("watch", "cm", *arguments, kubeconfig=control_plane.admin.kubeconfig)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert remedy in done.stderr
