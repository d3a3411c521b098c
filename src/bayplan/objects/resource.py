"""Which collection of an API server, and the struct that its objects decode into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T_co]):
    """A collection such as `pods` in `v1`, and the struct that holds what we read of its objects."""

    #: The API group; empty for core.
    group: str
    version: str
    #: The name in the URL: lower case and plural.
    plural: str
    kind: str
    namespaced: bool
    #: What objects decode into; fields it does not name are skipped on the wire.
    type: type[T_co]

    @property
    def api_version(self) -> str:
        """`v1` for core, `group/version` otherwise."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified_name(self) -> str:
        """`pods`, `deployments.apps`: how kubectl and RBAC name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, *, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of the collection, of one object in it, or of an object's subresource.

        Without a namespace, or with an empty one, it is the collection across all of them.
        """
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace and self.namespaced:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        if subresource is not None:
            parts.append(subresource)
        return "/".join(parts)
