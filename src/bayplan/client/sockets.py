"""The transport that speaks HTTP/1.1 over TCP and TLS, by aiohttp.

aiohttp repeats a PUT or DELETE by itself when a kept connection turns out to be dead. Here that is switched off:
a delete that is sent twice reports `NotFound` for what it deleted itself.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode
from weakref import WeakSet

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from bayplan.client.transport import no_answer
from bayplan.errors import CredentialsError, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bayplan.client.access import ClusterAccess
    from bayplan.client.transport import Request

#: Watches hold one connection each for minutes; the rest is for requests in flight.
_CONNECTIONS = 256

#: A kept connection is let go well before the 90 s after which the API server closes it, so that we do not write
#: to one that is just being closed.
_KEEP_SECONDS = 30.0

#: Of a request's time, the share that may pass before a connection is there. What exceeds the whole time has then
#: certainly been sent, and what exceeds this share has certainly not.
_CONNECT_SHARE = 0.5

#: A peer that acknowledges nothing for this long is gone: seconds of idleness, seconds between probes, probes.
_PROBE_AFTER, _PROBE_EVERY, _PROBES = 15, 5, 3

#: How long closing waits for connections that were severed. They go at once; this is for what nobody thought of.
_SEVERED_WITHIN = 2.0

#: What fails before the first byte of the request has been written.
_NOT_SENT: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)


class AiohttpTransport:
    """Carries requests to the server of a `ClusterAccess`, with its credentials, over connections that are kept."""

    def __init__(self, access: ClusterAccess) -> None:
        self._access = access
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._sockets: WeakSet[socket.socket] = WeakSet()
        if access.proxy_url is not None and not access.proxy_url.startswith("http"):
            scheme = access.proxy_url.partition(":")[0]
            raise CredentialsError(
                f"the proxy of context {access.context or 'unnamed'} is a {scheme} proxy, which is not supported",
                remedy="use an http:// or https:// proxy",
            )

    async def send(self, request: Request) -> _Answer:
        """Send a request once and return the answer as soon as its head is there."""
        # Not a dict: who is impersonated is said in headers that repeat.
        headers = CIMultiDict(request.headers)
        headers.extend(await self._access.auth.headers())
        if self._access.disable_compression:
            headers["Accept-Encoding"] = "identity"
        try:
            # A stream has no end to wait for, so its time is for the head alone.
            async with asyncio.timeout(request.timeout if request.stream else None):
                response = await self._start(request, headers)
        except _NOT_SENT as error:
            raise Unreachable(
                f"{self._access.server} cannot be reached: {_why(error)}", remedy=_remedy(error)
            ) from error
        except (aiohttp.InvalidURL, UnicodeError):
            # The cause is left out: it quotes the proxy with its password.
            raise Unreachable(
                f"{self._access.server} cannot be reached: its address, or that of the proxy, cannot be one",
                remedy="correct the kubeconfig, or HTTPS_PROXY",
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise no_answer(request, _why(error)) from error
        if response.status == 401:
            self._access.auth.rejected()
        return _Answer(request, response)

    async def aclose(self) -> None:
        """Close every connection."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._sever()

    async def _sever(self) -> None:
        """End the connections that the session has let go of and that are still saying goodbye.

        A TLS connection that was cut in mid-answer waits for its peer's last word, without the session, and would
        outlive the event loop.
        """
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        with suppress(TimeoutError):
            async with asyncio.timeout(_SEVERED_WITHIN):
                while any(one.fileno() >= 0 for one in self._sockets):  # noqa: ASYNC110 - a socket tells nobody
                    await asyncio.sleep(0)

    async def _start(self, request: Request, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        total = None if request.stream else request.timeout
        tls = self._access.ssl_context()
        return await self._open_session().request(
            request.method,
            URL(self._access.server + request.path + _query(request), encoded=True),
            data=request.body or None,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=total, connect=request.timeout * _CONNECT_SHARE),
            allow_redirects=False,
            ssl=tls if tls is not None else True,
            server_hostname=self._access.tls_server_name if tls is not None else None,
            proxy=self._access.proxy_url,
        )

    def _open_session(self) -> aiohttp.ClientSession:
        # Made at the first request, because it belongs to the event loop that runs then.
        if self._closed:
            raise Unreachable("the client is closed", remedy="make another one")
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=_CONNECTIONS, keepalive_timeout=_KEEP_SECONDS, socket_factory=self._make_socket
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Content-Type"),
            )
            self._session._retry_connection = False  # noqa: SLF001 - no public switch; a test watches over it
        return self._session

    def _make_socket(self, address: tuple[object, ...]) -> socket.socket:
        made = _make_socket(address)
        self._sockets.add(made)
        return made


class _Answer:
    """An aiohttp response, with errors told as `transport` promises."""

    def __init__(self, request: Request, response: aiohttp.ClientResponse) -> None:
        self._request = request
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    async def read(self) -> bytes:
        try:
            return await self._response.read()
        except (aiohttp.ClientError, OSError) as error:
            raise no_answer(self._request, _why(error)) from error
        finally:
            self._response.release()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            while chunk := await self._response.content.readany():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise no_answer(self._request, _why(error)) from error

    def close(self) -> None:
        self._response.close()


def _query(request: Request) -> str:
    return "?" + urlencode(request.query, quote_via=quote) if request.query else ""


def _make_socket(address: tuple[object, ...]) -> socket.socket:
    """A socket on which the kernel notices a peer that has vanished without a word."""
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)  # type: ignore[arg-type]
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    idle = getattr(socket, "TCP_KEEPIDLE", getattr(socket, "TCP_KEEPALIVE", None))
    for option, value in (
        (idle, _PROBE_AFTER),
        (getattr(socket, "TCP_KEEPINTVL", None), _PROBE_EVERY),
        (getattr(socket, "TCP_KEEPCNT", None), _PROBES),
        # Data of ours that stays unacknowledged counts too: Linux would otherwise try for a quarter of an hour.
        (getattr(socket, "TCP_USER_TIMEOUT", None), 1000 * (_PROBE_AFTER + _PROBE_EVERY * _PROBES)),
    ):
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _why(error: BaseException) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "no connection within the time allowed"
    if isinstance(error, TimeoutError):
        return "the time allowed was over"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is refused: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered {error.status} {error.message}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error) or type(error.os_error).__name__
    return str(error) or type(error).__name__


def _remedy(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "check certificate-authority and tls-server-name in the kubeconfig"
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ssl.SSLError):
        return "check that the server speaks TLS and accepts the client certificate"
    return "check that it runs and that the address is right"
