"""Columns of one's own: whatever stands in an annotation, a number comes out, or what is missing."""

from __future__ import annotations

import pytest

from bayplan import NodeField, annotation, label
from bayplan.columns.table import NodeTable
from bayplan.testing import node

CELSIUS = annotation("celsius", float, missing=20)
COUNT = annotation("count", int, missing=-1)
HOT = label("hot", bool, missing=False)


@pytest.mark.parametrize(
    ("text", "celsius"),
    [
        ("61.5", 61.5),
        ("6e1", 60.0),
        (" 7 ", 7.0),
        ("hot", 20.0),
        ("", 20.0),
        ("nan", 20.0),
        ("-inf", 20.0),
        ("1e999", 20.0),
    ],
)
def test_a_number_with_a_fraction_keeps_it_and_no_number_is_missing(text: str, celsius: float) -> None:
    table = NodeTable()
    table.field(CELSIUS)
    table.put(node("a", annotations={"celsius": text}))
    assert table.field(CELSIUS).tolist() == [celsius]


@pytest.mark.parametrize(
    ("text", "count"), [("7", 7), ("7.5", -1), (str(2**63 - 1), 2**63 - 1), (str(2**63), -1), ("9" * 5000, -1)]
)
def test_an_integer_that_does_not_fit_is_missing(text: str, count: int) -> None:
    table = NodeTable()
    table.put(node("a", annotations={"count": text}))
    assert table.field(COUNT).tolist() == [count]


@pytest.mark.parametrize(("text", "hot"), [("true", True), ("1", True), ("no", False)])
def test_truth_is_read_too(text: str, hot: bool) -> None:
    table = NodeTable()
    table.put(node("a", labels={"hot": text}))
    assert table.field(HOT).tolist() == [hot]


def test_the_same_field_made_twice_is_one_column() -> None:
    assert annotation("celsius", float, missing=20) is CELSIUS
    assert annotation("celsius", float, missing=30) is not CELSIUS


def test_a_column_follows_its_nodes() -> None:
    table = NodeTable()
    table.field(CELSIUS)
    for number in range(40):  # beyond the length that it began with
        table.put(node(f"n{number}", annotations={"celsius": str(number)}))
    table.put(node("n3", annotations={"celsius": "99"}))
    table.remove("n5")
    values = table.field(CELSIUS).tolist()
    assert values[3] == 99.0
    assert values[5] == 20.0
    assert values[39] == 39.0
    table.check()


def test_a_field_that_cannot_be_read_is_told_to_who_asks_and_to_nobody_else() -> None:
    rank: NodeField[int] = NodeField("rank", lambda node: int(node.metadata.annotations["rank"]), 0)
    table = NodeTable()
    table.put(node("a", annotations={"rank": "4"}))
    assert table.field(rank).tolist() == [4]

    table.put(node("b"))  # the node is there all the same
    with pytest.raises(KeyError):
        table.field(rank)
    table.put(node("b", annotations={"rank": "5"}))
    assert table.field(rank).tolist() == [4, 5]


def test_a_fraction_does_not_become_an_integer_in_silence() -> None:
    half: NodeField[float] = NodeField("half", lambda node: 0.5, 0)
    table = NodeTable()
    table.put(node("a"))
    with pytest.raises(TypeError, match=r"half is 0\.5 on a, and by what is missing a whole number"):
        table.field(half)
