"""`bayplan bench`: what things cost on this machine. Figures of one machine are in docs/performance.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayplan.cli.output import JSON, Patience, output_option, print_json, print_table, say
from bayplan.errors import UsageError
from bayplan.simulator.bench.loads import PODS_PER_NODE, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.bench.run import Result, Setting

_ALL = "all"
_COUNT = click.IntRange(1, 1_000_000)


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Measure Bayplan on this machine."""
    if context.invoked_subcommand is None:
        raise UsageError("say what to measure", remedy="see bayplan bench --help")


@command.command()
@click.option(
    "--workload",
    "workloads",
    type=click.Choice([*WORKLOADS, _ALL]),
    multiple=True,
    default=["basic"],
    show_default=True,
    help="What pods come; several times for several, each in a process of its own.",
)
@click.option("--nodes", type=_COUNT, default=5000, show_default=True, metavar="N", help="How many nodes.")
@click.option("--pods", type=_COUNT, default=10_000, show_default=True, metavar="N", help="How many pods come.")
@click.option(
    "--classes", type=_COUNT, default=50, show_default=True, metavar="N", help="How many kinds of pods mixed has."
)
@click.option(
    "--bound",
    type=click.IntRange(0, 10_000_000),
    default=0,
    show_default=True,
    metavar="N",
    help="How many pods run before the first comes.",
)
@click.option("--churn", is_flag=True, help="For every ten pods one node changes, one pod goes, one label is edited.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Which pods, and in which order.")
@output_option
def engine(workloads: tuple[str, ...], output: str, **size: Any) -> None:
    """Measure how fast the engine decides.

    Every pod is decoded from bytes, decided against all nodes with the default profile, and assumed to run; its story
    is kept. The same seed makes the same decisions, and has the same digest.
    """
    from bayplan.simulator.bench.run import Setting

    if size["bound"] > size["nodes"] * PODS_PER_NODE:
        raise UsageError(
            f"{size['nodes']} nodes have no room for {size['bound']} pods",
            remedy=f"a node takes {PODS_PER_NODE}: give more --nodes, or less --bound",
        )
    names = WORKLOADS if _ALL in workloads else tuple(dict.fromkeys(workloads))
    results = _measure([Setting(workload=name, **size) for name in names])
    if output == JSON:
        print_json(results[0].data() if len(results) == 1 else [result.data() for result in results])
    else:
        _print(results)


def _measure(settings: Sequence[Setting]) -> list[Result]:
    if len(settings) > 1:
        from bayplan.simulator.bench.apart import measure_apart

        return [measure_apart(setting) for setting in settings]
    from bayplan.simulator.bench.run import Measurement

    setting = settings[0]
    say(f"{setting.workload}: {setting.pods} pods for {setting.nodes} nodes …")
    measurement = Measurement(setting)
    patience = Patience()
    measurement.on_progress = lambda done: patience.say(f"{setting.workload}: decided {done} of {setting.pods} pods")
    return [measurement.run()]


def _print(results: Sequence[Result]) -> None:
    heads = ("WORKLOAD", "NODES", "PODS", "PLACED", "PODS/S", "P50", "P99", "RSS", "LOADED IN", "DIGEST")
    print_table(
        heads,
        [
            (
                one.workload,
                one.nodes,
                one.pods,
                one.placed,
                f"{one.pods_per_s:,.0f}",
                f"{one.p50_us:,.0f} µs",
                f"{one.p99_us:,.0f} µs",
                f"{one.rss_mb:,.0f} MB",
                f"{one.load_s:.2f} s",
                one.digest,
            )
            for one in results
        ],
    )
