"""Exec plugins, played by small programs of our own."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.credentials.plugin import SETTLING, ExecPlugin, read_command
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.client.credentials.document import Place
    from bayplan.testing.controlplane.certificates import Authority

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"

#: Writes down each run, with what it was told, and prints what stands in `answer`.
PLUGIN = """\
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
run = {"arguments": sys.argv[1:], "info": info, "shade": os.environ.get("SHADE"), "home": os.environ.get("HOME"),
       "stdin": "" if info["spec"]["interactive"] else sys.stdin.read()}
with open(here / "runs", "a") as runs:
    runs.write(json.dumps(run) + "\\n")
print((here / "answer").read_text(), end="")
"""


class Played:
    """A plugin, the kubeconfig's entry for it, and its clock."""

    def __init__(
        self,
        folder: Path,
        user_entry: Callable[..., Place],
        write_program: Callable[[Path, str], None],
        **fields: Any,
    ) -> None:
        self.folder = folder / "plugin"
        self.folder.mkdir()
        self.write_program = write_program
        self.does(PLUGIN)
        self.entry = user_entry(
            exec={"apiVersion": V1, "command": "./plugin/login", "interactiveMode": "Never", **fields}
        ).get("exec")
        self.now = 1_800_000_000.0
        self.person = False
        self.patience: float | None = None
        self.environ = {"HOME": "/home/ann"}
        self.answers(token="one")

    def answers(self, version: str = V1, kind: str = "ExecCredential", **status: Any) -> None:
        self.prints(json.dumps({"apiVersion": version, "kind": kind, "status": status}))

    def prints(self, text: str) -> None:
        (self.folder / "answer").write_text(text)

    def does(self, code: str) -> None:
        self.write_program(self.folder / "login", code)

    def build(self) -> ExecPlugin:
        return ExecPlugin(
            read_command(self.entry, "ann"),
            environ=self.environ,
            cluster=lambda: {"server": "https://sea"},
            at_terminal=lambda: self.person,
            wall_clock=lambda: self.now,
            clock=lambda: self.now,
            patience=self.patience,
        )

    @property
    def runs(self) -> list[dict[str, Any]]:
        file = self.folder / "runs"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def play(
    tmp_path: Path, user_entry: Callable[..., Place], write_program: Callable[[Path, str], None]
) -> Callable[..., Played]:
    return lambda **fields: Played(tmp_path, user_entry, write_program, **fields)


async def sent(plugin: ExecPlugin) -> str:
    return dict(await plugin.headers()).get("Authorization", "")


async def test_a_token_without_an_expiry_is_asked_for_once(play: Callable[..., Played]) -> None:
    played = play()
    plugin = played.build()
    for _ in range(3):
        assert await sent(plugin) == "Bearer one"
        played.now += 1e6
    assert len(played.runs) == 1


async def test_arguments_and_environment_reach_it_on_top_of_our_own(play: Callable[..., Played]) -> None:
    played = play(args=["--for", "a b"], env=[{"name": "SHADE", "value": "green"}])
    await sent(played.build())
    (run,) = played.runs
    assert (run["arguments"], run["shade"], run["home"], run["stdin"]) == (["--for", "a b"], "green", "/home/ann", "")
    assert run["info"] == {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False}}


async def test_the_cluster_is_told_to_those_who_ask(play: Callable[..., Played]) -> None:
    played = play(provideClusterInfo=True)
    await sent(played.build())
    assert played.runs[0]["info"]["spec"]["cluster"] == {"server": "https://sea"}


@pytest.mark.parametrize("expiry", ["2027-01-15T08:10:00Z", "2027-01-15T10:10:00+02:00", "2027-01-15T08:10:00.5Z"])
async def test_it_is_run_again_when_its_credentials_expire(play: Callable[..., Played], expiry: str) -> None:
    """1,800,000,000 is 2027-01-15T08:00:00Z."""
    played = play()
    played.answers(token="one", expirationTimestamp=expiry)
    plugin = played.build()
    await sent(plugin)
    played.answers(token="two")
    played.now += 599
    assert await sent(plugin) == "Bearer one"
    played.now += 2
    assert await sent(plugin) == "Bearer two"


async def test_it_is_run_again_when_the_server_refuses_but_not_over_and_over(play: Callable[..., Played]) -> None:
    played = play()
    plugin = played.build()
    await sent(plugin)
    plugin.rejected()
    await sent(plugin)
    assert len(played.runs) == 1
    played.now += SETTLING
    plugin.rejected()
    await sent(plugin)
    assert len(played.runs) == 2


async def test_requests_at_the_same_time_wait_for_one_run(play: Callable[..., Played]) -> None:
    played = play()
    plugin = played.build()
    assert await asyncio.gather(*(sent(plugin) for _ in range(20))) == ["Bearer one"] * 20
    assert len(played.runs) == 1


async def test_those_who_waited_for_a_run_that_failed_share_its_failure(play: Callable[..., Played]) -> None:
    played = play()
    played.prints("nonsense")
    plugin = played.build()
    outcomes = await asyncio.gather(*(sent(plugin) for _ in range(20)), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {CredentialsError}
    assert len(played.runs) == 1
    played.answers(token="two")
    assert await sent(plugin) == "Bearer two"


async def test_a_client_certificate_may_come_with_a_token_or_alone(
    play: Callable[..., Played], authority: Authority
) -> None:
    issued = authority.issue_client("ann", "ann")
    material = {"clientCertificateData": issued.certificate.read_text(), "clientKeyData": issued.key.read_text()}
    played = play()
    played.answers(**material)
    plugin = played.build()
    assert plugin.pair() is None
    assert await plugin.headers() == {}
    assert (pair := plugin.pair()) is not None
    assert pair.certificate.read() == issued.certificate.read_bytes()
    assert "PRIVATE" not in repr(plugin._credential)
    played.answers(token="two", **material)
    played.now += SETTLING
    plugin.rejected()
    assert await sent(plugin) == "Bearer two"
    assert plugin.pair() == pair


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "printed something that is not an ExecCredential"),
        ("s3cret", "printed something that is not an ExecCredential"),
        ('{"kind": "ExecCredential", "status": {"token": 7}}', "printed something that is not an ExecCredential"),
        ({"version": V1BETA1, "token": "s3cret"}, f"printed {V1BETA1} ExecCredential instead of {V1} ExecCredential"),
        ({"kind": "Secret", "token": "s3cret"}, f"printed {V1} Secret instead of"),
        ({}, "brought neither a token nor a client certificate"),
        ({"token": ""}, "brought neither a token nor a client certificate"),
        ({"clientCertificateData": "x"}, "brought only one of a client certificate and its key"),
        ({"clientKeyData": "s3cret"}, "brought only one of a client certificate and its key"),
        ({"token": "s3cret", "expirationTimestamp": "tomorrow"}, "not a time in RFC 3339's form"),
        ({"token": "s3cret", "expirationTimestamp": "2027-01-15T08:10:00"}, "not a time in RFC 3339's form"),
        ({"token": "s3cret\nX: y"}, "characters that no token has"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_described_and_not_quoted(
    play: Callable[..., Played], answer: str | dict[str, Any], problem: str
) -> None:
    played = play()
    if isinstance(answer, str):
        played.prints(answer)
    else:
        played.answers(**answer)
    with pytest.raises(CredentialsError) as refused:
        await sent(played.build())
    assert problem in str(refused.value)
    assert "user ann" in str(refused.value)
    assert "s3cret" not in str(refused.value)


async def test_a_plugin_that_fails_is_told_with_its_exit_code_and_its_own_words_reach_the_person(
    play: Callable[..., Played], capfd: pytest.CaptureFixture[str]
) -> None:
    played = play()
    played.does("import sys; print('please log in first', file=sys.stderr); sys.exit(3)")
    with pytest.raises(CredentialsError, match=r"exec plugin \./plugin/login of user ann failed with exit code 3; see"):
        await sent(played.build())
    assert capfd.readouterr().err == "please log in first\n"


async def test_a_plugin_that_is_not_there_shows_its_hint_without_what_drives_terminals(
    play: Callable[..., Played],
) -> None:
    played = play(command="no-such-plugin", installHint="install it\nby \x1b[1mname\x1b[0m")
    with pytest.raises(CredentialsError) as refused:
        await sent(played.build())
    assert str(refused.value) == ("exec plugin no-such-plugin of user ann was not found; install it by [1mname[0m")


async def test_a_bare_name_is_looked_up_in_our_own_path(play: Callable[..., Played]) -> None:
    played = play(command="login", env=[{"name": "PATH", "value": "/nowhere"}])
    played.environ["PATH"] = str(played.folder)
    assert await sent(played.build()) == "Bearer one"


async def test_a_file_that_is_no_program_is_an_error_of_ours(play: Callable[..., Played]) -> None:
    played = play()
    (played.folder / "login").write_text("#!/nowhere/python\n")
    with pytest.raises(CredentialsError, match="cannot be started: No such file"):
        await sent(played.build())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.subprocess.Process]:
    """Every program that was started, in order."""
    processes: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def spy(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        processes.append(await start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", spy)
    return processes


@pytest.mark.parametrize(
    ("code", "code_of_exit"),
    [
        ("import time; time.sleep(60)", -signal.SIGKILL),
        ("import subprocess, time; subprocess.Popen(['sleep', '2']); time.sleep(60)", -signal.SIGKILL),
        ("import subprocess; subprocess.Popen(['sleep', '2'])", None),
    ],
    ids=["alone", "with a child that holds the pipe", "gone, with a child that holds the pipe"],
)
async def test_a_plugin_that_hangs_is_ended(
    play: Callable[..., Played], started: list[asyncio.subprocess.Process], code: str, code_of_exit: int | None
) -> None:
    played = play()
    played.patience = 0.3
    played.does(code)
    with pytest.raises(CredentialsError, match="brought nothing within"):
        await sent(played.build())
    assert started[0].returncode is not None
    assert code_of_exit in {None, started[0].returncode}


async def test_a_request_that_is_given_up_ends_the_run_and_the_next_one_starts_anew(
    play: Callable[..., Played], started: list[asyncio.subprocess.Process]
) -> None:
    played = play()
    played.does("import time; time.sleep(60)")
    plugin = played.build()
    asking = asyncio.create_task(sent(plugin))
    while not started:  # noqa: ASYNC110 - there is nothing else to wait for
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert started[0].returncode == -signal.SIGKILL
    played.does(PLUGIN)
    assert await sent(plugin) == "Bearer one"


async def test_one_who_waited_for_a_run_that_was_given_up_is_not_told_of_an_older_failure(
    play: Callable[..., Played], started: list[asyncio.subprocess.Process]
) -> None:
    played = play()
    played.prints("nonsense")
    plugin = played.build()
    with pytest.raises(CredentialsError):
        await sent(plugin)
    played.does("import time; time.sleep(60)")
    asking = asyncio.create_task(sent(plugin))
    waiting = asyncio.create_task(sent(plugin))
    while len(started) < 2:  # noqa: ASYNC110 - there is nothing else to wait for
        await asyncio.sleep(0)
    played.does(PLUGIN)
    played.answers(token="two")
    asking.cancel()
    assert await waiting == "Bearer two"


@pytest.mark.parametrize(
    ("mode", "person", "interactive"),
    [("Never", True, False), ("IfAvailable", False, False), ("IfAvailable", True, True), ("Always", True, True)],
)
async def test_the_terminal_is_shared_as_the_mode_says(
    play: Callable[..., Played], mode: str, person: bool, interactive: bool
) -> None:
    played = play(interactiveMode=mode)
    played.person = person
    await sent(played.build())
    assert played.runs[0]["info"]["spec"]["interactive"] is interactive


async def test_a_plugin_that_needs_a_terminal_is_not_run_without_one(play: Callable[..., Played]) -> None:
    played = play(interactiveMode="Always")
    with pytest.raises(CredentialsError, match="needs a terminal, and there is none"):
        await sent(played.build())
    assert played.runs == []


async def test_the_older_version_may_leave_the_mode_out(play: Callable[..., Played]) -> None:
    played = play(apiVersion=V1BETA1, interactiveMode=None)
    played.answers(version=V1BETA1, token="one")
    played.person = True
    await sent(played.build())
    assert played.runs[0]["info"] == {"kind": "ExecCredential", "apiVersion": V1BETA1, "spec": {"interactive": True}}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"command": ""}, r"users\[ann\]\.user\.exec\.command: is missing"),
        ({"apiVersion": None}, "exec.apiVersion: is missing, which is not supported; use one of"),
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "v1alpha1, which is not supported"),
        ({"interactiveMode": None}, "exec.interactiveMode: is missing; use one of Never, IfAvailable, Always"),
        ({"interactiveMode": "Sometimes"}, "interactiveMode: is Sometimes"),
        ({"env": [{"value": "x"}]}, "is no name of an environment variable"),
        ({"env": [{"name": "A=B", "value": "x"}]}, "is no name of an environment variable"),
    ],
)
def test_an_entry_that_cannot_be_meant_is_refused(
    play: Callable[..., Played], fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(CredentialsError, match=problem):
        play(**fields).build()


def test_arguments_and_environment_are_in_no_repr(play: Callable[..., Played]) -> None:
    command = read_command(play(args=["s3cret"], env=[{"name": "X", "value": "s3cret"}]).entry, "ann")
    assert "s3cret" not in repr(command)
