"""Credentials as a server sees them: over real connections, through the transport."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bayplan.client.credentials import load_access
from bayplan.client.credentials.tls import CHECK_EVERY
from bayplan.client.sockets import AiohttpTransport
from bayplan.client.transport import Request
from bayplan.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bayplan.client.access import ClusterAccess
    from bayplan.testing.controlplane.certificates import Authority, KeyPair

NAME = "ocean.example"


class Server:
    """Says in JSON who asks: the certificate's common name and the headers; some tokens it refuses."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"https://127.0.0.1:{port}"
        self.refused: set[str] = set()

    async def answer(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization", "").removeprefix("Bearer ") in self.refused:
            return web.Response(status=401)
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        subject = dict(pair for part in (certificate or {}).get("subject", ()) for pair in part)
        headers = [[name.decode(), value.decode()] for name, value in request.raw_headers]
        return web.json_response({"name": subject.get("commonName"), "headers": headers})


@asynccontextmanager
async def serve(context: ssl.SSLContext | None) -> AsyncIterator[Server]:
    server = Server(0)
    application = web.Application()
    application.router.add_get("/", server.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    server.port = runner.addresses[0][1]
    server.url = f"https://127.0.0.1:{server.port}"
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[Server]:
    """A server whose certificate is valid for NAME alone, and which takes client certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = authority.issue_server("serving", [NAME])
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(authority.file)
    context.verify_mode = ssl.CERT_OPTIONAL
    async with serve(context) as serving:
        yield serving


@pytest.fixture
def access(write: Callable[..., Path], authority: Authority, server: Server) -> Callable[..., ClusterAccess]:
    """Access to the server as a user with these fields."""

    def access(user: dict[str, Any] | None = None, /, **cluster: Any) -> ClusterAccess:
        trusted = {"certificate-authority": str(authority.file), "tls-server-name": NAME}
        return load_access(kubeconfig=write({"server": server.url, **trusted, **cluster}, user), environ={})

    return access


@asynccontextmanager
async def connected(access: ClusterAccess) -> AsyncIterator[AiohttpTransport]:
    transport = AiohttpTransport(access)
    try:
        yield transport
    finally:
        await transport.aclose()


async def ask(transport: AiohttpTransport) -> dict[str, Any]:
    response = await transport.send(Request("GET", "/", timeout=10))
    body = await response.read()
    return {"status": response.status, **(json.loads(body) if response.status == 200 else {})}


async def asked(access: ClusterAccess) -> dict[str, Any]:
    async with connected(access) as transport:
        return await ask(transport)


def of_user(pair: KeyPair) -> dict[str, str]:
    return {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}


def inline(pair: KeyPair) -> dict[str, str]:
    certificate, key = (base64.b64encode(file.read_bytes()).decode() for file in (pair.certificate, pair.key))
    return {"client-certificate-data": certificate, "client-key-data": key}


@pytest.mark.parametrize("kind", [of_user, inline])
async def test_a_client_certificate_is_shown(
    access: Callable[..., ClusterAccess], authority: Authority, kind: Callable[[KeyPair], dict[str, str]]
) -> None:
    assert (await asked(access(kind(authority.issue_client("ann", "ann")))))["name"] == "ann"


async def test_a_rotated_client_certificate_is_shown_without_a_new_client(
    access: Callable[..., ClusterAccess], authority: Authority
) -> None:
    reached = access(of_user(authority.issue_client("me", "ann")))
    now = 0.0
    reached.tls._clock = lambda: now  # type: ignore[union-attr]
    async with connected(reached) as transport:
        assert (await ask(transport))["name"] == "ann"
        authority.issue_client("me", "bob")
        assert (await ask(transport))["name"] == "ann"
        now = CHECK_EVERY
        assert (await ask(transport))["name"] == "bob"


async def test_the_servers_certificate_must_be_for_the_name_that_is_asked_for(
    access: Callable[..., ClusterAccess],
) -> None:
    assert (await asked(access()))["status"] == 200
    for name in ("", "lake.example"):
        with pytest.raises(Unreachable, match="its certificate is refused"):
            await asked(access(**{"tls-server-name": name}))


async def test_the_servers_certificate_must_be_of_the_authority(
    access: Callable[..., ClusterAccess], authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = type(authority)(tmp_path / "other")
    with pytest.raises(Unreachable, match="its certificate is refused"):
        await asked(access(**{"certificate-authority": str(other.file)}))


async def test_insecure_looks_at_neither_name_nor_authority(access: Callable[..., ClusterAccess]) -> None:
    careless = {"certificate-authority": "", "tls-server-name": "", "insecure-skip-tls-verify": True}
    assert (await asked(access(**careless)))["status"] == 200


async def test_every_group_arrives(access: Callable[..., ClusterAccess]) -> None:
    told = await asked(access({"token": "x", "as": "bob", "as-groups": ["cooks", "captains", "stokers"]}))
    groups = [value for name, value in told["headers"] if name.lower() == "impersonate-group"]
    assert sorted(groups) == ["captains", "cooks", "stokers"]


async def test_a_refused_token_is_replaced_by_what_the_file_holds_now(
    access: Callable[..., ClusterAccess], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("one")
    async with connected(access({"tokenFile": "token"})) as transport:
        assert (await ask(transport))["status"] == 200
        (tmp_path / "token").write_text("two")
        server.refused.add("one")
        assert (await ask(transport))["status"] == 401
        assert ["Authorization", "Bearer two"] in (await ask(transport))["headers"]


async def test_a_plugins_certificate_and_token_are_both_used(
    access: Callable[..., ClusterAccess],
    authority: Authority,
    tmp_path: Path,
    write_program: Callable[[Path, str], None],
) -> None:
    pair = authority.issue_client("ann", "ann")
    status = {
        "token": "x",
        "clientCertificateData": pair.certificate.read_text(),
        "clientKeyData": pair.key.read_text(),
    }
    version = "client.authentication.k8s.io/v1"
    credential = {"apiVersion": version, "kind": "ExecCredential", "status": status}
    write_program(tmp_path / "login", f"print({json.dumps(credential)!r})")
    told = await asked(access({"exec": {"apiVersion": version, "command": "./login", "interactiveMode": "Never"}}))
    assert told["name"] == "ann"
    assert ["Authorization", "Bearer x"] in told["headers"]


class Proxy:
    """Connects whoever asks by CONNECT, and remembers how it was asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        host, _, port = head.split()[1].rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(self.pipe(reader, far_writer), self.pipe(far_reader, writer))

    async def pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        except ConnectionError:
            pass
        finally:
            sink.close()


async def test_a_proxy_is_asked_to_connect_and_tls_goes_through_it_to_the_server(
    access: Callable[..., ClusterAccess], server: Server, authority: Authority
) -> None:
    proxy = Proxy()
    listening = await asyncio.start_server(proxy.connect, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        user = {**of_user(authority.issue_client("ann", "ann")), "token": "s3cret"}
        told = await asked(access(user, **{"proxy-url": f"http://me:pass@127.0.0.1:{port}"}))
    assert told["name"] == "ann"
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:pass').decode()}" in head
    assert "s3cret" not in head


async def test_over_plain_http_no_secret_is_sent(write: Callable[..., Path]) -> None:
    async with serve(None) as plain:
        file = write({"server": f"http://127.0.0.1:{plain.port}"}, {"token": "s3cret", "as": "bob"})
        told = await asked(load_access(kubeconfig=file, environ={}))
    assert ["Impersonate-User", "bob"] in told["headers"]
    assert "s3cret" not in json.dumps(told)
