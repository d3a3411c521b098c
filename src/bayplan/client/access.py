"""How to reach one API server, and as whom.

`credentials` fills in a `ClusterAccess` from a kubeconfig or from the pod that we run in; the transport
reads it. The two halves meet only here, so tests (and the embedded API server) can hand the transport a
plain record, and nothing about YAML or exec plugins reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping


class Authenticator(Protocol):
    """Who we are, as request headers. Credentials age, so it is asked before every request."""

    async def headers(self) -> Mapping[str, str]:
        """Headers for the next request: cheap while nothing changed, fresh after a rotation or an expiry.

        Where a header occurs several times, as `Impersonate-Group` does, this is a `multidict.CIMultiDict`.
        """
        ...

    def rejected(self) -> None:
        """The server answered 401: forget what is cached, so that the next call gets fresh credentials."""
        ...


class TlsSource(Protocol):
    """Where the TLS settings come from. Certificates rotate, so it is asked before every connection."""

    def context(self) -> ssl.SSLContext:
        """The context for the next connection: the same object until certificates change."""
        ...


@dataclass(frozen=True, slots=True)
class StaticHeaders:
    """An authenticator that never changes its mind: fixed headers, or none."""

    #: Kept out of `repr`: they are secrets.
    fixed: Mapping[str, str] = field(default_factory=dict, repr=False)

    async def headers(self) -> Mapping[str, str]:
        """Return the fixed headers."""
        return self.fixed

    def rejected(self) -> None:
        """Nothing to forget."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """One API server, as seen through one context: where, over which TLS and proxy, and as whom."""

    #: The URL, with a path prefix if there is one, without a trailing slash.
    server: str
    #: Asked through `ssl_context()`; None for plain HTTP.
    tls: TlsSource | None = field(default=None, repr=False)
    #: What the server's certificate must be valid for, where that is not the host in `server`; sent as SNI too.
    tls_server_name: str | None = None
    #: `http://`, `https://` or `socks5://` proxy to go through, already chosen for this server.
    proxy_url: str | None = field(default=None, repr=False)
    #: The context's namespace: what a request without an explicit one means.
    namespace: str = "default"
    #: The name of the kubeconfig context, or `in-cluster`; for messages.
    context: str = ""
    #: Where all this was read: file names, for messages.
    source: str = ""
    #: Whether answers should be asked for uncompressed.
    disable_compression: bool = False
    #: Of what kind the credentials are, for people: `client certificate`, `exec plugin aws`.
    credentials: str = "none"
    auth: Authenticator = field(default_factory=StaticHeaders, repr=False)

    def ssl_context(self) -> ssl.SSLContext | None:
        """TLS settings for the next connection; a different object once certificates have rotated.

        Ask after `auth.headers()`, since an exec plugin may have brought a new client certificate.
        """
        return None if self.tls is None else self.tls.context()
