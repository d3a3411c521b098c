"""What every Kubernetes object carries, as far as placement reads it."""

from __future__ import annotations

from typing import NewType

import msgspec

Uid = NewType("Uid", str)
#: Opaque to us. Kubernetes promises an order (as decimal numbers) only within one resource of one server.
ResourceVersion = NewType("ResourceVersion", str)


class OwnerReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Who made an object; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: Uid = Uid("")
    controller: bool = False


class ObjectMeta(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Names, versions, labels and ownership. Annotations are read, managedFields never."""

    name: str = ""
    namespace: str = ""
    uid: Uid = Uid("")
    resource_version: ResourceVersion = ResourceVersion("")
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for cluster-wide objects."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ListMeta(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The head of a list: where a watch may start, and how to get the next page."""

    resource_version: ResourceVersion = ResourceVersion("")
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None
