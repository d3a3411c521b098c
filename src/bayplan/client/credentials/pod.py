"""Credentials of the pod that we run in: its service account's token, renewed by kubelet, and the cluster's CA."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.client.access import ClusterAccess
from bayplan.client.credentials.material import Material
from bayplan.client.credentials.proxies import proxy_from_environment
from bayplan.client.credentials.tls import TlsSettings
from bayplan.client.credentials.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod with a service account, seen from inside."""

    server: str
    #: The folder that kubelet keeps up to date.
    account: Path
    #: The pod's own.
    namespace: str

    def access(self, namespace: str | None, environ: Mapping[str, str]) -> ClusterAccess:
        """Access to the API server of the cluster that the pod runs in."""
        token, authority = self.account / "token", self.account / "ca.crt"
        # A cluster may do without the file, if its certificate is one that everybody trusts.
        trusted = Material(f"the cluster's CA in {authority}", file=authority) if authority.exists() else None
        return ClusterAccess(
            self.server,
            tls=TlsSettings(authority=trusted),
            proxy_url=proxy_from_environment(self.server, environ),
            namespace=namespace or self.namespace,
            context="in-cluster",
            source=str(self.account),
            credentials="service account token",
            auth=TokenFile(Material(f"the service account's token in {token}", file=token)),
        )


def this_pod(environ: Mapping[str, str], account: Path = SERVICE_ACCOUNT) -> Pod | None:
    """The pod that we run in, or None if there is no sign of one."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (account / "token").is_file():
        return None
    bracketed = f"[{host}]" if ":" in host else host
    return Pod(f"https://{bracketed}:{port}", account, _namespace(environ, account))


def _namespace(environ: Mapping[str, str], account: Path) -> str:
    # The variable comes first for the sake of those who set it by the downward API; client-go reads it too.
    if given := environ.get("POD_NAMESPACE"):
        return given
    try:
        return (account / "namespace").read_text().strip() or "default"
    except OSError:
        return "default"
