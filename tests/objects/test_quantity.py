"""Quantities: the grammar, the rounding, the canonical form, and arithmetic, against rules stated with fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayplan.errors import ValidationError
from bayplan.objects.quantity import INT64_MAX, INT64_MIN, MAX_DIGITS, ZERO, Quantity
from bayplan.objects.quantity_text import milli_value_of, parse_quantity, read_quantity, value_of

FACTORS = {
    "": Fraction(1),
    **{
        suffix: Fraction(10) ** power
        for suffix, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
    **{f"{letter}{power}": Fraction(10) ** power for letter in "eE" for power in (-12, -9, -3, -1, 0, 2, 3, 7)},
}
NANO = Fraction(1, 10**9)
numbers = st.from_regex(r"([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)
texts = st.builds(
    lambda sign, number, suffix: sign + number + suffix,
    st.sampled_from(["", "", "-", "+"]),
    numbers,
    st.sampled_from([*FACTORS]),
)


def amount_of(text: str) -> Fraction:
    """What a text says, before Kubernetes rounds it to a billionth."""
    suffix = text.lstrip("+-.0123456789")
    number = text[: len(text) - len(suffix)]
    digits = number.lstrip("+-")
    whole, _, fraction = digits.partition(".")
    size = Fraction(int(whole or "0")) + (Fraction(int(fraction), 10 ** len(fraction)) if fraction else 0)
    return (-size if number.startswith("-") else size) * FACTORS[suffix]


def away_from_zero(amount: Fraction) -> int:
    return ceil(amount) if amount > 0 else floor(amount)


def to_nano(amount: Fraction) -> Fraction:
    return away_from_zero(amount / NANO) * NANO


def exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.as_decimal())


@settings(deadline=None)
@given(texts)
def test_a_text_is_its_number_times_its_suffix_rounded_up_to_a_billionth(text: str) -> None:
    amount = amount_of(text)
    assume(not text.endswith("i") or abs(amount) <= INT64_MAX)
    assert exact(parse_quantity(text)) == to_nano(amount)


@settings(deadline=None)
@given(texts)
def test_values_are_rounded_away_from_zero(text: str) -> None:
    amount = to_nano(amount_of(text))
    assume(abs(amount) * 1000 <= INT64_MAX)
    quantity = parse_quantity(text)
    # Negative wide ones are another matter; the next test has them.
    assume(amount >= 0 or not quantity.wide)
    assert quantity.value() == away_from_zero(amount)
    assert quantity.milli_value() == away_from_zero(amount * 1000)
    assert (value_of(text), milli_value_of(text)) == (quantity.value(), quantity.milli_value())


@settings(deadline=None)
@given(
    st.builds("-{}.{}{}".format, st.integers(1, 8000), st.integers(1, 10**6), st.sampled_from(["Ki", "Mi", "n", "e-9"]))
)
def test_negative_wide_ones_are_truncated_and_then_raised_by_one(text: str) -> None:
    quantity = parse_quantity(text)
    amount = exact(quantity)
    assert quantity.wide
    assert quantity.value() == (int(amount) if amount.denominator == 1 else int(amount) + 1)


@settings(deadline=None)
@given(texts)
def test_the_canonical_form_says_the_same_amount(text: str) -> None:
    quantity = parse_quantity(text)
    assume(abs(exact(quantity)) < 10**21)
    written = str(quantity)
    assert parse_quantity(written) == quantity
    assert quantity.spelling == text or "." not in written


@settings(deadline=None)
@given(st.integers(1, 10**6), st.sampled_from(["k", "M", "G", "Ki", "Mi", "Gi"]))
def test_the_canonical_suffix_is_the_largest_that_loses_nothing(number: int, suffix: str) -> None:
    quantity = parse_quantity(f"{number}{suffix}")
    base = 1024 if suffix.endswith("i") else 1000
    mantissa = int(str(Quantity(quantity.unscaled, quantity.scale, quantity.family)).rstrip("KMGTPEki"))
    assert mantissa % base or quantity.value() < base


@settings(deadline=None)
@given(texts, texts)
def test_sums_are_exact(left: str, right: str) -> None:
    first, second = parse_quantity(left), parse_quantity(right)
    assert exact(first + second) == exact(first) + exact(second)
    assert first + second == second + first
    assert first + ZERO == first


@settings(deadline=None)
@given(texts, texts)
def test_comparisons_are_those_of_the_amounts(left: str, right: str) -> None:
    first, second = parse_quantity(left), parse_quantity(right)
    assert (first < second) is (exact(first) < exact(second))
    assert (first <= second) is (exact(first) <= exact(second))
    assert (first > second) is (exact(first) > exact(second))
    assert (first >= second) is (exact(first) >= exact(second))
    assert (first == second) is (exact(first) == exact(second))
    assert first != second or hash(first) == hash(second)


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-.eEinumkKMGTP _,٣\n", max_size=12) | st.text(max_size=8))
def test_any_text_is_a_quantity_or_a_validation_error(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except ValidationError:
        return
    assert INT64_MIN <= quantity.value() <= INT64_MAX
    assert INT64_MIN <= quantity.milli_value() <= INT64_MAX


@pytest.mark.parametrize(
    ("text", "value", "milli", "canonical"),
    [
        ("100m", 1, 100, "100m"),
        ("1.5Gi", 1610612736, 1610612736000, "1536Mi"),
        ("1e3", 1000, 1000000, "1e3"),
        ("0.1", 1, 100, "100m"),
        ("0.5m", 1, 1, "500u"),
        ("-1.5", -2, -1500, "-1500m"),
        ("0", 0, 0, "0"),
        ("0.1n", 1, 1, "1n"),
        ("1023Ki", 1047552, 1047552000, "1023Ki"),
        ("8Ki", 8192, 8192000, "8Ki"),
        ("0.5Ki", 512, 512000, "512"),
        (".5", 1, 500, "500m"),
        ("1.", 1, 1000, "1."),
        ("+1", 1, 1000, "+1"),
        ("1.500", 2, 1500, "1.500"),
        ("-", 0, 0, "0"),
        (".", 0, 0, "0"),
        ("m", 0, 0, "0"),
    ],
)
def test_known_texts(text: str, value: int, milli: int, canonical: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value(), str(quantity)) == (value, milli, canonical)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1_000",
        "1,5",
        "1.2.3",
        "--1",
        "1Kb",
        "1K",
        "1ki",
        "1e",
        "1e1.5",
        "0x10",
        "Inf",
        "1+5",
        "e-10",
        "٣",
        "1e9223372036854775808",
    ],
)
def test_other_texts_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ValidationError, match="such as 100m") as raised:
        parse_quantity(text)
    assert repr(text) in raised.value.problem


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("9223372036854775807", INT64_MAX, -1000),
        ("9223372036854775808", INT64_MIN, 0),
        ("16Ei", INT64_MAX, -1000),
        ("10E", 0, 0),
        ("1e19", 0, 0),
        ("1e2147483647", 0, 1),
        ("-8796.1Mi", 9223364721, 9223364720110),
    ],
)
def test_beyond_int64_is_what_go_makes_of_it(text: str, value: int, milli: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == (value, milli)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "9" * 30 + "e-2147483648", "0.0e-2147483640"])
def test_enormous_exponents_cost_nothing(text: str) -> None:
    quantity = parse_quantity(text)
    assert isinstance(quantity.value(), int)
    assert str(quantity)
    assert quantity < parse_quantity("1e2000000000")
    assert hash(quantity) == hash(parse_quantity(text))


@pytest.mark.parametrize("text", ["9" * 20 + "e999999999", "1" * (MAX_DIGITS + 1), "0" * (MAX_DIGITS * 100) + "x"])
def test_numbers_that_would_fill_memory_are_refused(text: str) -> None:
    with pytest.raises(ValidationError, match=str(MAX_DIGITS)) as raised:
        parse_quantity(text)
    assert len(str(raised.value)) < 300


def test_a_long_text_is_read_like_a_short_one() -> None:
    text = "0" * 100 + "1.5Gi"
    assert parse_quantity(text) == parse_quantity("1.5Gi")
    assert (value_of(text), milli_value_of(text)) == (value_of("1.5Gi"), milli_value_of("1.5Gi"))


def test_a_sum_that_would_fill_memory_is_refused() -> None:
    with pytest.raises(ValidationError, match="smaller exponents"):
        parse_quantity("1e1000000") + parse_quantity("1n")


def test_a_sum_is_written_as_its_first_part_that_is_not_zero() -> None:
    assert str(parse_quantity("1Gi") + parse_quantity("1024M")) == "2048576Ki"
    assert str(parse_quantity("1Gi") + parse_quantity("1Gi")) == "2Gi"
    assert str(parse_quantity("0") + parse_quantity("1024Mi")) == "1Gi"


def test_a_sum_beyond_int64_goes_on_exactly() -> None:
    most = Quantity.of(INT64_MAX)
    assert exact(most + most) == 2 * INT64_MAX
    assert (most + most).value() == -2  # wrapped, as in Go


def test_whole_numbers_and_thousandths_can_be_made() -> None:
    assert Quantity.of(5) == parse_quantity("5")
    assert Quantity.of_milli(250) == parse_quantity("250m")
    assert Quantity.of(2**70).wide


def test_truth_is_being_other_than_zero() -> None:
    assert parse_quantity("1n")
    assert not parse_quantity("0Gi")
    assert parse_quantity("1") != "1"


@pytest.mark.parametrize(
    ("wire", "same_as"),
    [
        (None, "0"),
        (0, "0"),
        (5, "5"),
        (-2, "-2"),
        (0.1, "100m"),
        (1e30, "1e30"),
        (10**25, "1" + "0" * 25),
        (" 1Gi\u2003", "1Gi"),
    ],
)
def test_json_values_are_read_as_the_wire_decoder_reads_them(wire: str | float | None, same_as: str) -> None:
    assert read_quantity(wire) == parse_quantity(same_as)
    assert value_of(wire) == parse_quantity(same_as).value()
    assert milli_value_of(wire) == parse_quantity(same_as).milli_value()


@pytest.mark.parametrize("wire", ["\t1", "1\n", ""])
def test_blanks_that_json_can_only_hold_escaped_are_not_trimmed(wire: str) -> None:
    with pytest.raises(ValidationError):
        read_quantity(wire)
    with pytest.raises(ValidationError):
        value_of(wire)
