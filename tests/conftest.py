"""What every test shares: golden files, and the flag that writes them anew."""

from __future__ import annotations

import shlex
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from bayplan.columns.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# No test may depend on how fast the machine is, or on what else runs there.
settings.register_profile("bayplan", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make test-long` looks a hundred times as long. Tests that need fewer examples say so by `effort.examples`.
settings.register_profile("long", settings.get_profile("bayplan"), max_examples=100 * 100)
settings.load_profile("bayplan")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them",
    )


@pytest.fixture(autouse=True)
def every_cluster_is_sound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test does to clusters, in the end their tables agree with one another; the last few are looked at."""
    made: deque[Cluster] = deque(maxlen=20)
    begin = Cluster.__init__

    def begin_and_note(cluster: Cluster, **options: bool) -> None:
        begin(cluster, **options)
        made.append(cluster)

    monkeypatch.setattr(Cluster, "__init__", begin_and_note)
    yield
    for cluster in made:
        cluster.check()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with a file in `golden/` beside the test; `--write-golden` writes it instead."""
    folder = Path(request.path).parent / "golden"

    def compare(name: str, text: str) -> None:
        file = folder / name
        if request.config.getoption("--write-golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        assert file.exists(), f"{file} is missing; make test ARGS=--write-golden writes it"
        assert text == file.read_text(), f"differs from {file}; make test ARGS=--write-golden writes it anew"

    return compare


@pytest.fixture
def write_program() -> Callable[[Path, str], None]:
    """Write a program in Python that can be started by its name.

    Python's own path cannot stand in the first line, since it may have a space in it: a shell that hands over does.
    What the shell reads as that command, Python reads as a string.
    """

    def write(file: Path, code: str) -> None:
        file.write_text(f"#!/bin/sh\n'''exec' {shlex.quote(sys.executable)} -I \"$0\" \"$@\"\n' '''\n{code}")
        file.chmod(0o755)

    return write
