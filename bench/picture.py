"""Small pictures as SVG text: lines over logarithmic axes, and bars.

The colours stand on white and on black alike, and the same numbers always make the same bytes, so that a picture's
history shows what changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH, HEIGHT = 820, 300
#: For what stands to the left of an axis.
_MARGIN = 60
_TEXT, _COLOURS = "#848d97", ("#4a90d9", "#e0862c", "#3fa66a", "#a775d6")
_FONT = 'font-family="system-ui, \'DejaVu Sans\', sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True)
class Line:
    """One series: points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis from the power of ten below the least value to the one above the greatest."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> Axis:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, float]]:
        for power in range(self.low, self.high + 1):
            yield 10.0**power, self.at(10.0**power)


def growth(panels: Sequence[tuple[str, str, Sequence[Line]]]) -> str:
    """Panels side by side, each with its title, what its axis counts, and its lines. They share the vertical axis."""
    drawn = [line for _, _, lines in panels for line in lines]
    colours = dict(zip(dict.fromkeys(line.name for line in drawn), cycle(_COLOURS), strict=False))
    vertical = Axis.over([y for line in drawn for _, y in line.points], HEIGHT - 45, 35)
    step = (WIDTH - _MARGIN) / len(panels)
    parts = [
        part
        for index, (title, unit, lines) in enumerate(panels)
        for part in _panel(title, unit, lines, vertical, _MARGIN + index * step, step - _MARGIN - 20, colours)
    ]
    return _svg(parts, HEIGHT + 20 * max(len(lines) for _, _, lines in panels))


def bars(title: str, rows: Sequence[tuple[str, float]], unit: str) -> str:
    """A bar for each row, from zero, with its value beside it."""
    most, left, step = max(value for _, value in rows), 150, 24
    parts = [_text(left, 18, title)]
    for index, (name, value) in enumerate(rows):
        y = 32 + index * step
        width = value / most * (WIDTH - left - 110)
        parts.append(_text(left - 8, y + 13, name, anchor="end"))
        parts.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="17" rx="2" fill="{_COLOURS[0]}"/>')
        parts.append(_text(left + width + 8, y + 13, f"{value:,.0f} {unit}"))
    return _svg(parts, 40 + len(rows) * step)


def _panel(
    title: str, unit: str, lines: Sequence[Line], up: Axis, left: float, width: float, colours: dict[str, str]
) -> Iterator[str]:
    across = Axis.over([x for line in lines for x, _ in line.points], left, left + width)
    yield _text(left, 18, title)
    for value, y in up.ticks():
        yield _rule(left, y, left + width, y)
        yield _text(left - 6, y + 4, _time(value), anchor="end")
    for value, x in across.ticks():
        yield _rule(x, up.end, x, up.start)
        yield _text(x, up.start + 16, f"{value:,.0f}", anchor="middle")
    yield _text(left + width / 2, up.start + 34, unit, anchor="middle")
    for index, line in enumerate(lines):
        colour = colours[line.name]
        yield from _drawn(line, across, up, colour)
        y = HEIGHT + 12 + 20 * index
        yield f'<circle cx="{left + 5:.1f}" cy="{y - 4}" r="4" fill="{colour}"/>'
        yield _text(left + 16, y, line.name)


def _drawn(line: Line, across: Axis, up: Axis, colour: str) -> Iterator[str]:
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y in places:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'


def _time(microseconds: float) -> str:
    return f"{microseconds / 1000:,.0f} ms" if microseconds >= 1000 else f"{microseconds:,.0f} µs"


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{_TEXT}" stroke-opacity="0.3"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_TEXT}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], height: int) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" {_FONT}>'
    return "\n".join([head, *parts, "</svg>", ""])
