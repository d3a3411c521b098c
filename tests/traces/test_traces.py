"""The traces beside this file are what they claim to be. Whether our engine agrees is another test's matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayplan.simulator.workloads import Create, make_scenario
from bayplan.testing.recorder import check, read_trace

HERE = Path(__file__).parent
TRACES = sorted(HERE.glob("*.json.gz"))
RECORDED = [path for path in TRACES if "recorder" in read_trace(path).meta]

#: Of one file, so that the repository stays light.
MOST_BYTES = 150_000


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_every_step_fits_what_was_there_before_it(path: Path) -> None:
    check(read_trace(path))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_a_trace_is_small_and_has_something_to_say(path: Path) -> None:
    trace = read_trace(path)
    assert path.stat().st_size <= MOST_BYTES
    assert trace.meta["scheduler"].startswith("kube-scheduler v1.37")
    assert trace.outcomes()["bound"] >= 10


def test_the_readme_lists_every_trace_and_no_other() -> None:
    readme = (HERE / "README.md").read_text()
    assert {name for name in readme.split("`") if name.endswith(".json.gz")} == {path.name for path in TRACES}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_its_seed_still_makes_the_scenario_that_was_recorded(path: Path) -> None:
    """Else the README's commands would be of no use: whoever changes a flavour records its traces anew."""
    trace = read_trace(path)
    size = {name: trace.meta[name] for name in ("seed", "nodes", "pods")}
    scenario = make_scenario(trace.meta["flavour"], **size)
    came = [step["create"] for step in trace.steps if "create" in step]
    made = [action.pod for action in scenario.actions if isinstance(action, Create)]
    assert [asked(pod) for pod in came] == [asked(pod) for pod in made]
    assert trace.meta.get("config", {}).get("profiles") == scenario.config.get("profiles")


def asked(pod: dict[str, Any]) -> tuple[Any, ...]:
    """What the API server leaves as it was."""
    spec = pod["spec"]
    selected = [spec.get(name) for name in ("nodeSelector", "schedulerName", "priority", "overhead", "schedulingGates")]
    selected[1] = selected[1] or "default-scheduler"
    return pod["metadata"]["namespace"], pod["metadata"]["name"], pod["metadata"]["labels"]["app"], *selected
