"""Configurations as text, and plugins that a stranger wrote."""

from __future__ import annotations

import textwrap
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import ConfigurationError
from bayplan.plugins import registry
from bayplan.profiles import read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bayplan.profiles import SchedulerConfiguration

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def read() -> Callable[[str], SchedulerConfiguration]:
    """Read a configuration of which only the rest is given, from line 3 on."""
    return lambda text: read_configuration(HEAD + textwrap.dedent(text))


@pytest.fixture
def problems() -> Callable[[str], list[str]]:
    """What is wrong with such a configuration."""

    def problems_of(text: str) -> list[str]:
        with pytest.raises(ConfigurationError) as raised:
            read_configuration(HEAD + textwrap.dedent(text))
        return list(raised.value.problems)

    return problems_of


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Write a module that can be imported."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, code: str) -> None:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))

    return write


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Pretend that a package brings a plugin."""
    entries: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == registry.GROUP else [])
    registry.installed.cache_clear()

    def add(name: str, value: str) -> None:
        entries.append(EntryPoint(name, value, registry.GROUP))
        registry.installed.cache_clear()

    yield add
    registry.installed.cache_clear()
