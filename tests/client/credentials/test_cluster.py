"""The cluster entry: where the server is, and how to know it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.credentials.cluster import read_cluster
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.client.credentials.document import Place

CA = base64.b64encode(b"PEM").decode()


@pytest.mark.parametrize(
    ("written", "server"),
    [
        ("https://sea:6443", "https://sea:6443"),
        ("https://sea/", "https://sea"),
        ("https://sea/clusters/one/", "https://sea/clusters/one"),
        ("https://sea/clusters/one?x=y#z", "https://sea/clusters/one"),
        ("https://[fd00::1]:6443", "https://[fd00::1]:6443"),
        ("sea:8080", "http://sea:8080"),
        ("HTTPS://sea", "https://sea"),
    ],
)
def test_the_server_is_a_url_without_what_requests_add(
    cluster_entry: Callable[..., Place], written: str, server: str
) -> None:
    assert read_cluster(cluster_entry(server=written), "sea").server == server


@pytest.mark.parametrize(
    "written",
    [
        "",
        "unix:///run/x",
        "https://",
        "https://sea:port",
        "https://[fd00::1",
        "https://a..b:1",
        f"https://{'a' * 64}.b",
    ],
)
def test_what_is_no_server_is_refused(cluster_entry: Callable[..., Place], written: str) -> None:
    with pytest.raises(CredentialsError, match=r"clusters\[sea\]\.cluster\.server: is "):
        read_cluster(cluster_entry(server=written), "sea")


def test_a_password_in_the_servers_url_is_refused_and_not_quoted(cluster_entry: Callable[..., Place]) -> None:
    with pytest.raises(CredentialsError, match="holds a user name") as refused:
        read_cluster(cluster_entry(server="https://ann:s3cret@sea"), "sea")
    assert "s3cret" not in str(refused.value)


def test_a_relative_ca_is_meant_from_the_folder_of_its_file(
    cluster_entry: Callable[..., Place], tmp_path: Path
) -> None:
    authority = read_cluster(cluster_entry(**{"certificate-authority": "pki/ca.crt"}), "sea").authority
    assert authority is not None
    assert authority.file == tmp_path / "pki/ca.crt"


def test_ca_data_is_decoded(cluster_entry: Callable[..., Place]) -> None:
    authority = read_cluster(cluster_entry(**{"certificate-authority-data": CA}), "sea").authority
    assert authority is not None
    assert authority.read() == b"PEM"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"certificate-authority": "x", "certificate-authority-data": CA},
            "there as well as certificate-authority-data",
        ),
        ({"certificate-authority": "x", "insecure-skip-tls-verify": True}, "contradicts the certificate-authority"),
        ({"certificate-authority-data": CA, "insecure-skip-tls-verify": True}, "contradicts the certificate-authority"),
        ({"certificate-authority-data": "%"}, "is not base64"),
        ({"proxy-url": "ftp://ann:s3cret@proxy"}, "proxy-url: is not the URL of a proxy"),
        ({"proxy-url": "proxy:3128"}, "proxy-url: is not the URL of a proxy"),
        ({"proxy-url": "http://ann:s3cret@a..b:3128"}, "proxy-url: is not the URL of a proxy"),
        ({"proxy-url": "http://"}, "proxy-url: is not the URL of a proxy"),
    ],
)
def test_contradictions_and_nonsense_are_refused(
    cluster_entry: Callable[..., Place], fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(CredentialsError, match=problem) as refused:
        read_cluster(cluster_entry(**fields), "sea")
    assert "s3cret" not in str(refused.value)


def test_the_entrys_own_proxy_comes_before_that_of_the_environment_and_knows_no_exceptions(
    cluster_entry: Callable[..., Place],
) -> None:
    environ = {"HTTPS_PROXY": "http://env:1", "NO_PROXY": "*"}
    assert read_cluster(cluster_entry(**{"proxy-url": "http://own:1"}), "sea").proxy(environ) == "http://own:1"
    assert read_cluster(cluster_entry(), "sea").proxy(environ) is None
    assert read_cluster(cluster_entry(), "sea").proxy({**environ, "NO_PROXY": ""}) == "http://env:1"


def test_a_plugin_is_told_what_there_is_and_no_more(cluster_entry: Callable[..., Place], tmp_path: Path) -> None:
    assert read_cluster(cluster_entry(), "sea").exec_info() == {"server": "https://sea:6443", "config": None}
    (tmp_path / "ca.crt").write_bytes(b"PEM")
    fields = {"tls-server-name": "ocean", "proxy-url": "http://own:1", "disable-compression": True}
    extensions = [
        {"name": "other", "extension": {"x": 1}},
        {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a", "deep": [1, {"y": None}]}},
    ]
    full = cluster_entry(**fields, **{"certificate-authority": "ca.crt"}, extensions=extensions)
    assert read_cluster(full, "sea").exec_info() == {
        "server": "https://sea:6443",
        "tls-server-name": "ocean",
        "certificate-authority-data": CA,
        "proxy-url": "http://own:1",
        "disable-compression": True,
        "config": {"audience": "a", "deep": [1, {"y": None}]},
    }
    bare = cluster_entry(**{"insecure-skip-tls-verify": True})
    assert read_cluster(bare, "sea").exec_info()["insecure-skip-tls-verify"] is True
