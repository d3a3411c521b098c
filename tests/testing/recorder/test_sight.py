"""When the scheduler counts as having seen a change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane import Answer
from bayplan.testing.recorder import sight
from bayplan.testing.recorder.attempts import SchedulerLog
from bayplan.testing.recorder.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLANE = SimpleNamespace(scheduler=SimpleNamespace(port=1), authority=None, admin=SimpleNamespace(credentials=None))


def metrics(*, nodes: float, queued: int = 0) -> str:
    labels = '{group="",name="kube-scheduler",resource="nodes",version="v1"}'
    return (
        f"# TYPE informer_store_resource_version gauge\ninformer_store_resource_version{labels} {nodes}\n"
        f"informer_queued_items{labels} {queued}\n"
    )


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SchedulerLog]:
    (file := tmp_path / "log").touch()
    log = SchedulerLog(file)
    yield log
    log.close()


@pytest.fixture
def watched(log: SchedulerLog, monkeypatch: pytest.MonkeyPatch) -> tuple[Sight, list[str]]:
    """A scheduler whose metrics are these, one after the other; the last one stays."""
    told: list[str] = []

    def ask(*_: object, **__: object) -> Answer:
        return Answer(200, told.pop(0) if len(told) > 1 else told[0])

    monkeypatch.setattr(sight, "ask_https", ask)
    monkeypatch.setattr(sight, "_PATIENCE_SECONDS", 0.05)
    return Sight(PLANE, log), told  # type: ignore[arg-type]


def node(version: int) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": "a", "resourceVersion": str(version)}}


def test_a_store_that_is_as_new_has_seen_it(watched: tuple[Sight, list[str]]) -> None:
    watching, told = watched
    told += [metrics(nodes=1.2e3), metrics(nodes=1234, queued=2), metrics(nodes=1234)]
    watching.reached(node(1234))
    assert len(told) == 1, "it waited for the version, and for the queue to be empty"


def test_what_the_scheduler_does_not_watch_is_not_waited_for(watched: tuple[Sight, list[str]]) -> None:
    watching, told = watched
    told += [metrics(nodes=5)]
    watching.reached_version("Namespace", 99)
    assert watching.version("Namespace") == 0
    assert watching.version("Node") == 5


def test_waiting_ends_and_says_for_what_it_was(watched: tuple[Sight, list[str]]) -> None:
    watching, told = watched
    told += [metrics(nodes=5)]
    with pytest.raises(EnvironmentFault, match="resource version 6 of nodes in the scheduler's store did not happen"):
        watching.reached(node(6))
    with pytest.raises(EnvironmentFault, match="'Add event for node' about a in the scheduler's log"):
        watching.noticed("Add event for node", "a")


def test_a_scheduler_that_does_not_tell_yet_is_asked_again(watched: tuple[Sight, list[str]]) -> None:
    watching, told = watched
    told += ["Unauthorized", metrics(nodes=5)]
    assert watching.version("Node") == 5


def test_a_scheduler_that_never_tells_is_not_recorded(watched: tuple[Sight, list[str]]) -> None:
    watching, told = watched
    told += ["# no such gauge"]
    with pytest.raises(EnvironmentFault, match="an account of informers in the scheduler's metrics did not happen"):
        watching.version("Node")
