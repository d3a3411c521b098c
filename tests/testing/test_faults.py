"""The proxy that misbehaves, in front of a plain echo server."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import UsageError
from bayplan.testing.faults import FaultProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: A bound for what hangs; nothing here waits for time to pass.
LONG = 20.0


class Echo:
    """Sends back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.port = 0
        self.heard = b""
        self.ends: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.changed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        self.changed.set()
        try:
            while data := await reader.read(65_536):
                self.heard += data
                self.changed.set()
                writer.write(data)
            self.ends.append("closed")
        except ConnectionResetError:
            self.ends.append("reset")
        finally:
            writer.close()
            self.changed.set()

    async def until_ended(self) -> str:
        async with asyncio.timeout(LONG):
            while not self.ends:
                self.changed.clear()
                await self.changed.wait()
        return self.ends[0]


@pytest.fixture
async def echo() -> AsyncIterator[Echo]:
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    echo.port = server.sockets[0].getsockname()[1]
    yield echo
    server.close()
    for writer in echo.writers:
        writer.close()


@pytest.fixture
async def proxy(echo: Echo) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(echo.port) as proxy:
        yield proxy


@asynccontextmanager
async def connected(proxy: FaultProxy) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def exactly(reader: asyncio.StreamReader, count: int) -> bytes:
    return await asyncio.wait_for(reader.readexactly(count), LONG)


async def test_bytes_pass_both_ways_and_are_counted(proxy: FaultProxy) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"hello")
        assert await exactly(reader, 5) == b"hello"
        assert proxy.passed == {"up": 5, "down": 5}
        assert (proxy.connections, proxy.live) == (1, 1)


async def test_many_bytes_arrive_whole_and_in_order(proxy: FaultProxy) -> None:
    sent = bytes(range(256)) * 4_000
    async with connected(proxy) as (reader, writer):
        writer.write(sent)
        assert await exactly(reader, len(sent)) == sent


async def test_the_end_of_a_stream_passes_too(proxy: FaultProxy) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"bye")
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), LONG) == b"bye"
        await proxy.until(lambda it: it.live == 0, LONG)


async def test_a_stalled_proxy_accepts_and_holds_then_passes_everything_on(proxy: FaultProxy, echo: Echo) -> None:
    proxy.stall()
    async with connected(proxy) as (reader, writer):
        writer.write(b"held")
        await proxy.until(lambda it: it.connections == 1, LONG)
        assert echo.heard == b""
        await proxy.resume()
        assert await exactly(reader, 4) == b"held"


async def test_a_stall_of_one_direction_leaves_the_other_alone(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        proxy.stall("down")
        writer.write(b"up")
        await proxy.until(lambda it: it.passed["up"] == 2, LONG)
        assert proxy.passed["down"] == 0
        await proxy.resume()
        assert await exactly(reader, 2) == b"up"


async def test_a_stall_holds_the_end_of_a_stream_back(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        proxy.stall("down")
        echo.writers[0].close()
        await fence(echo)
        assert not reader.at_eof()
        await proxy.resume()
        assert await asyncio.wait_for(reader.read(), LONG) == b""


async def test_a_stall_holds_the_news_of_a_reset_back(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        proxy.stall()
        reset(echo.writers[0])
        await fence(echo)
        assert proxy.live == 1
        await proxy.resume()
        with pytest.raises(ConnectionResetError):
            await exactly(reader, 1)


async def test_a_black_hole_swallows_and_tells_nobody(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        proxy.drop()
        writer.write(b"lost")
        await proxy.until(lambda it: it.swallowed["up"] == 4, LONG)
        echo.writers[0].write(b"lost too")
        await proxy.until(lambda it: it.swallowed["down"] == 8, LONG)
        echo.writers[0].close()
        heard = echo.heard
        await fence(echo)
        assert heard == b"x"
        assert proxy.live == 1
        assert not reader.at_eof()


async def test_what_was_half_lost_stays_lost_while_new_connections_are_well(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (_, old):
        proxy.drop("up")
        old.write(b"lost")
        await proxy.until(lambda it: it.swallowed["up"] == 4, LONG)
        await proxy.resume()
        old.write(b"a tail without its head")
        await proxy.until(lambda it: it.swallowed["up"] == 27, LONG)
        async with connected(proxy) as (reader, writer):
            writer.write(b"fresh")
            assert await exactly(reader, 5) == b"fresh"
    await proxy.until(lambda it: it.live == 0, LONG)
    assert echo.heard == b"fresh"


async def test_a_reset_reaches_client_and_server(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            await exactly(reader, 1)
        assert await echo.until_ended() == "reset"
        await proxy.until(lambda it: it.live == 0, LONG)


async def test_a_reset_ends_what_is_stalled(proxy: FaultProxy) -> None:
    async with connected(proxy) as (reader, writer):
        proxy.stall()
        writer.write(b"x")
        await proxy.until(lambda it: it.live == 1, LONG)
        proxy.reset()
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await exactly(reader, 1)
        await proxy.until(lambda it: it.live == 0, LONG)


async def test_a_server_that_resets_is_seen_as_that(proxy: FaultProxy, echo: Echo) -> None:
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        reset(echo.writers[0])
        with pytest.raises(ConnectionResetError):
            await exactly(reader, 1)


async def test_refusing_keeps_what_is_open_and_the_port(proxy: FaultProxy) -> None:
    port = proxy.port
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"still here")
        assert await exactly(reader, 10) == b"still here"
        await proxy.resume()
    async with connected(proxy) as (reader, writer):
        writer.write(b"again")
        assert await exactly(reader, 5) == b"again"
    assert proxy.port == port


async def test_a_cut_comes_after_exactly_so_many_bytes_and_only_once(proxy: FaultProxy) -> None:
    proxy.cut_after(7)
    async with connected(proxy) as (reader, writer):
        writer.write(b"0123456789")
        assert await asyncio.wait_for(reader.read(), LONG) == b"0123456"
    async with connected(proxy) as (reader, writer):
        writer.write(b"0123456789")
        assert await exactly(reader, 10) == b"0123456789"


async def test_a_cut_counts_over_chunks_and_connections(proxy: FaultProxy) -> None:
    proxy.cut_after(4)
    async with connected(proxy) as (first, writer):
        writer.write(b"abc")
        assert await exactly(first, 3) == b"abc"
        async with connected(proxy) as (second, other):
            other.write(b"def")
            assert await asyncio.wait_for(second.read(), LONG) == b"d"
        writer.write(b"more")
        assert await exactly(first, 4) == b"more"


async def test_a_cut_that_never_comes_is_wrong_use(proxy: FaultProxy) -> None:
    with pytest.raises(UsageError, match="use a count of 1 or more"):
        proxy.cut_after(0)


async def test_a_delay_is_waited_for_with_every_chunk(echo: Echo) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async with FaultProxy(echo.port, sleep=sleep) as proxy, connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        assert waited == []
        proxy.delay(1.5)
        writer.write(b"y")
        await exactly(reader, 1)
        assert waited == [1.5, 1.5]
        await proxy.resume()
        writer.write(b"z")
        await exactly(reader, 1)
        assert waited == [1.5, 1.5]


async def test_without_a_server_behind_it_connections_are_reset() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        async with FaultProxy(nobody.getsockname()[1]) as proxy, connected(proxy) as (reader, _):
            with pytest.raises(ConnectionResetError):
                await exactly(reader, 1)


async def test_a_wait_for_what_never_happens_is_bounded(proxy: FaultProxy) -> None:
    with pytest.raises(TimeoutError):
        await proxy.until(lambda it: it.connections == 1, timeout=0)


async def test_closing_resets_what_is_open_and_gives_the_port_back(echo: Echo) -> None:
    proxy = FaultProxy(echo.port)
    await proxy.resume()
    async with connected(proxy) as (reader, writer):
        writer.write(b"x")
        await exactly(reader, 1)
        await proxy.close()
        with pytest.raises(ConnectionResetError):
            await exactly(reader, 1)
        with socket.socket() as taker:
            taker.bind(("127.0.0.1", proxy.port))


async def fence(echo: Echo) -> None:
    """A round trip past the proxy: what was sent before it has arrived when it is over."""
    reader, writer = await asyncio.open_connection("127.0.0.1", echo.port)
    for _ in range(3):
        writer.write(b".")
        await exactly(reader, 1)
    writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Let the server's side end with RST."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    writer.transport.abort()
