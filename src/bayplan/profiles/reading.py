"""A tree of YAML as objects of the types that are wanted, with every value that does not fit reported at its place.

Fields are snake_case in Python and camelCase in a file. What does not fit is left at its default, so that the rest can
be looked at too: one round of edits should be enough.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import difflib
import enum
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

import msgspec

from bayplan.profiles.document import Items, Node, Scalar, Table, plain
from bayplan.profiles.durations import parse_duration
from bayplan.profiles.hints import field_types
from bayplan.profiles.problems import Problems, child, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

#: In the place of a value that does not fit.
UNFIT: Final = object()

#: What is read of numbers that are written without bounds of their own.
_INT64 = msgspec.Meta(ge=-(2**63), le=2**63 - 1)

#: For a field of a file that is to be left as it is; its type is `Any`.
AS_IT_IS: Final = "as it is"


@dataclass(frozen=True, slots=True)
class Field:
    """A field, as a file has it."""

    name: str
    key: str
    type: Any
    default: Callable[[], Any] | None
    must_be_stated: bool
    zero_is_default: bool


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads trees, and keeps what is wrong with them."""

    problems: Problems
    #: An empty text or list stands for the default, as Go's defaulting has it.
    empty_is_default: bool = False

    def read(self, node: Node, form: Any, path: str) -> Any:
        """The value, or UNFIT."""
        if form is Any or form is object:
            return plain(node)
        origin, arguments = get_origin(form), get_args(form)
        if origin is Annotated:
            return self._annotated(node, arguments, path)
        if origin in (Union, types.UnionType):
            return self._union(node, arguments, path)
        if origin is Literal:
            return self._one_of(node, {str(one): one for one in arguments}, path)
        if origin in (tuple, list, frozenset, set):
            return self._items(node, form, path)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(node, arguments[1], path)
        if isinstance(form, type) and issubclass(form, enum.Enum):
            return self._one_of(node, {str(one.value): one for one in form}, path)
        if isinstance(form, type) and (dataclasses.is_dataclass(form) or issubclass(form, msgspec.Struct)):
            return self.read_object(node, form, path)
        return self._scalar(node, form, path)

    def read_object(self, node: Node, form: type[Any], path: str) -> Any:
        """An object of a class with fields. Where it cannot be made at all, UNFIT."""
        if isinstance(node, Scalar) and node.value is None:
            node = Table(node.line)  # As an entry of a list: Go makes an object of nothing.
        if not isinstance(node, Table):
            return self._unfit(node, path, "a mapping")
        try:
            fields = fields_of(form)
        except Exception as error:  # noqa: BLE001 - a stranger's annotations can be anything
            return self._broken(node, path, f"the types of {form.__name__} cannot be read: {error}")
        self._report_faults(node, fields, path)
        values = {field.name: self._field(node, field, path) for field in fields.values()}
        values = {name: value for name, value in values.items() if value is not UNFIT}
        try:
            return form(**values)
        except Exception as error:  # noqa: BLE001 - so can a stranger's __post_init__
            if self.problems.at(path) or any(self.problems.at(child(path, key)) for key in fields):
                return UNFIT  # It lacks what has been complained of.
            return self._broken(node, path, f"{type(error).__name__}: {error}")

    def _field(self, table: Table, field: Field, path: str) -> Any:
        node = table.entries.get(field.key)
        absent = node is None or (isinstance(node, Scalar) and node.value is None)
        if node is None or absent or (self.empty_is_default and _is_empty(node, field)):
            if field.must_be_stated or (field.default is None and absent):
                self.problems.add(table.line, child(path, field.key), "has to be given")
            return field.default() if field.default is not None else UNFIT
        value = self.read(node, field.type, child(path, field.key))
        if value is UNFIT or (field.zero_is_default and not value):
            return field.default() if field.default is not None else UNFIT
        return value

    def _report_faults(self, table: Table, fields: Mapping[str, Field], path: str) -> None:
        self._report_keys(table, path)
        for key, node in table.entries.items():
            if key not in fields:
                close = difflib.get_close_matches(key[:100], fields, n=1)
                meant = f"; {close[0]} is one" if close else ""
                line = table.lines.get(key, node.line)
                self.problems.add(line, child(path, key), f"there is no such field{meant}")

    def _report_keys(self, table: Table, path: str) -> None:
        for line, message in table.faults:
            self.problems.add(line, path, message)

    def _annotated(self, node: Node, arguments: tuple[Any, ...], path: str) -> Any:
        form, *notes = arguments
        if "duration" in notes:
            return self._duration(node, path)
        if AS_IT_IS in notes:
            return node
        value = self.read(node, form, path)
        for meta in notes:
            if isinstance(meta, msgspec.Meta) and isinstance(value, int | float) and not _is_within(value, meta):
                return self._broken(node, path, f"{shortened(value)} is not from {meta.ge} to {meta.le}")
        return value

    def _union(self, node: Node, arguments: tuple[Any, ...], path: str) -> Any:
        if isinstance(node, Scalar) and node.value is None and type(None) in arguments:
            return None
        forms = [form for form in arguments if form is not type(None)]
        if len(forms) == 1:
            return self.read(node, forms[0], path)
        for form in forms:
            trial = Reader(Problems(""), self.empty_is_default)
            value = trial.read(node, form, path)
            if not len(trial.problems):
                return value
        return self._unfit(node, path, " or ".join(_named(form) for form in forms))

    def _one_of(self, node: Node, choices: Mapping[str, Any], path: str) -> Any:
        value = node.value if isinstance(node, Scalar) else UNFIT
        found = choices.get(str(value), UNFIT) if not isinstance(value, bool) else UNFIT
        return found if found is not UNFIT else self._unfit(node, path, f"one of {', '.join(choices)}")

    def _items(self, node: Node, form: Any, path: str) -> Any:
        if not isinstance(node, Items):
            return self._unfit(node, path, "a list")
        inner = next((one for one in get_args(form) if one is not Ellipsis), Any)
        read = (self.read(one, inner, child(path, index)) for index, one in enumerate(node.items))
        return get_origin(form)(value for value in read if value is not UNFIT)

    def _mapping(self, node: Node, form: Any, path: str) -> Any:
        if not isinstance(node, Table):
            return self._unfit(node, path, "a mapping")
        self._report_keys(node, path)
        read = {key: self.read(one, form, child(path, key)) for key, one in node.entries.items()}
        return {key: value for key, value in read.items() if value is not UNFIT}

    def _scalar(self, node: Node, form: Any, path: str) -> Any:
        value = node.value if isinstance(node, Scalar) else UNFIT
        fits = _SCALARS.get(form)
        if fits is None:
            return self._converted(node, form, path)
        value = fits(value)
        return value if value is not UNFIT else self._unfit(node, path, _named(form))

    def _duration(self, node: Node, path: str) -> Any:
        if not (isinstance(node, Scalar) and isinstance(node.value, str)):
            return self._unfit(node, path, "a time such as 15s")
        try:
            return parse_duration(node.value)
        except ValueError as error:
            return self._broken(node, path, f"{shortened(node.value)} {error}")

    def _converted(self, node: Node, form: Any, path: str) -> Any:
        """Types of which only msgspec knows how they are written."""
        try:
            return msgspec.convert(plain(node), form)
        except Exception as error:  # noqa: BLE001 - the type is a stranger's
            return self._broken(node, path, str(error))

    def _unfit(self, node: Node, path: str, wanted: str) -> Any:
        return self._broken(node, path, f"{_described(node)} stands where {wanted} is wanted")

    def _broken(self, node: Node, path: str, message: str) -> Any:
        self.problems.add(node.line, path, message)
        return UNFIT


def fields_of(form: type[Any]) -> dict[str, Field]:
    """The fields of a dataclass or struct, by what they are called in a file."""
    return _fields_of(cast(Any, form))


@cache
def _fields_of(form: Any) -> dict[str, Field]:
    found: list[Field] = []
    if issubclass(form, msgspec.Struct):
        known = field_types(form)
        found = [_struct_field(one, known) for one in msgspec.structs.fields(form)]
    elif hasattr(form, "__dataclass_fields__"):
        known = field_types(form)
        found = [_dataclass_field(one, known) for one in dataclasses.fields(form) if one.init]
    return {field.key: field for field in found}


def _struct_field(one: msgspec.structs.FieldInfo, known: Mapping[str, Any]) -> Field:
    default = None
    if one.default_factory is not msgspec.NODEFAULT:
        default = one.default_factory
    elif one.default is not msgspec.NODEFAULT:
        default = _returning(one.default)
    return Field(one.name, one.encode_name, known[one.name], default, must_be_stated=False, zero_is_default=False)


def _dataclass_field(one: dataclasses.Field[Any], known: Mapping[str, Any]) -> Field:
    default: Callable[[], Any] | None = None
    if one.default_factory is not MISSING:
        default = one.default_factory
    elif one.default is not MISSING:
        default = _returning(one.default)
    stated, zero = (bool(one.metadata.get(key)) for key in ("must_be_stated", "zero_is_default"))
    return Field(one.name, one.metadata.get("key") or camel(one.name), known[one.name], default, stated, zero)


def camel(name: str) -> str:
    """As a file writes a name."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _returning(value: Any) -> Callable[[], Any]:
    return lambda: value


def _is_empty(node: Node, field: Field) -> bool:
    """Of its type, and with nothing in it: a time or a number is no empty text."""
    if field.default is None:
        return False
    if isinstance(node, Items):
        return not node.items and get_origin(field.type) is tuple
    return isinstance(node, Scalar) and node.value == "" and field.type is str


def _is_within(value: float, meta: msgspec.Meta) -> bool:
    return (meta.ge is None or value >= meta.ge) and (meta.le is None or value <= meta.le)


def _read_int(value: Any) -> Any:
    """1.0 is 1, as it is for who reads YAML by way of JSON."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return UNFIT
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) and value.is_integer() else UNFIT
    return value if value is not UNFIT and _is_within(value, _INT64) else UNFIT


def _read_float(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return UNFIT
    return float(value) if math.isfinite(value) else UNFIT


def _read_bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else UNFIT
    except (binascii.Error, ValueError):
        return UNFIT


_SCALARS: Mapping[Any, Callable[[Any], Any]] = {
    str: lambda value: value if isinstance(value, str) else UNFIT,
    bool: lambda value: value if isinstance(value, bool) else UNFIT,
    int: _read_int,
    float: _read_float,
    bytes: _read_bytes,
}

_NAMES = {str: "a text", bool: "true or false", int: "an integer", float: "a number", bytes: "base64"}


def _named(form: Any) -> str:
    return _NAMES.get(form) or str(getattr(form, "__name__", form))


def _described(node: Node) -> str:
    match node:
        case Items():
            return "a list"
        case Table():
            return "a mapping"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=str()):
            return f"the text {shortened(node.value)}"
        case Scalar(value=bool()):
            return "true" if node.value else "false"
        case _:
            return f"the number {shortened(node.value)}"
