"""The four kinds of patch, each with the media type by which the API server tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class MergePatch:
    """RFC 7386: what is named replaces, lists included; null removes. The one kind that every resource takes."""

    media_type: ClassVar[str] = "application/merge-patch+json"
    change: Mapping[str, Any]

    @property
    def body(self) -> object:
        """What goes over the wire."""
        return self.change


@dataclass(frozen=True, slots=True)
class StrategicMergePatch:
    """Kubernetes' own: lists are merged by their keys. Built-in types only."""

    media_type: ClassVar[str] = "application/strategic-merge-patch+json"
    change: Mapping[str, Any]

    @property
    def body(self) -> object:
        """What goes over the wire."""
        return self.change


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """RFC 6902: operations in order, all or none; a `test` among them makes it conditional."""

    media_type: ClassVar[str] = "application/json-patch+json"
    operations: Sequence[Mapping[str, Any]]

    @property
    def body(self) -> object:
        """What goes over the wire."""
        return self.operations


@dataclass(frozen=True, slots=True)
class ApplyPatch:
    """Server-side apply: the fields that `manager` wants to own, in full. Creates the object where it is missing."""

    # JSON is YAML, and every server that applies takes this type.
    media_type: ClassVar[str] = "application/apply-patch+yaml"
    intent: Mapping[str, Any]
    manager: str
    #: Take fields over from other managers instead of failing with a Conflict.
    force: bool = False

    @property
    def body(self) -> object:
        """What goes over the wire."""
        return self.intent


Patch = MergePatch | StrategicMergePatch | JsonPatch | ApplyPatch
