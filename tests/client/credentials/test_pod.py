"""Credentials of the pod that we run in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.client.credentials import client_certificate, load_access
from bayplan.client.credentials.pod import this_pod

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.testing.controlplane.certificates import Authority

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path, authority: Authority) -> Path:
    folder = tmp_path / "account"
    folder.mkdir()
    (folder / "token").write_text("s3cret\n")
    (folder / "namespace").write_text("harbour\n")
    (folder / "ca.crt").write_bytes(authority.file.read_bytes())
    return folder


async def test_a_pod_is_its_service_account(account: Path) -> None:
    access = load_access(environ=ENVIRON, service_account=account)
    assert (access.server, access.namespace, access.context) == ("https://10.0.0.1:443", "harbour", "in-cluster")
    assert (access.source, access.credentials) == (str(account), "service account token")
    assert await access.auth.headers() == {"Authorization": "Bearer s3cret"}
    assert (context := access.ssl_context()) is not None
    assert len(context.get_ca_certs()) == 1
    assert client_certificate(access) is None
    assert "s3cret" not in repr(access)


async def test_the_token_is_read_anew_after_a_refusal(account: Path) -> None:
    access = load_access(environ=ENVIRON, service_account=account)
    await access.auth.headers()
    (account / "token").write_text("renewed")
    access.auth.rejected()
    assert await access.auth.headers() == {"Authorization": "Bearer renewed"}


def test_an_ipv6_address_is_put_into_brackets(account: Path) -> None:
    environ = {**ENVIRON, "KUBERNETES_SERVICE_HOST": "fd00::1"}
    assert load_access(environ=environ, service_account=account).server == "https://[fd00::1]:443"


def test_the_environments_proxy_holds_in_a_pod_too(account: Path) -> None:
    proxied = {**ENVIRON, "HTTPS_PROXY": "http://proxy:1"}
    assert load_access(environ=proxied, service_account=account).proxy_url == "http://proxy:1"
    excepted = {**proxied, "NO_PROXY": "10.0.0.0/8"}
    assert load_access(environ=excepted, service_account=account).proxy_url is None


def test_without_a_ca_file_the_machines_own_authorities_count(account: Path) -> None:
    (account / "ca.crt").unlink()
    assert load_access(environ=ENVIRON, service_account=account).ssl_context() is not None


@pytest.mark.parametrize("lacking", [*ENVIRON, "token"])
def test_half_a_pod_is_none(account: Path, lacking: str) -> None:
    if lacking == "token":
        (account / "token").unlink()
    assert this_pod({name: value for name, value in ENVIRON.items() if name != lacking}, account) is None


def test_the_namespace_is_the_variables_then_the_files_then_default(account: Path) -> None:
    def namespace(**more: str) -> str:
        pod = this_pod({**ENVIRON, **more}, account)
        assert pod is not None
        return pod.namespace

    assert namespace(POD_NAMESPACE="dock") == "dock"
    assert namespace() == "harbour"
    (account / "namespace").unlink()
    assert namespace() == "default"


def test_a_namespace_that_is_asked_for_wins(account: Path) -> None:
    assert load_access(namespace="quay", environ=ENVIRON, service_account=account).namespace == "quay"
