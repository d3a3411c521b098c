"""`bayplan version`."""

from __future__ import annotations

import platform

import click

from bayplan import __version__
from bayplan.cli.output import JSON, output_option, print_facts, print_json


@click.command()
@output_option
def command(output: str) -> None:
    """Say which version this is and what it runs on."""
    facts = {
        "bayplan": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    if output == JSON:
        print_json(facts)
    else:
        print_facts(facts)
