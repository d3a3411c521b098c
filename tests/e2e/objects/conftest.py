"""The oracle, a fresh one for each test: one that died takes only its own test with it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.binaries import find_binaries
from bayplan.testing.controlplane.oracle import PROGRAM, Oracle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.testing.controlplane.binaries import Binaries


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the oracle where the other programs are without it; where none are, all is skipped as one.

    Not in the fixture: pytest reports such a skip at each test, here all are one line.
    """
    if "oracle" in getattr(item, "fixturenames", ()) and (reason := _reason_to_skip()):
        pytest.skip(reason)


@pytest.fixture
def oracle(control_plane_binaries: Binaries) -> Iterator[Oracle]:
    """Kubernetes' own answers."""
    with Oracle.start(control_plane_binaries.path(PROGRAM)) as running:
        yield running


@cache
def _reason_to_skip() -> str | None:
    try:
        binaries = find_binaries()
    except EnvironmentFault:
        # The fixtures of control planes say so, for every test that needs any program.
        return None
    return None if binaries.has(PROGRAM) else f"{PROGRAM} is not among these programs"
