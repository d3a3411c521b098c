"""The fixtures of every end-to-end test: control planes, or one line that says why there is none."""

from __future__ import annotations

# pytest refuses `pytest_plugins` below the topmost conftest, and the unit tests need none of this.
from bayplan.testing.controlplane.fixtures import (
    control_plane,
    control_plane_binaries,
    control_plane_config,
    namespace,
    own_control_plane,
    pytest_runtest_makereport,
    pytest_runtest_setup,
)

__all__ = [
    "control_plane",
    "control_plane_binaries",
    "control_plane_config",
    "namespace",
    "own_control_plane",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
]
