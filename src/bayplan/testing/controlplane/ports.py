"""Ports on loopback that stay ours.

The usual way to find a free port, to bind one and let it go, is a race: another process may take it before the
server does, and again while the server is down between a kill and a restart. So the socket stays bound here, without
listening, and the server shares the port by SO_REUSEPORT. A client that connects while the server is down is refused,
just as if nobody held the port.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Self

from bayplan.errors import EnvironmentFault

if TYPE_CHECKING:
    from types import TracebackType

LOOPBACK = "127.0.0.1"


class ReservedPort:
    """A port on loopback that nobody else can take until it is closed."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            # The kernel never picks a port that is in use, even by a socket that would share it.
            self._socket.bind((LOOPBACK, 0))
        except OSError as error:
            self._socket.close()
            raise EnvironmentFault(
                f"no port could be had on {LOOPBACK}: {error}", remedy="look for a process that uses up all ports"
            ) from error
        #: The number.
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        """Let go of the port; do this after the server that shares it has ended."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
