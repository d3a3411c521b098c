"""Times as Go writes them: 10s, 1m30s, 1.5h, 250ms."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,  # Go takes both signs that look like this.
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<rest>[0-9]*))?(?P<unit>ns|us|µs|μs|ms|s|m|h)")
_LONGEST = 100
_SECOND = 1_000_000_000


def parse_duration(text: str) -> float:
    """Seconds. A ValueError where Go reads no duration; 0 alone needs no unit."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    nanoseconds = sign * _count(rest) if rest and len(rest) <= _LONGEST else None
    if nanoseconds is None or not -(2**63) <= nanoseconds < 2**63:
        raise ValueError("is no time: write a number and its unit, such as 15s or 1m30s")
    return nanoseconds / _SECOND


def format_duration(seconds: float) -> str:
    """As Go writes it: the largest unit that fits and the smaller ones that are left."""
    # By its shortest decimal: the product of floats of years has not so many digits.
    nanoseconds = round(Fraction(repr(abs(seconds))) * _SECOND)
    sign = "-" if seconds < 0 and nanoseconds else ""
    if nanoseconds == 0:
        return "0s"
    for unit in ("ns", "µs", "ms"):
        if nanoseconds < 1_000 * _UNITS[unit]:
            return f"{sign}{_decimal(nanoseconds, _UNITS[unit])}{unit}"
    minutes, left = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    parts = (f"{hours}h" if hours else "", f"{minutes}m" if hours or minutes else "", f"{_decimal(left, _SECOND)}s")
    return sign + "".join(parts)


def _count(text: str) -> int:
    """Nanoseconds; what is less than one is cut off."""
    total, position = 0, 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None or not (part["whole"] or part["rest"]):
            raise ValueError("is no time: write a number and its unit, such as 15s or 1m30s")
        total += int(Fraction(f"{part['whole'] or 0}.{part['rest'] or 0}") * _UNITS[part["unit"]])
        position = part.end()
    return total


def _decimal(nanoseconds: int, unit: int) -> str:
    whole, rest = divmod(nanoseconds, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
