"""The three Kubernetes servers: how each is called, and when it is ready.

Flags are those of a stock control plane (RBAC, the default admission plugins and controllers), on loopback.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from bayplan.testing.controlplane.daemons import Daemon
from bayplan.testing.controlplane.ports import LOOPBACK, ReservedPort
from bayplan.testing.controlplane.requests import ask_https

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bayplan.testing.controlplane.certificates import KeyPair

#: The issuer of service account tokens, which is also the audience they are for.
ISSUER = "https://kubernetes.default.svc.cluster.local"

#: For one readiness check; one that takes longer is made again. It is also by how much a wait may overrun.
_PROBE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Credentials:
    """The files that the servers prove themselves and each other with."""

    authority: Path
    serving: KeyPair
    service_accounts: KeyPair


class Server:
    """A Kubernetes server on a port that stays its own through kills and restarts."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        credentials: Credentials,
        log: Path,
        directory: Path,
        start_timeout: float,
    ) -> None:
        self._port = ReservedPort()
        self._start_timeout = start_timeout
        self._authority = credentials.authority
        serving = (
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self._port.number}",
            "--permit-port-sharing",
            f"--tls-cert-file={credentials.serving.certificate}",
            f"--tls-private-key-file={credentials.serving.key}",
        )
        program, *flags = command
        self.daemon = Daemon(name, [program, *serving, *flags], log=log, directory=directory)

    @property
    def port(self) -> int:
        """On loopback."""
        return self._port.number

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id while it runs, else None."""
        return self.daemon.pid

    def start(self) -> None:
        """Start it, and wait until it says that it is ready."""
        self.daemon.start()
        self.wait_ready()

    def wait_ready(self, timeout: float | None = None) -> None:
        """Wait for its readiness check to pass; without a timeout for as long as a start may take."""
        self.daemon.wait_until(self._ready, self._start_timeout if timeout is None else timeout)

    def kill(self) -> None:
        """Kill -9: live connections are torn, and new ones refused until it is started again."""
        self.daemon.kill()

    def restart(self) -> None:
        """Kill it if it runs, and start it on the same port."""
        self.daemon.kill()
        self.start()

    def pause(self) -> None:
        """Freeze it: connections stay open, new ones are made, nothing is answered."""
        self.daemon.pause()

    def resume(self) -> None:
        """Let a frozen server go on."""
        self.daemon.resume()

    def close(self) -> None:
        """Kill it and give its port back."""
        self.daemon.kill()
        self._port.close()

    def _ready(self) -> bool:
        # /readyz, /livez and /healthz are open to everybody; the scheduler and the controllers have only the last.
        path = "/readyz" if self.daemon.name == "kube-apiserver" else "/healthz"
        try:
            return ask_https(self.port, "GET", path, authority=self._authority, timeout=_PROBE_SECONDS).ok
        except (OSError, HTTPException):
            return False


def apiserver_command(program: Path, etcd_url: str, credentials: Credentials, tokens: Path) -> list[str]:
    """kube-apiserver with the authorizers and issuers of a stock cluster."""
    keys = credentials.service_accounts
    return [
        str(program),
        f"--etcd-servers={etcd_url}",
        "--authorization-mode=Node,RBAC",
        f"--client-ca-file={credentials.authority}",
        f"--token-auth-file={tokens}",
        f"--service-account-issuer={ISSUER}",
        f"--service-account-key-file={keys.certificate}",
        f"--service-account-signing-key-file={keys.key}",
        "--service-cluster-ip-range=10.96.0.0/16",
        # Nothing routes to the cluster's own `kubernetes` service here, and the loopback address may not be in it.
        "--endpoint-reconciler-type=none",
    ]


def controller_manager_command(program: Path, kubeconfig: Path, credentials: Credentials) -> list[str]:
    """kube-controller-manager with every default controller, each under its own service account."""
    return [
        str(program),
        *_delegation(kubeconfig),
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={credentials.service_accounts.key}",
        f"--root-ca-file={credentials.authority}",
        "--use-service-account-credentials",
        "--leader-elect=false",
    ]


def scheduler_command(program: Path, kubeconfig: Path, config: Path) -> list[str]:
    """kube-scheduler with a configuration file."""
    return [str(program), *_delegation(kubeconfig), f"--config={config}"]


def write_scheduler_config(path: Path, wanted: Mapping[str, Any], kubeconfig: Path) -> Path:
    """The configuration wanted, with what this cluster must add to it where nothing was said."""
    connection = {"kubeconfig": str(kubeconfig)} | dict(wanted.get("clientConnection", {}))
    head = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
    }
    path.write_text(json.dumps(head | dict(wanted) | {"clientConnection": connection}, indent=2))
    return path


def _delegation(kubeconfig: Path) -> tuple[str, str]:
    return f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}"
