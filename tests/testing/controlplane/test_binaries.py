"""Where the control plane's programs are looked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.binaries import Binaries, cache_root, find_binaries

if TYPE_CHECKING:
    from pathlib import Path

ALL = ("etcd", "kube-apiserver", "kube-scheduler", "build.json")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("BAYPLAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "controlplane"


def fill(directory: Path, *names: str, age: int = 0) -> Path:
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).touch(mode=0o755)
    os.utime(directory, (1_000_000 - age, 1_000_000 - age))
    return directory


def test_the_newest_complete_build_is_taken(cache: Path) -> None:
    fill(cache / "older", *ALL, age=10)
    newer = fill(cache / "newer", *ALL, age=5)
    fill(cache / "unfinished", "etcd", "kube-apiserver")
    assert find_binaries() == Binaries(newer)


def test_a_build_that_lost_a_program_is_not_taken(cache: Path) -> None:
    fill(cache / "broken", "etcd", "build.json")
    with pytest.raises(EnvironmentFault, match="not built"):
        find_binaries()


def test_without_a_build_one_line_says_how_to_get_one() -> None:
    with pytest.raises(EnvironmentFault, match="make controlplane") as caught:
        find_binaries()
    assert "\n" not in str(caught.value)


def test_assets_win_over_builds_and_need_no_more_than_etcd_and_the_api_server(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cache / "build", *ALL)
    assets = fill(tmp_path / "assets", "etcd", "kube-apiserver")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert find_binaries() == Binaries(assets)


def test_a_relative_path_holds_wherever_the_programs_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assets = fill(tmp_path / "assets", "etcd", "kube-apiserver")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "assets")
    assert find_binaries() == Binaries(assets)
    monkeypatch.setenv("BAYPLAN_CACHE", "cache")
    assert cache_root() == tmp_path / "cache" / "controlplane"


def test_assets_that_lack_something_are_a_fault_even_where_a_build_is_there(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cache / "build", *ALL)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(fill(tmp_path / "assets", "etcd")))
    with pytest.raises(EnvironmentFault, match=r"lacks kube-apiserver; point it"):
        find_binaries()


def test_a_file_that_cannot_be_run_is_no_program(tmp_path: Path) -> None:
    binaries = Binaries(fill(tmp_path / "here", "etcd"))
    (binaries.directory / "kubectl").touch(mode=0o644)
    assert binaries.path("etcd") == binaries.directory / "etcd"
    assert not binaries.has("etcd", "kubectl")
    with pytest.raises(EnvironmentFault, match=r"kubectl is not in .*; run `make controlplane`"):
        binaries.path("kubectl")


def test_the_cache_is_where_the_user_keeps_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAYPLAN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "bayplan" / "controlplane"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "bayplan" / "controlplane"
