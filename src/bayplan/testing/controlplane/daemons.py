"""One server process: started, watched, ended, and never left behind.

A daemon dies with this process however that ends. Linux can tie a child's life to its parent's
(``PR_SET_PDEATHSIG``), with two traps that shape this module:

- it must be asked for in the child. Code between fork and exec may deadlock when the parent has threads, so a small
  Python program asks for it and then becomes the server by ``execv``;
- the tie is to the *thread* that started the child, not to the process. So all daemons are started by one thread,
  which lives as long as the interpreter.

Where the system has no such tie, a clean exit of the interpreter still ends them.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from bayplan.errors import EnvironmentFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Arguments: the parent's process id, then the command. A parent that died before the tie was made is seen by its id.
_BECOME = """
import os, sys
if sys.platform == "linux":
    import ctypes, signal
    if ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit("this kernel refuses PR_SET_PDEATHSIG")
if os.getppid() != int(sys.argv[1]):
    sys.exit("the process that wanted this daemon is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""

_LOG_LINES = 12
_LOG_BYTES = 16_384
_POLL_SECONDS = 0.02

#: CI marks what it starts by this variable, and afterwards looks for marked processes that are still there.
_MARK = "BAYPLAN_RUN"

_alive: weakref.WeakSet[Daemon] = weakref.WeakSet()


class Daemon:
    """A server process with its log. It can be started again, with the same command, after it has ended."""

    def __init__(self, name: str, command: Sequence[str], *, log: Path, directory: Path) -> None:
        self.name = name
        #: Where stdout and stderr go; a restart appends.
        self.log = log
        self._command = tuple(command)
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs, else None."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> None:
        """Start it; whether it is ready is the caller's question."""
        assert self.pid is None, f"{self.name} runs already"
        try:
            self._process = _starter().submit(self._spawn).result()
        except OSError as error:
            raise EnvironmentFault(
                f"{self.name} could not be started: {error}", remedy="build the control plane again"
            ) from error
        _alive.add(self)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone. Does nothing when it has ended already."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        _alive.discard(self)

    def pause(self) -> None:
        """SIGSTOP: its connections stay open, the kernel accepts new ones for it, and nobody answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT: it goes on as if no time had passed."""
        self._signal(signal.SIGCONT)

    def wait_until(self, ready: Callable[[], bool], timeout: float) -> None:
        """Wait until it is ready; fail as soon as it has ended, or when the time is over, with the log's last lines."""
        deadline = time.monotonic() + timeout
        while not ready():
            if self.pid is None:
                raise self.fault("ended before it was ready")
            if time.monotonic() >= deadline:
                raise self.fault(f"was not ready after {timeout:g} s")
            time.sleep(_POLL_SECONDS)

    def fault(self, what: str) -> EnvironmentFault:
        """An error about this daemon that shows the end of its log and where to read the rest."""
        tail = "".join(f"\n  {line}" for line in self.log_tail()) or " it wrote nothing"
        return EnvironmentFault(f"{self.name} {what}. Its last words:{tail}\n", remedy=f"read its log, {self.log}")

    def log_tail(self, lines: int = _LOG_LINES) -> list[str]:
        """The last lines of its log."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
                return file.read().decode(errors="replace").splitlines()[-lines:]
        except FileNotFoundError:
            return []

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, f"{self.name} was never started"
        assert self.pid is not None, f"{self.name} does not run"
        self._process.send_signal(number)

    def _spawn(self) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C at the terminal is for the tests, which then end their daemons in order.
        # Next to no environment: none of these programs needs our credentials, proxies or Go settings.
        environment = {"HOME": str(self._directory), "TMPDIR": str(self._directory), "PATH": os.defpath}
        environment |= {_MARK: os.environ[_MARK]} if _MARK in os.environ else {}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BECOME, str(os.getpid()), *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                env=environment,
                start_new_session=True,
            )


@cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="bayplan-daemons")


@atexit.register
def _kill_all() -> None:
    for daemon in list(_alive):
        daemon.kill()
