"""The seam between a client and whatever answers it: one method, one request in, one response out.

`AiohttpTransport` speaks to a server over sockets. An API server in the same process, or a test's script, is
a transport as well, so everything above this seam runs unchanged against it.

What a transport owes its caller is the truth about failure. It raises `Unreachable` only if the request
certainly had no effect, and `OutcomeUnknown` once any part of a write may have reached the server. It never
sends a request a second time: only the client above knows what may be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bayplan.errors import OutcomeUnknown, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

#: Methods that change nothing, whatever became of the request.
READS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, already complete: the transport adds only what belongs to the connection."""

    method: str
    #: Escaped, below the server's path prefix, starting with a slash.
    path: str
    #: Pairs in the order in which they go out, not yet escaped.
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: Seconds for all of it, or, where the body is streamed, until the response's head is there.
    timeout: float = 30.0
    #: Whether the answer is read as it comes, with no end to wait for.
    stream: bool = False

    @property
    def reads(self) -> bool:
        """Whether the request changes nothing, so that losing its answer costs nothing."""
        return self.method in READS


class Response(Protocol):
    """The head of an answer, and its body, which is read once: whole or in chunks."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Looked up without regard to case."""
        ...

    async def read(self) -> bytes:
        """Return the whole body; the connection is then free for others."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives, in pieces that follow the network and not the content."""
        ...

    def close(self) -> None:
        """Let go of the connection; one whose body was not read to its end is severed."""
        ...


class Transport(Protocol):
    """Carries one request to a server and brings the answer back."""

    async def send(self, request: Request) -> Response:
        """Send a request once and return the answer as soon as its head is there.

        Raises `Unreachable` when the request had no effect, `OutcomeUnknown` when it may have had one.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


def no_answer(request: Request, problem: str) -> Unreachable | OutcomeUnknown:
    """The error for a request that was sent, at least in part, and got no whole answer."""
    what = f"{request.method} {request.path}"
    if request.reads:
        return Unreachable(f"no answer to {what}: {problem}")
    return OutcomeUnknown(
        f"{what} was sent, but no answer came: {problem}",
        remedy="look at the object before you send the request again",
    )
