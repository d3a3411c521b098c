"""How commands speak: data on stdout as a table or JSON, talk on stderr."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

TABLE, JSON = "table", "json"


def output_option(command: F) -> F:
    """Give a command `--output table|json`, as the argument `output`."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice([TABLE, JSON]),
        default=TABLE,
        show_default=True,
        help="How to print the data.",
    )(command)


def say(sentence: str) -> None:
    """Talk to the person; never part of the data."""
    click.echo(sentence, err=True)


def progress(verb: str, done: int, of_all: int, what: str) -> None:
    """Say how far it is: a line for each tenth, so that neither a terminal nor a log is flooded."""
    if done and done * 10 // of_all > (done - 1) * 10 // of_all:
        say(f"{verb} {done} of {of_all} {what}")


class Patience:
    """How long a person waits without a word: what is said sooner after the last word is not printed."""

    __slots__ = ("_seconds", "_spoke")

    def __init__(self, seconds: float = 5.0) -> None:
        self._seconds = seconds
        self._spoke = time.monotonic()

    def say(self, sentence: str) -> None:
        """Talk to the person, if it is time to."""
        if time.monotonic() - self._spoke >= self._seconds:
            self._spoke = time.monotonic()
            say(sentence)


def ready(sentence: str) -> None:
    """The one line that tells people and scripts that a long-running command now serves."""
    click.echo(f"ready: {sentence}", err=True)


def print_json(data: object) -> None:
    """Print data for programs: indented, in the order given, one document."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def print_json_line(data: object) -> None:
    """Print one element of a stream of data: a line each, at once, so that a pipe sees it."""
    click.echo(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, under: Mapping[int, Sequence[str]] | None = None
) -> None:
    """Print rows under their headings, in columns that line up; under the row of an index, lines that belong to it.

    A heading may have several lines.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    heads = _stacked(columns)
    widths = [max(map(len, column)) for column in zip(*heads, *cells, strict=True)]
    for head in heads:
        click.echo(styled(_line(head, widths), bold=True))
    for index, row in enumerate(cells):
        click.echo(_line(row, widths))
        for line in (under or {}).get(index, ()):
            click.echo(f"  {line}")


def print_facts(facts: Mapping[str, object]) -> None:
    """Print what there is to say of one thing, a line each."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        click.echo(f"{styled(name.ljust(width), bold=True)}  {_cell(value)}")


def styled(text: str, **style: Any) -> str:
    """Colour for a terminal: `click.echo` strips it for pipes, and NO_COLOR says never."""
    return text if os.environ.get("NO_COLOR") else click.style(text, **style)


def is_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def _stacked(columns: Sequence[str]) -> list[list[str]]:
    """The lines of the headings; those with fewer stand lower."""
    broken = [column.split("\n") for column in columns]
    most = max(map(len, broken))
    return [list(line) for line in zip(*([""] * (most - len(lines)) + lines for lines in broken), strict=True)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "   ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
