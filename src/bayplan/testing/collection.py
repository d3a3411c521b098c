"""One collection of an API server, in memory, as a transport: what list and watch promise, and how they fail.

It keeps every revision until `compact`, serves pages of one moment, and replays what came after a version. Faults are
commands: a test says when a watch is cut, falls silent or ends, and which request is refused. Beside the real API
server it is a model: whatever a reflector does against both must be the same.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayplan.client.transport import no_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bayplan.client.transport import Request, Response


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is not read from the collection: an error, a proxy's page, nonsense."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def failure(cls, code: int, reason: str, message: str = "", **headers: str) -> Reply:
        """A Kubernetes `Status`; header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(code, json.dumps(_status(code, reason, message or reason)).encode(), named)

    async def read(self) -> bytes:
        """The whole body."""
        return self.body

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body in one piece."""
        yield self.body

    def close(self) -> None:
        """Nothing is held."""


class Watch:
    """One open watch, from the server's side."""

    status = 200

    def __init__(self, request: Request, *, piece: int | None) -> None:
        self.headers: Mapping[str, str] = {}
        self.closed = False
        self._request = request
        self._piece = piece
        self._sent: deque[bytes | BaseException | None] = deque()
        self._more = asyncio.Event()

    def send(self, kind: str, content: Mapping[str, Any]) -> None:
        """Tell one event."""
        self.send_bytes(json.dumps({"type": kind, "object": content}, separators=(",", ":")).encode() + b"\n")

    def send_bytes(self, told: bytes) -> None:
        """Send bytes as they are."""
        self._put(told)

    def end(self) -> None:
        """Close it in good order, as the server does at its timeout."""
        self._put(None)

    def cut(self) -> None:
        """Break the connection."""
        self._put(no_answer(self._request, "connection reset by peer"))

    async def read(self) -> bytes:
        """Whatever comes, to its end."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What was sent, in pieces that know nothing of lines."""
        while True:
            while not self._sent:
                self._more.clear()
                await self._more.wait()
            told = b""
            while self._sent and isinstance(self._sent[0], bytes):
                told += self._sent.popleft()  # type: ignore[operator]
            size = self._piece or len(told)
            for at in range(0, len(told), size or 1):
                yield told[at : at + size]
            if self._sent:
                ending = self._sent.popleft()
                if isinstance(ending, BaseException):
                    raise ending
                return

    def close(self) -> None:
        """The client has had enough."""
        self.closed = True

    def _put(self, told: bytes | BaseException | None) -> None:
        self._sent.append(told)
        self._more.set()


class Collection:
    """The server's side of one collection; hand it to `Client` as its transport."""

    def __init__(self, *, first_version: int = 100) -> None:
        self.version = first_version
        #: What is there, by `namespace/name`.
        self.objects: dict[str, dict[str, Any]] = {}
        #: Every request that came, in order.
        self.requests: list[Request] = []
        #: Requests are answered with these first: a reply, an error to raise, or None for the ordinary answer.
        self.answers: list[Reply | BaseException | None] = []
        #: Every watch that was opened.
        self.watches: list[Watch] = []
        #: While true, watches that are open get nothing: neither news nor an end.
        self.silent = False
        #: The size of the pieces that a watch's lines are cut into; None for whole lines.
        self.piece: int | None = None
        self._compacted = 0
        self._history: list[tuple[int, str, dict[str, Any]]] = []
        self._moments: dict[int, list[dict[str, Any]]] = {}
        self._made = 0

    # ── what happens in the cluster ──

    def create(self, name: str, *, namespace: str = "default", **content: Any) -> None:
        """Make an object."""
        self._made += 1
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{self._made}"}
        self._record("ADDED", f"{namespace}/{name}", {**content, "metadata": metadata})

    def modify(self, name: str, *, namespace: str = "default", **content: Any) -> None:
        """Change an object."""
        key = f"{namespace}/{name}"
        self._record("MODIFIED", key, {**self.objects[key], **content})

    def delete(self, name: str, *, namespace: str = "default") -> None:
        """Remove an object."""
        key = f"{namespace}/{name}"
        self._record("DELETED", key, self.objects[key])

    def bookmark(self) -> None:
        """Tell every watch how far the history has come."""
        for watch in self._listening(self.version):
            watch.send("BOOKMARK", {"kind": "Thing", "metadata": {"resourceVersion": str(self.version)}})

    def compact(self) -> None:
        """Forget the history: versions and pages that were given out are answered with 410."""
        self.version += 1
        self._compacted = self.version
        self._history.clear()
        self._moments.clear()

    def go_back(self, version: int, objects: dict[str, dict[str, Any]]) -> None:
        """Be the server whose store was restored from a backup: older content, and an older version."""
        self.version, self.objects = version, dict(objects)
        self._history = [event for event in self._history if event[0] <= version]
        self._moments.clear()

    # ── what happens on the way ──

    def cut(self) -> None:
        """Break every watch."""
        for watch in self._open():
            watch.cut()
            watch.closed = True

    def end(self) -> None:
        """End every watch in good order."""
        for watch in self._open():
            watch.end()
            watch.closed = True

    # ── the transport ──

    async def send(self, request: Request) -> Response:
        """Answer one request."""
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, BaseException):
            raise answer
        if answer is not None:
            return answer
        query = dict(request.query)
        return self._watch(request, query) if query.get("watch") == "true" else self._list(query)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _list(self, query: Mapping[str, str]) -> Reply:
        moment, start = self.version, 0
        if "continue" in query:
            moment, start = map(int, query["continue"].split("-"))
            if moment not in self._moments:
                return Reply.failure(410, "Expired", "the continue token is too old")
        everything = self._moments.setdefault(moment, [self.objects[key] for key in sorted(self.objects)])
        limit = int(query.get("limit", "0")) or len(everything) or 1
        head = {"resourceVersion": str(moment)}
        if start + limit < len(everything):
            head["continue"] = f"{moment}-{start + limit}"
        return Reply(200, json.dumps({"metadata": head, "items": everything[start : start + limit]}).encode())

    def _watch(self, request: Request, query: Mapping[str, str]) -> Response:
        version = int(query["resourceVersion"])
        watch = Watch(request, piece=self.piece)
        if version < self._compacted:
            # The real server says so inside the watch that it has accepted.
            watch.send("ERROR", _status(410, "Expired", f"too old resource version: {version}"))
            watch.end()
            return watch
        self.watches.append(watch)
        # A version of the future is accepted, and hides what comes before it: so does the real server.
        watch.headers = {"X-From": str(version)}
        for at, kind, content in self._history:
            if at > version:
                watch.send(kind, content)
        return watch

    def _record(self, kind: str, key: str, content: dict[str, Any]) -> None:
        self.version += 1
        metadata = {**content["metadata"], "resourceVersion": str(self.version)}
        content = {**content, "metadata": metadata}
        if kind == "DELETED":
            del self.objects[key]
        else:
            self.objects[key] = content
        self._history.append((self.version, kind, content))
        for watch in self._listening(self.version - 1):
            watch.send(kind, content)

    def _open(self) -> list[Watch]:
        return [watch for watch in self.watches if not watch.closed]

    def _listening(self, version: int) -> list[Watch]:
        """The watches that began at this version or before it."""
        return [w for w in self._open() if not self.silent and int(w.headers["X-From"]) <= version]


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
