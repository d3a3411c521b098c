"""Times as Go writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.profiles.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds", "written"),
    [
        ("0", 0, "0s"),
        ("15s", 15, "15s"),
        ("10m", 600, "10m0s"),
        ("1h2m3.5s", 3723.5, "1h2m3.5s"),
        ("-1.5h", -5400, "-1h30m0s"),
        ("+250ms", 0.25, "250ms"),
        ("1500µs", 0.0015, "1.5ms"),
        ("1μs", 0.000001, "1µs"),
        ("42ns", 0.000000042, "42ns"),
        (".5s", 0.5, "500ms"),
        ("1.s", 1, "1s"),
        ("1s1s", 2, "2s"),
        ("1.0000000009s", 1, "1s"),
        ("100h", 360000, "100h0m0s"),
    ],
)
def test_a_time_is_read_and_written_as_go_does(text: str, seconds: float, written: str) -> None:
    assert parse_duration(text) == seconds
    assert format_duration(seconds) == written


@pytest.mark.parametrize(
    "text", ["", "s", "1", ".s", "1d", "1 s", "1s ", "--1s", "1e3s", "1s-1s", "300000000h", "1" * 200]
)
def test_what_go_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        parse_duration(text)


@given(st.integers(-(2**52), 2**52))
def test_what_was_written_reads_back(microseconds: int) -> None:
    seconds = microseconds / 1_000_000

    assert parse_duration(format_duration(seconds)) == seconds
