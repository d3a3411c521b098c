"""`bayplan replay`: whether our engine decides what kube-scheduler decided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayplan.cli.output import JSON, output_option, print_json, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayplan.simulator.batch import Played

#: From so many traces on it says how far it is.
_MANY = 10


@click.command()
@click.argument("traces", metavar="TRACE...", type=click.Path(path_type=Path), nargs=-1, required=True)
@output_option
@click.pass_context
def command(context: click.Context, traces: tuple[Path, ...], output: str) -> None:
    """Play traces through the engine, and say how far it agrees with kube-scheduler.

    TRACE is a file that bayplan record wrote, gzipped or not. At each step the engine decides too, is compared, and
    then follows what was decided then. Exits with 1 if anything differs.
    """
    played = _play(traces)
    if output == JSON:
        from bayplan.simulator.batch import data_of

        print_json(data_of(played))
    else:
        from bayplan.cli.agreed import print_played

        print_played(played)
    context.exit(0 if all(one.agreement.complete for one in played) else 1)


def _play(paths: Sequence[Path]) -> list[Played]:
    from bayplan.simulator.batch import play_all

    def tell(done: int) -> None:
        progress("replayed", done, len(paths), "traces")

    return play_all(paths, tell if len(paths) >= _MANY else None)
