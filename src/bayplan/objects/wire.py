"""What all structs of the wire have in common, and reading one object whatever nulls it holds.

**Structs.** Each names the fields that are read; the decoder skips the others without making objects of them. They are
frozen, so one decoded object can be shared by every part that looks at it. The garbage collector does not track them
(`gc=False`): decoded data is a tree, a frozen struct cannot be made to refer back to its owner, so it can be no part of
a cycle, and the collector has nothing to find in the millions of them that a large cluster is.

**Nulls.** Go reads `null` as absent everywhere and writes it for some empty lists and times. Fields where API servers
do write it take it here too. In hand-written manifests it can be anywhere; `decode` leaves out what the struct refuses.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar, cast

import msgspec

from bayplan.errors import ValidationError

if TYPE_CHECKING:
    #: A list that Go writes as null when it is empty. Readers always see a tuple.
    NullableStrings: TypeAlias = tuple[str, ...]
else:
    NullableStrings = tuple[str, ...] | None

#: Go's integers: what does not fit in them is refused, as the API server refuses it.
Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

T = TypeVar("T")

#: How decoding fails: bytes that are no JSON or do not fit their type, that nest too deeply, or that are not UTF-8.
UNDECODABLE: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class Wire(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A part of a Kubernetes object: camelCase on the wire, with absent fields at their defaults."""


class NullableWire(Wire, frozen=True):
    """A part with lists that Go writes as null when they are empty; they become empty tuples.

    Not for parts of pods: this runs Python code for each one that is decoded.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) is None:
                msgspec.structs.force_setattr(self, name, ())


def decode(form: type[T], data: bytes | msgspec.Raw) -> T:
    """One object from JSON. Where it does not fit as it is, it is tried again with every null left out."""
    try:
        decoded: T = decoder_for(cast(Any, form)).decode(data)
        return decoded
    except UNDECODABLE as error:
        problem = error
    try:
        return msgspec.convert(_without_nulls(msgspec.json.decode(data)), form)
    except UNDECODABLE:
        raise _unreadable(form, problem) from problem


@cache
def decoder_for(form: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of a type: made once, since making one costs more than using it."""
    return msgspec.json.Decoder(form)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value]
    return value


def _unreadable(form: type[Any], error: Exception) -> ValidationError:
    what = "it is nested too deeply" if isinstance(error, RecursionError) else error
    return ValidationError(
        f"this is no {form.__name__} as Kubernetes writes it: {what}", remedy="compare it with `kubectl get -o json`"
    )
