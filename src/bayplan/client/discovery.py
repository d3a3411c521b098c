"""Which resources a server has, and which one a person means by a name.

It asks for the aggregated form, two requests in all, which every Kubernetes since 1.27 serves.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

import msgspec

from bayplan.errors import MethodNotAllowed, ProtocolError, UsageError
from bayplan.objects.resource import Resource
from bayplan.objects.wire import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bayplan.client.api import Client

T = TypeVar("T")

_ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

#: Near misses that an error names before it stops.
_LISTED = 3


class _ResponseKind(msgspec.Struct, frozen=True):
    kind: str = ""


class DiscoveredResource(msgspec.Struct, frozen=True, rename="camel"):
    """One resource of one version, as the server describes it."""

    #: Plural, as in URLs.
    resource: str
    singular_resource: str = ""
    short_names: tuple[str, ...] = ()
    response_kind: _ResponseKind | None = None
    scope: str = ""
    verbs: tuple[str, ...] = ()

    def answers_to(self, name: str) -> bool:
        """Whether a person may call it so."""
        kind = self.response_kind.kind if self.response_kind else ""
        return name.lower() in {self.resource, self.singular_resource, kind.lower(), *self.short_names}


class _Version(msgspec.Struct, frozen=True):
    version: str
    resources: tuple[DiscoveredResource, ...] = ()


class _Meta(msgspec.Struct, frozen=True):
    name: str = ""


class _Group(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    versions: tuple[_Version, ...] = ()


class _Groups(msgspec.Struct, frozen=True):
    kind: str = ""
    items: tuple[_Group, ...] = ()


async def find_resource(client: Client, name: str, form: type[T], *, verbs: Sequence[str] = ()) -> Resource[T]:
    """The resource that a person means by `pods`, `po`, `Pod`, `leases.coordination.k8s.io` or `pods.v1`.

    Where a bare name stands in several groups the first in the server's order counts, as with kubectl. Raises
    `MethodNotAllowed` for one that lacks any of these verbs, as the server would when it is used.
    """
    known = [found async for found in _discover(client)]
    word, _, qualifier = name.partition(".")
    for group, version, found in known:
        if found.answers_to(word) and qualifier in {"", group, _version_first(group, version)}:
            kind = found.response_kind.kind if found.response_kind else ""
            resource = Resource(group, version, found.resource, kind, found.scope == "Namespaced", form)
            _check_verbs(resource, found, verbs)
            return resource
    names = {found.resource for _, _, found in known}
    near = get_close_matches(word.lower(), sorted(names), _LISTED)
    remedy = f"did you mean {' or '.join(near)}?" if near else "`kubectl api-resources` lists those there are"
    raise UsageError(f"the server has no resource {name!r}", remedy=remedy)


def _check_verbs(resource: Resource[T], found: DiscoveredResource, verbs: Sequence[str]) -> None:
    lacking = [verb for verb in verbs if verb not in found.verbs]
    if lacking:
        raise MethodNotAllowed(
            f"the server offers no {' and no '.join(lacking)} for {resource.qualified_name}",
            code=405,
            reason="MethodNotAllowed",
            remedy=f"what it offers is {', '.join(found.verbs) or 'nothing'}",
        )


def _version_first(group: str, version: str) -> str:
    return f"{version}.{group}" if group else version


async def _discover(client: Client) -> AsyncGenerator[tuple[str, str, DiscoveredResource], None]:
    """Every resource with its group and version, in the server's order of preference."""
    for path in ("/api", "/apis"):
        for group in (await _groups(client, path)).items:
            for version in group.versions:
                for resource in version.resources:
                    yield group.metadata.name, version.version, resource


async def _groups(client: Client, path: str) -> _Groups:
    body = await client.raw("GET", path, accept=_ACCEPT)
    try:
        groups = msgspec.json.decode(body, type=_Groups)
    except UNDECODABLE as error:
        raise ProtocolError(f"{path} was answered with something else than resources: {error}") from error
    if groups.kind != "APIGroupDiscoveryList":
        raise ProtocolError(
            f"{path} was answered with {groups.kind or 'something unknown'} and not with a list of resources",
            remedy="use a Kubernetes of version 1.27 or later",
        )
    return groups
