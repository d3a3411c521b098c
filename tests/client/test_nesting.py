"""Cutting out what is nested too deeply: nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.nesting import CUT, DEEPEST, without_depths

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab\\"{}[]é'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='a\\"{[', max_size=3), inner, max_size=3)
    ),
)


def nested(depth: int, within: bytes = b"1") -> bytes:
    return b'{"a":[' * (depth // 2) + within + b"]}" * (depth // 2)


@given(VALUES)
def test_what_is_shallow_stays_as_it_is(value: Any) -> None:
    text = json.dumps(value).encode()
    assert without_depths(text) == text


def test_only_what_lies_too_deep_is_cut_out() -> None:
    assert without_depths(nested(DEEPEST)) == nested(DEEPEST)
    deep = b"%b,%b" % (nested(100_000), nested(2))
    cut = b"%b,%b" % (CUT, CUT)
    assert without_depths(nested(DEEPEST, deep)) == nested(DEEPEST, cut)
    assert msgspec.json.decode(without_depths(b"[%b,2]" % nested(100_000)))[1] == 2


def pruned(value: Any, levels: int) -> Any:
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return json.loads(CUT)
    if isinstance(value, list):
        return [pruned(part, levels - 1) for part in value]
    return {name: pruned(part, levels - 1) for name, part in value.items()}


@given(VALUES, st.integers(0, 3))
def test_the_text_means_what_is_left_of_its_value(value: Any, levels: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayplan.client.nesting.DEEPEST", levels)
        assert json.loads(without_depths(json.dumps(value).encode())) == pruned(value, levels)


@given(st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b'"', b"\\", b"[" * DEEPEST, b"]" * DEEPEST]), max_size=20))
def test_no_bytes_break_it(pieces: list[bytes]) -> None:
    without_depths(b"".join(pieces))
