"""The control plane that everything else is judged by: it is the real thing, and goes without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import EnvironmentFault, UsageError
from bayplan.testing.controlplane import ControlPlane, ControlPlaneConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.testing.controlplane import Binaries

pytestmark = pytest.mark.e2e


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "example/none"}]}}


def make_pod(plane: ControlPlane, namespace: str, name: str) -> Mapping[str, Any]:
    answer = plane.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod(name))
    assert answer.status == 201, answer
    made: Mapping[str, Any] = answer.body
    return made


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_is_the_pinned_kubernetes(control_plane: ControlPlane) -> None:
    if "KUBEBUILDER_ASSETS" in os.environ:
        pytest.skip("KUBEBUILDER_ASSETS decides the version")
    assert control_plane.request("GET", "/version").body["gitVersion"] == "v1.37.1"


def test_pods_can_be_made_in_a_fresh_namespace_at_once(control_plane: ControlPlane, namespace: str) -> None:
    make_pod(control_plane, namespace, "first")
    listed = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/pods").body
    assert [item["metadata"]["name"] for item in listed["items"]] == ["first"]


def test_rbac_denies_who_was_granted_nothing(control_plane: ControlPlane, namespace: str) -> None:
    nobody = control_plane.user("nobody-in-particular")
    answer = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/pods", user=nobody)
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")


def test_rbac_allows_what_was_granted_to_a_group(control_plane: ControlPlane, namespace: str) -> None:
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    control_plane.request("POST", f"{rbac}/roles", {"metadata": {"name": "see"}, "rules": rules})
    binding = {
        "metadata": {"name": "see"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "see"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "watchers"}],
    }
    assert control_plane.request("POST", f"{rbac}/rolebindings", binding).status == 201
    ann = control_plane.user("ann", groups=["watchers"])
    pods = f"/api/v1/namespaces/{namespace}/pods"
    # The API server's authorizer learns of the binding by a watch of its own.
    control_plane.wait_until(lambda: control_plane.request("GET", pods, user=ann).ok)
    assert control_plane.request("POST", pods, pod("x"), user=ann).status == 403


def test_a_service_account_token_proves_its_account(control_plane: ControlPlane, namespace: str) -> None:
    token = control_plane.token_for("default", namespace)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    answer = control_plane.request("POST", path, review, token=token)
    assert answer.body["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"


def test_a_token_that_lives_too_short_is_refused_in_the_servers_words(control_plane: ControlPlane) -> None:
    with pytest.raises(UsageError, match="10 minutes"):
        control_plane.token_for("default", seconds=1)


def test_a_token_file_can_be_rotated_and_the_old_token_is_refused(own_control_plane: ControlPlane) -> None:
    ann = own_control_plane.user("ann", groups=["system:masters"])
    own_control_plane.accept_tokens({"first": ann})
    assert own_control_plane.request("GET", "/api/v1/namespaces", token="first").ok
    own_control_plane.accept_tokens({"second": ann})
    assert own_control_plane.request("GET", "/api/v1/namespaces", token="first").status == 401
    assert own_control_plane.request("GET", "/api/v1/namespaces", token="second").ok


def test_objects_and_port_survive_kill_minus_nine(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    plane.make_namespace("survivors")
    uid = make_pod(plane, "survivors", "one")["metadata"]["uid"]
    port, pid = plane.apiserver.port, plane.apiserver.pid
    plane.apiserver.kill()
    assert set(plane.pids) == {"etcd"}
    with pytest.raises(ConnectionRefusedError):
        plane.request("GET", "/version")
    plane.apiserver.restart()
    assert plane.apiserver.port == port
    assert plane.pids["kube-apiserver"] != pid
    assert plane.request("GET", "/api/v1/namespaces/survivors/pods/one").body["metadata"]["uid"] == uid


def test_a_frozen_server_answers_nobody_and_then_goes_on(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    plane.apiserver.pause()
    try:
        with pytest.raises(EnvironmentFault, match=r"not ready after 0\.1 s"):
            plane.apiserver.wait_ready(timeout=0.1)
    finally:
        plane.apiserver.resume()
    plane.apiserver.wait_ready()
    assert plane.request("GET", "/version").ok


def test_history_can_be_expired_for_watches_lists_and_continue_tokens(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    plane.make_namespace("history")
    make_pod(plane, "history", "one")
    make_pod(plane, "history", "two")
    pods = "/api/v1/namespaces/history/pods"
    seen = plane.request("GET", f"{pods}?limit=1").body["metadata"]
    known_from = plane.expire_history()
    assert known_from > int(seen["resourceVersion"])
    watched = plane.request("GET", f"{pods}?watch=1&timeoutSeconds=5&resourceVersion={seen['resourceVersion']}")
    assert (watched.body["type"], watched.body["object"]["code"]) == ("ERROR", 410)
    exact = f"{pods}?resourceVersionMatch=Exact&resourceVersion={seen['resourceVersion']}"
    assert plane.request("GET", exact).status == 410
    assert plane.request("GET", f"{pods}?limit=1&continue={seen['continue']}").status == 410
    assert len(plane.request("GET", pods).body["items"]) == 2


def test_a_backup_brings_the_past_back(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    plane.make_namespace("restored")
    backup = plane.back_up()
    make_pod(plane, "restored", "later")
    plane.restore(backup)
    pods = "/api/v1/namespaces/restored/pods"
    assert plane.request("GET", pods).body["items"] == []
    make_pod(plane, "restored", "after")


def test_stopping_leaves_no_process_and_no_file(control_plane_binaries: Binaries) -> None:
    with ControlPlane(ControlPlaneConfig(binaries=control_plane_binaries)) as plane:
        pids, home = plane.pids, plane.logs.parent
        assert set(pids) == {"etcd", "kube-apiserver"}
        assert all(runs(pid) for pid in pids.values())
        assert home.exists()
    assert not any(runs(pid) for pid in pids.values())
    assert not home.exists()
    plane.stop()


def test_a_server_that_cannot_start_shows_its_last_words_and_keeps_its_log(control_plane_binaries: Binaries) -> None:
    config = ControlPlaneConfig(binaries=control_plane_binaries, apiserver_flags=("--no-such-flag",))
    with pytest.raises(EnvironmentFault, match="unknown flag: --no-such-flag") as caught:
        ControlPlane(config).start()
    (note,) = caught.value.__notes__
    logs = Path(note.rpartition(" ")[2])
    assert "no-such-flag" in (logs / "kube-apiserver.log").read_text()
    for log in logs.iterdir():
        log.unlink()
    logs.rmdir()
    logs.parent.rmdir()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
def test_servers_do_not_outlive_a_parent_that_was_killed(control_plane_binaries: Binaries) -> None:
    program = """
import pathlib, sys, time
from bayplan.testing.controlplane import Binaries, ControlPlane, ControlPlaneConfig
plane = ControlPlane(ControlPlaneConfig(binaries=Binaries(pathlib.Path(sys.argv[1])))).start()
print(plane.logs.parent, *plane.pids.values(), flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", program, str(control_plane_binaries.directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        home, *pids = parent.stdout.readline().split()
        parent.kill()
    deadline = time.monotonic() + 30
    while any(runs(int(pid)) for pid in pids):
        assert time.monotonic() < deadline, "they live on"
        time.sleep(0.02)
    subprocess.run(["rm", "-r", home], check=True)
