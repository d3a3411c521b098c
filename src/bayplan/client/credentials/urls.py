"""Addresses of servers and proxies, as far as they can be judged before anybody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_PROXY_SCHEMES: Final = {"http", "https", "socks5"}


def split_url(url: str) -> SplitResult | None:
    """The parts of a URL, or None if its host or its port cannot be one."""
    try:
        parts = urlsplit(url)
        _ = parts.port
        # A name with a part that is empty or too long fails as late as it is looked up, and with Python's own error.
        (parts.hostname or "").encode("idna")
    except ValueError:
        return None
    return parts


def is_proxy_url(url: str) -> bool:
    """Whether this leads to a proxy of a kind that Kubernetes' clients know. Who says no must not quote it."""
    parts = split_url(url)
    return parts is not None and parts.scheme in _PROXY_SCHEMES and bool(parts.hostname)
