"""Wire bytes to structs: what fits is decoded, what does not is named, and nothing hides anything else."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.codec import Unreadable, decode_event, decode_object, decode_page, encode, query_pairs
from bayplan.client.status import Status
from bayplan.errors import ProtocolError
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.resource import Resource


class Thing(msgspec.Struct, frozen=True, omit_defaults=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0


THINGS = Resource("example.com", "v1", "things", "Thing", True, Thing)


def event(kind: str, **content: object) -> bytes:
    return json.dumps({"type": kind, "object": content}).encode()


def test_an_object_is_decoded_without_what_its_struct_does_not_name() -> None:
    body = b'{"kind":"Thing","metadata":{"name":"a","managedFields":[{"x":[1,{}]}]},"value":3,"spec":{"deep":[null]}}'
    assert decode_object(Thing, body, "GET x") == Thing(ObjectMeta(name="a"), 3)


def test_an_object_that_does_not_fit_says_where() -> None:
    with pytest.raises(ProtocolError, match=r"GET x: the object cannot be read: .*\$\.value"):
        decode_object(Thing, b'{"metadata":{},"value":"3"}', "GET x")


def test_nulls_where_none_are_foreseen_are_read_as_absent() -> None:
    odd = {"metadata": {"name": "a", "labels": None, "uid": None}, "value": None}
    expected = Thing(ObjectMeta(name="a"))
    assert decode_object(Thing, json.dumps(odd).encode(), "GET x") == expected
    assert decode_event(Thing, event("ADDED", **odd), "watch") == ("ADDED", expected)
    assert decode_page(Thing, json.dumps({"items": [odd]}).encode(), "GET x").items == [expected]


def test_a_page_keeps_the_objects_that_fit_and_names_the_others() -> None:
    items = [{"metadata": {"name": "a"}, "value": 1}, {"metadata": {"name": "b"}, "value": "?"}]
    body = json.dumps({"metadata": {"resourceVersion": "7", "continue": "c"}, "items": items}).encode()
    page = decode_page(Thing, body, "GET x")
    assert (page.metadata.resource_version, page.metadata.continue_) == ("7", "c")
    assert page.items == [Thing(ObjectMeta(name="a"), 1)]
    assert [(one.metadata.name, "$.value" in one.problem) for one in page.unreadable] == [("b", True)]


@pytest.mark.parametrize("items", [b"", b',"items":null', b',"items":[]'])
def test_a_page_may_have_no_items(items: bytes) -> None:
    assert decode_page(Thing, b'{"metadata":{"resourceVersion":"1"}' + items + b"}", "GET x").items == []


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"<html>", b'{"items":3}', b'{"items":[3]}'])
def test_what_is_no_list_is_a_protocol_error(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="GET x"):
        decode_page(Thing, body, "GET x")


def test_an_event_is_its_kind_and_its_object() -> None:
    line = event("ADDED", metadata={"name": "a"}, value=4)
    assert decode_event(Thing, line, "watch") == ("ADDED", Thing(ObjectMeta(name="a"), 4))


@pytest.mark.parametrize("spaced", [False, True])
def test_an_error_event_is_its_status(spaced: bool) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    line = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410}}, separators=separators)
    kind, told = decode_event(Thing, line.encode(), "watch")
    assert kind == "ERROR"
    assert isinstance(told, Status)
    assert told.code == 410


def test_an_event_whose_object_does_not_fit_is_named() -> None:
    kind, told = decode_event(Thing, event("MODIFIED", metadata={"name": "a"}, value="?"), "watch")
    assert kind == "MODIFIED"
    assert isinstance(told, Unreadable)
    assert told.metadata.name == "a"


@pytest.mark.parametrize("line", [b"", b"{}", b"{", b'{"type":"ADDED"}', b'{"type":"ADDED","object":{"metadata":3}}'])
def test_a_line_that_cannot_be_placed_is_a_protocol_error(line: bytes) -> None:
    with pytest.raises(ProtocolError, match="watch"):
        decode_event(Thing, line, "watch")


#: Deeper than any decoder follows, and what is not UTF-8: both break decoders in ways of their own.
DEEP = b'{"a":[' * 10_000 + b"]}" * 10_000
ODD = [DEEP, b'"\xff"', b'{"metadata":{"name":"deep"},"spec":%b}' % DEEP, b'{"metadata":{"name":"x"},"value":"\xff"}']


@pytest.mark.parametrize("odd", ODD[2:])
def test_an_object_that_breaks_the_decoder_is_named_and_hides_no_other(odd: bytes) -> None:
    page = decode_page(Thing, b'{"items":[%b,{"metadata":{"name":"a"},"value":1}]}' % odd, "GET x")
    assert page.items == [Thing(ObjectMeta(name="a"), 1)]
    (unreadable,) = page.unreadable
    kind, told = decode_event(Thing, b'{"type":"ADDED","object":%b}' % odd, "watch")
    assert kind == "ADDED"
    assert isinstance(told, Unreadable)
    assert (
        told.metadata.name == unreadable.metadata.name == json.loads(odd.partition(b",")[0] + b"}")["metadata"]["name"]
    )
    with pytest.raises(ProtocolError, match="GET x: the object cannot be read"):
        decode_object(Thing, odd, "GET x")


def test_depth_is_said_to_be_the_problem() -> None:
    (unreadable,) = decode_page(Thing, b'{"items":[%b]}' % ODD[2], "GET x").unreadable
    assert unreadable.problem == "it is nested more than 200 levels deep"
    with pytest.raises(ProtocolError, match="nested too deeply"):
        decode_object(Thing, ODD[2], "GET x")


#: By their numbers, since a failing example shows what it is made of.
PIECES = st.sampled_from(["{", "}", "[", "]", '"', ":", ",", "1", '"items":', '"type":"ADDED","object":', 0, 1, 2, 3])


def joined(pieces: list[str | int]) -> bytes:
    return b"".join(ODD[piece] if isinstance(piece, int) else piece.encode() for piece in pieces)


@given(
    st.binary(max_size=60)
    | st.text(alphabet='{}[]":,typeobjcADE01 \\', max_size=60).map(str.encode)
    | st.lists(PIECES, max_size=12)
)
def test_no_bytes_break_it_otherwise(written: bytes | list[str | int]) -> None:
    body = written if isinstance(written, bytes) else joined(written)
    for decode in (decode_object, decode_page, decode_event):
        with suppress(ProtocolError):
            decode(Thing, body, "x")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"as":"it is"}', {"as": "it is"}),
        ({}, {"apiVersion": "example.com/v1", "kind": "Thing"}),
        ({"value": 1}, {"apiVersion": "example.com/v1", "kind": "Thing", "value": 1}),
        ({"kind": "Other", "value": 1}, {"kind": "Other", "value": 1}),
        (Thing(value=2), {"apiVersion": "example.com/v1", "kind": "Thing", "value": 2}),
    ],
)
def test_what_is_sent_names_its_kind(body: object, expected: dict[str, object]) -> None:
    assert json.loads(encode(THINGS, body)) == expected


def test_query_parameters_are_written_as_go_reads_them() -> None:
    values = {"watch": True, "force": False, "limit": 5, "continue": None, "labelSelector": ""}
    assert query_pairs(values) == (("watch", "true"), ("force", "false"), ("limit", "5"))
