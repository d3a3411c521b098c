"""Label and field selectors, against Go's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.errors import ValidationError
from bayplan.objects.fields import FieldSelector, parse_field_selector
from bayplan.objects.labels import Selector, compile_label_selector
from bayplan.objects.labels_text import parse_label_selector
from bayplan.objects.selection import LabelSelector

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.testing.controlplane.oracle import Answer, Oracle

pytestmark = pytest.mark.e2e

COUNT = 3000
KEYS = ("a", "b", "in", "notin", "app", "example.com/role", "x_y.z-0", "9", "A", "a.b/c")
BAD_KEYS = (
    *("", "-a", "a-", "a/b/c", "/a", "a/", "A.com/x", "a..b/x", "-a.com/x", "a b", "é", "a" * 64, "a/" + "b" * 64),
    *("a" * 254 + "/x", "a\n", "a$"),
)
LONG_KEYS = ("a" * 63, "a" * 253 + "/x", "x/" + "b" * 63)
VALUES = ("", "a", "b", "in", "notin", "1", "2", "10", "007", "0", "9223372036854775807", "v1.2_x-y", "c" * 63)
BAD_VALUES = ("-1", "+1", "a b", "c" * 64, "é", "9223372036854775808", "1.5", "a!", "-", "_", "a/b", "x\n")
SIGNS = (
    "=",
    "==",
    "!=",
    ">",
    "<",
    " in ",
    " notin ",
    "(",
    ")",
    ",",
    "!",
    " ",
    "\t",
    "\n",
    "\x00",
    "===",
    "!==",
    "=!",
    "()",
)


def pick(chance: random.Random, usual: tuple[str, ...], odd: tuple[str, ...], share: float = 0.02) -> str:
    return chance.choice(odd if chance.random() < share else usual)


def make_labels(chance: random.Random) -> dict[str, str]:
    return {chance.choice((*KEYS, *LONG_KEYS)): pick(chance, VALUES, BAD_VALUES) for _ in range(chance.randrange(6))}


def make_requirement(chance: random.Random) -> str:
    key = pick(chance, (*KEYS, *LONG_KEYS), BAD_KEYS)
    blank = chance.choice(["", "", "", " ", "\t ", "\r\n"])
    match chance.randrange(6):
        case 0:
            return f"{blank}{key}{blank}"
        case 1:
            return f"{blank}!{blank}{key}"
        case 2 | 3:
            sign = chance.choice(["=", "==", "!=", ">", "<"])
            return f"{key}{blank}{sign}{blank}{pick(chance, VALUES, BAD_VALUES)}"
        case _:
            sign = chance.choice([" in ", " notin ", " in", "\tnotin\n"])
            inner = ",".join(blank + pick(chance, VALUES, BAD_VALUES) for _ in range(chance.randrange(5)))
            return f"{key}{sign}({inner}{blank})"


def make_selector(chance: random.Random) -> str:
    text = ",".join(make_requirement(chance) for _ in range(chance.choice([0, 1, 1, 2, 3, 5])))
    if chance.random() < 0.15:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(SIGNS) + text[at + chance.randrange(2) :]
    if chance.random() < 0.05:
        text = "".join(chance.choice((*SIGNS, *KEYS, *VALUES)) for _ in range(chance.randrange(9)))
    return text


def make_structure(chance: random.Random) -> dict[str, Any] | None:
    if chance.random() < 0.02:
        return None
    operators = ("In", "NotIn", "Exists", "DoesNotExist")
    structure: dict[str, Any] = {}
    if chance.random() < 0.6:
        structure["matchLabels"] = {
            pick(chance, KEYS, BAD_KEYS): pick(chance, VALUES, BAD_VALUES) for _ in range(chance.randrange(4))
        }
    if chance.random() < 0.7:
        expressions = structure["matchExpressions"] = []
        for _ in range(chance.randrange(4)):
            operator = pick(chance, operators, ("Gt", "in", ""))
            fits = operator in {"In", "NotIn"}
            count = chance.choice([1, 2, 3]) if fits else 0
            if chance.random() < 0.05:
                count = 1 - count if count < 2 else 0
            values = [pick(chance, VALUES, BAD_VALUES) for _ in range(count)]
            expressions.append({"key": pick(chance, KEYS, BAD_KEYS), "operator": operator, "values": values})
    return structure


def describe(selector: Selector, labels: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "canonical": str(selector),
        "empty": selector.empty,
        "matches": [selector.matches(one) for one in labels],
        "requirements": [
            {"key": one.key, "operator": str(one.operator), "values": sorted(set(one.values))}
            for one in selector.requirements
        ],
    }


def check(
    questions: list[dict[str, Any]], answers: list[Answer], make: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    refused = sum(answer.error is not None for answer in answers)
    assert 0.02 < refused / len(questions) < 0.6, "the selectors are too tame or too wild"
    for question, answer in zip(questions, answers, strict=True):
        try:
            ours: dict[str, Any] | None = make(question)
        except ValidationError:
            ours = None
        assert ours == (answer.value if answer.error is None else None), (question, answer.error)


@pytest.mark.parametrize("seed", range(3))
def test_texts_of_label_selectors_mean_the_same(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    questions: list[dict[str, Any]] = [
        {"op": "label-selector", "text": make_selector(chance), "labels": [make_labels(chance) for _ in range(4)]}
        for _ in range(COUNT)
    ]
    check(questions, oracle.ask(questions), lambda one: describe(parse_label_selector(one["text"]), one["labels"]))


@pytest.mark.parametrize("seed", range(3))
def test_structured_label_selectors_mean_the_same(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    questions: list[dict[str, Any]] = [
        {"op": "label-selector", "selector": make_structure(chance), "labels": [make_labels(chance) for _ in range(4)]}
        for _ in range(COUNT)
    ]

    def make(question: dict[str, Any]) -> dict[str, Any]:
        structure = msgspec.convert(question["selector"], LabelSelector | None)
        return describe(compile_label_selector(structure), question["labels"])

    answers = oracle.ask(questions)
    for one, answer in zip(questions, answers, strict=True):
        # Go keeps two requirements on one key in no order of its own: compare them in ours.
        keys = [*((one["selector"] or {}).get("matchLabels") or ())]
        keys += [expression["key"] for expression in (one["selector"] or {}).get("matchExpressions") or ()]
        assert len(keys) <= 12, answer
    check(questions, answers, make)


FIELD_KEYS = ("spec.nodeName", "metadata.name", "status.phase", "", "a!b", "a\\", "ü", " a ")
FIELD_VALUES = ("", "x", "node-1", "a b", "ü", "a\\,b", "a\\=b", "\\\\", "!", "a!", "in")
BAD_FIELD_VALUES = ("a=b", "\\", "a\\b", "\\x", "==", "=", "a\\\\\\", "\\\x00")


def make_field_selector(chance: random.Random) -> str:
    terms = [
        chance.choice(FIELD_KEYS)
        + chance.choice(["=", "==", "!="])
        + pick(chance, FIELD_VALUES, BAD_FIELD_VALUES, 0.05)
        for _ in range(chance.choice([0, 1, 1, 2, 3]))
    ]
    text = ",".join(terms)
    if chance.random() < 0.2:
        at = chance.randrange(len(text) + 1)
        text = (
            text[:at] + chance.choice(["=", "!", ",", "\\", "x", "\\,", ",,", "!="]) + text[at + chance.randrange(2) :]
        )
    return text


def describe_fields(selector: FieldSelector, fields: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "canonical": str(selector),
        "empty": selector.empty,
        "matches": [selector.matches(one) for one in fields],
        "requirements": [
            {"field": one.field, "operator": "!=" if one.negated else "=", "value": one.value}
            for one in selector.requirements
        ],
    }


@pytest.mark.parametrize("seed", range(3))
def test_field_selectors_mean_the_same(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    plain = ("", "x", "node-1", "a,b", "a=b", "\\")
    questions: list[dict[str, Any]] = [
        {
            "op": "field-selector",
            "text": make_field_selector(chance),
            "fields": [{chance.choice(FIELD_KEYS): chance.choice(plain) for _ in range(3)} for _ in range(4)],
        }
        for _ in range(COUNT)
    ]
    check(
        questions, oracle.ask(questions), lambda one: describe_fields(parse_field_selector(one["text"]), one["fields"])
    )
