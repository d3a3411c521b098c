"""The ways into the cluster that tests are given, tried by clients that Bayplan did not write."""

from __future__ import annotations

import asyncio
import os
import subprocess
from functools import partial
from typing import TYPE_CHECKING

import pytest

from bayplan.testing.controlplane.requests import ask_https
from bayplan.testing.faults import FaultProxy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.testing.controlplane import Binaries, ControlPlane
    from bayplan.testing.controlplane.requests import Answer

    Kubectl = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.e2e


@pytest.fixture
def kubectl(control_plane_binaries: Binaries, tmp_path: Path) -> Kubectl:
    """A kubectl with a home of its own: it keeps what it discovered by address, and addresses come again."""
    if not control_plane_binaries.has("kubectl"):
        pytest.skip("kubectl is not among these programs")

    def run(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [control_plane_binaries.path("kubectl"), f"--kubeconfig={kubeconfig}", *arguments],
            env={"HOME": str(tmp_path), "PATH": os.defpath},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def ask(plane: ControlPlane, port: int) -> Answer:
    return ask_https(port, "GET", "/version", authority=plane.authority, client=plane.admin.credentials)


def test_kubectl_is_whom_the_kubeconfig_says(control_plane: ControlPlane, kubectl: Kubectl) -> None:
    ann = control_plane.user("ann", groups=["dev"])
    assert kubectl(ann.kubeconfig, "auth", "whoami", "-o=jsonpath={.status.userInfo.username}").stdout == "ann"
    assert kubectl(control_plane.admin.kubeconfig, "auth", "can-i", "*", "*").stdout == "yes\n"


def test_kubectl_is_whom_the_token_file_says_at_the_moment(
    control_plane: ControlPlane, namespace: str, kubectl: Kubectl, tmp_path: Path
) -> None:
    control_plane.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "other"}})
    file = tmp_path / "token"
    kubeconfig = control_plane.kubeconfig_with_token(file)
    for account in ("default", "other"):
        file.write_text(control_plane.token_for(account, namespace))
        said = kubectl(kubeconfig, "auth", "whoami", "-o=jsonpath={.status.userInfo.username}")
        assert said.stdout == f"system:serviceaccount:{namespace}:{account}", said.stderr


async def test_kubectl_goes_through_a_proxy_and_believes_the_certificate(
    control_plane: ControlPlane, kubectl: Kubectl
) -> None:
    async with FaultProxy(control_plane.apiserver.port) as proxy:
        kubeconfig = control_plane.kubeconfig_via(proxy.port)
        done = await asyncio.to_thread(kubectl, kubeconfig, "get", "namespaces", "-o", "name")
        assert "namespace/default" in done.stdout, done.stderr
        assert proxy.passed["down"] > 0


async def test_tls_through_a_stalled_proxy_waits_and_then_works(control_plane: ControlPlane) -> None:
    async with FaultProxy(control_plane.apiserver.port) as proxy:
        proxy.stall()
        asked = asyncio.create_task(asyncio.to_thread(partial(ask, control_plane, proxy.port)))
        await proxy.until(lambda it: it.connections == 1)
        assert not asked.done()
        await proxy.resume()
        assert (await asked).ok


async def test_tls_that_is_cut_in_the_middle_fails_and_the_next_try_works(control_plane: ControlPlane) -> None:
    async with FaultProxy(control_plane.apiserver.port) as proxy:
        proxy.cut_after(100)
        with pytest.raises(OSError):
            await asyncio.to_thread(ask, control_plane, proxy.port)
        assert (await asyncio.to_thread(ask, control_plane, proxy.port)).ok


async def test_a_killed_server_behind_a_proxy_is_a_reset_and_comes_back(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    async with FaultProxy(plane.apiserver.port) as proxy:
        plane.apiserver.kill()
        with pytest.raises(ConnectionResetError):
            await asyncio.to_thread(ask, plane, proxy.port)
        await asyncio.to_thread(plane.apiserver.restart)
        assert (await asyncio.to_thread(ask, plane, proxy.port)).ok
