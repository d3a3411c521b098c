"""Discovery: what a person calls a resource, and which one that is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.client.api import NO_PATIENCE, Client
from bayplan.client.codec import PartialObject
from bayplan.client.discovery import find_resource
from bayplan.errors import MethodNotAllowed, ProtocolError, UsageError
from bayplan.testing.collection import Reply
from bayplan.testing.virtual_time import virtual_time

if TYPE_CHECKING:
    from bayplan.client.transport import Request, Response


def resource(plural: str, kind: str, *short: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "resource": plural,
        "singularResource": kind.lower(),
        "shortNames": list(short),
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": scope,
        "verbs": ["get", "list", "watch"],
    }


def group(name: str, **versions: list[dict[str, Any]]) -> dict[str, Any]:
    listed = [{"version": version, "resources": resources} for version, resources in versions.items()]
    return {"metadata": {"name": name} if name else {}, "versions": listed}


CORE = [group("", v1=[resource("pods", "Pod", "po"), resource("nodes", "Node", "no", scope="Cluster")])]
GROUPS = [
    group("metrics.k8s.io", v1beta1=[resource("widgets", "Widget")]),
    group(
        "apps", v1=[resource("deployments", "Deployment", "deploy")], v1beta2=[resource("deployments", "Deployment")]
    ),
    group("example.com", v1=[resource("pods", "Pod"), {"resource": "bare"}]),
]


class Server:
    """Answers the two requests of aggregated discovery."""

    def __init__(self, kind: str = "APIGroupDiscoveryList", body: bytes | None = None) -> None:
        self._kind, self._body = kind, body
        self.accepted: list[str] = []

    async def send(self, request: Request) -> Response:
        self.accepted.append(request.headers["Accept"])
        items = CORE if request.path == "/api" else GROUPS
        return Reply(200, self._body or json.dumps({"kind": self._kind, "items": items}).encode())

    async def aclose(self) -> None:
        pass


async def find(name: str, server: Server | None = None) -> tuple[str, str, bool]:
    client = Client(server or Server(), patience=NO_PATIENCE)
    found = await find_resource(client, name, PartialObject)
    return found.qualified_name, found.version, found.namespaced


@pytest.mark.parametrize("name", ["pods", "pod", "po", "Pod", "PODS", "pods.v1"])
@virtual_time
async def test_a_resource_answers_to_all_its_names(name: str) -> None:
    assert await find(name) == ("pods", "v1", True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nodes", ("nodes", "v1", False)),
        ("deploy", ("deployments.apps", "v1", True)),
        ("deployments.apps", ("deployments.apps", "v1", True)),
        ("deployments.v1beta2.apps", ("deployments.apps", "v1beta2", True)),
        ("pods.example.com", ("pods.example.com", "v1", True)),
        ("bare", ("bare.example.com", "v1", False)),
    ],
)
@virtual_time
async def test_groups_and_versions_may_be_named(name: str, expected: tuple[str, str, bool]) -> None:
    assert await find(name) == expected


@virtual_time
async def test_an_unknown_name_is_answered_with_what_comes_near() -> None:
    with pytest.raises(UsageError, match="no resource 'deploymets'; did you mean deployments") as raised:
        await find("deploymets")
    assert raised.value.remedy
    with pytest.raises(UsageError, match="kubectl api-resources"):
        await find("zzz")


@virtual_time
async def test_a_resource_that_lacks_a_verb_is_refused_as_the_server_would() -> None:
    client = Client(Server(), patience=NO_PATIENCE)
    await find_resource(client, "pods", PartialObject, verbs=["list", "watch"])
    with pytest.raises(MethodNotAllowed, match="offers no create for pods; what it offers is get, list, watch"):
        await find_resource(client, "pods", PartialObject, verbs=["list", "create"])
    with pytest.raises(MethodNotAllowed, match=r"offers no list and no watch for bare.example.com; .* nothing"):
        await find_resource(client, "bare", PartialObject, verbs=["list", "watch"])


@virtual_time
async def test_the_aggregated_form_is_asked_for() -> None:
    server = Server()
    await find("pods", server)
    assert server.accepted == ["application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"] * 2


@pytest.mark.parametrize("server", [Server(kind="APIVersions"), Server(body=b"<html>"), Server(body=b"[]")])
@virtual_time
async def test_a_server_that_answers_otherwise_is_told_apart(server: Server) -> None:
    with pytest.raises(ProtocolError, match="/api was answered with"):
        await find("pods", server)
