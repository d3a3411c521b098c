"""What proves a user: kubeconfigs and token files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import yaml

from bayplan.testing.controlplane.certificates import KeyPair
from bayplan.testing.controlplane.users import User, write_kubeconfig, write_tokens

PAIR = KeyPair(Path("/pki/ann.crt"), Path("/pki/ann.key"))


def user(name: str, *groups: str) -> User:
    return User(name, groups, PAIR, Path("/pki/ann.kubeconfig"))


def current(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The cluster and the user that the current context of a kubeconfig leads to."""
    config = yaml.safe_load(path.read_text())
    context = next(it["context"] for it in config["contexts"] if it["name"] == config["current-context"])
    cluster = next(it["cluster"] for it in config["clusters"] if it["name"] == context["cluster"])
    return cluster, next(it["user"] for it in config["users"] if it["name"] == context["user"])


def test_a_kubeconfig_leads_to_the_cluster_as_the_user(tmp_path: Path) -> None:
    path = write_kubeconfig(
        tmp_path / "config", server="https://127.0.0.1:1", authority=Path("/pki/ca.crt"), credentials=PAIR
    )
    assert current(path) == (
        {"server": "https://127.0.0.1:1", "certificate-authority": "/pki/ca.crt"},
        {"client-certificate": "/pki/ann.crt", "client-key": "/pki/ann.key"},
    )
    assert json.loads(path.read_text())["kind"] == "Config"


def test_a_kubeconfig_can_name_a_token_file_that_need_not_be_there_yet(tmp_path: Path) -> None:
    token = tmp_path / "token"
    path = write_kubeconfig(tmp_path / "config", server="https://h", authority=Path("/ca"), credentials=token)
    assert current(path)[1] == {"tokenFile": str(token)}


def test_what_proves_a_user_is_for_nobody_else_to_read(tmp_path: Path) -> None:
    files = [
        write_kubeconfig(tmp_path / "config", server="https://h", authority=Path("/ca"), credentials=PAIR),
        write_tokens(tmp_path / "tokens", {"t": user("ann")}),
    ]
    assert [oct(file.stat().st_mode & 0o777) for file in files] == ["0o600"] * 2


def test_tokens_stand_for_users_and_their_groups(tmp_path: Path) -> None:
    tokens = {"one": user("ann", "dev", "ops"), "two": user('b"o,b'), "three": user("eve", "dev")}
    path = write_tokens(tmp_path / "tokens", tokens)
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["one", "ann", "ann", "dev,ops"], ["two", 'b"o,b', 'b"o,b'], ["three", "eve", "eve", "dev"]]
