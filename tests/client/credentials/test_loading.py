"""From files and the environment to one access."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client import credentials
from bayplan.client.credentials import client_certificate, load_access
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.testing.controlplane.certificates import Authority

THERE = {"name": "there", "context": {"cluster": "sea", "user": "ann", "namespace": "dock"}}
HERE = {"name": "here", "context": {"cluster": "sea", "user": "ann"}}
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "account").mkdir()
    (tmp_path / "account" / "token").write_text("x")
    (tmp_path / "account" / "namespace").write_text("harbour")
    return tmp_path / "account"


def refused(**options: Any) -> str:
    with pytest.raises(CredentialsError) as error:
        load_access(**{"environ": {}, **options})
    return str(error.value)


def test_exactly_these_names_are_for_others() -> None:
    assert credentials.__all__ == ["Certificate", "client_certificate", "load_access"]


async def test_everything_that_a_context_says_is_in_the_access(write: Callable[..., Path]) -> None:
    cluster = {"tls-server-name": "ocean", "proxy-url": "http://u:s3cret@proxy:1", "disable-compression": True}
    file = write(cluster, {"token": "s3cret"}, context={"namespace": "dock"})
    access = load_access(kubeconfig=file, environ={})
    assert (access.server, access.tls_server_name, access.proxy_url) == (
        "https://sea:6443",
        "ocean",
        "http://u:s3cret@proxy:1",
    )
    assert (access.namespace, access.context, access.source) == ("dock", "here", str(file))
    assert (access.disable_compression, access.credentials) == (True, "token")
    assert await access.auth.headers() == {"Authorization": "Bearer s3cret"}
    assert "s3cret" not in repr(access)


def test_the_context_asked_for_wins_over_the_current_one(write: Callable[..., Path]) -> None:
    file = write(contexts=[HERE, THERE])
    assert load_access(kubeconfig=file, context="there", environ={}).namespace == "dock"
    assert load_access(kubeconfig=file, environ={}).context == "here"
    assert load_access(kubeconfig=file, context="", environ={}).context == "here"


def test_the_namespace_asked_for_wins_over_the_contexts(write: Callable[..., Path]) -> None:
    file = write(contexts=[HERE, THERE])
    assert load_access(kubeconfig=file, context="there", namespace="quay", environ={}).namespace == "quay"
    assert load_access(kubeconfig=file, environ={}).namespace == "default"


def test_in_a_pod_a_context_without_a_namespace_means_the_pods(write: Callable[..., Path], account: Path) -> None:
    file = write(contexts=[HERE, THERE])
    pod = {"environ": IN_POD, "service_account": account, "kubeconfig": file}
    assert load_access(**pod).server == "https://sea:6443"  # type: ignore[arg-type]
    assert load_access(**pod).namespace == "harbour"  # type: ignore[arg-type]
    assert load_access(context="there", **pod).namespace == "dock"  # type: ignore[arg-type]


def test_a_context_of_one_file_may_use_cluster_and_user_of_others_each_with_its_own_folder(
    write: Callable[..., Path], tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue_client("ann", "ann", ["cooks"])
    empty: dict[str, Any] = {"clusters": [], "users": [], "contexts": [], "current-context": ""}
    contexts = write(name="a/config", **{**empty, "contexts": [HERE], "current-context": "here"})
    sea = {"server": "https://sea", "certificate-authority": "../../pki/ca.crt"}
    clusters = write(name="b/c/config", **{**empty, "clusters": [{"name": "sea", "cluster": sea}]})
    ann = {"client-certificate": pair.certificate.name, "client-key": pair.key.name}
    users = write(name="pki/config", **{**empty, "users": [{"name": "ann", "user": ann}]})
    access = load_access(environ={"KUBECONFIG": os.pathsep.join(map(str, [contexts, clusters, users]))})
    assert access.ssl_context() is access.ssl_context()
    assert (told := client_certificate(access)) is not None
    assert (told.subject, access.credentials) == ("CN=ann, O=cooks", "client certificate")


def test_a_kubeconfig_named_relatively_means_from_here(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    write({"certificate-authority": "../pki/ca.crt"}, name="sub/config")
    monkeypatch.chdir(tmp_path)
    access = load_access(kubeconfig="sub/config", environ={})
    monkeypatch.chdir("/")
    assert access.ssl_context() is not None


def test_an_unknown_context_is_refused_with_those_there_are(write: Callable[..., Path]) -> None:
    file = write(contexts=[THERE, HERE])
    assert refused(kubeconfig=file, context="nowhere") == (
        f"there is no context nowhere in {file}; choose one of: here, there"
    )
    many = [{"name": f"c{index:02}", "context": {}} for index in range(20)]
    assert refused(kubeconfig=write(contexts=many)).endswith("c10, c11 and 8 more")


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"cluster": "lake"}, "there is no cluster lake, which context here wants; choose one of: sea"),
        ({"user": "bob"}, "there is no user bob, which context here wants; choose one of: ann"),
        ({"cluster": ""}, "the context names no cluster; add `cluster: NAME`"),
    ],
)
def test_a_context_that_names_what_is_not_there_is_refused(
    write: Callable[..., Path], context: dict[str, str], problem: str, account: Path
) -> None:
    file = write(context=context)
    assert refused(kubeconfig=file, environ=IN_POD, service_account=account).endswith(problem)


async def test_a_context_without_a_user_is_nobody(write: Callable[..., Path]) -> None:
    access = load_access(kubeconfig=write(context={"user": ""}), environ={})
    assert (await access.auth.headers(), access.credentials) == ({}, "none")


def test_without_a_current_context_a_pods_own_credentials_count(write: Callable[..., Path], account: Path) -> None:
    file = write(**{"current-context": ""})
    access = load_access(environ={**IN_POD, "KUBECONFIG": str(file)}, service_account=account)
    assert access.context == "in-cluster"


def test_without_a_current_context_and_outside_of_a_pod_the_contexts_are_offered(write: Callable[..., Path]) -> None:
    file = write(**{"current-context": ""})
    assert refused(kubeconfig=file) == f"{file} has no current context; choose one of: here"


def test_without_anything_the_error_says_what_was_looked_for(tmp_path: Path) -> None:
    config = tmp_path / ".kube/config"
    told = refused(environ={"HOME": str(tmp_path)})
    assert f"since {config} does not exist" in told
    assert "(KUBERNETES_SERVICE_HOST is not set); name a kubeconfig" in told
    listed = refused(environ={**IN_POD, "KUBECONFIG": "/nowhere/a:/nowhere/b"}, service_account=tmp_path)
    assert "since /nowhere/a and /nowhere/b do not exist" in listed
    assert f"({tmp_path / 'token'} is not there)" in listed
    assert "neither KUBECONFIG nor HOME is set" in refused(environ={})
    assert "/nowhere/a does not exist" in refused(environ={"KUBECONFIG": "/nowhere/a"}, context="here")


def test_an_empty_kubeconfig_is_said_to_be_empty(write: Callable[..., Path]) -> None:
    empty = write(clusters=[], users=[], contexts=[], **{"current-context": ""})
    assert f"{empty} has no contexts" in refused(kubeconfig=empty)
    assert "there is no context x" in refused(kubeconfig=empty, context="x")
