"""Requests to the control plane under test, by nothing but the standard library.

The harness asks whether a server is ready, and now and then for an object. It must not do so through Bayplan's own
client, which is what it helps to test.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bayplan.testing.controlplane.certificates import KeyPair

#: For one request; a server that is still starting is asked again.
_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer: the status, the body decoded when it is JSON, and the headers."""

    status: int
    body: Any
    #: By name in lower case.
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the status is of the 200s."""
        return 200 <= self.status < 300


@lru_cache(maxsize=64)
def _context(authority: Path, client: KeyPair | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority))
    if client is not None:
        context.load_cert_chain(client.certificate, client.key)
    return context


def ask_https(
    port: int,
    method: str,
    path: str,
    *,
    authority: Path,
    client: KeyPair | None = None,
    token: str | None = None,
    body: object = None,
    media_type: str = "application/json",
    timeout: float = _TIMEOUT_SECONDS,
) -> Answer:
    """One request to 127.0.0.1; raises OSError or HTTPException when no whole answer came."""
    context = _context(authority, client)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
    return _exchange(connection, method, path, body, media_type, token)


def begin_upload(port: int, path: str, *, authority: Path, client: KeyPair) -> ssl.SSLSocket:
    """Send the head of a POST and none of its body, which the server then waits for as long as it has patience."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_SECONDS)
    try:
        secured = _context(authority, client).wrap_socket(plain, server_hostname="127.0.0.1")
    except BaseException:
        plain.close()
        raise
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    secured.sendall(head.encode())
    return secured


def ask_socket(socket_file: Path, path: str, body: object) -> Answer:
    """One POST over a Unix socket, for etcd's JSON gateway."""
    return _exchange(_UnixConnection(socket_file), "POST", path, body, "application/json")


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: object,
    media_type: str,
    token: str | None = None,
) -> Answer:
    payload = None if body is None else json.dumps(body)
    headers = {"Content-Type": media_type, "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request(method, path, payload, headers)
        response = connection.getresponse()
        raw = response.read()
        is_json = response.headers.get_content_type() == "application/json"
        body = json.loads(raw) if is_json and raw else raw.decode(errors="replace")
        return Answer(response.status, body, {name.lower(): value for name, value in response.getheaders()})
    finally:
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, socket_file: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._file = socket_file

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._file))
