"""`bayplan explain`: why a pod went where it went, or nowhere."""

from __future__ import annotations

from pathlib import Path

import click

from bayplan.cli.output import JSON, output_option, print_json


def _complete_pods(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The pods of the trace that is named already; whatever is wrong with it is said when the command runs."""
    from bayplan.errors import BayplanError
    from bayplan.simulator.explanation import pods_of
    from bayplan.simulator.traces import read_trace

    trace = context.params.get("trace")
    try:
        return [key for key in pods_of(read_trace(trace)) if key.startswith(incomplete)] if trace else []
    except BayplanError:
        return []


@click.command()
@click.option(
    "--trace", type=click.Path(path_type=Path), required=True, metavar="FILE", help="A trace, gzipped or not."
)
@click.option("--pod", required=True, metavar="NAMESPACE/NAME", shell_complete=_complete_pods, help="A pod of it.")
@click.option("--all", "everything", is_flag=True, help="Show every node, not only the first ones.")
@output_option
def command(trace: Path, pod: str, everything: bool, output: str) -> None:
    """Tell why a pod of a trace went where it went, or nowhere.

    The trace is played up to the pod, the decision made once more, and its story told: why the node won, which points
    every plugin gave, which plugin rejected which nodes for which reason, and what preemption had to say.
    """
    from bayplan.simulator.explanation import explain
    from bayplan.simulator.traces import read_trace

    explanation = explain(read_trace(trace), pod)
    if output == JSON:
        print_json(explanation.data())
    else:
        from bayplan.cli.explained import print_explanation

        print_explanation(explanation, everything=everything)
