"""Label selectors, compiled: from structs here, from kubectl's text in `labels_text`.

Kubernetes has one form behind both, a list of requirements that must all hold, and so have we.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bayplan.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.objects.selection import LabelSelector


class Operator(StrEnum):
    """What a requirement asks of a label, named as Go's selection package names it."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"


#: The operators of structured selectors; label selectors have the first four.
STRUCTURED_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}
_ORDERED = frozenset({Operator.GREATER_THAN, Operator.LESS_THAN})
_POSITIVE = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_NEGATIVE = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_NAME_LENGTH = 63
_SUBDOMAIN_LENGTH = 253
_NAME_REMEDY = (
    f"write at most {_NAME_LENGTH} letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
)
_INTEGER = re.compile(r"[+-]?[0-9]+")
#: More digits than any int64 has, leading zeros aside; Python refuses to read thousands of them.
_INTEGER_LENGTH = 4000


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is asked of one label. `require` makes one that Kubernetes' rules allow."""

    key: str
    operator: Operator
    #: In the order given. The order does not matter to what matches.
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels satisfy it. NotIn and != hold for an absent label too."""
        value = labels.get(self.key)
        operator = self.operator
        if operator in _POSITIVE:
            return value is not None and value in self.values
        if operator in _NEGATIVE:
            return value is None or value not in self.values
        if operator is Operator.EXISTS:
            return value is not None
        if operator is Operator.DOES_NOT_EXIST:
            return value is None
        return value is not None and self._is_beyond(value)

    def _is_beyond(self, value: str) -> bool:
        found, bound = read_int64(value), read_int64(self.values[0])
        if found is None or bound is None:
            return False
        return found > bound if self.operator is Operator.GREATER_THAN else found < bound

    def __str__(self) -> str:
        joined = ",".join(sorted(self.values))
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({joined})"
            case Operator.GREATER_THAN:
                return f"{self.key}>{joined}"
            case Operator.LESS_THAN:
                return f"{self.key}<{joined}"
            case _:
                return f"{self.key}{self.operator}{joined}"


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all hold, sorted by key. None of them is everything; `nothing` selects not even that."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @classmethod
    def of_labels(cls, labels: Mapping[str, str]) -> Selector:
        """All of these labels, as in a Service's selector or a pod's nodeSelector. They are not checked."""
        return cls(tuple(Requirement(key, Operator.EQUALS, (labels[key],)) for key in sorted(labels)))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether it selects an object with these labels."""
        if self.nothing:
            return False
        # A loop, because a generator costs more than the one or two requirements there are.
        for requirement in self.requirements:  # noqa: SIM110
            if not requirement.matches(labels):
                return False
        return True

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.requirements and not self.nothing

    def with_requirements(self, more: Iterable[Requirement]) -> Selector:
        """Narrower by these. Nothing stays nothing."""
        if self.nothing:
            return self
        return Selector(tuple(sorted((*self.requirements, *more), key=_key_of)))

    def __str__(self) -> str:
        """As kubectl's `-l` takes it; nothing has no such form and is written as the empty text."""
        return ",".join(map(str, self.requirements))


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


def compile_label_selector(selector: LabelSelector | None) -> Selector:
    """The compiled form of a struct; a ValidationError where it breaks Kubernetes' rules. None selects nothing."""
    if selector is None:
        return NOTHING
    if not selector.match_labels and not selector.match_expressions:
        return EVERYTHING
    asked = [require(key, Operator.EQUALS, (value,)) for key, value in selector.match_labels.items()]
    for expression in selector.match_expressions:
        operator = STRUCTURED_OPERATORS.get(expression.operator)
        if operator is None or operator in _ORDERED:
            raise _refused(f"{expression.operator!r} is not an operator", "use In, NotIn, Exists or DoesNotExist")
        asked.append(require(expression.key, operator, expression.values))
    return EVERYTHING.with_requirements(asked)


def require(key: str, operator: Operator, values: Iterable[str] = ()) -> Requirement:
    """A requirement after Kubernetes' rules; a ValidationError names the first that it breaks."""
    values = tuple(values)
    check_key(key)
    _check_count(key, operator, values)
    for value in values:
        _check_value(key, value)
        if operator in _ORDERED and read_int64(value) is None:
            raise _refused(f"{value!r} of label {key!r} is not a 64-bit integer", "Gt and Lt compare integers")
    return Requirement(key, operator, values)


def check_key(key: str) -> None:
    """Raise a ValidationError unless a label may be called that."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= _SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(prefix)):
        raise _refused(
            f"{key!r} is not a label key: the part before the slash is no DNS subdomain",
            "write lower-case letters, digits, '-' and '.', such as example.com/role",
        )
    if len(name) > _NAME_LENGTH or not _NAME.fullmatch(name):
        raise _refused(
            f"{key!r} is not a label key",
            _NAME_REMEDY,
        )


def is_label_key(key: str) -> bool:
    """Whether a label may be called that."""
    try:
        check_key(key)
    except ValidationError:
        return False
    return True


def read_int64(text: str) -> int | None:
    """The number as Go's ParseInt reads it, or None."""
    if len(text) > _INTEGER_LENGTH or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _check_count(key: str, operator: Operator, values: tuple[str, ...]) -> None:
    match operator:
        case Operator.IN | Operator.NOT_IN:
            wanted, fine = "at least one value", bool(values)
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            wanted, fine = "no values", not values
        case _:
            wanted, fine = "exactly one value", len(values) == 1
    if not fine:
        raise _refused(f"label {key!r} has {len(values)} values", f"give {operator.name.lower()} {wanted}")


def _check_value(key: str, value: str) -> None:
    if value and (len(value) > _NAME_LENGTH or not _NAME.fullmatch(value)):
        raise _refused(
            f"{value!r} is not a value of label {key!r}",
            _NAME_REMEDY,
        )


def _key_of(requirement: Requirement) -> str:
    return requirement.key


def _refused(problem: str, remedy: str) -> ValidationError:
    return ValidationError(problem, remedy=remedy)
