"""The transport over real sockets on loopback: it tells the truth about what was sent, and repeats nothing."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from bayplan.client.access import ClusterAccess
from bayplan.client.sockets import AiohttpTransport, _make_socket
from bayplan.client.transport import Request
from bayplan.errors import CredentialsError, OutcomeUnknown, Unreachable
from bayplan.testing.controlplane.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

#: Seconds that a request may take: more than any machine needs, however busy it is. Tests of what happens when they are
#: over do not wait for that; they set the loop's clock forward.
LONG = 1000.0

GET = Request("GET", "/api", timeout=LONG)
POST = Request("POST", "/api", body=b"{}", timeout=LONG)
STREAM = Request("GET", "/api", timeout=LONG, stream=True)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the clock of the running loop forward by so many seconds."""

    def jump(seconds: float) -> None:
        loop = asyncio.get_running_loop()
        time = loop.time
        monkeypatch.setattr(loop, "time", lambda: time() + seconds)

    return jump


async def read_request(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    for line in head.splitlines():
        if line.lower().startswith("content-length:"):
            await reader.readexactly(int(line.split(":")[1]))
    return head


@asynccontextmanager
async def serving(handle: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(quietly, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def transport_to(port: int, **access: object) -> AsyncIterator[AiohttpTransport]:
    made = AiohttpTransport(ClusterAccess(f"http://127.0.0.1:{port}", **access))  # type: ignore[arg-type]
    try:
        yield made
    finally:
        await made.aclose()


async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await read_request(reader)
        writer.write(OK)


async def test_an_answer_is_its_status_headers_and_body() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        body = gzip.compress(b'{"packed":1}')
        writer.write(b"HTTP/1.1 201 Created\r\nX-One: 1\r\nContent-Encoding: gzip\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async with serving(answer) as port, transport_to(port) as transport:
        response = await transport.send(GET)
        assert (response.status, response.headers["x-one"]) == (201, "1")
        assert await response.read() == b'{"packed":1}'


async def test_a_connection_serves_many_requests() -> None:
    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await answer_all(reader, writer)

    async with serving(answer) as port, transport_to(port) as transport:
        for _ in range(5):
            await (await transport.send(POST)).read()
    assert connections == 1


async def test_the_path_and_the_query_go_out_below_the_prefix_and_escaped_once() -> None:
    heads: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await read_request(reader))
        writer.write(OK)

    async with serving(answer) as port:
        transport = AiohttpTransport(ClusterAccess(f"http://127.0.0.1:{port}/k8s/c1"))
        request = Request("GET", "/api/a%2Fb", (("labelSelector", "a in (b,c),d!=é+&"),), {"User-Agent": "us"})
        await (await transport.send(request)).read()
        await transport.aclose()
    line, *headers = heads[0].split("\r\n")
    assert line == "GET /k8s/c1/api/a%2Fb?labelSelector=a%20in%20%28b%2Cc%29%2Cd%21%3D%C3%A9%2B%26 HTTP/1.1"
    assert "User-Agent: us" in headers


@pytest.mark.parametrize("request_", [GET, POST])
async def test_a_refused_connection_had_no_effect(request_: Request) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused, and nobody else can take it
        async with transport_to(taken.getsockname()[1]) as transport:
            with pytest.raises(Unreachable, match="cannot be reached") as raised:
                await transport.send(request_)
            assert raised.value.remedy


async def test_a_connection_that_is_never_accepted_had_no_effect(jump: Callable[[float], None]) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        callers = [socket.socket() for _ in range(4)]
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        async with transport_to(deaf.getsockname()[1]) as transport:
            sending = asyncio.create_task(transport.send(POST))
            while not transport._sockets:  # noqa: ASYNC110 - nobody tells of a call that is on its way
                await asyncio.sleep(0)
            # Past what a connection may take, and well before what the request may take: else it might have been sent.
            jump(0.6 * LONG)
            with pytest.raises(Unreachable, match="no connection within"):
                await sending
        for caller in callers:
            caller.close()


@pytest.mark.parametrize("request_", [GET, POST])
@pytest.mark.parametrize(
    "access",
    [
        ClusterAccess("https://sea", proxy_url="http://ann:s3cret@proxy:port"),
        ClusterAccess("https://sea", proxy_url="http://ann:s3cret@a..b:1"),
        ClusterAccess("http://a..b:1"),
        ClusterAccess(f"http://{'a' * 64}.example:1"),
    ],
    ids=["a proxy's port", "a proxy's name", "an empty label", "a label that is too long"],
)
async def test_an_address_that_cannot_be_one_had_no_effect_and_no_secret_is_told(
    access: ClusterAccess, request_: Request
) -> None:
    transport = AiohttpTransport(access)
    with pytest.raises(Unreachable, match="cannot be reached: its address, or that of the proxy") as raised:
        await transport.send(request_)
    assert "s3cret" not in "".join(traceback.format_exception(raised.value))
    await transport.aclose()


HALVES = [b"", b"HTTP/1.1 20", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"nonsense\r\n\r\n"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("request_", "kind"), [(GET, Unreachable), (POST, OutcomeUnknown)])
async def test_an_answer_that_breaks_off_leaves_a_write_unknown(
    half: bytes, request_: Request, kind: type[Exception]
) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(half)

    async with serving(hang_up) as port, transport_to(port) as transport:
        with pytest.raises(kind):
            await (await transport.send(request_)).read()


@pytest.mark.parametrize(
    ("method", "kind"), [("GET", Unreachable), ("PUT", OutcomeUnknown), ("DELETE", OutcomeUnknown)]
)
async def test_a_request_on_a_kept_connection_that_turns_out_dead_is_not_repeated(
    method: str, kind: type[Exception]
) -> None:
    """Aiohttp would repeat a PUT or a DELETE by itself; see the head of `sockets`."""
    seen: list[str] = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await read_request(reader)).split()[0])
        if len(seen) == 1:
            writer.write(OK)
            seen.append((await read_request(reader)).split()[0])

    async with serving(answer_once) as port, transport_to(port) as transport:
        await (await transport.send(GET)).read()
        with pytest.raises(kind):
            await (await transport.send(Request(method, "/api", body=b"{}", timeout=LONG))).read()
    assert seen == ["GET", method]


@pytest.mark.parametrize(("request_", "kind"), [(GET, Unreachable), (POST, OutcomeUnknown)])
async def test_no_answer_in_time_leaves_a_write_unknown(
    request_: Request, kind: type[Exception], jump: Callable[[float], None]
) -> None:
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        asked.set()
        await reader.read()

    async with serving(hang) as port, transport_to(port) as transport:
        sending = asyncio.create_task(transport.send(request_))
        await asked.wait()
        jump(LONG + 1)
        with pytest.raises(kind, match="the time allowed was over"):
            await sending


async def test_a_body_that_stalls_counts_into_the_time_of_a_request(jump: Callable[[float], None]) -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        await reader.read()

    async with serving(stall) as port, transport_to(port) as transport:
        response = await transport.send(GET)
        reading = asyncio.create_task(response.read())
        await asyncio.sleep(0)
        jump(LONG + 1)
        with pytest.raises(Unreachable, match="the time allowed was over"):
            await reading


async def test_a_stream_is_bounded_in_time_only_until_its_head_is_there(jump: Callable[[float], None]) -> None:
    more = asyncio.Event()

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await more.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        await writer.drain()

    async with serving(stream) as port, transport_to(port) as transport:
        response = await transport.send(STREAM)
        chunks = response.chunks()
        assert await anext(chunks) == b"one"
        jump(100 * LONG)
        await asyncio.sleep(0)  # whatever is due by now has its turn
        more.set()
        assert [chunk async for chunk in chunks] == [b"two"]
        response.close()


async def test_a_stream_whose_head_never_comes_is_given_up(jump: Callable[[float], None]) -> None:
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        asked.set()
        await reader.read()

    async with serving(hang) as port, transport_to(port) as transport:
        sending = asyncio.create_task(transport.send(STREAM))
        await asked.wait()
        jump(LONG + 1)
        with pytest.raises(Unreachable, match="the time allowed was over"):
            await sending


async def test_a_stream_that_is_reset_is_unreachable() -> None:
    heard = asyncio.Event()

    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await heard.wait()
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        writer.transport.abort()

    async with serving(reset) as port, transport_to(port) as transport:
        response = await transport.send(STREAM)
        chunks = response.chunks()
        assert await anext(chunks) == b"one"
        heard.set()
        with pytest.raises(Unreachable):
            await anext(chunks)
        response.close()


async def test_a_redirect_is_not_followed() -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    async with serving(redirect) as port, transport_to(port) as transport:
        assert (await transport.send(GET)).status == 302


@dataclass
class CountingAuth:
    refused: int = 0
    fixed: Mapping[str, str] = field(default_factory=lambda: {"Authorization": "Bearer t0"})

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer t{self.refused}"}

    def rejected(self) -> None:
        self.refused += 1


async def test_credentials_are_asked_for_each_request_and_told_when_they_are_refused() -> None:
    heads: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for status in (b"401 Unauthorized", b"200 OK"):
            heads.append(await read_request(reader))
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    auth = CountingAuth()
    async with serving(answer) as port, transport_to(port, auth=auth) as transport:
        for _ in range(2):
            await (await transport.send(GET)).read()
    assert ["Bearer t0" in heads[0], "Bearer t1" in heads[1], auth.refused] == [True, True, 1]


@dataclass
class FixedTls:
    made: ssl.SSLContext

    def context(self) -> ssl.SSLContext:
        return self.made


async def test_a_server_that_another_authority_signed_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    served = theirs.issue_server("serving", ["127.0.0.1"])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(served.certificate, served.key)
    for authority, trusted in ((ours, False), (theirs, True)):
        async with serving(answer_all, tls) as port:
            context = FixedTls(ssl.create_default_context(cafile=str(authority.file)))
            transport = AiohttpTransport(ClusterAccess(f"https://127.0.0.1:{port}", tls=context))
            if trusted:
                assert (await transport.send(GET)).status == 200
            else:
                with pytest.raises(Unreachable, match="certificate is refused") as raised:
                    await transport.send(POST)
                assert "certificate-authority" in str(raised.value.remedy)
            await transport.aclose()


async def test_a_closed_transport_says_so() -> None:
    transport = AiohttpTransport(ClusterAccess("http://127.0.0.1:1"))
    await transport.aclose()
    with pytest.raises(Unreachable, match="closed"):
        await transport.send(GET)


async def test_closing_leaves_no_socket_open_though_the_peer_never_says_goodbye(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    served = authority.issue_server("serving", ["127.0.0.1"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served.certificate, served.key)

    async def stream_and_turn_deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
        await writer.drain()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await closed.wait()
        writer.transport.abort()
        over.set()

    closed, over = asyncio.Event(), asyncio.Event()
    async with serving(stream_and_turn_deaf, context) as port:
        tls = FixedTls(ssl.create_default_context(cafile=str(authority.file)))
        transport = AiohttpTransport(ClusterAccess(f"https://127.0.0.1:{port}", tls=tls))
        answer = await transport.send(STREAM)
        answer.close()
        await transport.aclose()
        assert [one for one in transport._sockets if one.fileno() >= 0] == []
        closed.set()
        await over.wait()


def test_a_proxy_of_a_kind_that_is_not_spoken_is_refused_at_once() -> None:
    with pytest.raises(CredentialsError, match="socks5 proxy") as raised:
        AiohttpTransport(ClusterAccess("https://x", proxy_url="socks5://127.0.0.1:1080"))
    assert raised.value.remedy


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux names it so")
def test_the_kernel_probes_every_connection() -> None:
    with _make_socket((socket.AF_INET, socket.SOCK_STREAM, 0)) as made:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 15
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000
