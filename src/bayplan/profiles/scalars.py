"""What a word of YAML stands for, as kube-scheduler's parser has it: YAML 1.1 without times of day and base 60.

So `yes`, `on` and `y` are true, `010` is eight, `1_000` a thousand, and a date is a text.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

#: What a document is made of, at its ends.
Plain: TypeAlias = str | int | float | bool | None

_PREFIX = "tag:yaml.org,2002:"
_WORDS: dict[str, Plain] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"[-+]?(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|0|(?P<d>[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}

#: Longer ones are no integer that anything could hold, and slow to work out.
_LONGEST = 80
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "null": (type(None),),
    "timestamp": (str,),
}


def resolve(text: str, tag: str | None, *, plain: bool) -> Plain:
    """The value of a scalar. A ValueError where its tag says that it is something else."""
    if tag is None:
        return _resolve_plain(text) if plain else text
    name = tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else tag
    if name in {"str", "!"}:
        return text
    if name not in _TYPES:
        raise ValueError(f"has the tag {tag[:60]!r}, which means nothing here")
    value = _resolve_plain(text)
    if type(value) not in _TYPES[name]:
        raise ValueError(f"is tagged as {name} and is none")
    return float(value) if name == "float" and isinstance(value, int) else value


def _resolve_plain(text: str) -> Plain:
    if text in _WORDS:
        return _WORDS[text]
    if not text[:1].isascii() or text[0] not in "+-.0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    if len(digits) <= _LONGEST and _FLOAT.fullmatch(digits):
        number = float(digits)
        return number if math.isfinite(number) else text
    return text


def _integer(text: str) -> int | None:
    match = _INTEGER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    base = match.lastgroup
    number = int(match[base], _BASES[base]) if base else 0
    return -number if text[0] == "-" else number
