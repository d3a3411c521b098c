"""A pytest plugin: control planes for tests, shared or of a module's own.

Turn it on with ``pytest_plugins = ["bayplan.testing.controlplane.fixtures"]`` in the topmost ``conftest.py``, or by
importing its names into the ``conftest.py`` of the directory that needs it.

``control_plane``
    One for the whole session, made when a test first asks for it. Leave it as it was found: tests that end, freeze or
    reconfigure a server take the next one.
``own_control_plane``
    One for the module, to be mistreated. It is started as the fixture ``control_plane_config`` says, which a module
    may override to have the scheduler and the controllers too.
``control_plane_binaries``
    Where the programs are, for a test that starts its own.
``namespace``
    The name of a fresh namespace in ``control_plane``, where pods can be made at once.

Without the programs all these tests are skipped, with one line in the summary. When a test fails, the logs of its
control planes are kept, and the report says where.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.binaries import find_binaries
from bayplan.testing.controlplane.config import ControlPlaneConfig
from bayplan.testing.controlplane.plane import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from bayplan.testing.controlplane.binaries import Binaries

__all__ = [
    "control_plane",
    "control_plane_binaries",
    "control_plane_config",
    "namespace",
    "own_control_plane",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
]

_PLANES = ("control_plane", "own_control_plane")
_NEEDS_PROGRAMS = {*_PLANES, "control_plane_binaries"}

_numbers = count(1)

#: Planes that were used by a test that failed.
_failed: set[ControlPlane] = set()


@pytest.fixture(scope="session")
def control_plane_binaries() -> Binaries:
    """The programs that the control planes are made of."""
    return find_binaries()


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """A control plane that the whole session shares: etcd and kube-apiserver."""
    yield from _run(ControlPlaneConfig())


@pytest.fixture(scope="module")
def control_plane_config() -> ControlPlaneConfig:
    """What ``own_control_plane`` is made of; override it in a module that needs more than the API server."""
    return ControlPlaneConfig()


@pytest.fixture(scope="module")
def own_control_plane(control_plane_config: ControlPlaneConfig) -> Iterator[ControlPlane]:
    """A control plane of the module's own, for tests that kill, freeze and restart."""
    yield from _run(control_plane_config)


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """A fresh namespace of the shared control plane.

    It is left behind: without kube-controller-manager no namespace is ever finalised, and the session's end takes all.
    """
    name = f"test-{next(_numbers)}"
    control_plane.make_namespace(name)
    return name


def _run(config: ControlPlaneConfig) -> Iterator[ControlPlane]:
    plane = ControlPlane(config).start()
    try:
        yield plane
    finally:
        plane.stop(keep_logs=plane in _failed)
        _failed.discard(plane)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a control plane where none can be had.

    Not in a fixture: pytest reports such a skip at each test, here all are one line.
    """
    if reason := _reason_to_skip() if _needs_programs(item) else None:
        pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say where the logs are, and keep them, when a test fails."""
    report = yield
    if report.failed:
        for plane in _planes_of(item):
            _failed.add(plane)
            report.sections.append(("control plane", f"its logs are kept in {plane.logs}"))
    return report


def _needs_programs(item: pytest.Item) -> bool:
    return not _NEEDS_PROGRAMS.isdisjoint(getattr(item, "fixturenames", ()))


def _planes_of(item: pytest.Item) -> list[ControlPlane]:
    values = getattr(item, "funcargs", {})
    return [values[name] for name in _PLANES if isinstance(values.get(name), ControlPlane)]


@cache
def _reason_to_skip() -> str | None:
    try:
        find_binaries()
    except EnvironmentFault as fault:
        return str(fault)
    return None
