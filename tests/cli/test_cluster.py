"""`bayplan cluster`, run as people run it, against a server of ours that plays the two answers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import ssl
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
import pytest
from aiohttp import web

from bayplan.cli.commands.cluster import command as cluster_command
from bayplan.cli.connection import Connection, connection_options
from bayplan.testing.controlplane.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

VERSION = {"major": "1", "minor": "37", "gitVersion": "v1.37.1", "platform": "linux/amd64"}
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@dataclass
class ApiServer:
    """What it answers: a status and a body for each path."""

    url: str = ""
    answers: dict[str, tuple[int, object]] = field(default_factory=dict)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    #: Until when a request with the status 0 waits.
    over: asyncio.Event = field(default_factory=asyncio.Event)
    authorizations: list[str | None] = field(default_factory=list)
    reviews: list[object] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.set()
        self.authorizations.append(request.headers.get("Authorization"))
        if request.path == REVIEWS:
            self.reviews.append(await request.json())
        status, body = self.answers[request.path]
        if status == 0:
            await self.over.wait()
            return web.Response(status=503)
        return web.json_response(body, status=status)


def failure(code: int, message: str) -> tuple[int, object]:
    return code, {"kind": "Status", "apiVersion": "v1", "code": code, "message": message}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[ApiServer]:
    user = {"username": "ann", "uid": "7", "groups": ["cooks", "system:authenticated"]}
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "status": {"userInfo": user}}
    server = ApiServer(answers={"/version": (200, VERSION), REVIEWS: (201, review)})
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = authority.issue_server("serving", ["127.0.0.1"])
    context.load_cert_chain(pair.certificate, pair.key)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    server.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        server.over.set()
        await runner.cleanup()


@pytest.fixture
def kubeconfig(tmp_path: Path, server: ApiServer, authority: Authority) -> Callable[..., Path]:
    """A kubeconfig with the contexts `here`, of a user with these fields, and `there`."""

    def write(user: dict[str, Any] | None = None, **cluster: Any) -> Path:
        sea = {"server": server.url, "certificate-authority": str(authority.file), **cluster}
        document = {
            "clusters": [{"name": "sea", "cluster": sea}],
            "users": [{"name": "ann", "user": {"token": "s3cret"} if user is None else user}],
            "contexts": [
                {"name": "here", "context": {"cluster": "sea", "user": "ann"}},
                {"name": "there", "context": {"cluster": "sea", "user": "ann", "namespace": "dock"}},
            ],
            "current-context": "here",
        }
        file = tmp_path / "config"
        file.write_text(json.dumps(document))
        return file

    return write


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        data = json.loads(self.out)
        assert isinstance(data, dict)
        return data

    @property
    def facts(self) -> dict[str, str]:
        pairs = (line.split("  ", 1) for line in self.out.splitlines())
        return {name.strip(): value.strip() for name, value in pairs}


async def start(*arguments: object, **environ: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bayplan", *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environ},
        # A shell that runs us in the background has us ignore interrupts, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


async def finish(process: asyncio.subprocess.Process) -> Done:
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def cluster(*arguments: object, **environ: str) -> Done:
    return await finish(await start("cluster", *arguments, **environ))


async def test_it_says_where_and_who_and_that_it_answers(kubeconfig: Callable[..., Path], server: ApiServer) -> None:
    file = kubeconfig()
    done = await cluster("--kubeconfig", file)
    assert (done.code, done.err) == (0, "")
    assert done.facts == {
        "context": "here",
        "server": server.url,
        "source": str(file),
        "namespace": "default",
        "answers": "yes",
        "version": "v1.37.1",
        "you are": "ann",
        "groups": "cooks, system:authenticated",
        "credentials": "token",
    }
    assert server.authorizations == ["Bearer s3cret"] * 2
    assert server.reviews == [{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}]


async def test_as_json_it_is_one_document_that_says_the_same(
    kubeconfig: Callable[..., Path], server: ApiServer, authority: Authority
) -> None:
    pair = authority.issue_client("ann", "ann", ["cooks"])
    file = kubeconfig({"client-certificate": str(pair.certificate), "client-key": str(pair.key)})
    done = await cluster("-o", "json", KUBECONFIG=f"{file}:/nowhere")
    certificate = done.data.pop("certificate")
    assert certificate["subject"] == "CN=ann, O=cooks"
    assert certificate["notBefore"] < certificate["notAfter"]
    assert {name: value for name, value in done.data.items() if name != "certificate"} == {
        "context": "here",
        "server": server.url,
        "source": [str(file)],
        "namespace": "default",
        "answers": True,
        "version": "v1.37.1",
        "platform": "linux/amd64",
        "user": {"name": "ann", "uid": "7", "groups": ["cooks", "system:authenticated"]},
        "credentials": "client certificate",
        "problem": None,
    }
    assert (done.code, done.err) == (0, "")


async def test_context_and_namespace_are_those_asked_for(kubeconfig: Callable[..., Path]) -> None:
    file = kubeconfig()
    there = await cluster("--kubeconfig", file, "--context", "there")
    assert (there.facts["context"], there.facts["namespace"]) == ("there", "dock")
    assert (await cluster("--kubeconfig", file, "--context", "there", "-n", "quay")).facts["namespace"] == "quay"


async def test_an_unknown_context_is_one_sentence_with_those_there_are(kubeconfig: Callable[..., Path]) -> None:
    file = kubeconfig()
    done = await cluster("--kubeconfig", file, "--context", "nowhere")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"bayplan: there is no context nowhere in {file}; choose one of: here, there\n"


async def test_without_a_kubeconfig_it_says_what_was_looked_for() -> None:
    done = await cluster()
    assert (done.code, done.out) == (1, "")
    assert "/nonexistent/.kube/config does not exist" in done.err
    assert done.err.count("\n") == 1


async def test_a_server_that_is_not_there_is_a_negative_answer_with_a_remedy(kubeconfig: Callable[..., Path]) -> None:
    # Bound but not listening: nobody else gets the port, and nobody answers there.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        file = kubeconfig(server=f"https://127.0.0.1:{closed.getsockname()[1]}")
        plain, data = await cluster("--kubeconfig", file), await cluster("--kubeconfig", file, "-o", "json")
    assert (plain.code, data.code) == (1, 1)
    assert (plain.facts["answers"], data.data["answers"], data.data["user"]) == ("no", False, None)
    assert plain.err == f"bayplan: {data.data['problem']}\n"
    assert "cannot be reached" in plain.err
    assert "; check that it runs" in plain.err


async def test_a_server_that_does_not_know_us_is_a_negative_answer(
    kubeconfig: Callable[..., Path], server: ApiServer
) -> None:
    server.answers[REVIEWS] = failure(401, "Unauthorized")
    done = await cluster("--kubeconfig", kubeconfig())
    assert (done.code, done.facts["answers"], done.facts["you are"]) == (1, "yes", "-")
    assert "does not accept your credentials (token): Unauthorized; renew them" in done.err
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize("code", [403, 404])
async def test_a_server_that_will_not_say_who_we_are_still_answers(
    kubeconfig: Callable[..., Path], server: ApiServer, code: int
) -> None:
    server.answers[REVIEWS] = failure(code, "no")
    done = await cluster("--kubeconfig", kubeconfig())
    assert (done.code, done.facts["answers"], done.facts["you are"]) == (0, "yes", "-")


async def test_a_server_that_keeps_its_version_to_itself_still_answers(
    kubeconfig: Callable[..., Path], server: ApiServer
) -> None:
    server.answers["/version"] = failure(403, "no")
    done = await cluster("--kubeconfig", kubeconfig())
    assert (done.code, done.facts["answers"], done.facts["version"], done.facts["you are"]) == (0, "yes", "-", "ann")


async def test_something_else_than_an_api_server_is_told_as_such(
    kubeconfig: Callable[..., Path], server: ApiServer
) -> None:
    server.answers["/version"] = (200, ["hello"])
    done = await cluster("--kubeconfig", kubeconfig())
    assert done.code == 1
    assert "not a JSON object; check that the address" in done.err


async def test_credentials_that_cannot_be_had_are_told_beside_what_is_known(
    kubeconfig: Callable[..., Path], server: ApiServer
) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such", "interactiveMode": "Never"}
    done = await cluster("--kubeconfig", kubeconfig({"exec": {**plugin, "installHint": "get it from the cook"}}))
    assert (done.code, done.facts["answers"], done.facts["server"]) == (1, "not asked", server.url)
    assert done.err == "bayplan: exec plugin no-such of user ann was not found; get it from the cook\n"


async def test_an_interrupt_ends_it_at_once_with_130(kubeconfig: Callable[..., Path], server: ApiServer) -> None:
    server.answers["/version"] = (0, None)
    process = await start("cluster", "--kubeconfig", kubeconfig())
    async with asyncio.timeout(60):
        await server.asked.wait()
    process.send_signal(signal.SIGINT)
    # The line break is click's, for the terminal on which `^C` stands.
    assert await finish(process) == Done(130, "", "\n")


def test_the_options_arrive_as_one_argument() -> None:
    seen: list[tuple[Connection, str]] = []

    @click.command()
    @click.argument("pod")
    @connection_options
    def command(connection: Connection, pod: str) -> None:
        """Say it."""
        seen.append((connection, pod))

    command.main(["--kubeconfig", "f", "-n", "ns", "web"], standalone_mode=False)
    command.main(["--context", "c", "web"], standalone_mode=False)
    assert seen == [(Connection("f", None, "ns"), "web"), (Connection(None, "c", None), "web")]


async def test_completion_offers_the_contexts_of_the_kubeconfig(kubeconfig: Callable[..., Path]) -> None:
    file = kubeconfig()
    option = next(parameter for parameter in cluster_command.params if parameter.name == "context")
    context = click.Context(cluster_command)
    context.params["kubeconfig"] = str(file)
    assert [item.value for item in option.shell_complete(context, "th")] == ["there"]
    context.params["kubeconfig"] = str(file.with_name("missing"))
    assert option.shell_complete(context, "") == []
