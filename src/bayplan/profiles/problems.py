"""What is wrong with a file, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from bayplan.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: More are counted and not shown: nobody reads them, and a broken generator writes thousands.
_SHOWN = 100
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at a place."""

    line: int
    path: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}: {self.path}" if self.path else f"line {self.line}"
        return f"{where}: {self.message}"


class Problems:
    """All that was found so far. Each place is complained of only once in the same words."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: dict[Problem, None] = {}
        self._paths: set[str] = set()

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def add(self, line: int, path: str, message: str) -> None:
        """Write one down."""
        self._found[Problem(line, path, message)] = None
        self._paths.add(path)

    def at(self, path: str) -> bool:
        """Whether something is wrong at this very place."""
        return path in self._paths

    def raise_if_any(self) -> None:
        """A ConfigurationError with all of them, in the order of the file."""
        if self._found:
            self._raise()

    def _raise(self) -> NoReturn:
        problems = sorted(self._found, key=lambda problem: problem.line)
        listed = [str(problem) for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            listed.append(f"and {len(problems) - _SHOWN} more")
        raise ConfigurationError(self.source, listed)


def child(path: str, key: str | int) -> str:
    """The path of an entry of what is at this path."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{shortened(key)}]"
    return f"{path}.{key}" if path else key


def joined(path: str, below: str) -> str:
    """The path of something whose path below this one is known."""
    if not below or not path:
        return path or below
    return path + below if below.startswith("[") else f"{path}.{below}"


def shortened(value: object) -> str:
    """A value as it can stand in a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
