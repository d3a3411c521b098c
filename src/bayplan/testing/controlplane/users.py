"""Who talks to the cluster: a user name, its groups, a client certificate and a kubeconfig that uses it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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


def write_kubeconfig(path: Path, *, server: str, authority: Path, credentials: KeyPair) -> Path:
    """Write a kubeconfig. JSON is YAML, and needs no library."""
    cluster = {"server": server, "certificate-authority": str(authority)}
    user = {"client-certificate": str(credentials.certificate), "client-key": str(credentials.key)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": _NAME, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
        "current-context": _NAME,
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=2))
    return path
