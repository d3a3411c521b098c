"""`bayplan cluster`: where a command would go, as whom, and whether anybody answers there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bayplan.cli.connection import connection_options, run_async
from bayplan.cli.output import JSON, output_option, print_facts, print_json

if TYPE_CHECKING:
    from bayplan.cli.connection import Connection
    from bayplan.client.access import ClusterAccess
    from bayplan.client.api import Client
    from bayplan.client.credentials import Certificate
    from bayplan.errors import ClientError

#: Seconds for each question: a server that takes longer is of no use to whoever asks.
_PATIENCE = 10.0

_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@click.command()
@connection_options
@output_option
def command(connection: Connection, output: str) -> None:
    """Say which cluster this is, who you are to it, and whether it answers.

    It asks the server for its version and for the name it knows you by. Exit 1 if there is no answer, or if the
    server does not accept your credentials.
    """
    access = connection.load()
    answer = run_async(_ask(access))
    certificate, trouble = _certificate(access)
    if output == JSON:
        print_json(_data(access, answer, certificate))
    else:
        print_facts(_facts(access, answer, certificate))
    if (failure := answer.failure or trouble) is not None:
        raise failure


@dataclass(slots=True)
class _Answer:
    """What the server said."""

    #: None while no request has reached it, because the credentials could not be had.
    reachable: bool | None = None
    #: Such as `v1.37.1`; None if it would not say.
    version: str | None = None
    platform: str | None = None
    #: Who it takes us for; None if it would not say.
    user: dict[str, Any] | None = None
    #: What makes this a negative answer.
    failure: ClientError | None = None


async def _ask(access: ClusterAccess) -> _Answer:
    from bayplan.client.api import NO_PATIENCE, Client
    from bayplan.errors import ApiError, ClientError, CredentialsError, OutcomeUnknown, Unauthorized, Unreachable

    answer = _Answer()
    try:
        async with Client.connect(access, timeout=_PATIENCE, patience=NO_PATIENCE) as client:
            await _ask_version(client, answer)
            await _ask_user(client, answer)
    except CredentialsError as error:
        answer.failure = error
    except Unauthorized as error:
        answer.failure = CredentialsError(
            f"{access.server} does not accept your credentials ({access.credentials}): {error.problem}",
            remedy="renew them, or choose another context",
        )
    except (Unreachable, OutcomeUnknown) as error:
        # Nothing was changed by what we asked, so even an unknown outcome is just no answer.
        remedy = error.remedy if isinstance(error, Unreachable) else None
        answer.reachable = False
        answer.failure = Unreachable(
            error.problem, remedy=remedy or "see whether the server is overloaded, and try again"
        )
    except ClientError as error:
        answer.reachable, answer.failure = isinstance(error, ApiError), error
    return answer


async def _ask_version(client: Client, answer: _Answer) -> None:
    from bayplan.errors import Forbidden, Unauthorized

    try:
        told = await _json(client, "GET", "/version")
    except (Forbidden, Unauthorized):
        # Some clusters tell strangers nothing, which is an answer too.
        answer.reachable = True
        return
    answer.reachable = True
    answer.version, answer.platform = told.get("gitVersion"), told.get("platform")


async def _ask_user(client: Client, answer: _Answer) -> None:
    import msgspec

    from bayplan.errors import Forbidden, NotFound

    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        told = await _json(client, "POST", _REVIEWS, msgspec.json.encode(body))
    except (Forbidden, NotFound):
        # Anonymous people may not ask, and servers before 1.28 cannot tell.
        return
    status = told.get("status")
    user = status.get("userInfo") if isinstance(status, dict) else None
    answer.user = user if isinstance(user, dict) else None


async def _json(client: Client, method: str, path: str, body: bytes = b"") -> dict[str, Any]:
    import msgspec

    from bayplan.errors import ProtocolError
    from bayplan.objects.wire import UNDECODABLE

    answer = await client.raw(method, path, body)
    try:
        return msgspec.json.decode(answer, type=dict[str, Any])
    except UNDECODABLE as error:
        raise ProtocolError(
            f"{method} {path} was answered with something that is not a JSON object",
            remedy="check that the address in the kubeconfig is that of an API server",
        ) from error


def _certificate(access: ClusterAccess) -> tuple[Certificate | None, ClientError | None]:
    from bayplan.client.credentials import client_certificate
    from bayplan.errors import CredentialsError

    try:
        return client_certificate(access), None
    except CredentialsError as error:
        return None, error


def _facts(access: ClusterAccess, answer: _Answer, certificate: Certificate | None) -> dict[str, object]:
    user = answer.user or {}
    facts: dict[str, object] = {
        "context": access.context,
        "server": access.server,
        "source": access.source,
        "namespace": access.namespace,
        "answers": {True: "yes", False: "no", None: "not asked"}[answer.reachable],
        "version": answer.version,
        "you are": user.get("username"),
        "groups": ", ".join(user.get("groups") or ()),
        "credentials": access.credentials,
    }
    if certificate is not None:
        facts["certificate"] = certificate.subject
        facts["valid until"] = f"{certificate.not_after:%Y-%m-%d %H:%M} UTC{_lateness(certificate)}"
    return facts


def _data(access: ClusterAccess, answer: _Answer, certificate: Certificate | None) -> dict[str, object]:
    user = answer.user
    return {
        "context": access.context,
        "server": access.server,
        "source": access.source.split(os.pathsep),
        "namespace": access.namespace,
        "answers": answer.reachable,
        "version": answer.version,
        "platform": answer.platform,
        "user": user and {"name": user.get("username"), "uid": user.get("uid"), "groups": user.get("groups") or []},
        "credentials": access.credentials,
        "certificate": certificate
        and {
            "subject": certificate.subject,
            "notBefore": f"{certificate.not_before:%Y-%m-%dT%H:%M:%SZ}",
            "notAfter": f"{certificate.not_after:%Y-%m-%dT%H:%M:%SZ}",
        },
        "problem": str(answer.failure) if answer.failure else None,
    }


def _lateness(certificate: Certificate) -> str:
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    if now > certificate.not_after:
        return ", which is over"
    return ", not valid yet" if now < certificate.not_before else ""
