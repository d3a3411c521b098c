"""Credentials from a program: the exec plugins of cloud providers and login services.

We say what we want in an environment variable and the plugin prints an `ExecCredential`: a token, a client certificate
or both, and until when they are good. It is run when they expire and when the server refuses them, by one request at a
time, while the others wait for what it brings.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bayplan.client.credentials.material import Material, Pair
from bayplan.client.credentials.tokens import bearer
from bayplan.errors import CredentialsError
from bayplan.objects.wire import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bayplan.client.credentials.document import Place

_GROUP: Final = "client.authentication.k8s.io"
_VERSIONS: Final = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
_MODES: Final = ("Never", "IfAvailable", "Always")

#: Seconds for one run. A person may have to look for a phone, or to log in on a page that the plugin opens; where
#: nobody sits at a terminal, what takes a minute hangs.
PATIENCE, PATIENCE_WITH_PERSON = 60.0, 300.0

#: Seconds in which a refusal does not make the plugin run again. The requests that went out with the old credentials
#: are refused one after the other, and a server that refuses everything must not make us start programs all the time.
SETTLING = 10.0

#: Seconds for a killed plugin to be gone.
_DYING = 5.0


@dataclass(frozen=True, slots=True)
class PluginCommand:
    """What the kubeconfig says of a plugin."""

    #: `exec plugin aws of user ann`; for messages.
    label: str
    #: A path, or a name that is looked up in PATH.
    command: str
    args: tuple[str, ...] = field(repr=False)
    #: Set on top of our own environment. Kept out of `repr`, like the arguments: some hold secrets there.
    env: Mapping[str, str] = field(repr=False)
    api_version: str
    install_hint: str
    provide_cluster_info: bool
    interactive_mode: str


def read_command(entry: Place, user: str) -> PluginCommand:
    """Read the `exec` of a user."""
    command, version = entry.get("command").text(), entry.get("apiVersion").text()
    if not command:
        raise entry.get("command").complain("is missing", remedy="name the plugin to run")
    if version not in _VERSIONS:
        raise entry.get("apiVersion").complain(
            f"is {version or 'missing'}, which is not supported", remedy=f"use one of {' and '.join(_VERSIONS)}"
        )
    mode = entry.get("interactiveMode").text() or ("IfAvailable" if version == _VERSIONS[1] else "")
    if mode not in _MODES:
        raise entry.get("interactiveMode").complain(f"is {mode or 'missing'}", remedy=f"use one of {', '.join(_MODES)}")
    # A bare name is looked up in PATH; anything else is meant from the folder of the file, as kubectl has it.
    below = entry.get("command").path_below(entry.file.absolute().parent)
    return PluginCommand(
        label=f"exec plugin {command} of user {user}",
        command=str(below) if "/" in command else command,
        args=tuple(entry.get("args").texts()),
        env={_variable(place): place.get("value").text() for place in entry.get("env").elements()},
        api_version=version,
        install_hint=_printable(entry.get("installHint").text()),
        provide_cluster_info=entry.get("provideClusterInfo").flag(),
        interactive_mode=mode,
    )


class ExecPlugin:
    """An authenticator that runs a plugin, and the source of the client certificate that it may bring."""

    def __init__(
        self,
        command: PluginCommand,
        *,
        environ: Mapping[str, str],
        cluster: Callable[[], Mapping[str, object]],
        at_terminal: Callable[[], bool] = lambda: sys.stdin is not None and sys.stdin.isatty(),
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        patience: float | None = None,
    ) -> None:
        self._command = command
        self._environ = environ
        #: What the plugin is told of the cluster, where it asks for that.
        self._cluster = cluster
        #: Whether a person sits at our standard input.
        self._at_terminal = at_terminal
        self._wall_clock = wall_clock
        self._clock = clock
        self._patience = patience
        self._credential: _Credential | None = None
        self._refused = False
        self._obtained_at = 0.0
        self._turn = asyncio.Lock()
        #: Runs so far and how the last one failed, so that those who waited for it share its failure.
        self._runs = 0
        self._failure: CredentialsError | None = None

    async def headers(self) -> Mapping[str, str]:
        """The plugin's token, if it brings one; the plugin is run if need be."""
        if (credential := self._usable()) is not None:
            return credential.headers
        runs = self._runs
        async with self._turn:
            if (credential := self._usable()) is not None:
                return credential.headers
            if self._failure is not None and self._runs != runs:
                raise CredentialsError(self._failure.problem, remedy=self._failure.remedy)
            return (await self._renew()).headers

    def rejected(self) -> None:
        """Run the plugin before the next request, unless it has only just been run."""
        self._refused = self._clock() - self._obtained_at >= SETTLING

    def pair(self) -> Pair | None:
        """The client certificate that the plugin brought; known once `headers()` has been asked."""
        return self._credential.pair if self._credential else None

    def _usable(self) -> _Credential | None:
        credential = self._credential
        if credential is None or self._refused or self._wall_clock() >= credential.expires_at:
            return None
        return credential

    async def _renew(self) -> _Credential:
        # A run that is given up leaves no failure behind, and those who wait must not be told the one before it.
        self._failure = None
        try:
            output = await self._run()
            credential = _decode(output, self._command)
        except CredentialsError as error:
            self._failure = error
            raise
        finally:
            self._runs += 1
        self._credential, self._refused, self._obtained_at = credential, False, self._clock()
        return credential

    async def _run(self) -> bytes:
        label, person = self._command.label, self._at_terminal()
        mode = self._command.interactive_mode
        if mode == "Always" and not person:
            raise CredentialsError(
                f"{label} needs a terminal, and there is none", remedy="log in once from a terminal, or use a token"
            )
        interactive = person and mode != "Never"
        patience = self._patience or (PATIENCE_WITH_PERSON if person else PATIENCE)
        # Its standard error is ours, so that what it has to say reaches the person at once.
        try:
            process = await asyncio.create_subprocess_exec(
                self._find(),
                *self._command.args,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env={**self._environ, **self._command.env, "KUBERNETES_EXEC_INFO": self._info(interactive)},
            )
        except OSError as error:
            raise CredentialsError(
                f"{label} cannot be started: {error.strerror}", remedy="check the file and its permissions"
            ) from error
        try:
            async with asyncio.timeout(patience):
                output, _ = await process.communicate()
        except TimeoutError:
            raise CredentialsError(
                f"{label} brought nothing within {patience:.0f} s", remedy="run it by hand to see what it waits for"
            ) from None
        finally:
            await _end(process)
        if process.returncode:
            raise CredentialsError(
                f"{label} failed with exit code {process.returncode}",
                remedy="see what it printed, or run it by hand",
            )
        return output

    def _find(self) -> str:
        # As Go does it, by our own PATH and not by one that `env` sets.
        found = shutil.which(self._command.command, path=self._environ.get("PATH"))
        if found is None:
            raise CredentialsError(
                f"{self._command.label} was not found",
                remedy=self._command.install_hint or "install it, or correct `command` in the kubeconfig",
            )
        return found

    def _info(self, interactive: bool) -> str:
        spec: dict[str, object] = {"interactive": interactive}
        if self._command.provide_cluster_info:
            spec["cluster"] = self._cluster()
        return json.dumps({"kind": "ExecCredential", "apiVersion": self._command.api_version, "spec": spec})


@dataclass(frozen=True, slots=True)
class _Credential:
    """What one run brought. All of it is secret."""

    headers: Mapping[str, str] = field(repr=False)
    pair: Pair | None = field(repr=False)
    #: By the wall clock; infinity where the plugin does not say.
    expires_at: float


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def _decode(output: bytes, command: PluginCommand) -> _Credential:
    label = command.label
    try:
        answer = msgspec.json.decode(output, type=_ExecCredential)
    except UNDECODABLE:
        # The cause is left out: it may quote what it could not read.
        raise _unusable(label, "printed something that is not an ExecCredential in JSON") from None
    if answer.kind != "ExecCredential" or answer.api_version != command.api_version:
        raise _unusable(
            label, f"printed {answer.api_version} {answer.kind} instead of {command.api_version} ExecCredential"
        )
    status = answer.status or _Status()
    pair = _read_pair(label, status)
    if not status.token and pair is None:
        raise _unusable(label, "brought neither a token nor a client certificate with its key")
    return _Credential(
        bearer(status.token, f"the token from {label}") if status.token else {},
        pair,
        _read_time(label, status.expiration_timestamp),
    )


def _read_pair(label: str, status: _Status) -> Pair | None:
    certificate, key = status.client_certificate_data or "", status.client_key_data or ""
    if bool(certificate) != bool(key):
        raise _unusable(label, "brought only one of a client certificate and its key")
    if not certificate:
        return None
    return Pair(
        Material(f"the client certificate from {label}", inline=certificate.encode()),
        Material(f"the client key from {label}", inline=key.encode()),
    )


def _read_time(label: str, text: str | None) -> float:
    if not text:
        return float("inf")
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise _unusable(label, "gave an expirationTimestamp that is not a time in RFC 3339's form")
    return when.timestamp()


def _unusable(label: str, problem: str) -> CredentialsError:
    return CredentialsError(f"{label} {problem}", remedy="update the plugin, or run it by hand to see what it prints")


async def _end(process: asyncio.subprocess.Process) -> None:
    """See to it that a plugin whose answer nobody waits for any more is gone."""
    # It kills the process, and does not wait for what that has started in its turn and what may hold the pipe open. To
    # kill it first would be a race: one that is dead when this looks is reaped by it, and its exit code is lost.
    transport: Any = process._transport  # type: ignore[attr-defined]  # noqa: SLF001 - asyncio offers no other way
    transport.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_DYING):
            await process.wait()


def _variable(place: Place) -> str:
    name = place.get("name").text()
    if not name or "=" in name:
        raise place.get("name").complain("is no name of an environment variable")
    return name


def _printable(hint: str) -> str:
    """The hint on one line, without what would drive a terminal mad."""
    return "".join(letter for letter in " ".join(hint.split()) if letter.isprintable())
