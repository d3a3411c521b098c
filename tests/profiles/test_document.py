"""Trees that know their lines, and texts that are no trees."""

from __future__ import annotations

import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bayplan.errors import ConfigurationError
from bayplan.profiles.document import MOST_CHARACTERS, Table, line_at, parse, plain


def _refusal(text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as raised:
        parse(text, "file")
    (problem,) = raised.value.problems
    return problem


def test_every_value_knows_its_line() -> None:
    root = parse("a:\n  b:\n  - c\n  - d: 1\n", "file")

    assert [line_at(root, path) for path in ("a", "a.b", "a.b[0]", "a.b[1].d")] == [1, 2, 3, 4]


def test_what_is_not_there_has_the_line_of_what_would_hold_it() -> None:
    root = parse("a:\n  b: 1\n", "file")

    assert [line_at(root, path) for path in ("a.c", "a.b.c[3]", "x", "a[7]")] == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: the file is empty"),
        ("# nothing\n", "line 1: the file is empty"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document begins; put each configuration into a file of its own"),
        ("a:\n\tb: 1\n", "line 2: this is no YAML: while scanning for the next token: found character '\\t' that"),
        ("a: [1\nb: 2", "line 2: this is no YAML: while parsing a flow sequence"),
        ("a: *b\n", "line 1: *b stands for nothing that has ended before it"),
        ("a: &a [*a]\n", "line 1: *a stands for nothing that has ended before it"),
        ("a: !!python/object:os.system x\n", "line 1: 'x' has the tag 'tag:yaml.org,2002:python/object:os.system'"),
        ("a: !!int x\n", "line 1: 'x' is tagged as int and is none"),
        (b"a: 1\nb: \xff\n", "line 2: this is not UTF-8"),
        ("a: \x00", "this is no YAML: unacceptable character #x0000"),
        ("%YAML 9.9\n--- a", "line 1: this is no YAML: found incompatible YAML document"),
        ('"\\UFFFFFFFF"', "this is no YAML: "),
    ],
)
def test_what_is_no_document_is_refused(text: str | bytes, problem: str) -> None:
    assert _refusal(text).startswith(problem)


def test_tabs_come_with_advice() -> None:
    assert _refusal("a:\n\tb: 1\n").endswith("indent with blanks, not with tabs")


def test_a_text_that_is_too_long_is_not_even_parsed() -> None:
    assert _refusal("x" * (MOST_CHARACTERS + 1)) == "line 1: the file has 1,000,001 characters; 1,000,000 are the most"


@pytest.mark.parametrize("text", ["[" * 10_000, "- " * 10_000, "{a: " * 10_000])
def test_depth_is_bounded(text: str) -> None:
    assert "are more than 50 deep" in _refusal(text)


def test_depth_by_aliases_is_bounded() -> None:
    steps = "".join(f"a{number}: &a{number} [*a{number - 1}]\n" for number in range(1, 100))

    assert "are more than 50 deep" in _refusal("a0: &a0 [x]\n" + steps)


def test_aliases_to_aliases_cannot_grow_without_end() -> None:
    laughs = "a0: &a0 [x]\n"
    laughs += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 20))

    assert _refusal(laughs) == "line 6: there are more than 100,000 values, aliases written out"


def test_aliases_and_merges_are_followed() -> None:
    text = "p: &x {a: 1, b: 2}\nq: {<<: *x, b: 3}\nr: *x\ns: {<<: [{a: 5}, *x]}\n"

    assert plain(parse(text, "file")) == yaml.safe_load(text)


def test_a_key_that_is_there_twice_or_is_none_is_kept_as_a_fault() -> None:
    root = parse("a: 1\nb: 2\na: 3\n? [1]\n: 4\n<<: 5\n~: 6\n", "file")

    assert isinstance(root, Table)
    assert list(root.entries) == ["a", "b"]
    assert root.faults == [
        (3, "'a' is there twice; it stands on line 1 too"),
        (4, "a key is no text"),
        (6, "<< wants a mapping, or a list of them"),
        (7, "a key is no text"),
    ]


def test_letters_that_json_writes_in_two_halves_are_made_whole() -> None:
    assert plain(parse('{"a": "\\ud83d\\ude00"}', "file")) == {"a": "😀"}


_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
_leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64) | _texts
_values = st.recursive(_leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3))


@given(st.dictionaries(_texts.filter(lambda key: key != "<<"), _values, max_size=4), st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_python_reads_it(value: object, indent: int | str | None) -> None:
    assert plain(parse(json.dumps(value, indent=indent), "file")) == value


@given(st.text(max_size=60) | st.text(alphabet="ab: -[]{}&*!|>'\"%@,?#<~\n\t0", max_size=60))
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    with contextlib.suppress(ConfigurationError):
        plain(parse(text, "file"))
