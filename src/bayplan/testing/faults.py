"""Faults between a client and a server: a TCP proxy that stalls, loses, cuts, delays, resets and refuses.

It runs in the loop of the test that uses it, without a thread, and knows bytes only: TLS passes through untouched. The
serving certificate of ``bayplan.testing.controlplane`` covers 127.0.0.1, so a client reaches the API server through the
proxy's port and believes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import TYPE_CHECKING, Literal, Self

from bayplan.errors import UsageError
from bayplan.testing.controlplane.ports import LOOPBACK, ReservedPort

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

__all__ = ["Direction", "FaultProxy"]

#: Up is from the client to the server, down is back.
Direction = Literal["up", "down"]

_BOTH: tuple[Direction, ...] = ("up", "down")
_CHUNK_BYTES = 65_536

#: SO_LINGER with no time to linger: a close throws away what is unsent, and sends RST instead of FIN.
_NO_LINGER = struct.pack("ii", 1, 0)


class FaultProxy:
    """A port on loopback that leads to another one, and misbehaves on command.

    ::

        async with FaultProxy(plane.apiserver.port) as proxy:
            client = connect(plane.kubeconfig_via(proxy.port))
            proxy.stall()              # nothing passes, nothing is lost
            await proxy.resume()       # all is well again

    ``stall``, ``drop``, ``delay`` and ``refuse`` last until ``resume``; ``reset`` and ``cut_after`` happen once. What
    is commanded holds for the connections that are open and for those to come.
    """

    def __init__(
        self,
        target_port: int,
        *,
        target_host: str = LOOPBACK,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._target = target_host, target_port
        self._sleep = sleep
        self._reserved = ReservedPort()
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()
        self._changed = asyncio.Event()
        self._closed = False
        self._dropped: frozenset[Direction] = frozenset()
        self._delay = 0.0
        #: Set while bytes may pass.
        self._gates: dict[Direction, asyncio.Event] = {direction: asyncio.Event() for direction in _BOTH}
        #: How many more bytes may pass before the cut; None while no cut is ordered.
        self._until_cut: dict[Direction, int | None] = dict.fromkeys(_BOTH)
        #: Connections that were accepted so far.
        self.connections = 0
        #: Bytes that were passed on so far, and bytes that were swallowed by ``drop``.
        self.passed: dict[Direction, int] = dict.fromkeys(_BOTH, 0)
        self.swallowed: dict[Direction, int] = dict.fromkeys(_BOTH, 0)
        self._open_gates()

    @property
    def port(self) -> int:
        """On loopback. It stays the same while connections are refused."""
        return self._reserved.number

    @property
    def live(self) -> int:
        """Connections that are open now."""
        return len(self._links)

    def stall(self, *directions: Direction) -> None:
        """Hold everything back, ends of streams too; with a direction only what goes that way. Nothing is lost."""
        for direction in directions or _BOTH:
            self._gates[direction].clear()

    def drop(self, *directions: Direction) -> None:
        """Be a black hole: read and throw away, and keep from each side that the other one has gone.

        A connection that lost a byte is never whole again. It stays a black hole after ``resume`` too, half-open, until
        its client gives up or it is reset.
        """
        self._dropped |= set(directions or _BOTH)

    def delay(self, seconds: float) -> None:
        """Make every chunk, of 64 KiB at most, wait this long before it is passed on."""
        self._delay = seconds

    def cut_after(self, count: int, direction: Direction = "down") -> None:
        """Let this many more bytes pass, counted over all connections, then end the one that carried the last of them.

        It ends without a reset, in the middle of whatever was on its way. Once only.
        """
        if count < 1:
            raise UsageError(f"a cut after {count} bytes never comes", remedy="use a count of 1 or more, or reset()")
        self._until_cut[direction] = count

    def reset(self) -> None:
        """Reset every open connection, towards the client and towards the server."""
        for link in self._links:
            link.abort()
            # It may be waiting at a gate, or for a server that does not accept.
            link.cancel()

    def refuse(self) -> None:
        """Refuse new connections, as a machine does on which nothing listens. Open ones live on."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def resume(self) -> None:
        """End every fault: pass on what was held back, and listen again."""
        self._dropped = frozenset()
        self._delay = 0.0
        self._until_cut = dict.fromkeys(_BOTH)
        self._open_gates()
        if self._server is None:
            # The port is shared with its reservation, which does not listen.
            self._server = await asyncio.start_server(self._serve, LOOPBACK, self.port, reuse_port=True)

    async def until(self, condition: Callable[[FaultProxy], bool], timeout: float = 30.0) -> None:
        """Wait until the counters are as wanted; TimeoutError if they never are."""
        async with asyncio.timeout(timeout):
            while not condition(self):
                self._changed.clear()
                await self._changed.wait()

    async def close(self) -> None:
        """Reset what is open, and give the port back."""
        self.refuse()
        self._closed = True
        self.reset()
        await asyncio.gather(*(link.task for link in self._links), return_exceptions=True)
        self._reserved.close()

    async def __aenter__(self) -> Self:
        await self.resume()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _open_gates(self) -> None:
        for gate in self._gates.values():
            gate.set()

    def _note(self) -> None:
        self._changed.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        link = _Link(task, writer)
        if self._closed:
            # Accepted just before the end, and only now its turn.
            return link.abort()
        self._links.add(link)
        self.connections += 1
        self._note()
        try:
            upstream, link.server = await asyncio.open_connection(*self._target)
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._pump(link, "up", reader, link.server))
                pumps.create_task(self._pump(link, "down", upstream, writer))
            link.close()
        except (OSError, ExceptionGroup) as error:
            # One side was reset, or was never there: the other one is to see that too.
            link.close() if _is_cut(error) else link.abort()
            if isinstance(error, ExceptionGroup) and error.split((OSError, _Cut))[1] is not None:
                raise  # that is no fault of the wire, but our own
        except asyncio.CancelledError:
            # asyncio logs the end of a connection's task by cancellation as an error. A reset is none.
            if not link.cancelled:
                raise
        finally:
            link.close()
            self._links.discard(link)
            self._note()

    async def _pump(
        self, link: _Link, direction: Direction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await self._receive(reader):
            if self._delay:
                await self._sleep(self._delay)
            await self._gates[direction].wait()
            if link.lost or direction in self._dropped:
                link.lost = True
                self.swallowed[direction] += len(data)
                self._note()
            else:
                await self._pass_on(direction, data, writer)
        await self._gates[direction].wait()
        if link.lost or direction in self._dropped:
            link.lost = True
            if direction == "up":
                raise ConnectionAbortedError  # the client gave up; that the server did is kept from it
        elif error := reader.exception():
            raise error
        else:
            writer.write_eof()

    async def _receive(self, reader: asyncio.StreamReader) -> bytes:
        """What came, or nothing at the end of the stream, however it ended: that news waits at the gate too."""
        try:
            return await reader.read(_CHUNK_BYTES)
        except OSError:
            return b""

    async def _pass_on(self, direction: Direction, data: bytes, writer: asyncio.StreamWriter) -> None:
        left = self._until_cut[direction]
        allowed = data if left is None else data[:left]
        # Counted before it is written: whoever sees a byte arrive finds it counted.
        self.passed[direction] += len(allowed)
        if left is not None:
            self._until_cut[direction] = left - len(allowed) or None
        writer.write(allowed)
        self._note()
        await writer.drain()
        if left is not None and left == len(allowed):
            raise _Cut


class _Cut(Exception):
    """The ordered number of bytes has passed."""


def _is_cut(error: Exception) -> bool:
    return isinstance(error, ExceptionGroup) and error.subgroup(_Cut) is not None


class _Link:
    """One connection, with both of its sockets."""

    def __init__(self, task: asyncio.Task[object], client: asyncio.StreamWriter) -> None:
        self.task = task
        self.client = client
        self.server: asyncio.StreamWriter | None = None
        #: A byte of it was swallowed, or an end kept back: what follows must not pass either.
        self.lost = False
        self.cancelled = False

    def cancel(self) -> None:
        """End its task, which may be waiting for anything."""
        self.cancelled = True
        self.task.cancel()

    def abort(self) -> None:
        """RST to both sides."""
        for writer in filter(None, (self.client, self.server)):
            if not writer.transport.is_closing():
                with contextlib.suppress(OSError):
                    linger = socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER
                    writer.get_extra_info("socket").setsockopt(*linger)
            writer.transport.abort()

    def close(self) -> None:
        """FIN to both sides, after what is still to be sent."""
        for writer in filter(None, (self.client, self.server)):
            writer.close()
