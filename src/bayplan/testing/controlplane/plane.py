"""A control plane from start to stop."""

from __future__ import annotations

import shutil
import tempfile
import time
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from bayplan.errors import UsageError
from bayplan.testing.controlplane.binaries import find_binaries
from bayplan.testing.controlplane.certificates import Authority, write_service_account_keys
from bayplan.testing.controlplane.config import ControlPlaneConfig
from bayplan.testing.controlplane.etcd import Etcd
from bayplan.testing.controlplane.ports import LOOPBACK
from bayplan.testing.controlplane.requests import Answer, ask_https
from bayplan.testing.controlplane.servers import (
    Credentials,
    Server,
    apiserver_command,
    controller_manager_command,
    scheduler_command,
    write_scheduler_config,
)
from bayplan.testing.controlplane.users import User, write_kubeconfig, write_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from bayplan.testing.controlplane.certificates import KeyPair

_T = TypeVar("_T")

_POLL_SECONDS = 0.02

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
        self._stopped = False
        self._etcd: Etcd | None = None
        #: In the order of their start.
        self._servers: dict[str, Server] = {}
        self._users: dict[tuple[str, tuple[str, ...]], User] = {}

    @property
    def logs(self) -> Path:
        """Where each server's log is, as long as it runs."""
        if self._home is None:
            raise _absent("a log")
        return self._logs

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
        if self._home is None or self._stopped:
            return
        self._stopped = True
        kept = self._home / "logs" if keep_logs else None
        for path in self._home.iterdir():
            if path != kept:
                shutil.rmtree(path)
        if kept is None:
            self._home.rmdir()
        self.kept_logs = kept

    def user(self, name: str, *, groups: Sequence[str] = ()) -> User:
        """A user with a client certificate; it may do what RBAC grants to its name and groups."""
        key, server = (name, tuple(groups)), self.url
        if key not in self._users:
            filename = f"user-{len(self._users)}"
            credentials = self._authority.issue_client(filename, name, groups)
            path = self._write_kubeconfig(filename, credentials, server)
            self._users[key] = User(name, tuple(groups), credentials, path)
        return self._users[key]

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        user: User | None = None,
        token: str | None = None,
        media_type: str = "application/json",
    ) -> Answer:
        """One request to the API server, the administrator's unless a user or a bearer token is given."""
        return ask_https(
            self.apiserver.port,
            method,
            path,
            authority=self.authority,
            client=None if token else (user or self.admin).credentials,
            token=token,
            body=body,
            media_type=media_type,
        )

    def kubeconfig_via(self, port: int, user: User | None = None) -> Path:
        """A kubeconfig that reaches the API server through another port of loopback, such as a FaultProxy's."""
        credentials = (user or self.admin).credentials
        return self._write_kubeconfig(f"via-{port}-{credentials.key.stem}", credentials, f"https://{LOOPBACK}:{port}")

    def kubeconfig_with_token(self, token_file: Path, *, port: int | None = None) -> Path:
        """A kubeconfig whose user is whoever the token in this file stands for when it is read."""
        server = self.url if port is None else f"https://{LOOPBACK}:{port}"
        return self._write_kubeconfig(f"token-{token_file.stem}-{port or self.apiserver.port}", token_file, server)

    def accept_tokens(self, tokens: Mapping[str, User]) -> None:
        """From now on let these bearer tokens, and of such tokens only these, stand for these users.

        A stock API server reads them at its start, so it is restarted: a token that is taken away is refused at once.
        Tokens of service accounts are another matter, and stay valid.
        """
        write_tokens(self._tokens, tokens)
        self.apiserver.restart()

    def token_for(
        self, service_account: str, namespace: str = "default", *, seconds: int = 600, audiences: Sequence[str] = ()
    ) -> str:
        """A fresh bearer token of a service account. The API server grants nothing shorter than ten minutes."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        spec = {"expirationSeconds": seconds} | ({"audiences": list(audiences)} if audiences else {})
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = self._expect(self.request("POST", path, body), f"a token for {namespace}/{service_account}")
        return str(answer.body["status"]["token"])

    def make_namespace(self, name: str) -> None:
        """Make a namespace in which pods can be made at once: they need its ``default`` service account.

        With the controllers running that account is theirs to make, and is waited for.
        """
        body = {"metadata": {"name": name}}
        self._expect(self.request("POST", "/api/v1/namespaces", body), f"namespace {name}")
        self._ensure_service_account(name)

    def wait_until(self, condition: Callable[[], object], timeout: float = 60.0) -> None:
        """Wait for the cluster to come to something, such as a pod to its node; TimeoutError if it does not."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() >= deadline:
                raise TimeoutError(f"the cluster did not come to that in {timeout:g} s; its logs are in {self.logs}")
            time.sleep(_POLL_SECONDS)

    def expire_history(self) -> int:
        """Make the API server answer 410 to every resourceVersion and continue token that was given out so far.

        etcd is compacted, and the API server restarted: it would go on serving watches from its cache. Gives the first
        revision that is still known.
        """
        revision = self.etcd.compact()
        self.apiserver.restart()
        return revision

    def back_up(self) -> Path:
        """Copy everything that is stored. The API server is restarted, since the store stands still meanwhile."""
        return self._with_store_at_rest(self.etcd.back_up)

    def restore(self, backup: Path) -> None:
        """Go back to a backup: objects and versions are those of that moment, as after a disaster."""
        self._with_store_at_rest(lambda: self.etcd.restore(backup))

    def _with_store_at_rest(self, act: Callable[[], _T]) -> _T:
        self.apiserver.kill()
        self.etcd.daemon.kill()
        result = act()
        self.etcd.start(self.config.start_timeout)
        self.apiserver.start()
        return result

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
        self._tokens = write_tokens(self._pki / "tokens.csv", {})
        self._credentials = Credentials(self.authority, serving, write_service_account_keys(self._pki))

    def _start_store_and_apiserver(self) -> None:
        timeout, home = self.config.start_timeout, self._work.parent
        self._etcd = Etcd(self._binaries, home / "etcd", self._logs / "etcd.log", self.config.etcd_flags)
        program = self._binaries.path(_APISERVER)
        command = apiserver_command(program, self._etcd.url, self._credentials, self._tokens)
        apiserver = self._add(_APISERVER, [*command, *self.config.apiserver_flags])
        self._etcd.start(timeout)
        apiserver.start()

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
        self._ensure_service_account("default")

    def _add(self, name: str, command: Sequence[str]) -> Server:
        server = Server(
            name,
            command,
            credentials=self._credentials,
            log=self._logs / f"{name}.log",
            directory=self._work,
            start_timeout=self.config.start_timeout,
        )
        self._servers[name] = server
        return server

    def _server(self, name: str) -> Server:
        try:
            return self._servers[name]
        except KeyError:
            raise _absent(name) from None

    def _write_kubeconfig(self, name: str, credentials: KeyPair | Path, server: str) -> Path:
        path = self._pki / f"{name}.kubeconfig"
        return write_kubeconfig(path, server=server, authority=self.authority, credentials=credentials)

    def _ensure_service_account(self, namespace: str) -> None:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts"

        def is_there() -> bool:
            # The API server says that it is ready a moment before it has made its own namespaces.
            if self.config.controller_manager:
                return self.request("GET", f"{path}/default").ok
            answer = self.request("POST", path, {"metadata": {"name": "default"}})
            return answer.ok or answer.status == HTTPStatus.CONFLICT

        self.apiserver.daemon.wait_until(is_there, self.config.start_timeout)

    def _expect(self, answer: Answer, what: str) -> Answer:
        if answer.ok:
            return answer
        said = answer.body.get("message") if isinstance(answer.body, dict) else answer.body
        raise UsageError(
            f"{what} was refused with {answer.status}: {said}", remedy="ask for what the API server allows"
        )

    def _stop_after(self, error: BaseException) -> None:
        self.stop(keep_logs=True)
        if self.kept_logs is not None:
            error.add_note(f"The control plane's logs are kept in {self.kept_logs}")


def _absent(name: str) -> UsageError:
    return UsageError(
        f"{name} is not a part of this control plane now", remedy="start it, and ask for it in its ControlPlaneConfig"
    )
