"""The user entry: who we are, and how we show it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.credentials.cluster import Cluster
from bayplan.client.credentials.user import Identity, read_user
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.client.credentials.document import Place

DATA = base64.b64encode(b"PEM").decode()
PAIR = {"client-certificate-data": DATA, "client-key-data": DATA}
EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin", "interactiveMode": "Never"}
PROVIDER = {"name": "oidc", "config": {"id-token": "s3cret"}}


def cluster(server: str = "https://sea") -> Cluster:
    return Cluster(server, None, False, "", "", False, None)


@pytest.fixture
def read(user_entry: Callable[..., Place]) -> Callable[..., Identity]:
    return lambda **fields: read_user(user_entry(**fields), "ann", cluster(), {})


async def test_an_empty_entry_is_nobody(read: Callable[..., Identity]) -> None:
    nobody = read()
    assert (nobody.credentials, await nobody.auth.headers(), nobody.pair()) == ("none", {}, None)


async def test_a_token_is_sent_as_it_is(read: Callable[..., Identity]) -> None:
    ann = read(token="s3cret")
    assert (ann.credentials, await ann.auth.headers()) == ("token", {"Authorization": "Bearer s3cret"})
    assert "s3cret" not in repr(ann)


async def test_a_token_file_is_meant_from_the_folder_of_its_file_and_wins(
    read: Callable[..., Identity], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("renewed\n")
    ann = read(token="s3cret", tokenFile="token")
    assert (ann.credentials, await ann.auth.headers()) == ("token file", {"Authorization": "Bearer renewed"})


async def test_a_missing_token_file_is_named(read: Callable[..., Identity], tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match=f"the token of user ann in {tmp_path / 'token'} cannot be read"):
        await read(tokenFile="token").auth.headers()


async def test_user_name_and_password_are_sent(read: Callable[..., Identity]) -> None:
    ann = read(username="ann", password="s3cret")
    assert await ann.auth.headers() == {"Authorization": "Basic " + base64.b64encode(b"ann:s3cret").decode()}
    assert ann.credentials == "user name and password"


async def test_a_password_without_a_name_is_nobodys(read: Callable[..., Identity]) -> None:
    assert await read(password="s3cret").auth.headers() == {}


def test_a_client_certificate_goes_with_a_token(read: Callable[..., Identity]) -> None:
    assert read(**PAIR).credentials == "client certificate"
    both = read(**PAIR, token="x")
    assert both.credentials == "client certificate and token"
    assert both.pair() is not None


@pytest.mark.parametrize("fields", [{"token": "x"}, {"username": "x", "password": "y"}, PAIR])
async def test_a_plugin_is_run_only_where_there_is_nothing_else(
    read: Callable[..., Identity], fields: dict[str, Any]
) -> None:
    assert "plugin" not in read(**fields, exec=EXEC).credentials
    await read(**fields, exec=EXEC).auth.headers()
    alone = read(exec=EXEC)
    assert alone.credentials == "exec plugin no-such-plugin"
    with pytest.raises(CredentialsError, match="was not found"):
        await alone.auth.headers()


async def test_an_auth_provider_is_refused_with_what_to_use_instead_unless_a_token_is_there(
    read: Callable[..., Identity],
) -> None:
    with pytest.raises(CredentialsError, match=r"auth-provider is not supported.*use an exec plugin") as refused:
        read(**{"auth-provider": PROVIDER})
    assert "s3cret" not in str(refused.value)
    assert read(**{"auth-provider": PROVIDER}, token="x").credentials == "token"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"token": "s3cret", "username": "ann"}, "stands beside a token"),
        ({"tokenFile": "x", "password": "s3cret"}, "stands beside a token"),
        ({"client-certificate-data": DATA}, "client-key: is missing"),
        ({**PAIR, "client-certificate": "x"}, "is there as well as client-certificate-data"),
        ({**PAIR, "client-key": "x"}, "is there as well as client-key-data"),
        ({"token": "s3cret\n\ns3cret"}, "the token of user ann holds characters"),
    ],
)
def test_what_contradicts_itself_is_refused(
    read: Callable[..., Identity], fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(CredentialsError, match=problem) as refused:
        read(**fields)
    assert "s3cret" not in str(refused.value)


def test_a_key_without_a_certificate_means_nothing(read: Callable[..., Identity]) -> None:
    assert read(**{"client-key-data": DATA}).credentials == "none"


async def test_impersonation_is_added_to_what_we_are(read: Callable[..., Identity]) -> None:
    acting = read(**{"token": "x", "as": "bob"})
    assert acting.credentials == "token, acting as bob"
    assert await acting.auth.headers() == {"Authorization": "Bearer x", "Impersonate-User": "bob"}


async def test_no_secret_goes_over_plain_http(user_entry: Callable[..., Place]) -> None:
    entry = user_entry(**{"token": "x", "as": "bob", **PAIR})
    plain = read_user(entry, "ann", cluster("http://sea"), {})
    assert await plain.auth.headers() == {"Impersonate-User": "bob"}
    assert plain.pair() is None
    assert plain.credentials.startswith("none, since")
