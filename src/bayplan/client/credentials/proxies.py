"""Which proxy leads to a server, by the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as Go programs read them.

That is how kubectl reads them. Python's own `urllib` and others differ: they know no networks in NO_PROXY, and send
loopback addresses through the proxy.
"""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bayplan.client.credentials.urls import is_proxy_url
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv4Network

    _Address = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}

#: Bits before the IPv4 address in an IPv6 address that maps one; Go takes such a one for what it maps.
_MAPPED = 96


def proxy_from_environment(server: str, environ: Mapping[str, str]) -> str | None:
    """The URL of the proxy for this server, or None to go straight to it."""
    parts = urlsplit(server)
    variable = f"{parts.scheme.upper()}_PROXY"
    proxy = _either(environ, variable)
    if not proxy or not parts.hostname:
        return None
    port = str(parts.port or _PORTS.get(parts.scheme, 0))
    if not _wants_proxy(_ascii(parts.hostname), port, _either(environ, "NO_PROXY")):
        return None
    url = proxy if "://" in proxy else f"http://{proxy}"
    # What is written is not quoted, since it may hold a password.
    if not is_proxy_url(url):
        raise CredentialsError(
            f"{variable} in the environment is not the URL of a proxy",
            remedy="write it like http://HOST:PORT, or name the server in NO_PROXY",
        )
    return url


def _wants_proxy(host: str, port: str, exceptions: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return False
    for entry in exceptions.lower().split(","):
        entry = entry.strip()
        if entry == "*" or (entry and _matches(entry, host, port, address)):
            return False
    return True


def _matches(entry: str, host: str, port: str, address: _Address | None) -> bool:
    """Whether one entry of NO_PROXY means this host: a network, an address or a domain, maybe with a port."""
    if (network := _network(entry)) is not None:
        return address is not None and address in network
    name, entry_port = _split_port(entry)
    if not name or entry_port not in {"", port}:
        return False
    if (listed := _address(name)) is not None:
        return listed == address
    if address is not None:
        return False
    name = _ascii(name.removeprefix("*") if name.startswith("*.") else name)
    # With a leading dot only what is below the domain is meant, without one the domain too.
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _either(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _address(text: str) -> _Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _network(text: str) -> IPv4Network | IPv6Network | None:
    _, _, length = text.partition("/")
    # Python also takes a netmask where Go wants the length of the prefix.
    if not length.isdecimal():
        return None
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return ip_network(f"{mapped}/{network.prefixlen - _MAPPED}") if mapped else network


def _split_port(entry: str) -> tuple[str, str]:
    """`host:port` or `[address]:port` in two; anything else has no port."""
    if entry.startswith("["):
        name, separator, port = entry[1:].partition("]:")
        return (name, port) if separator else (entry, "")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""


def _ascii(name: str) -> str:
    name = name.lower()
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name
