"""Every field that our structs name exists in the real API, with the type that we give it.

The API server is sent one object of each kind with all our fields in it, and told to refuse fields that it does not
know. Whether it likes the values is another matter: decoding comes first, and only decoding is judged here.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import bayplan.objects
from bayplan.objects.node import NODES
from bayplan.objects.resource import Resource
from bayplan.objects.wire import decode

if TYPE_CHECKING:
    from bayplan.testing.controlplane.plane import ControlPlane
    from bayplan.testing.controlplane.requests import Answer

pytestmark = pytest.mark.e2e

TIME = "2026-01-01T00:00:00.000000Z"


def resources() -> list[Resource[Any]]:
    found: dict[str, Resource[Any]] = {}
    for module in pkgutil.iter_modules(bayplan.objects.__path__):
        for value in vars(importlib.import_module(f"bayplan.objects.{module.name}")).values():
            if isinstance(value, Resource):
                found[value.qualified_name] = value
    return list(found.values())


def fill(part: msgspec.inspect.Type, name: str) -> Any:
    """A value for a field of this type, with everything below it filled as well."""
    match part:
        case msgspec.inspect.UnionType():
            return fill(part.types[0], name)
        case msgspec.inspect.StructType():
            return {field.encode_name: fill(field.type, field.encode_name) for field in part.fields}
        case msgspec.inspect.VarTupleType():
            return [fill(part.item_type, name)]
        case msgspec.inspect.DictType():
            return {"k": fill(part.value_type, name)}
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.IntType():
            return 1
        case msgspec.inspect.StrType():
            return TIME if name.endswith(("Time", "Timestamp", "disruptedPods")) else "1"
    raise AssertionError(f"no value for {part}")


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: resource.qualified_name)
def test_the_api_server_knows_every_field(control_plane: ControlPlane, resource: Resource[Any]) -> None:
    body = fill(msgspec.inspect.type_info(resource.type), "")
    body |= {"apiVersion": resource.api_version, "kind": resource.kind}
    body["metadata"]["namespace"] = "default" if resource.namespaced else ""
    answer = send_strictly(control_plane, resource, body)
    # Refused for its values, by validation or admission, or even accepted: it was decoded.
    decoded = answer.status in {201, 403, 422} or "resourceVersion should not be set" in str(answer.body)
    assert decoded, answer.body


def test_a_field_that_does_not_exist_would_be_noticed(control_plane: ControlPlane) -> None:
    answer = send_strictly(control_plane, NODES, {"metadata": {"name": "n"}, "spec": {"providerId": "1"}})
    assert answer.status == 400
    assert 'unknown field "spec.providerId"' in answer.body["message"]


def send_strictly(plane: ControlPlane, resource: Resource[Any], body: dict[str, Any]) -> Answer:
    """Offer an object for creation, without creating it, where unknown fields are refused."""
    return plane.request("POST", resource.path(namespace="default") + "?dryRun=All&fieldValidation=Strict", body)


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: resource.qualified_name)
def test_the_api_server_lists_what_we_can_decode(control_plane: ControlPlane, resource: Resource[Any]) -> None:
    answer = control_plane.request("GET", resource.path())
    assert answer.body["kind"] == f"{resource.kind}List"
    for item in answer.body["items"] or ():
        assert decode(resource.type, msgspec.json.encode(item)).metadata.name
