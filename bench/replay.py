"""A server that has everything ready and sends it as fast as it is read, so that only the client is measured.

It knows one collection: lists it in pages, or whole, and streams its watch with one HTTP chunk an event, as the real
one does. Started as a process of its own; it prints its port and ends with its stdin.
"""

from __future__ import annotations

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

from bench.pods import event, page

#: Bytes written before the reader's pace is waited for.
_PORTION = 1 << 18

#: What the clients that list in pages ask for; such pages are made before anybody asks.
PAGE = 500


class Replay:
    """The answers, made once."""

    def __init__(self, pods: int, events: int) -> None:
        self._pods = pods
        self._pages: dict[tuple[int, int], bytes] = {}
        for limit in (PAGE, pods):
            for first in range(0, pods, limit):
                self._page(first, limit)
        lines = [event(number, pods) for number in range(events)]
        self._stream = b"".join(b"%x\r\n%b\r\n" % (len(line), line) for line in lines)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                query = parse_qs(urlsplit(head.split()[1].decode()).query)
                if query.get("watch", [""])[0].lower() in {"true", "1"}:
                    await self._send_watch(writer)
                else:
                    await self._send_list(writer, query)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _send_list(self, writer: asyncio.StreamWriter, query: dict[str, list[str]]) -> None:
        limit = int(query.get("limit", ["0"])[0]) or self._pods
        body = self._page(int(query.get("continue", ["0"])[0]), limit)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
        writer.write(body)
        await writer.drain()

    def _page(self, first: int, limit: int) -> bytes:
        if (first, limit) not in self._pages:
            last = min(first + limit, self._pods)
            self._pages[first, limit] = page(first, last, str(last) if last < self._pods else "")
        return self._pages[first, limit]

    async def _send_watch(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(self._stream), _PORTION):
            writer.write(self._stream[start : start + _PORTION])
            await writer.drain()


async def main(pods: int, events: int) -> None:
    """Serve on a free port until stdin ends."""
    server = await asyncio.start_server(Replay(pods, events).serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
