"""The `bayplan` command: finds commands by name, and turns errors into one sentence and an exit code.

Only the command that was asked for is imported, so that `--help` and shell completion answer at once.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from bayplan import __version__
from bayplan.errors import BayplanError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Each command, the module that holds it, and the sentence `--help` shows without importing it.
COMMANDS = {
    "bench": "Measure Bayplan on this machine",
    "cluster": "Say which cluster this is, who you are to it, and whether it answers",
    "completion": "Print the shell code that completes bayplan's commands and options",
    "explain": "Tell why a pod of a trace went where it went, or nowhere",
    "record": "Record what a real kube-scheduler decides, as a trace to compare with",
    "replay": "Play traces through the engine, and say how far it agrees with kube-scheduler",
    "up": "Start Bayplan on this machine",
    "version": "Say which version this is and what it runs on",
    "watch": "Follow a resource and print every change, through any failure of the server",
}

DONE, NEGATIVE, WRONG_USE, INTERRUPTED = 0, 1, 2, 130

#: How writing output fails where nobody is to blame but the place that it is written to.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class _LazyGroup(click.Group):
    """A group that knows its commands' names and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"bayplan.cli.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Every command has --help. Data goes to stdout, talk to stderr. Exit 0 is done, 1 a negative "
    "answer or a failure, 2 wrong use.",
)
@click.version_option(__version__, "-V", "--version", message="bayplan %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def root(context: click.Context) -> None:
    """Bayplan extends Kubernetes scheduling from Python."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(WRONG_USE)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or bool(os.environ.get("BAYPLAN_DEBUG"))
    if debug:
        given = [word for word in given if word != "--debug"]
    sys.exit(_run(given, debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        result = root.main(arguments, prog_name="bayplan", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone, as `| head` does.
        _drop_output()
        return NEGATIVE
    except click.ClickException as error:
        return _wrong_use(error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _drop_output()
        if debug:
            raise
        return _failure(error)
    return result if isinstance(result, int) else DONE


def _wrong_use(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "bayplan"
    # click spreads some of its messages over lines; an error is one sentence.
    message = " ".join(error.format_message().split()).rstrip(".")
    _complain(f"{message}; see {path} --help")
    return WRONG_USE


def _failure(error: Exception) -> int:
    if isinstance(error, BayplanError):
        _complain(str(error))
        return WRONG_USE if isinstance(error, UsageError) else NEGATIVE
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        _complain(f"the output cannot be written: {error.strerror}; make room for it, or write it to another place")
        return NEGATIVE
    _complain(
        f"{type(error).__name__}: {error}; this is a fault in Bayplan: run the command again with --debug, "
        "and report what it prints"
    )
    return NEGATIVE


def _drop_output() -> None:
    """Throw away what could not be written: Python would try once more on its way out, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str) -> None:
    from bayplan.cli.output import styled

    click.echo(f"{styled('bayplan:', fg='red')} {sentence}", err=True)
