"""What holds for every command: see docs/cli.md."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from bayplan import __version__
from bayplan.cli import app
from bayplan.cli.app import COMMANDS, root
from bayplan.errors import EnvironmentFault, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

BAYPLAN = Path(sys.executable).parent / "bayplan"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bayplan", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **environment},
        check=False,
    )


def invoke(command: click.Command, capsys: pytest.CaptureFixture[str], *, debug: bool = False) -> tuple[int, str, str]:
    """Run a made-up command through the same door as a real one."""
    name = "made-up"
    root.add_command(command, name)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app._LazyGroup, "get_command", lambda *_: command)
            with pytest.raises(SystemExit) as leaving:
                app.main([name, *(["--debug"] if debug else [])])
    finally:
        root.commands.pop(name)
    printed = capsys.readouterr()
    assert isinstance(leaving.value.code, int)
    return leaving.value.code, printed.out, printed.err


def fails_with(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize("command", ["", *sorted(COMMANDS), "bench engine"])
def test_help_is_what_the_golden_file_says(command: str, golden: Callable[[str, str], None]) -> None:
    shown = run(*command.split(), "--help", COLUMNS="100")
    assert shown.returncode == 0
    assert shown.stderr == ""
    golden(f"help-{command.replace(' ', '-') or 'bayplan'}.txt", shown.stdout)


def test_the_sentence_in_the_overview_is_the_first_of_the_commands_own_help() -> None:
    for name, sentence in COMMANDS.items():
        context = click.Context(root)
        command = root.get_command(context, name)
        assert command is not None
        assert (command.help or "").splitlines()[0] == f"{sentence}."


def test_help_imports_nothing_heavy() -> None:
    """Start-up time is import time: the modules are counted, because a clock would depend on the machine."""
    script = (
        "import sys; sys.argv = ['bayplan', '--help']\n"
        "try:\n    from bayplan.cli import main; main()\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {"aiohttp", "asyncio", "msgspec", "numpy", "yaml", "ssl", "cryptography", "http", "email"}
    assert not loaded & heavy
    ours = {name for name in loaded if name.split(".")[0] == "bayplan"}
    assert ours == {"bayplan", "bayplan.cli", "bayplan.cli.app", "bayplan.errors"}
    # Measured on CPython 3.11: 130 modules, 40 of them the interpreter's own start. The margin is for newer ones.
    assert len(loaded) < 200


def test_the_command_and_the_module_are_one() -> None:
    installed = subprocess.run([BAYPLAN, "--version"], capture_output=True, text=True, check=True)
    assert installed.stdout == run("--version").stdout == f"bayplan {__version__}\n"


def test_json_is_one_document_on_stdout() -> None:
    done = run("version", "--output", "json")
    assert json.loads(done.stdout)["bayplan"] == __version__
    assert done.stderr == ""


def test_no_colour_reaches_a_pipe() -> None:
    assert "\x1b" not in run("up").stdout + run("nonsense").stderr


def test_no_command_is_wrong_use_and_shows_the_help() -> None:
    done = run(COLUMNS="100")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == run("--help", COLUMNS="100").stdout


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_errors_are_red_on_a_terminal_unless_no_color_says_otherwise(
    environment: dict[str, str], coloured: bool
) -> None:
    master, terminal = os.openpty()
    with os.fdopen(master, "rb", buffering=0) as shown:
        done = subprocess.run(
            [sys.executable, "-m", "bayplan", "nonsense"],
            stderr=terminal,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment},
            check=False,
        )
        os.close(terminal)
        assert done.returncode == 2
        line = shown.read(10_000)
    assert line.startswith(b"\x1b[31mbayplan:\x1b[0m No such command" if coloured else b"bayplan: No such command")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", [["version"], ["up", "-o", "json"], ["--help"], ["completion", "bash"]])
def test_output_that_finds_no_room_is_a_sentence_and_no_fault_of_ours(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bayplan", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    problem = "bayplan: the output cannot be written: No space left on device"
    assert done.stderr == f"{problem}; make room for it, or write it to another place\n"


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["version", "--nonsense"], ["version", "--output", "xml"], ["completion"]]
)
def test_wrong_use_is_one_line_that_says_where_help_is_and_exits_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("bayplan: ")
    assert done.stderr.endswith("--help\n")
    assert done.stderr.count("\n") == 1


def test_a_failure_is_one_sentence_with_its_remedy_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    error = EnvironmentFault("port 1 is taken", remedy="choose another with --port")
    code, out, err = invoke(fails_with(error), capsys)
    assert (code, out, err) == (1, "", "bayplan: port 1 is taken; choose another with --port\n")


def test_a_bad_argument_found_late_is_wrong_use_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = invoke(fails_with(UsageError("no context named x", remedy="see kubectl config")), capsys)
    assert (code, err) == (2, "bayplan: no context named x; see kubectl config\n")


@pytest.mark.parametrize("text", ["apiVersion: apps/v1\nkind: Deployment\n", "- one\n- two\n", "clusters: [\n"])
@pytest.mark.parametrize("command", [["cluster"], ["watch", "pods"]])
def test_a_file_that_cannot_be_meant_is_wrong_use(command: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    done = run(*command, "--kubeconfig", str(tmp_path / "config"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_fault_of_ours_says_so_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = invoke(fails_with(KeyError("x")), capsys)
    assert code == 1
    assert "fault in Bayplan" in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError):
        invoke(fails_with(KeyError("x")), capsys, debug=True)
    assert run("--debug", "version").returncode == run("version", "--debug").returncode == 0


def test_an_interrupt_exits_as_shells_expect(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(fails_with(KeyboardInterrupt()), capsys)[0] == 130


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    piped = subprocess.run(
        f"{shlex.quote(sys.executable)} -m bayplan up --output json | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_prints_code_for_the_shell(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    assert "_BAYPLAN_COMPLETE" in done.stdout


def test_completion_offers_commands_and_options() -> None:
    words = {"COMP_WORDS": "bayplan ver", "COMP_CWORD": "1", "_BAYPLAN_COMPLETE": "bash_complete"}
    offered = subprocess.run([BAYPLAN], capture_output=True, text=True, env={**os.environ, **words}, check=False)
    assert offered.stdout == "plain,version\n"
