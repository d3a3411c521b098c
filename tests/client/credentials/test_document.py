"""YAML as places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.client.credentials.document import read_document
from bayplan.errors import CredentialsError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str) -> Path:
    file = folder / "x.yaml"
    file.write_text(text)
    return file


def test_a_value_that_is_wrong_is_named_with_file_line_and_path_and_never_quoted(tmp_path: Path) -> None:
    file = write(tmp_path, "users:\n- name: ann\n  user:\n    token: 8675309\n")
    token = read_document(file).get("users").elements()[0].get("user").get("token")
    with pytest.raises(CredentialsError) as refused:
        token.text()
    where = f"{file}, line 4, users[ann].user.token"
    assert str(refused.value) == f"{where}: must be text, and is a number; put it into quotes"


def test_what_is_missing_reads_as_nothing_at_every_depth(tmp_path: Path) -> None:
    place = read_document(write(tmp_path, "a: {b: null}\n")).get("a").get("b").get("c")
    assert not place
    assert (place.text(), place.flag(), place.elements(), dict(place.items())) == ("", False, [], {})


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    assert not read_document(write(tmp_path, ""))


@pytest.mark.parametrize(
    "text",
    [
        "users: [{token: s3cret",
        "token: 's3cret\n",
        "a: 1\n--- s3cret\nb: 2\n",
        "token: *s3cret\n",
        "token: s3cret\x07\n",
        "s3cret: @\n",
    ],
)
def test_a_file_that_is_not_yaml_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(UsageError, match="not YAML") as refused:
        read_document(file)
    assert str(file) in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_directory_in_place_of_a_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="Is a directory"):
        read_document(tmp_path)


def test_words_that_go_reads_as_text_are_text(tmp_path: Path) -> None:
    """PyYAML sees a date and a number to the base of 60 here."""
    place = read_document(write(tmp_path, "a: 2026-11-19\nb: 12:30:45\n"))
    assert (place.get("a").text(), place.get("b").text()) == ("2026-11-19", "12:30:45")


@pytest.mark.parametrize(("written", "meant"), [("true", True), ("yes", True), ("False", False), ("off", False)])
def test_booleans_are_those_of_yaml(tmp_path: Path, written: str, meant: bool) -> None:
    assert read_document(write(tmp_path, f"a: {written}")).get("a").flag() is meant


def test_a_text_is_no_boolean(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="must be true or false, and is text"):
        read_document(write(tmp_path, "a: 'true'")).get("a").flag()


def test_base64_may_be_wrapped_and_must_be_base64(tmp_path: Path) -> None:
    place = read_document(write(tmp_path, "a: |\n  aGVs\n  bG8=\nb: s3cret!\n"))
    assert place.get("a").data() == b"hello"
    with pytest.raises(CredentialsError, match="is not base64") as refused:
        place.get("b").data()
    assert "s3cret" not in str(refused.value)


def test_merged_mappings_lose_to_what_stands_beside_them_and_the_first_of_several_wins(tmp_path: Path) -> None:
    text = "x: &x {a: x, b: x, c: x}\ny: &y {<<: *x, b: y}\nz: {<<: [*y, {c: w, d: w}], a: z}\n"
    assert read_document(write(tmp_path, text)).get("z").plain() == {"a": "z", "b": "y", "c": "x", "d": "w"}


def test_plain_keeps_the_order_and_the_types_of_json(tmp_path: Path) -> None:
    text = "a: {z: 1, y: [true, null, 'x', 1.5]}\n"
    plain = read_document(write(tmp_path, text)).plain()
    assert plain == {"a": {"z": 1, "y": [True, None, "x", 1.5]}}
    assert list(plain["a"]) == ["z", "y"]


def test_nothing_of_the_content_is_in_the_repr(tmp_path: Path) -> None:
    assert "s3cret" not in repr(read_document(write(tmp_path, "token: s3cret")).get("token"))
