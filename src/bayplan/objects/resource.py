"""Which collection of an API server, and the struct that its objects decode into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote

from bayplan.errors import UsageError

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

        Without a namespace, or with an empty one, it is the collection across all of them. Whatever else would lead to
        another path than the one that is meant is a `UsageError`.
        """
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace and self.namespaced:
            parts += ["namespaces", _segment(namespace, "namespace")]
        parts.append(self.plural)
        if name is not None:
            parts.append(_segment(name, f"name of a {self.kind}"))
        if subresource is not None:
            parts.append(_segment(subresource, "subresource"))
        return "/".join(parts)


def _segment(word: str, what: str) -> str:
    """One segment of a path, by client-go's rule.

    Escaping a slash does not help: servers and proxies unescape before they look where a path leads, so that a delete
    of the name `/` would be one of the whole collection.
    """
    if word in {"", ".", ".."} or "/" in word or "%" in word:
        raise UsageError(
            f"{word!r} cannot be the {what}: it would lead to another place",
            remedy="give one that is not empty, `.` or `..`, and that has no `/` or `%` in it",
        )
    return quote(word, safe="")
