"""`bayplan record`: what an unmodified kube-scheduler decides, written down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayplan.cli.output import JSON, TABLE, print_facts, print_json, progress
from bayplan.errors import EnvironmentFault, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.workloads import Scenario
    from bayplan.testing.recorder import Trace

_SUFFIXES = (".json", ".json.gz")

#: What the recorder sets for itself, whatever a configuration says.
_NOT_OURS = {"apiVersion", "kind", "clientConnection", "leaderElection", "percentageOfNodesToScore"}


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from bayplan.simulator.workloads import FLAVOURS

    return [name for name in FLAVOURS if name.startswith(incomplete)]


@click.command()
@click.argument("scenario", shell_complete=_complete)
@click.option("--seed", type=int, metavar="N", help="Which scenario of this flavour; 1 when nobody says.")
@click.option(
    "--nodes", type=click.IntRange(1, 5000), metavar="N", help="How many nodes, instead of the flavour's own."
)
@click.option(
    "--pods", type=click.IntRange(1, 100_000), metavar="N", help="How many pods, instead of the flavour's own."
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A KubeSchedulerConfiguration, instead of the flavour's own.",
)
@click.option(
    "-o",
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="Where the trace goes: a name that ends in .json or .json.gz.",
)
@click.option(
    "--output", type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True, help="How to print a summary."
)
def command(
    scenario: str,
    seed: int | None,
    nodes: int | None,
    pods: int | None,
    config: Path | None,
    target: Path,
    output: str,
) -> None:
    """Record what a real kube-scheduler decides, as a trace to compare with.

    SCENARIO is a flavour, such as basic, preempt or waiting, from which a cluster and its pods are made up, always the
    same for one seed; or a YAML or JSON file with objects and steps of your own. It starts a control plane of its own
    and needs what make controlplane builds.
    """
    if not target.name.endswith(_SUFFIXES):
        raise UsageError(f"{target} is no name for a trace", remedy=f"let it end in {' or '.join(_SUFFIXES)}")
    played = _load(scenario, seed, nodes, pods)
    if config is not None:
        played = replace(played, config=_read_config(config))
    trace = _recorder()(played, _progress)
    from bayplan.testing.recorder import write_trace

    summary = {"file": str(target), "bytes": write_trace(trace, target), **_summary(trace)}
    print_json(summary) if output == JSON else print_facts(summary)


def _load(scenario: str, seed: int | None, nodes: int | None, pods: int | None) -> Scenario:
    from bayplan.simulator.workloads import make_scenario, read_scenario

    if not scenario.endswith((".yaml", ".yml", ".json")):
        return make_scenario(scenario, seed=1 if seed is None else seed, nodes=nodes, pods=pods)
    if (seed, nodes, pods) != (None, None, None):
        raise UsageError(f"{scenario} is what it is", remedy="leave --seed, --nodes and --pods to flavours")
    return read_scenario(Path(scenario))


def _read_config(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read: {error}", remedy="give a KubeSchedulerConfiguration") from error
    if not isinstance(content, dict) or content.get("kind") != "KubeSchedulerConfiguration":
        raise UsageError(f"{path} is no KubeSchedulerConfiguration", remedy="give one, with its kind")
    return {name: value for name, value in content.items() if name not in _NOT_OURS}


def _recorder() -> Callable[[Scenario, Callable[[int, int], None]], Trace]:
    try:
        from bayplan.testing.recorder import record
    except ModuleNotFoundError as error:
        raise EnvironmentFault(
            f"a control plane cannot be started without {error.name}", remedy="pip install 'bayplan[testing]'"
        ) from error
    return record


def _progress(done: int, of_all: int) -> None:
    progress("played", done, of_all, "steps")


def _summary(trace: Trace) -> dict[str, object]:
    preemptions = sum(1 for step in trace.steps if "victims" in step)
    scored = sum(1 for step in trace.steps if "scores" in step)
    facts = {name: trace.meta[name] for name in ("flavour", "seed", "nodes", "pods")}
    return facts | {"steps": len(trace.steps), **trace.outcomes(), "scored": scored, "preemptions": preemptions}
