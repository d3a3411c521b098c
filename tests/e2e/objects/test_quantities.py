"""Quantities, against Go's: texts near the edges of the grammar and of int64."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.errors import ValidationError
from bayplan.objects.quantity_text import WireQuantity, parse_quantity, read_quantity

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.objects.quantity import Quantity
    from bayplan.testing.controlplane.oracle import Answer, Oracle

pytestmark = pytest.mark.e2e

COUNT = 3000
EDGES = (2**63 - 1, 2**63, 2**63 + 1, 2**64, 10**18 - 1, 10**18, 10**19, 2**60, 2**53 + 1, 1023, 1024, 1025, 8, 7)
SUFFIXES = (
    *("", "", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    *("e0", "e1", "e2", "e3", "e-3", "e+3", "E3", "E-2", "e6", "e9", "e17", "e18", "e19", "e20", "e21", "e40", "e300"),
    *("e-6", "e-8", "e-9", "e-10", "e-12", "e-30", "e-300", "e03", "e-03"),
    # The exponent is cut to 32 bits, silently.
    *("e4294967296", "e-4294967297", "e4294967299"),
    # None of these is one.
    *(
        "e",
        "e+",
        "e-",
        "K",
        "KI",
        "ki",
        "mi",
        "i",
        "B",
        "GB",
        "GiB",
        "kk",
        "mm",
        "Em",
        "eE5",
        "e1.5",
        "e1e1",
        "+5",
        "-1",
    ),
    *("e9223372036854775808", "e-99999999999999999999", "e1_0", "\u00b5"),
)
INTRUDERS = "_ ,.+-eEx\u0661i\x00\u00a0\n\t5٣"


def make_number(chance: random.Random) -> str:
    def digits() -> str:
        return str(chance.randrange(10 ** chance.choice([1, 1, 2, 3, 4, 5, 6, 9, 11, 12, 15, 17, 18, 19, 20, 25, 40])))

    whole = chance.choice(
        ["", "0", "00", "000000000000000000000", digits(), digits(), digits(), str(chance.choice(EDGES))]
    )
    if chance.random() < 0.5:
        return whole
    zeros = "0" * chance.choice([0, 0, 1, 2, 3, 6, 8, 9, 10, 18, 25])
    return f"{whole}.{chance.choice(['', zeros, zeros + digits(), digits() + zeros])}"


def make_text(chance: random.Random) -> str:
    text = chance.choice(["", "", "", "", "-", "-", "+"]) + make_number(chance) + chance.choice(SUFFIXES)
    if chance.random() < 0.04:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(INTRUDERS) + text[at:]
    return make_text(chance) if _would_fill_memory(text) else text


def _would_fill_memory(text: str) -> bool:
    """Whether Go writes out billions of zeros for it: its exponent is enormous, even when cut to 32 bits."""
    exponent = re.search(r"[eE]([+-]?[0-9]{4,})$", text)
    return exponent is not None and abs((int(exponent[1]) + 2**31) % 2**32 - 2**31) > 9999


def describe(quantity: Quantity) -> dict[str, Any]:
    return {
        "value": quantity.value(),
        "milli": quantity.milli_value(),
        "canonical": str(quantity),
        "format": quantity.family,
        "sign": quantity.sign,
        "exact": quantity.as_decimal(),
    }


def theirs(answer: Answer) -> dict[str, Any] | None:
    return None if answer.error is not None else {**answer.value, "exact": Decimal(answer.value["exact"])}


def ours(make: Callable[[], Quantity]) -> dict[str, Any] | None:
    try:
        return describe(make())
    except ValidationError:
        return None


def good_texts(chance: random.Random, oracle: Oracle) -> list[str]:
    texts = [make_text(chance) for _ in range(COUNT)]
    answers = oracle.ask([{"op": "quantity", "text": text} for text in texts])
    return [text for text, answer in zip(texts, answers, strict=True) if answer.error is None]


@pytest.mark.parametrize("seed", range(3))
def test_texts_are_read_and_refused_alike(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    texts = [make_text(chance) for _ in range(COUNT)]
    answers = oracle.ask([{"op": "quantity", "text": text} for text in texts])
    assert 0.3 < sum(answer.error is None for answer in answers) / COUNT < 0.95, "the texts are too tame or too wild"
    for text, answer in zip(texts, answers, strict=True):
        assert ours(lambda text=text: parse_quantity(text)) == theirs(answer), repr(text)  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_alike(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    texts = good_texts(chance, oracle)
    lists = [[chance.choice(texts) for _ in range(chance.choice([2, 2, 3, 4, 7]))] for _ in range(COUNT)]
    answers = oracle.ask([{"op": "quantity-sum", "texts": summed} for summed in lists])
    for summed, answer in zip(lists, answers, strict=True):
        assert describe(reduce(add, map(parse_quantity, summed))) == theirs(answer), summed


@pytest.mark.parametrize("seed", range(3))
def test_comparisons_are_alike(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    texts = good_texts(chance, oracle)
    pairs = [(chance.choice(texts), chance.choice(texts)) for _ in range(COUNT)]
    # Equal amounts in different clothes.
    pairs += [(f"{number}k", f"{number}000") for number in range(-50, 50)]
    answers = oracle.ask([{"op": "quantity-compare", "left": left, "right": right} for left, right in pairs])
    for pair, answer in zip(pairs, answers, strict=True):
        left, right = map(parse_quantity, pair)
        assert (left > right) - (left < right) == answer.value["cmp"], pair
        assert (left == right) is (answer.value["cmp"] == 0), pair


def test_json_values_are_decoded_alike(oracle: Oracle) -> None:
    chance = random.Random(1)
    values: list[WireQuantity] = [None, 0, -0, 1, -5, 2**63, 2**64 + 1, 10**30, 0.1, 1.5, 1e-12, 1e30, 123456.789]
    values += [
        chance.choice([f" {text}", f"{text} ", f"\u2003{text}\u00a0", f"\t{text}"]) for text in ("1", "5Gi", "x")
    ]
    values += [round(chance.uniform(-1e6, 1e6), chance.randrange(9)) for _ in range(500)]
    answers = oracle.ask([{"op": "quantity", "json": value} for value in values])
    for value, answer in zip(values, answers, strict=True):
        wire = msgspec.json.decode(json.dumps(value), type=WireQuantity)
        read = ours(lambda wire=wire: read_quantity(wire))  # type: ignore[misc]
        told = theirs(answer)
        if told is None or read is None:
            assert told is read, value
            continue
        # The spelling of a number is lost in decoding, and with it the form in which it is written again.
        unlike = {"canonical", "format"} if isinstance(value, float) or value is None else set()
        assert {k: v for k, v in read.items() if k not in unlike} == {
            k: v for k, v in told.items() if k not in unlike
        }, value
