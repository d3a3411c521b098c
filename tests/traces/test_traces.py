"""The traces beside this file are what they claim to be. Whether our engine agrees is another test's matter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bayplan.simulator.workloads import Create, make_scenario, read_scenario
from bayplan.testing.recorder import check, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.simulator.workloads import Scenario

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
    scenario = scenario_of(path, trace.meta)
    came = [step["create"] for step in trace.steps if "create" in step]
    made = [action.pod for action in scenario.actions if isinstance(action, Create)]
    assert [asked(pod) for pod in came] == [asked(pod) for pod in made]
    config = read_config(path) or scenario.config
    assert trace.meta.get("config", {}).get("profiles") == config.get("profiles")


def scenario_of(path: Path, meta: dict[str, Any]) -> Scenario:
    """That of the flavour, or the file beside the trace."""
    if meta["seed"] is None:
        return read_scenario(HERE / "scenarios" / f"{stem(path)}.yaml")
    return make_scenario(meta["flavour"], **{name: meta[name] for name in ("seed", "nodes", "pods")})


def read_config(path: Path) -> Mapping[str, Any]:
    """The configuration that was given in place of the flavour's own, if any was."""
    given = HERE / "configs" / f"{stem(path)}.yaml"
    return yaml.safe_load(given.read_text()) if given.exists() else {}


def stem(path: Path) -> str:
    return path.name.partition(".")[0]


def asked(pod: dict[str, Any]) -> tuple[Any, ...]:
    """What the API server leaves as it was."""
    spec = pod["spec"]
    selected = [spec.get(name) for name in ("nodeSelector", "schedulerName", "priority", "overhead", "schedulingGates")]
    selected[1] = selected[1] or "default-scheduler"
    return pod["metadata"]["namespace"], pod["metadata"]["name"], pod["metadata"]["labels"]["app"], *selected
