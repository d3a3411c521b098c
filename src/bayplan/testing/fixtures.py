"""A pytest plugin for tests of plugins: ``pytest_plugins = ["bayplan.testing.fixtures"]`` in the topmost conftest.py.

``scene``
    An empty cluster with the engine of the default profile. Override ``scene_plugins`` to have plugins of yours in it.
    When the test ends, all that is counted there is checked.
``cluster``, ``engine``
    The two of which it is made, for tests that ask them directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.testing.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.engine.engine import Engine

__all__ = ["cluster", "engine", "scene", "scene_plugins"]


@pytest.fixture
def scene_plugins() -> tuple[object, ...]:
    """What decides beside kube-scheduler's plugins; override it in the module or the class that needs some."""
    return ()


@pytest.fixture
def scene(scene_plugins: tuple[object, ...]) -> Iterator[Scene]:
    """An empty cluster to try things in."""
    scene = Scene(*scene_plugins)
    yield scene
    scene.check()


@pytest.fixture
def cluster(scene: Scene) -> Cluster:
    """What plugins are given, of the same scene."""
    return scene.cluster


@pytest.fixture
def engine(scene: Scene) -> Engine:
    """What decides there."""
    return scene.engine
