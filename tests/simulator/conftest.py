"""A trace that fits on a page: two nodes, and every kind of step and outcome once. Worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import parse_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.agreement import Agreement


@pytest.fixture
def small() -> dict[str, Any]:
    """The small trace, to be changed at will."""
    content: dict[str, Any] = json.loads((Path(__file__).parent / "small.json").read_text())
    return content


@pytest.fixture
def play() -> Callable[[dict[str, Any]], Agreement]:
    """Play a trace that is at hand as what JSON makes of it."""
    return lambda content: Replay(parse_trace(json.dumps(content).encode(), "t.json")).run()
