"""`bayplan completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    r"""Print the shell code that completes bayplan's commands and options.

    \b
    bash:  source <(bayplan completion bash)
    zsh:   source <(bayplan completion zsh)
    fish:  bayplan completion fish | source
    """
    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(ctx.find_root().command, {}, "bayplan", "_BAYPLAN_COMPLETE").source())
