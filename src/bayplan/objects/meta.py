"""What every Kubernetes object carries, as far as placement reads it."""

from typing import NewType

import msgspec

from bayplan.objects.wire import Int64, Wire

Uid = NewType("Uid", str)
#: Opaque to us. Kubernetes promises an order (as decimal numbers) only within one resource of one server.
ResourceVersion = NewType("ResourceVersion", str)


class OwnerReference(Wire, frozen=True):
    """Who made an object; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: Uid = Uid("")
    controller: bool | None = None


class ObjectMeta(Wire, frozen=True):
    """Names, versions, labels and ownership. Annotations are read, managedFields never."""

    name: str = ""
    namespace: str = ""
    uid: Uid = Uid("")
    resource_version: ResourceVersion = ResourceVersion("")
    generation: Int64 = 0
    #: None until the API server has stored the object; Go then writes null.
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for cluster-wide objects."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if there is one."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class ListMeta(Wire, frozen=True):
    """The head of a list: where a watch may start, and how to get the next page."""

    resource_version: ResourceVersion = ResourceVersion("")
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class ObjectReference(Wire, frozen=True):
    """A pointer from one object to another, or to a part of it."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: Uid = Uid("")
    api_version: str = ""
    resource_version: ResourceVersion = ResourceVersion("")
    field_path: str = ""


class Condition(Wire, frozen=True):
    """One of an object's conditions. Times are left out: heartbeats would make every status look new."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
