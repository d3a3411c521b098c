"""429 on command, by the API server's own priority and fairness.

A user's requests are led to a priority level without seats, which rejects what it cannot seat, and the one request
that even such a level lets through is an upload that never ends. So the user is answered as it would be under heavy
load, ``Retry-After`` included, and no load is needed.

The administrator is exempt from priority and fairness, as every member of ``system:masters`` is. ``grant_all`` lets
another user do as much.
"""

from __future__ import annotations

import hashlib
import ssl
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError
from bayplan.testing.controlplane.requests import begin_upload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.testing.controlplane.plane import ControlPlane
    from bayplan.testing.controlplane.requests import Answer
    from bayplan.testing.controlplane.users import User

_FLOWCONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
_RBAC = "/apis/rbac.authorization.k8s.io"
_LEVEL = "bayplan-testing-no-seats"
_EXEMPT_GROUP = "system:masters"


def grant_all(plane: ControlPlane, user: User) -> None:
    """Bind the user to ``cluster-admin``, and wait until the API server knows."""
    body = {
        "metadata": {"name": _name_for(user)},
        "roleRef": {"apiGroup": _RBAC.removeprefix("/apis/"), "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": _RBAC.removeprefix("/apis/"), "kind": "User", "name": user.name}],
    }
    _make(plane, f"{_RBAC}/v1/clusterrolebindings", body)
    plane.wait_until(lambda: plane.request("GET", "/api/v1/nodes?limit=1", user=user).status != HTTPStatus.FORBIDDEN)


@contextmanager
def overload(plane: ControlPlane, user: User) -> Iterator[None]:
    """Answer every new request of this user with 429, as long as the block lasts; watches that run go on.

    It lasts no longer than the API server's patience with one request, which is a minute unless ``--request-timeout``
    says otherwise.
    """
    if _EXEMPT_GROUP in user.groups:
        raise UsageError(
            f"{user.name} is exempt from priority and fairness", remedy=f"take a user outside {_EXEMPT_GROUP}"
        )
    _make(plane, f"{_FLOWCONTROL}/prioritylevelconfigurations", _LEVEL_WITHOUT_SEATS)
    schema = _make(plane, f"{_FLOWCONTROL}/flowschemas", _schema(user)).body["metadata"]["uid"]
    try:
        plane.wait_until(lambda: _schema_of(plane, user) == schema)
        with _only_seat(plane, user):
            yield
    finally:
        plane.request("DELETE", f"{_FLOWCONTROL}/flowschemas/{_name_for(user)}")
        plane.wait_until(lambda: _schema_of(plane, user) != schema)


@contextmanager
def _only_seat(plane: ControlPlane, user: User) -> Iterator[None]:
    """Take the seat that even a level without seats has: it lets a request through while it has no other."""
    with ExitStack() as stack:
        upload = stack.enter_context(_upload(plane, user))

        def is_taken() -> bool:
            nonlocal upload
            if _is_answered(upload):
                # Refused: a request of the user's own was there first.
                upload = stack.enter_context(_upload(plane, user))
                return False
            return plane.request("GET", "/version", user=user).status == HTTPStatus.TOO_MANY_REQUESTS

        plane.wait_until(is_taken)
        yield


def _upload(plane: ControlPlane, user: User) -> ssl.SSLSocket:
    # Every user may ask this, whatever it was granted.
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return begin_upload(plane.apiserver.port, path, authority=plane.authority, client=user.credentials)


def _is_answered(upload: ssl.SSLSocket) -> bool:
    # Read, not only looked for: TLS has words of its own to say after a handshake.
    upload.setblocking(False)
    try:
        upload.recv(1)
    except ssl.SSLWantReadError:
        return False
    return True


_LEVEL_WITHOUT_SEATS = {
    "metadata": {"name": _LEVEL},
    "spec": {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 0,
            "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Reject"},
        },
    },
}


def _schema(user: User) -> dict[str, Any]:
    everything = {
        "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
    return {
        "metadata": {"name": _name_for(user)},
        "spec": {
            "priorityLevelConfiguration": {"name": _LEVEL},
            # Before every schema of a stock cluster but the exempt one.
            "matchingPrecedence": 2,
            "rules": [{"subjects": [{"kind": "User", "user": {"name": user.name}}], **everything}],
        },
    }


def _name_for(user: User) -> str:
    return f"bayplan-testing-{hashlib.sha256(user.name.encode()).hexdigest()[:12]}"


def _make(plane: ControlPlane, path: str, body: dict[str, Any]) -> Answer:
    answer = plane.request("POST", path, body)
    if not answer.ok and answer.status != HTTPStatus.CONFLICT:
        raise UsageError(f"{path} was refused with {answer.status}: {answer.body}", remedy="see what it says")
    return answer


def _schema_of(plane: ControlPlane, user: User) -> str | None:
    """The FlowSchema that the user's requests fall under now."""
    return plane.request("GET", "/version", user=user).headers.get("x-kubernetes-pf-flowschema-uid")
