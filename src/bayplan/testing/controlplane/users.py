"""Who talks to the cluster: a user name, its groups, a client certificate and a kubeconfig that uses it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.testing.controlplane.certificates import KeyPair

_NAME = "bayplan-testing"


@dataclass(frozen=True, slots=True)
class User:
    """A user with the files that prove it."""

    #: As RBAC subjects name it.
    name: str
    groups: tuple[str, ...]
    credentials: KeyPair
    #: A kubeconfig whose current context is this cluster as this user.
    kubeconfig: Path


def write_kubeconfig(path: Path, *, server: str, authority: Path, credentials: KeyPair | Path) -> Path:
    """Write a kubeconfig with a client certificate, or with a file that holds a bearer token.

    JSON is YAML, and needs no library.
    """
    cluster = {"server": server, "certificate-authority": str(authority)}
    user = _as_user(credentials)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": _NAME, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
        "current-context": _NAME,
    }
    return write_private(path, json.dumps(config, indent=2))


def write_tokens(path: Path, tokens: Mapping[str, User]) -> Path:
    """Write the file of bearer tokens that kube-apiserver takes: token, name, uid, groups."""
    text = io.StringIO()
    for token, user in tokens.items():
        csv.writer(text).writerow([token, user.name, user.name, *([",".join(user.groups)] if user.groups else [])])
    return write_private(path, text.getvalue())


def write_private(path: Path, text: str) -> Path:
    """Write a file that only this user may read."""
    path.touch(mode=0o600)
    path.write_text(text)
    return path


def _as_user(credentials: KeyPair | Path) -> dict[str, str]:
    if isinstance(credentials, Path):
        return {"tokenFile": str(credentials)}
    return {"client-certificate": str(credentials.certificate), "client-key": str(credentials.key)}
