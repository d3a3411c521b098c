"""The cluster entry of a kubeconfig: where the server is, and how to know it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.client.credentials.material import Material
from bayplan.client.credentials.proxies import proxy_from_environment
from bayplan.client.credentials.urls import is_proxy_url, split_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.client.credentials.document import Place

#: Where a cluster entry keeps what is meant for exec plugins.
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One API server and the way to it."""

    server: str
    #: None trusts what this machine trusts.
    authority: Material | None
    insecure: bool
    tls_server_name: str
    #: The one that the entry names.
    proxy_url: str
    disable_compression: bool
    #: Handed to exec plugins as it is written.
    exec_config: object

    @property
    def uses_tls(self) -> bool:
        """Whether the server is spoken to over TLS; credentials are not sent otherwise."""
        return self.server.startswith("https:")

    def proxy(self, environ: Mapping[str, str]) -> str | None:
        """The proxy to go through: the entry's own, else that of the environment."""
        return self.proxy_url or proxy_from_environment(self.server, environ)

    def exec_info(self) -> dict[str, object]:
        """What an exec plugin is told that asks for the cluster, with the CA read from its file."""
        authority = base64.b64encode(self.authority.read()).decode() if self.authority else ""
        optional = {
            "tls-server-name": self.tls_server_name,
            "insecure-skip-tls-verify": self.insecure,
            "certificate-authority-data": authority,
            "proxy-url": self.proxy_url,
            "disable-compression": self.disable_compression,
        }
        given = {name: value for name, value in optional.items() if value}
        return {"server": self.server, **given, "config": self.exec_config}


def read_cluster(entry: Place, name: str) -> Cluster:
    """Read the entry of this name."""
    authority = read_material(entry, "certificate-authority", f"the CA of cluster {name}")
    insecure = entry.get("insecure-skip-tls-verify").flag()
    if insecure and authority is not None:
        raise entry.get("insecure-skip-tls-verify").complain(
            "contradicts the certificate-authority beside it", remedy="keep one of the two"
        )
    return Cluster(
        server=_read_server(entry.get("server")),
        authority=authority,
        insecure=insecure,
        tls_server_name=entry.get("tls-server-name").text(),
        proxy_url=_read_proxy(entry.get("proxy-url")),
        disable_compression=entry.get("disable-compression").flag(),
        exec_config=_read_exec_config(entry),
    )


def read_material(entry: Place, name: str, label: str) -> Material | None:
    """The PEM behind `NAME`, which names a file, or `NAME-data`, which holds it."""
    file, data = entry.get(name), entry.get(f"{name}-data")
    if file.text() and data.text():
        raise file.complain(f"is there as well as {name}-data", remedy="keep one of the two")
    if data.text():
        return Material(label, inline=data.data())
    path = file.path_below(entry.file.absolute().parent)
    return Material(f"{label} in {path}", file=path) if path else None


def _read_server(place: Place) -> str:
    written = place.text()
    if not written:
        raise place.complain("is missing", remedy="give the URL of the API server")
    # As client-go has it, an address without a scheme is one for plain HTTP.
    url = written if "://" in written else f"http://{written}"
    parts = split_url(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise place.complain("is not the URL of a server", remedy="write it like https://HOST:PORT")
    if parts.username is not None:
        raise place.complain("holds a user name", remedy="put it into the user's entry")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _read_proxy(place: Place) -> str:
    written = place.text()
    # What is written is not quoted, since it may hold a password.
    if written and not is_proxy_url(written):
        raise place.complain("is not the URL of a proxy", remedy="write it like http://HOST:PORT")
    return written


def _read_exec_config(entry: Place) -> object:
    for extension in entry.get("extensions").elements():
        if extension.get("name").text() == _EXEC_EXTENSION:
            return extension.get("extension").plain()
    return None
