"""Kubeconfigs for the tests of credentials: written as the mappings that they are, since JSON is YAML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.credentials.kubeconfig import read_kubeconfig
from bayplan.testing.controlplane.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.client.credentials.document import Place


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a kubeconfig with one context, `here`, made of this cluster and this user."""

    def write(
        cluster: dict[str, Any] | None = None,
        user: dict[str, Any] | None = None,
        *,
        name: str = "config",
        context: dict[str, Any] | None = None,
        **top: Any,
    ) -> Path:
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sea", "cluster": {"server": "https://sea:6443", **(cluster or {})}}],
            "users": [{"name": "ann", "user": user or {}}],
            "contexts": [{"name": "here", "context": {"cluster": "sea", "user": "ann", **(context or {})}}],
            "current-context": "here",
            **top,
        }
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document, indent=1))
        return file

    return write


@pytest.fixture
def user_entry(write: Callable[..., Path]) -> Callable[..., Place]:
    """The entry of a user with these fields, in its place."""
    return lambda **fields: read_kubeconfig(write(user=fields), {}).users["ann"]


@pytest.fixture
def cluster_entry(write: Callable[..., Path]) -> Callable[..., Place]:
    """The entry of a cluster with these fields, in its place."""
    return lambda **fields: read_kubeconfig(write(cluster=fields), {}).clusters["sea"]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A certificate authority in its own folder."""
    (tmp_path / "pki").mkdir()
    return Authority(tmp_path / "pki")
