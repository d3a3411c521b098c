"""Amounts of a resource, with Kubernetes' arithmetic.

Go keeps a quantity in one of two forms and rounds each in its own way: *narrow*, an int64 times a power of ten, and
*wide*, a number of any size. Which one it is depends on how the text was written and on what was added, and shows in
the answers near the ends of int64. Placement must agree with kube-scheduler there too, so a `Quantity` knows its form.

On the way from the wire to a column of numbers nobody needs the object: `value_of` and `milli_value_of` go from text to
int and remember the answer, since the quantities of ten thousand pods are a few dozen texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from bayplan.errors import ValidationError

#: The family of suffixes that a quantity was written with, and is written with again.
Family: TypeAlias = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
_INT32_MAX = 2**31 - 1

#: A wide number with more digits than this is refused. Go would go on until memory ends; Python stops at 4,300.
MAX_DIGITS = 4000
#: Up to this difference of scales two numbers are compared as integers; beyond, as decimals, which need no zeros.
_NEAR = 64

#: The powers of ten that Go multiplies by in one step; it goes to the others ten by ten.
_ONE_STEP = frozenset({1, 2, 3, 6, 9})

_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = {1: "Ki", 2: "Mi", 3: "Gi", 4: "Ti", 5: "Pi", 6: "Ei"}


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """`unscaled` times ten to the power of `scale`. Made by `parse_quantity`, `Quantity.of` and addition."""

    unscaled: int
    scale: int = 0
    family: Family = "DecimalSI"
    #: Which of Go's two forms it is in. A narrow one has an `unscaled` that fits int64, and a `scale` from -9 up.
    wide: bool = False
    #: The text it was read from, where Go repeats that instead of writing the number anew.
    spelling: str | None = None

    @classmethod
    def of(cls, value: int, family: Family = "DecimalSI") -> Quantity:
        """A whole number of units."""
        return cls(value, 0, family, wide=not _fits_int64(value))

    @classmethod
    def of_milli(cls, value: int, family: Family = "DecimalSI") -> Quantity:
        """A whole number of thousandths."""
        return cls(value, -3, family, wide=not _fits_int64(value))

    def value(self) -> int:
        """In units, as an int64: rounded away from zero, except as `_scale_wide` says."""
        return self._scaled_to(0)

    def milli_value(self) -> int:
        """In thousandths, as an int64: rounded away from zero, except as `_scale_wide` says."""
        return self._scaled_to(-3)

    def as_decimal(self) -> Decimal:
        """The exact number."""
        return Decimal(f"{self.unscaled}E{self.scale}")

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def __bool__(self) -> bool:
        return self.unscaled != 0

    def __str__(self) -> str:
        """The canonical form: no fraction, and the largest suffix of its family that loses nothing."""
        return self.spelling or _write(self)

    def __add__(self, other: Quantity) -> Quantity:
        """The sum. It is written as the left one was, or as the right one where the left is zero."""
        family = self.family if self.unscaled else other.family
        if not self.wide and not other.wide:
            narrow = _add_narrow(self, other)
            if narrow is not None:
                return Quantity(*narrow, family)
        return Quantity(*_add_wide(self, other), family, wide=True)

    def __eq__(self, other: object) -> bool:
        """Whether they are the same amount, however they are written."""
        return self._compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self._compare(other) >= 0

    def __hash__(self) -> int:
        return hash(_strip(self.unscaled, 10, self.scale) if self.unscaled else 0)

    def _compare(self, other: Quantity) -> int:
        left, right = self.unscaled, other.unscaled
        apart = self.scale - other.scale
        if apart and self.sign == other.sign:
            if abs(apart) > _NEAR:
                exact, against = self.as_decimal(), other.as_decimal()
                return (exact > against) - (exact < against)
            left, right = left * 10 ** max(apart, 0), right * 10 ** max(-apart, 0)
        return (left > right) - (left < right)

    def _scaled_to(self, scale: int) -> int:
        if self.wide:
            return _scale_wide(self.unscaled, scale - self.scale)
        shift = self.scale - scale
        if shift == 0:
            return self.unscaled
        if shift < 0:
            return _divide_away_from_zero(self.unscaled, 10**-shift)
        if shift > _INT32_MAX:  # Go's int32 turns negative here, and its loop of multiplications does not run
            return self.unscaled
        fitting = _shift_int64(self.unscaled, shift)
        return _overflow(self.unscaled, shift) if fitting is None else fitting


def _fits_int64(number: int) -> bool:
    return INT64_MIN <= number <= INT64_MAX


def _wrap_int64(number: int) -> int:
    return ((number - INT64_MIN) & (2**64 - 1)) + INT64_MIN


def _shift_int64(number: int, power: int) -> int | None:
    """Times a power of ten, or None where that does not fit int64."""
    if number == 0 or power == 0:
        return number
    if power > 18:
        return None
    shifted = number * 10**power
    return shifted if _fits_int64(shifted) else None


def _overflow(number: int, power: int) -> int:
    """What Go answers when a multiplication does not fit int64: the common factors wrap around, others give 0."""
    return _wrap_int64(number * int(10**power)) if power in _ONE_STEP and number != INT64_MIN else 0


def _divide_away_from_zero(number: int, divisor: int) -> int:
    return -(-number // divisor) if number > 0 else number // divisor


def _scale_wide(number: int, dropped: int) -> int:
    """Drop decimal places (or add them, when negative) as Go does for wide numbers.

    It wraps around where it does not fit, and a negative number within int64 is rounded one towards plus infinity of
    what truncation leaves: -1.5 becomes 0. A factor beyond 10^18 is what amd64 makes of a float beyond int64.
    """
    if not number:  # its scale may be anything
        return 0
    if dropped <= 0:
        factor = int(10**-dropped) if dropped >= -18 else INT64_MIN
        return _wrap_int64(_wrap_int64(number) * factor)
    divisor = int(10**dropped)
    if number < INT64_MAX and dropped < 19:
        kept = _wrap_int64(number)
        quotient = kept // divisor if kept >= 0 else -(-kept // divisor)
        return quotient + (quotient * divisor != kept)
    quotient, rest = divmod(number, divisor)
    return _wrap_int64(quotient + (rest != 0))


def _add_narrow(left: Quantity, right: Quantity) -> tuple[int, int] | None:
    """The sum of two narrow ones at the finer scale, or None where it does not fit int64."""
    if not right.unscaled:
        return left.unscaled, left.scale
    if not left.unscaled:
        return right.unscaled, right.scale
    scale = min(left.scale, right.scale)
    first = _shift_int64(left.unscaled, left.scale - scale)
    second = _shift_int64(right.unscaled, right.scale - scale)
    if first is None or second is None or not _fits_int64(first + second):
        return None
    return first + second, scale


def _add_wide(left: Quantity, right: Quantity) -> tuple[int, int]:
    scale = min(left.scale, right.scale)
    if max(left.scale, right.scale) - scale > MAX_DIGITS:
        if not left.unscaled or not right.unscaled:
            return (left.unscaled, left.scale) if left.unscaled else (right.unscaled, right.scale)
        raise ValidationError(
            f"the sum of {left} and {right} has more than {MAX_DIGITS} digits", remedy="write smaller exponents"
        )
    return left.unscaled * 10 ** (left.scale - scale) + right.unscaled * 10 ** (right.scale - scale), scale


def _strip(number: int, base: int, power: int) -> tuple[int, int]:
    """Move all factors of `base` from a number that is not zero into the power."""
    while number % base == 0:
        number //= base
        power += 1
    return number, power


def _write(quantity: Quantity) -> str:
    if not quantity.unscaled:
        return "0"
    if quantity.family == "BinarySI":
        whole = _whole_beyond_ki(quantity)
        return _write_decimal(quantity, "DecimalSI") if whole is None else _write_binary(whole, quantity.wide)
    return _write_decimal(quantity, quantity.family)


def _whole_beyond_ki(quantity: Quantity) -> int | None:
    """The number itself where a binary suffix may carry it: a whole one, and not between -1024 and 1024."""
    if quantity.scale >= 0:
        number, rest = quantity.unscaled * 10**quantity.scale, 0
    else:
        number, rest = divmod(quantity.unscaled, 10**-quantity.scale)
    return None if rest or -1024 < number < 1024 else number


def _write_binary(number: int, wide: bool) -> str:
    if not wide and number == INT64_MIN:  # it has no positive counterpart, so Go finds no factors in it
        return str(number)
    mantissa, power = _strip(number, 1024, 0)
    return f"{mantissa}{_BINARY_SUFFIXES.get(power, '')}"


def _write_decimal(quantity: Quantity, family: Family) -> str:
    mantissa, exponent = _strip(quantity.unscaled, 10, quantity.scale)
    mantissa, exponent = mantissa * 10 ** (exponent % 3), exponent - exponent % 3
    if family == "DecimalExponent":
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    # Beyond E there is no suffix, and Go writes the mantissa alone.
    return f"{mantissa}{_DECIMAL_SUFFIXES.get(exponent, '')}"


ZERO = Quantity(0)
