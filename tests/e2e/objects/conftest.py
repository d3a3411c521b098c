"""The oracle, a fresh one for each test: one that died takes only its own test with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.binaries import find_binaries
from bayplan.testing.controlplane.oracle import PROGRAM, Oracle

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    """Kubernetes' own answers; where the oracle is not built, these tests are skipped."""
    try:
        program = find_binaries().path(PROGRAM)
    except EnvironmentFault as fault:
        pytest.skip(str(fault))
    with Oracle.start(program) as running:
        yield running
