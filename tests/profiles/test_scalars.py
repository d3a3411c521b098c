"""Words of YAML, as kube-scheduler's parser reads them."""

from __future__ import annotations

import pytest

from bayplan.profiles.scalars import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("y", True),
        ("On", True),
        ("NO", False),
        ("tRUE", "tRUE"),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b101", 5),
        ("-0b11", -3),
        ("010", 8),
        ("0o17", 15),
        ("08", 8.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e999", "1e999"),
        ("12:30", "12:30"),
        ("2026-11-19", "2026-11-19"),
        ("-", "-"),
        ("-.inf", float("-inf")),
        ("0x", "0x"),
        ("٣", "٣"),
        ("9" * 100, "9" * 100),
    ],
)
def test_plain_words_have_a_type(text: str, value: object) -> None:
    found = resolve(text, None, plain=True)

    assert found == value
    assert type(found) is type(value)


def test_quoted_words_are_texts() -> None:
    assert resolve("7", None, plain=False) == "7"


@pytest.mark.parametrize(
    ("tag", "text", "value"), [("str", "7", "7"), ("int", "7", 7), ("float", "7", 7.0), ("null", "", None)]
)
def test_a_tag_says_what_a_word_is(tag: str, text: str, value: object) -> None:
    assert resolve(text, f"tag:yaml.org,2002:{tag}", plain=False) == value


@pytest.mark.parametrize(("tag", "text"), [("int", "x"), ("bool", "1"), ("binary", "eA==")])
def test_a_tag_that_does_not_hold_is_refused(tag: str, text: str) -> None:
    with pytest.raises(ValueError, match="tag"):
        resolve(text, f"tag:yaml.org,2002:{tag}", plain=False)
