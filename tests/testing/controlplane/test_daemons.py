"""Server processes: watched while they start, ended for certain. The servers here are small Python programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.daemons import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[str], Daemon]

#: Tells that it runs by a file, then waits for its end.
SERVE = "import pathlib, signal; pathlib.Path('up').touch(); signal.pause()"

#: A bound for what hangs.
LONG = 30.0


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Daemon] = []

    def make(program: str) -> Daemon:
        command = [sys.executable, "-c", program]
        made.append(Daemon("fake", command, log=tmp_path / "fake.log", directory=tmp_path))
        return made[-1]

    yield make
    for daemon in made:
        daemon.kill()


def started(daemon: Daemon, up: Path) -> int:
    daemon.start()
    daemon.wait_until(up.exists, LONG)
    assert daemon.pid is not None
    return daemon.pid


def state(pid: int) -> str:
    """As ps gives it: T when stopped, Z when dead and not yet asked after, nothing when gone."""
    if not sys.platform.startswith("linux"):
        return subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()[:1]
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_it_runs_from_start_to_kill(make: Make, tmp_path: Path) -> None:
    daemon = make(SERVE)
    assert daemon.pid is None
    pid = started(daemon, tmp_path / "up")
    os.kill(pid, 0)
    daemon.kill()
    assert daemon.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    daemon.kill()


def test_it_can_be_started_again_and_the_log_goes_on(make: Make, tmp_path: Path) -> None:
    daemon = make(f"print('one more', flush=True); {SERVE}")
    first = started(daemon, tmp_path / "up")
    daemon.kill()
    (tmp_path / "up").unlink()
    assert started(daemon, tmp_path / "up") != first
    assert daemon.log_tail() == ["one more", "one more"]


def test_a_frozen_one_is_there_but_does_nothing_and_can_be_killed(make: Make, tmp_path: Path) -> None:
    daemon = make(SERVE)
    pid = started(daemon, tmp_path / "up")
    daemon.pause()
    daemon.wait_until(lambda: state(pid) == "T", LONG)
    daemon.resume()
    daemon.wait_until(lambda: state(pid) != "T", LONG)
    daemon.pause()
    daemon.kill()
    assert daemon.pid is None


def test_one_that_ends_early_is_noticed_at_once_with_its_last_words(make: Make) -> None:
    daemon = make("import sys; print('chatter'); sys.exit('the flag is unknown')")
    daemon.start()
    with pytest.raises(EnvironmentFault, match=r"(?s)fake ended before it was ready.*the flag is unknown.*fake\.log"):
        daemon.wait_until(lambda: False, LONG)


def test_a_wait_is_bounded(make: Make, tmp_path: Path) -> None:
    daemon = make(SERVE)
    started(daemon, tmp_path / "up")
    with pytest.raises(EnvironmentFault, match=r"was not ready after 0 s\. Its last words: it wrote nothing"):
        daemon.wait_until(lambda: False, 0)


def test_only_the_last_lines_of_a_long_log_are_shown(make: Make, tmp_path: Path) -> None:
    daemon = make(SERVE)
    (tmp_path / "fake.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert daemon.log_tail(2) == ["line 99998", "line 99999"]


def test_secrets_and_settings_of_the_parent_stay_with_it_but_the_mark_of_the_run_goes_along(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("BAYPLAN_RUN", "ci-1")
    daemon = make(f"import os; print(sorted(os.environ), os.environ['HOME'], flush=True); {SERVE}")
    started(daemon, tmp_path / "up")
    (line,) = daemon.log_tail()
    assert "SOME_TOKEN" not in line
    assert "BAYPLAN_RUN" in line
    assert str(tmp_path) in line


def test_a_program_that_is_not_there_is_told_by_its_log(tmp_path: Path) -> None:
    daemon = Daemon("ghost", [str(tmp_path / "ghost")], log=tmp_path / "log", directory=tmp_path)
    daemon.start()
    with pytest.raises(EnvironmentFault, match="No such file"):
        daemon.wait_until(lambda: False, LONG)


def test_a_directory_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    daemon = Daemon("lost", [sys.executable], log=tmp_path / "log", directory=tmp_path / "nowhere")
    with pytest.raises(EnvironmentFault, match="lost could not be started"):
        daemon.start()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
def test_it_dies_with_a_parent_that_was_killed(make: Make, tmp_path: Path) -> None:
    program = f"""
import pathlib, sys, signal
from bayplan.testing.controlplane.daemons import Daemon
here = pathlib.Path.cwd()
daemon = Daemon("child", [sys.executable, "-c", {SERVE!r}], log=here / "log", directory=here)
daemon.start()
daemon.wait_until((here / "up").exists, {LONG})
print(daemon.pid, flush=True)
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert state(child) in {"S", "R"}
        parent.send_signal(signal.SIGKILL)
    watcher = make(SERVE)
    watcher.start()
    # Z: dead, and whoever inherited it has not yet asked how.
    watcher.wait_until(lambda: state(child) in {"", "Z"}, LONG)


def test_a_clean_exit_of_the_parent_ends_it_too(tmp_path: Path) -> None:
    program = f"""
import pathlib, sys
from bayplan.testing.controlplane.daemons import Daemon
here = pathlib.Path.cwd()
daemon = Daemon("child", [sys.executable, "-c", {SERVE!r}], log=here / "log", directory=here)
daemon.start()
daemon.wait_until((here / "up").exists, {LONG})
print(daemon.pid, flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert state(int(done.stdout)) in {"", "Z"}
    assert done.stderr == ""
