"""`bayplan up`: will start the embedded cluster; until that exists it says plainly what does."""

from __future__ import annotations

import click

from bayplan.cli.output import JSON, output_option, print_json, print_table, say

#: (what, state, how to try it). True statements only: a row turns to "there" with the code that makes it so.
PARTS = (
    ("client: credentials, reflectors, leases, events", "there", "bayplan watch pods"),
    ("engine: kube-scheduler's decisions, in columns", "there", "bayplan bench engine --nodes 1000 --pods 5000"),
    ("traces of kube-scheduler, and their replay", "there", "bayplan replay tests/traces/mixed-111.json.gz"),
    ("real control plane for tests", "there", "make controlplane, then make e2e"),
    ("embedded cluster", "not yet", ""),
    ("scheduler", "not yet", ""),
    ("extender", "not yet", ""),
    ("claims controller", "not yet", ""),
)


@click.command()
@output_option
def command(output: str) -> None:
    """Start Bayplan on this machine.

    The embedded cluster that this will start is not there yet. Until then it says what there is.
    """
    if output == JSON:
        print_json([{"part": part, "state": state, "try": hint or None} for part, state, hint in PARTS])
        return
    print_table(("PART", "STATE", "TRY"), PARTS)
    say("\nNothing was started: the embedded cluster is not there yet.")
    say("With a cluster of your own: bayplan cluster (says which one), bayplan watch pods (follows it).")
