"""Reading quantities: Kubernetes' grammar, from text and from what JSON made of it.

The grammar is wider than its documentation: a sign or a point alone is zero, `1.` and `.5` are numbers, and after the
digits comes one suffix of three families: `n u m k M G T P E`, `Ki … Ei`, or `e` with an exponent.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from bayplan.errors import ValidationError
from bayplan.objects.quantity import INT64_MAX, INT64_MIN, MAX_DIGITS, ZERO, Family, Quantity

#: A quantity in decoded JSON. The API server always writes text; hand-written manifests hold numbers and nulls too.
#: A number with a fraction or an exponent has lost its spelling, and what it had beyond 17 digits.
WireQuantity: TypeAlias = str | int | float | None

#: Texts kept by each cache. A cluster of 10,000 pods and 1,000 nodes uses a few hundred.
_REMEMBERED = 16_384
#: Longer texts are read anew each time, so that the caches cannot hold much.
_LONG = 64

# Possessive, so that a long wrong text is refused in one pass.
_GRAMMAR = re.compile(
    r"""(?P<sign>[+-]?) 0*+ (?P<whole>[0-9]*+) (?:\.(?P<fraction>[0-9]*+))?+
        (?P<suffix>[eEinumkKMGTP]*+[+-]?+[0-9]*+)""",
    re.VERBOSE,
)
_DECIMAL_SUFFIXES = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")

#: Decimal digits that always fit int64.
_NARROW_DIGITS = 18
#: Nothing finer is kept: what is left below a billionth is rounded up to one.
_FINEST = -9
#: What the wire decoder trims. A control character can only have come through a JSON escape, which it does not undo.
_BLANKS: Final = (
    " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

_REMEDY = "write a number and a suffix, such as 100m, 1.5Gi or 2e3"


def parse_quantity(text: str) -> Quantity:
    """What Kubernetes makes of this text; a ValidationError where it refuses it."""
    return _parse_short(text) if len(text) <= _LONG else _parse(text)


def read_quantity(wire: WireQuantity) -> Quantity:
    """What Kubernetes' wire decoder makes of a JSON value: blanks around it are trimmed, and null is zero."""
    if isinstance(wire, str):
        return parse_quantity(wire.strip(_BLANKS))
    return ZERO if wire is None else parse_quantity(repr(wire))


def value_of(wire: WireQuantity) -> int:
    """`read_quantity(wire).value()`, remembered."""
    return _short_value(wire) if isinstance(wire, str) and len(wire) <= _LONG else read_quantity(wire).value()


def milli_value_of(wire: WireQuantity) -> int:
    """`read_quantity(wire).milli_value()`, remembered."""
    if isinstance(wire, str) and len(wire) <= _LONG:
        return _short_milli_value(wire)
    return read_quantity(wire).milli_value()


@lru_cache(_REMEMBERED)
def _short_value(wire: str) -> int:
    return read_quantity(wire).value()


@lru_cache(_REMEMBERED)
def _short_milli_value(wire: str) -> int:
    return read_quantity(wire).milli_value()


class _Written(NamedTuple):
    """A quantity's text, taken apart."""

    text: str
    negative: bool
    #: Digits before the point without leading zeros, `0` for none, and those behind it.
    whole: str
    fraction: str
    #: Whether there is a digit at all, leading zeros included.
    has_digits: bool
    base: int
    exponent: int
    family: Family


def _parse(text: str) -> Quantity:
    if text == "0":
        return ZERO
    written = _take_apart(text)
    narrow = _read_narrow(written)
    return _read_wide(written) if narrow is None else narrow


_parse_short = lru_cache(_REMEMBERED)(_parse)


def _take_apart(text: str) -> _Written:
    if not text:
        raise _refused(text, "it is empty")
    if len(text) > MAX_DIGITS:
        raise _refused(text, f"it is longer than {MAX_DIGITS} characters")
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise _refused(text, "it is not a decimal number with one suffix")
    digits = text[: match.start("suffix")].strip("+-.")
    suffix = _read_suffix(text, match["suffix"])
    return _Written(text, match["sign"] == "-", match["whole"] or "0", match["fraction"] or "", bool(digits), *suffix)


def _read_suffix(text: str, suffix: str) -> tuple[int, int, Family]:
    """The base, its exponent, and the family."""
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], "DecimalSI"
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], "BinarySI"
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise _refused(text, f"{suffix!r} is not a suffix")
    exponent = int(match[1])
    if not INT64_MIN <= exponent <= INT64_MAX:
        raise _refused(text, "its exponent does not fit 64 bits")
    return 10, _wrap_int32(exponent), "DecimalExponent"


def _read_narrow(written: _Written) -> Quantity | None:
    """The quantity in the narrow form, or None where Go goes the long way."""
    return _read_narrow_binary(written) if written.base == 2 else _read_narrow_decimal(written)


def _read_narrow_decimal(written: _Written) -> Quantity | None:
    digits = written.whole + written.fraction
    scale = _wrap_int32(written.exponent - len(written.fraction))
    if len(digits) > _NARROW_DIGITS or scale < _FINEST:
        return None
    number = -int(digits) if written.negative else int(digits)
    # Go takes such a text for canonical and repeats it, though `+1`, `01` and `1.500` come through as well.
    repeated = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return Quantity(number, scale, written.family, spelling=written.text if repeated else None)


def _read_narrow_binary(written: _Written) -> Quantity | None:
    # Ten binary places are worth three digits, and one is left spare.
    if written.fraction or len(written.whole) > 14 - written.exponent * 3 // 10:
        return None
    number = int(written.whole)
    shifted = (-number if written.negative else number) << written.exponent
    return Quantity(shifted, 0, "BinarySI", spelling=written.text if number % 8 else None)


def _read_wide(written: _Written) -> Quantity:
    """Round away from zero to a billionth; a binary one is also cut off at the end of int64."""
    if not written.has_digits:
        raise _refused(written.text, "it has no digits")
    size, scale, family = int(written.whole + written.fraction), -len(written.fraction), written.family
    if written.base == 2:
        size <<= written.exponent
    else:
        scale = _wrap_int32(scale + written.exponent)
    if size:  # zero is not rounded, so its scale is what was written, and shows in sums
        size, scale = _round_up(written.text, size, scale), _FINEST
    if family == "BinarySI" and size > INT64_MAX * 10**9:
        size, scale = INT64_MAX, 0
    elif family == "BinarySI" and 0 < size < 10**9:
        family = "DecimalSI"
    return Quantity(-size if written.negative else size, scale, family, wide=True)


def _round_up(text: str, size: int, scale: int) -> int:
    """A positive number in billionths."""
    if scale - _FINEST > MAX_DIGITS:
        raise _refused(text, f"it has more than {MAX_DIGITS} digits")
    if scale >= _FINEST:
        return size * int(10 ** (scale - _FINEST))
    # Beyond the digits there are, another division leaves one billionth all the same.
    return -(-size // int(10 ** min(_FINEST - scale, MAX_DIGITS + 1)))


def _wrap_int32(number: int) -> int:
    return ((number + 2**31) & (2**32 - 1)) - 2**31


def _refused(text: str, why: str) -> ValidationError:
    shown = text if len(text) <= _LONG else f"{text[:_LONG]}…"
    return ValidationError(f"{shown!r} is not a quantity: {why}", remedy=_REMEDY)
