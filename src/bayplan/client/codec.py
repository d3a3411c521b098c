"""Wire bytes to structs, and back.

One object that does not fit its struct must not hide ten thousand that do. So a list is decoded in one go, and
only when that fails object by object: with nulls left out, and those that even then cannot be read told apart by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import msgspec

from bayplan.client.nesting import CUT, DEEPEST, without_depths
from bayplan.client.status import Status
from bayplan.errors import ProtocolError, ValidationError
from bayplan.objects.meta import ListMeta, ObjectMeta
from bayplan.objects.wire import UNDECODABLE, decode, decoder_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.objects.resource import Resource


class KubernetesObject(Protocol):
    """What the client must know of an object: its metadata."""

    @property
    def metadata(self) -> ObjectMeta:
        """Names and versions."""
        ...


T = TypeVar("T", bound=KubernetesObject)
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object whose content does not fit the struct it should decode into."""

    metadata: ObjectMeta
    #: What does not fit, with its path.
    problem: str


class Page(Generic[T]):
    """One answer to a list request."""

    __slots__ = ("items", "metadata", "unreadable")

    def __init__(self, metadata: ListMeta, items: list[T], unreadable: list[Unreadable]) -> None:
        self.metadata = metadata
        self.items = items
        #: Objects that are in the collection and could not be decoded.
        self.unreadable = unreadable


class PartialObject(msgspec.Struct, frozen=True):
    """An object of any kind, of which only the metadata is wanted; the last resort too for one that cannot be read."""

    metadata: ObjectMeta = ObjectMeta()


class _RawList(msgspec.Struct):
    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | None = None


class _Items(msgspec.Struct, Generic[T]):
    metadata: ListMeta = ListMeta()
    items: list[T] | None = None


class _Event(msgspec.Struct, Generic[T]):
    type: str
    object: T


class _RawEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


def encode(resource: Resource[Any], body: object) -> bytes:
    """JSON that names its kind. Bytes pass through; structs and mappings that say it themselves win."""
    if isinstance(body, bytes):
        return body
    encoded = msgspec.json.encode(body)
    if _names_its_kind(body) or not encoded.startswith(b"{"):
        return encoded
    head = msgspec.json.encode({"apiVersion": resource.api_version, "kind": resource.kind})
    return head if encoded == b"{}" else head[:-1] + b"," + encoded[1:]


def _names_its_kind(body: object) -> bool:
    return "kind" in body if isinstance(body, dict) else hasattr(body, "kind")


def decode_object(form: type[T], body: bytes, what: str) -> T:
    """One object."""
    try:
        return decode(form, body)
    except ValidationError as error:
        raise ProtocolError(f"{what}: the object cannot be read: {error}") from error


def decode_page(form: type[T], body: bytes, what: str) -> Page[T]:
    """One page of a list."""
    try:
        page = decoder_for(_Items[form]).decode(body)  # type: ignore[valid-type]
        return Page(page.metadata, page.items or [], [])
    except UNDECODABLE:
        pass
    try:
        raw = _decode_outline(_RawList, body)
    except UNDECODABLE as error:
        raise ProtocolError(f"{what}: the answer is no list: {error}") from error
    decoded = [_read(form, item, what) for item in raw.items or ()]
    return Page(
        raw.metadata,
        [item for item in decoded if not isinstance(item, Unreadable)],
        [item for item in decoded if isinstance(item, Unreadable)],
    )


def decode_event(form: type[T], line: bytes, what: str) -> tuple[str, T | Unreadable | Status]:
    """One line of a watch: its type, and the object, or the Status where the type is ERROR."""
    if not line.startswith(b'{"type":"ERROR"'):
        try:
            event = decoder_for(_Event[form]).decode(line)  # type: ignore[valid-type]
            if event.type != "ERROR":
                return event.type, event.object
        except UNDECODABLE:
            pass
    try:
        raw = _decode_outline(_RawEvent, line)
        if raw.type == "ERROR":
            return raw.type, decoder_for(Status).decode(raw.object)
    except UNDECODABLE as error:
        raise ProtocolError(f"{what}: a line of the watch cannot be read: {error}") from error
    return raw.type, _read(form, raw.object, what)


def _decode_outline(form: type[F], text: bytes) -> F:
    """The outer parts of a list, an event or an object. Even skipping the inner ones fails where they go too deep."""
    decoder = decoder_for(cast(Any, form))
    outline: F
    try:
        outline = decoder.decode(text)
    except RecursionError:
        outline = decoder.decode(without_depths(text))
    return outline


def _read(form: type[T], raw: msgspec.Raw, what: str) -> T | Unreadable:
    try:
        if CUT in bytes(raw):
            raise ValidationError(f"it is nested more than {DEEPEST} levels deep")
        return decode(form, raw)
    except ValidationError as error:
        problem = str(error)
    try:
        return Unreadable(_decode_outline(PartialObject, bytes(raw)).metadata, problem)
    except UNDECODABLE as error:
        raise ProtocolError(f"{what}: an object without readable metadata: {error}") from error


def query_pairs(values: Mapping[str, object | None]) -> tuple[tuple[str, str], ...]:
    """Query parameters as the API server reads them, without those that are None or empty."""
    return tuple((name, _word(value)) for name, value in values.items() if value is not None and value != "")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
