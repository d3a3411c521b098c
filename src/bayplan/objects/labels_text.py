"""Label selectors as kubectl's `-l` takes them: `app in (web,db),!canary,tier!=test,gen>3`.

`in` and `notin` are operators only where an operator may stand, so a label may be called `in`. Values may be empty and
may be missing: `a=`, `a in ()`, `a in (,b)`. A NUL ends a word, as it does in Go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bayplan.errors import ValidationError
from bayplan.objects.labels import EVERYTHING, Operator, Requirement, Selector, check_key, require

# Blanks, then a word of signs or a word of anything else; a NUL right behind a word goes with it.
_WORD = re.compile(r"[ \t\r\n]*+(?:(?P<sign>==|!=|[=!(),<>])|(?P<name>[^=!(),<>\x20\t\r\n\x00]++))\x00?")

_OPERATORS = {
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
}
_END = ""

#: Selectors kept by the cache. Longer ones are parsed anew each time, so that it cannot hold much.
_REMEMBERED = 1024
_LONG = 256


def parse_label_selector(text: str) -> Selector:
    """What kubectl and the API server make of this text; a ValidationError where they refuse it."""
    return _parse_short(text) if len(text) <= _LONG else _parse(text)


def _parse(text: str) -> Selector:
    return _Parser(text).parse()


_parse_short = lru_cache(_REMEMBERED)(_parse)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    sign: bool


def _split(text: str) -> list[_Word]:
    """The words, with one at the end that is an empty sign."""
    words = []
    position = 0
    while match := _WORD.match(text, position):
        sign = match["sign"]
        words.append(_Word(sign or match["name"], sign is not None))
        position = match.end()
    return [*words, _Word(_END, sign=True)]


class _Parser:
    """One requirement after another, a word of look-ahead at a time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = _split(text)
        self._position = 0

    def parse(self) -> Selector:
        requirements: list[Requirement] = []
        if self._is_sign(_END):
            return EVERYTHING
        while True:
            requirements.append(self._requirement())
            if self._takes(_END):
                return EVERYTHING.with_requirements(requirements)
            if not self._takes(","):
                raise self._unexpected("a comma or the end")

    def _requirement(self) -> Requirement:
        absent = self._takes("!")
        key = self._name("a label key")
        check_key(key)
        alone = self._is_sign(_END) or self._is_sign(",")
        if absent:
            return require(key, Operator.DOES_NOT_EXIST)
        if alone:
            return require(key, Operator.EXISTS)
        operator = _OPERATORS.get(self._next.text)
        if operator is None:
            raise self._unexpected("an operator")
        self._position += 1
        listed = operator in {Operator.IN, Operator.NOT_IN}
        return require(key, operator, self._values() if listed else (self._value(),))

    def _value(self) -> str:
        return "" if self._is_sign(_END) or self._is_sign(",") else self._name("a value")

    def _values(self) -> list[str]:
        if not self._takes("("):
            raise self._unexpected("'('")
        values = set()
        while True:
            values.add("" if self._next.sign and self._next.text in {",", ")"} else self._name("a value"))
            if self._takes(")"):
                return sorted(values)
            if not self._takes(","):
                raise self._unexpected("',' or ')'")

    @property
    def _next(self) -> _Word:
        return self._words[self._position]

    def _is_sign(self, text: str) -> bool:
        return self._next.sign and self._next.text == text

    def _takes(self, text: str) -> bool:
        if not self._is_sign(text):
            return False
        self._position += 1
        return True

    def _name(self, wanted: str) -> str:
        if self._next.sign:
            raise self._unexpected(wanted)
        self._position += 1
        return self._words[self._position - 1].text

    def _unexpected(self, wanted: str) -> ValidationError:
        found = repr(self._next.text) if self._next.text else "the end"
        return ValidationError(
            f"{self._text!r} is not a label selector: {found} stands where {wanted} is wanted",
            remedy="write requirements such as app=web, tier in (front,back), !canary, with commas between them",
        )
