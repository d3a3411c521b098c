"""etcd, on a Unix socket: no port to lose, and only this user can reach past the API server's RBAC."""

from __future__ import annotations

import base64
import shutil
from http.client import HTTPException
from itertools import count
from typing import TYPE_CHECKING, Any

from bayplan.testing.controlplane.daemons import Daemon
from bayplan.testing.controlplane.requests import ask_socket

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.testing.controlplane.binaries import Binaries

#: etcd wants a host and a port in every URL, and makes of them the name of a socket in its working directory.
_CLIENT, _PEER = "client:1", "peer:1"

#: Outside the prefix under which the API server keeps its objects.
_TICK_KEY = b"/bayplan-testing/tick"


class Etcd:
    """One etcd member without fsync: what it holds need not survive this machine."""

    def __init__(self, binaries: Binaries, directory: Path, log: Path, flags: tuple[str, ...]) -> None:
        directory.mkdir(mode=0o700)
        self._data = directory / "data"
        self._backups = count(1)
        self._socket = directory / _CLIENT
        command = [
            str(binaries.path("etcd")),
            "--name=default",
            f"--data-dir={self._data}",
            "--unsafe-no-fsync",
            f"--listen-client-urls=unix://{_CLIENT}",
            f"--advertise-client-urls=unix://{_CLIENT}",
            f"--listen-peer-urls=unix://{_PEER}",
            f"--initial-advertise-peer-urls=unix://{_PEER}",
            f"--initial-cluster=default=unix://{_PEER}",
            *flags,
        ]
        self.daemon = Daemon("etcd", command, log=log, directory=directory)

    @property
    def url(self) -> str:
        """What the API server's ``--etcd-servers`` is given."""
        return f"unix://{self._socket}"

    def start(self, timeout: float) -> None:
        """Start it, and wait until it serves."""
        self.daemon.start()
        self.daemon.wait_until(self._ready, timeout)

    def back_up(self) -> Path:
        """Copy what it holds, while it does not run."""
        assert self.daemon.pid is None, "a running etcd cannot be copied"
        backup = self._data.with_name(f"backup-{next(self._backups)}")
        shutil.copytree(self._data, backup)
        return backup

    def restore(self, backup: Path) -> None:
        """Go back to what a copy holds, while it does not run."""
        assert self.daemon.pid is None, "a running etcd cannot be restored"
        shutil.rmtree(self._data)
        shutil.copytree(backup, self._data)

    def compact(self) -> int:
        """Forget every revision before this moment's; gives the first that is still known.

        A write of our own comes first: without it the newest revision that anybody has seen would also be the oldest
        one kept, and stay valid.
        """
        key = base64.b64encode(_TICK_KEY).decode()
        revision = int(self._call("kv/put", {"key": key, "value": ""})["header"]["revision"])
        self._call("kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def _call(self, method: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = ask_socket(self._socket, f"/v3/{method}", request)
        if not answer.ok or not isinstance(answer.body, dict):
            raise self.daemon.fault(f"refused {method}: {answer.status} {answer.body}")
        return answer.body

    def _ready(self) -> bool:
        try:
            return ask_socket(self._socket, "/v3/maintenance/status", {}).ok
        except (OSError, HTTPException):
            return False
