"""A control plane from start to stop."""

from __future__ import annotations

import shutil
import tempfile
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bayplan.errors import EnvironmentFault, UsageError
from bayplan.testing.controlplane.binaries import find_binaries
from bayplan.testing.controlplane.certificates import Authority, write_service_account_keys
from bayplan.testing.controlplane.config import ControlPlaneConfig
from bayplan.testing.controlplane.etcd import Etcd
from bayplan.testing.controlplane.requests import Answer, ask_https
from bayplan.testing.controlplane.servers import (
    Credentials,
    Server,
    apiserver_command,
    controller_manager_command,
    scheduler_command,
    write_scheduler_config,
)
from bayplan.testing.controlplane.users import User, write_kubeconfig

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_APISERVER, _CONTROLLERS, _SCHEDULER = "kube-apiserver", "kube-controller-manager", "kube-scheduler"


class ControlPlane:
    """etcd and kube-apiserver on loopback, with the scheduler and the controllers when asked for.

    ::

        with ControlPlane() as plane:
            plane.admin.kubeconfig             # plane.user("ann", groups=["dev"]) makes others
            plane.apiserver.kill()             # kill -9
            plane.apiserver.restart()          # the same port, the same objects
            plane.expire_history()             # every resourceVersion seen so far is now answered with 410

    Everything blocks; from a coroutine call it through ``asyncio.to_thread``. When the block ends with an error the
    logs stay where ``kept_logs`` says; else nothing stays.
    """

    def __init__(self, config: ControlPlaneConfig | None = None) -> None:
        self.config = config or ControlPlaneConfig()
        #: Where a stop left the logs, if it did.
        self.kept_logs: Path | None = None
        self._home: Path | None = None
        self._etcd: Etcd | None = None
        #: In the order of their start.
        self._servers: dict[str, Server] = {}
        self._users: dict[tuple[str, tuple[str, ...]], User] = {}

    @property
    def url(self) -> str:
        """The API server's address. It stays the same through kills and restarts."""
        return self.apiserver.url

    @property
    def authority(self) -> Path:
        """The certificate authority that clients are to trust."""
        return self._authority.file

    @property
    def admin(self) -> User:
        """A member of ``system:masters``, to whom RBAC denies nothing."""
        return self.user("bayplan-admin", groups=("system:masters",))

    @property
    def etcd(self) -> Etcd:
        """The store."""
        if self._etcd is None:
            raise _absent("etcd")
        return self._etcd

    @property
    def apiserver(self) -> Server:
        """The API server."""
        return self._server(_APISERVER)

    @property
    def scheduler(self) -> Server:
        """The kube-scheduler."""
        return self._server(_SCHEDULER)

    @property
    def controller_manager(self) -> Server:
        """The kube-controller-manager."""
        return self._server(_CONTROLLERS)

    @property
    def pids(self) -> dict[str, int]:
        """The processes that are running now."""
        daemons = [self._etcd.daemon] if self._etcd else []
        daemons += [server.daemon for server in self._servers.values()]
        return {daemon.name: daemon.pid for daemon in daemons if daemon.pid is not None}

    def start(self) -> Self:
        """Start what the configuration asks for, and wait until all of it is ready."""
        if self._home is not None:
            raise UsageError("this control plane was started already", remedy="make another one")
        self._binaries = self.config.binaries or find_binaries()
        # A short path: a Unix socket's name may not be longer than about a hundred characters.
        self._home = Path(tempfile.mkdtemp(prefix="bayplan-"))
        try:
            self._prepare(self._home)
            self._start_store_and_apiserver()
            self._start_others()
        except BaseException as error:
            self._stop_after(error)
            raise
        return self

    def stop(self, *, keep_logs: bool = False) -> None:
        """End every process and remove every file but, when asked, the logs. Safe to call again."""
        # Nothing here needs saving, so nobody is asked politely. The last started goes first.
        while self._servers:
            self._servers.popitem()[1].close()
        if self._etcd is not None:
            self._etcd.daemon.kill()
        if self._home is None or not self._home.exists():
            return
        if keep_logs:
            self.kept_logs = self._logs
        for path in self._home.iterdir():
            if path != self.kept_logs:
                shutil.rmtree(path)
        if not keep_logs:
            self._home.rmdir()

    def user(self, name: str, *, groups: Sequence[str] = ()) -> User:
        """A user with a client certificate; it may do what RBAC grants to its name and groups."""
        key = name, tuple(groups)
        if key not in self._users:
            filename = f"user-{len(self._users)}"
            credentials = self._authority.issue_client(filename, name, groups)
            path = self._pki / f"{filename}.kubeconfig"
            write_kubeconfig(path, server=self.url, authority=self.authority, credentials=credentials)
            self._users[key] = User(name, tuple(groups), credentials, path)
        return self._users[key]

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        user: User | None = None,
        media_type: str = "application/json",
    ) -> Answer:
        """One request to the API server, the administrator's unless a user is given."""
        client = (user or self.admin).credentials
        return ask_https(
            self.apiserver.port, method, path, authority=self.authority, client=client, body=body, media_type=media_type
        )

    def make_namespace(self, name: str) -> None:
        """Make a namespace in which pods can be made at once: they need its ``default`` service account.

        With the controllers running that account is theirs to make, and is waited for.
        """
        body = {"metadata": {"name": name}}
        self._expect(self.request("POST", "/api/v1/namespaces", body), f"namespace {name}")
        self._ensure_service_account(name)

    def expire_history(self) -> int:
        """Make the API server answer 410 to every resourceVersion and continue token that was given out so far.

        etcd is compacted, and the API server restarted: it would go on serving watches from its cache. Gives the first
        revision that is still known.
        """
        revision = self.etcd.compact()
        self.apiserver.restart()
        return revision

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
        else:
            self._stop_after(error)

    def _prepare(self, home: Path) -> None:
        self._logs, self._pki, self._work = home / "logs", home / "pki", home / "work"
        for directory in (self._logs, self._pki, self._work):
            directory.mkdir()
        self._authority = Authority(self._pki)
        serving = self._authority.issue_server("serving", ("127.0.0.1", "localhost"))
        self._credentials = Credentials(self.authority, serving, write_service_account_keys(self._pki))

    def _start_store_and_apiserver(self) -> None:
        timeout, home = self.config.start_timeout, self._work.parent
        self._etcd = Etcd(self._binaries, home / "etcd", self._logs / "etcd.log", self.config.etcd_flags)
        command = apiserver_command(self._binaries.path(_APISERVER), self._etcd.url, self._credentials)
        apiserver = self._add(_APISERVER, [*command, *self.config.apiserver_flags])
        self._etcd.start(timeout)
        apiserver.start()
        self._ensure_service_account("default")

    def _start_others(self) -> None:
        config = self.config
        if config.controller_manager:
            program, kubeconfig = self._binaries.path(_CONTROLLERS), self.user(f"system:{_CONTROLLERS}").kubeconfig
            command = controller_manager_command(program, kubeconfig, self._credentials)
            self._add(_CONTROLLERS, [*command, *config.controller_manager_flags]).daemon.start()
        if config.scheduler:
            program, kubeconfig = self._binaries.path(_SCHEDULER), self.user(f"system:{_SCHEDULER}").kubeconfig
            file = write_scheduler_config(self._work / "scheduler.json", config.scheduler_config, kubeconfig)
            command = scheduler_command(program, kubeconfig, file)
            self._add(_SCHEDULER, [*command, *config.scheduler_flags]).daemon.start()
        for server in self._servers.values():
            server.wait_ready()
