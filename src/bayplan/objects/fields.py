"""Field selectors: `spec.nodeName=,status.phase!=Failed`.

In a value a backslash stands before each backslash, comma and equals sign. Fields that an object does not have are
empty. Which fields a resource can be selected by is the API server's business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPECIAL = re.compile(r"[\\,=]")
# An escape first, so that an escaped comma does not end a term.
_TERM_PIECE = re.compile(r"\\.|,", re.DOTALL)
_OPERATOR = re.compile(r"!=|==|=")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)

_REMEDY = "write terms such as metadata.name=web or status.phase!=Failed, with commas between them"


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """A field that must have a value, or must not have it."""

    field: str
    value: str
    negated: bool = False

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether these fields satisfy it."""
        return (fields.get(self.field, "") == self.value) is not self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{escape_value(self.value)}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Requirements that must all hold; none of them is everything."""

    requirements: tuple[FieldRequirement, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether it selects an object with these fields."""
        return all(requirement.matches(fields) for requirement in self.requirements)

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.requirements

    def __str__(self) -> str:
        """As kubectl's `--field-selector` takes it."""
        return ",".join(map(str, self.requirements))


def parse_field_selector(text: str) -> FieldSelector:
    """What kubectl and the API server make of this text; a ValidationError where they refuse it."""
    terms = sorted(_split(text))
    requirements = (_read_term(text, term) for term in terms if term)
    # A term without field and value asks for nothing.
    return FieldSelector(tuple(one for one in requirements if one.field or one.value))


def escape_value(value: str) -> str:
    """A value as it must be written in a selector."""
    return _SPECIAL.sub(r"\\\g<0>", value)


def _split(text: str) -> list[str]:
    terms, start = [], 0
    for piece in _TERM_PIECE.finditer(text):
        if piece[0] == ",":
            terms.append(text[start : piece.start()])
            start = piece.end()
    return [*terms, text[start:]]


def _read_term(text: str, term: str) -> FieldRequirement:
    operator = _OPERATOR.search(term)
    if operator is None:
        raise _refused(text, f"{term!r} has no operator")
    value = _unescape(text, term[operator.end() :])
    return FieldRequirement(term[: operator.start()], value, negated=operator[0] == "!=")


def _unescape(text: str, value: str) -> str:
    plain = _ESCAPE.sub("", value)
    if "=" in plain:
        raise _refused(text, f"the value {value!r} has an equals sign without a backslash before it")
    if any(escape[1] not in {"\\", ",", "="} for escape in _ESCAPE.finditer(value)):
        raise _refused(text, f"the value {value!r} has a backslash before something that needs none")
    return _ESCAPE.sub(r"\1", value)


def _refused(text: str, why: str) -> ValidationError:
    return ValidationError(f"{text!r} is not a field selector: {why}", remedy=_REMEDY)
