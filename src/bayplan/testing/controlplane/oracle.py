"""Asking Kubernetes' own libraries, through the oracle that `make controlplane` builds.

The questions and answers are described in ``tools/controlplane/oracle/README.md``. All questions of one `ask` go out
together, and the answers are read while they are still being written: neither side can block the other.
"""

from __future__ import annotations

import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import msgspec

from bayplan.errors import EnvironmentFault, UsageError
from bayplan.testing.controlplane.binaries import find_binaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

PROGRAM = "bayplan-oracle"
#: A batch of thousands takes well under a second; past this the oracle hangs.
_PATIENCE_SECONDS = 60.0
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What Kubernetes says to one question: a value, or the text of its refusal."""

    #: The fields that the operation's description lists; empty after a refusal.
    value: Mapping[str, Any]
    #: Go's error, or None.
    error: str | None = None


class Oracle:
    """A running oracle. It answers in order, any number of times, until it is closed."""

    def __init__(self, process: subprocess.Popen[bytes], patience: float) -> None:
        self._process = process
        self._patience = patience
        self._late = False

    @classmethod
    @contextmanager
    def start(cls, program: Path | None = None, *, patience: float = _PATIENCE_SECONDS) -> Iterator[Oracle]:
        """Start the oracle, of the newest build unless a program is named, and end it with the block.

        An EnvironmentFault says how to get it where it is not there. `patience` bounds each `ask`, in seconds.
        """
        command = [str(program or find_binaries().path(PROGRAM))]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise EnvironmentFault(
                f"{command[0]} could not be started: {error}", remedy="run `make controlplane` again"
            ) from error
        oracle = cls(process, patience)
        try:
            yield oracle
        finally:
            oracle.close()

    def ask(self, questions: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """One answer a question, in their order.

        A question that the oracle does not understand is a UsageError; one that stops answering, an EnvironmentFault.
        """
        lines = b"".join(msgspec.json.encode(question) + b"\n" for question in questions)
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        watchdog = threading.Timer(self._patience, self._lose_patience)
        watchdog.daemon = True
        writer.start()
        watchdog.start()
        try:
            return [_read(question, self._read_line()) for question in questions]
        except BaseException:
            # Answers may be left in the pipe, and the next batch would take them for its own. Killed, because it may
            # be waiting for us to read them, and our writer for it to read the rest.
            self._process.kill()
            self.close()
            raise
        finally:
            watchdog.cancel()
            writer.join(_END_SECONDS)

    def close(self) -> None:
        """End the oracle; it ends by itself when its input does."""
        _quietly(_pipe(self._process.stdin).close)
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _pipe(self._process.stdout).close()

    def _write(self, lines: bytes) -> None:
        stdin = _pipe(self._process.stdin)
        _quietly(lambda: stdin.write(lines))
        _quietly(stdin.flush)

    def _lose_patience(self) -> None:
        self._late = True
        self._process.kill()  # which ends the read that waits

    def _read_line(self) -> bytes:
        stdout = _pipe(self._process.stdout)
        line = b"" if stdout.closed else stdout.readline()
        if line.endswith(b"\n"):
            return line
        what = f"did not answer within {self._patience:g} s" if self._late else "ended before it had answered"
        raise EnvironmentFault(
            f"the oracle {what}", remedy="see what it wrote to stderr, and build it again with `make controlplane`"
        )


def _read(question: Mapping[str, Any], line: bytes) -> Answer:
    try:
        reply = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise EnvironmentFault(f"the oracle's answer is no JSON object: {line[:200]!r}") from error
    if "fault" in reply:
        raise UsageError(
            f"the oracle did not understand {str(question)[:200]}: {reply['fault']}",
            remedy="see tools/controlplane/oracle/README.md for what it can be asked",
        )
    return Answer(reply.get("answer") or {}, reply.get("error"))


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # both were asked for when it was started
    return stream


def _quietly(act: Callable[[], object]) -> None:
    """Do it unless the oracle has gone; the reading side says so with more to tell."""
    with suppress(OSError, ValueError):
        act()
