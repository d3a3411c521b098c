"""The user entry of a kubeconfig: who we are, and how we show it.

Where an entry holds several kinds of credentials, client-go's order holds: a client certificate goes with anything
else, a token file wins over a token, and a plugin is run only where there is nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.client.access import StaticHeaders
from bayplan.client.credentials.cluster import read_material
from bayplan.client.credentials.impersonation import Impersonating, impersonation
from bayplan.client.credentials.material import Material, Pair
from bayplan.client.credentials.plugin import ExecPlugin, read_command
from bayplan.client.credentials.tokens import TokenFile, basic, bearer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bayplan.client.access import Authenticator
    from bayplan.client.credentials.cluster import Cluster
    from bayplan.client.credentials.document import Place


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are to one server."""

    #: `client certificate`, `exec plugin aws of user ann`; for people.
    credentials: str
    auth: Authenticator
    #: The client certificate, which may change.
    pair: Callable[[], Pair | None]


def read_user(entry: Place, name: str, cluster: Cluster, environ: Mapping[str, str]) -> Identity:
    """Read the entry of this name; an empty one is nobody in particular."""
    identity = _read_identity(entry, name, cluster, environ)
    if not cluster.uses_tls:
        # kubectl sends no secret over plain HTTP, and neither do we.
        identity = Identity("none, since the server does not speak TLS", StaticHeaders(), _no_pair)
    if them := impersonation(entry):
        acting = f"{identity.credentials}, acting as {entry.get('as').text()}"
        return Identity(acting, Impersonating(identity.auth, them), identity.pair)
    return identity


def _read_identity(entry: Place, name: str, cluster: Cluster, environ: Mapping[str, str]) -> Identity:
    pair = _read_pair(entry, name)
    secret = _read_secret(entry, name)
    plugin = _read_plugin(entry, name, cluster, environ)
    if secret is not None:
        kind, auth = secret
        return Identity(f"client certificate and {kind}" if pair else kind, auth, lambda: pair)
    if provider := entry.get("auth-provider"):
        raise provider.complain(
            "auth-provider is not supported, and Kubernetes itself has given most of them up",
            remedy="use an exec plugin: cloud providers and kubelogin (for OpenID Connect) have one",
        )
    if pair is not None:
        return Identity("client certificate", StaticHeaders(), lambda: pair)
    if plugin is not None:
        return Identity(f"exec plugin {entry.get('exec').get('command').text()}", plugin, plugin.pair)
    return Identity("none", StaticHeaders(), _no_pair)


def _read_secret(entry: Place, name: str) -> tuple[str, Authenticator] | None:
    """What goes into the Authorization header, if the entry itself says it."""
    token, username, password = (entry.get(key) for key in ("token", "username", "password"))
    file = entry.get("tokenFile").path_below(entry.file.absolute().parent)
    by_name = bool(username.text() or password.text())
    if by_name and (token.text() or file):
        raise username.complain("stands beside a token, and only one of them can be sent", remedy="keep one of the two")
    written = bearer(token.text(), f"the token of user {name}") if token.text() else None
    if file is not None:
        material = Material(f"the token of user {name} in {file}", file=file)
        return "token file", TokenFile(material, fallback=written)
    if written is not None:
        return "token", StaticHeaders(written)
    # A password alone is nobody's, to client-go too.
    if username.text():
        return "user name and password", StaticHeaders(basic(username.text(), password.text()))
    return None


def _read_pair(entry: Place, name: str) -> Pair | None:
    certificate = read_material(entry, "client-certificate", f"the client certificate of user {name}")
    if certificate is None:
        return None
    key = read_material(entry, "client-key", f"the client key of user {name}")
    if key is None:
        raise entry.get("client-key").complain(
            "is missing, and without it the client certificate is of no use", remedy="add it, or client-key-data"
        )
    return Pair(certificate, key)


def _read_plugin(entry: Place, name: str, cluster: Cluster, environ: Mapping[str, str]) -> ExecPlugin | None:
    command = entry.get("exec")
    return ExecPlugin(read_command(command, name), environ=environ, cluster=cluster.exec_info) if command else None


def _no_pair() -> None:
    return None
