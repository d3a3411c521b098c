"""Label selectors: what matches, how text and structs compile, and what Kubernetes refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.errors import ValidationError
from bayplan.objects.labels import (
    EVERYTHING,
    NOTHING,
    Operator,
    Requirement,
    Selector,
    compile_label_selector,
    is_label_key,
    read_int64,
    require,
)
from bayplan.objects.labels_text import parse_label_selector
from bayplan.objects.selection import LabelSelector, LabelSelectorRequirement

keys = st.sampled_from(["a", "b", "in", "notin", "example.com/role", "x_1"])
values = st.sampled_from(["", "a", "b", "in", "7", "12", "v1.2"])
labels = st.dictionaries(keys, values, max_size=4)
listed = st.lists(values, min_size=1, max_size=3, unique=True).map(sorted).map(tuple)
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from([Operator.IN, Operator.NOT_IN]), listed),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        st.tuples(values),
    ),
    st.builds(Requirement, keys, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.tuples(st.sampled_from(["3", "9"])),
    ),
)
selectors = st.lists(requirements, max_size=4).map(EVERYTHING.with_requirements)


def holds(requirement: Requirement, of: dict[str, str]) -> bool:
    """The rules, as the documentation of labels tells them."""
    key, operator, wanted = requirement.key, requirement.operator, requirement.values
    match operator:
        case Operator.IN | Operator.EQUALS | Operator.DOUBLE_EQUALS:
            return key in of and of[key] in wanted
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return not (key in of and of[key] in wanted)
        case Operator.EXISTS:
            return key in of
        case Operator.DOES_NOT_EXIST:
            return key not in of
    if not of.get(key, "").isdigit():
        return False
    return int(of[key]) > int(wanted[0]) if operator is Operator.GREATER_THAN else int(of[key]) < int(wanted[0])


@settings(deadline=None)
@given(selectors, labels)
def test_a_selector_matches_where_all_its_requirements_hold(selector: Selector, of: dict[str, str]) -> None:
    assert selector.matches(of) is all(holds(requirement, of) for requirement in selector.requirements)
    assert not NOTHING.matches(of)
    assert EVERYTHING.matches(of)


@settings(deadline=None)
@given(selectors)
def test_the_text_of_a_selector_parses_to_the_same_selector(selector: Selector) -> None:
    assert parse_label_selector(str(selector)) == selector


@settings(deadline=None)
@given(st.text(alphabet="ab=!<>(), \tin\x00/-é", max_size=20) | st.text(max_size=10))
def test_any_text_is_a_selector_or_a_validation_error(text: str) -> None:
    try:
        selector = parse_label_selector(text)
    except ValidationError:
        return
    assert parse_label_selector(str(selector)) == selector


@settings(deadline=None)
@given(st.dictionaries(keys, values), st.lists(st.tuples(keys, listed), max_size=3), labels)
def test_a_struct_asks_for_all_its_labels_and_expressions(
    wanted: dict[str, str], expressions: list[tuple[str, tuple[str, ...]]], of: dict[str, str]
) -> None:
    struct = LabelSelector(wanted, tuple(LabelSelectorRequirement(key, "In", some) for key, some in expressions))
    expected = wanted.items() <= of.items() and all(of.get(key) in some for key, some in expressions)
    assert compile_label_selector(struct).matches(of) is expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("  ", ""),
        ("a", "a"),
        ("!a", "!a"),
        ("a=b", "a=b"),
        ("b==1 , a != 2", "a!=2,b==1"),
        ("a in (c, b ,b)", "a in (b,c)"),
        ("a notin (,b)", "a notin (,b)"),
        ("a in ()", "a in ()"),
        ("a=", "a="),
        ("in in (in)", "in in (in)"),
        ("a>5,a<9", "a>5,a<9"),
        ("a=b\x00", "a=b"),
        ("\x00 is the end of it all (", ""),
    ],
)
def test_known_texts(text: str, canonical: str) -> None:
    assert str(parse_label_selector(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "a,",
        ",a",
        "a=b=c",
        "a b",
        "a in b",
        "a in (b",
        "a in (b c)",
        "!a=b",
        "a>x",
        "a>-1",
        "a=b c",
        "!!a",
        "a=(b)",
        "/a",
        "a/",
        "a=" + "b" * 64,
        "a" * 64,
    ],
)
def test_other_texts_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ValidationError) as raised:
        parse_label_selector(text)
    assert raised.value.remedy


def test_a_long_text_is_parsed_like_a_short_one() -> None:
    wanted = [f"key{index:03}=value" for index in range(100)]
    assert str(parse_label_selector(",".join(reversed(wanted)))) == ",".join(wanted)


def test_an_absent_struct_selects_nothing_and_an_empty_one_everything() -> None:
    assert compile_label_selector(None) is NOTHING
    assert compile_label_selector(LabelSelector()) is EVERYTHING
    assert not NOTHING.empty
    assert EVERYTHING.empty
    assert NOTHING.with_requirements([require("a", Operator.EXISTS)]) is NOTHING


@pytest.mark.parametrize("operator", ["Gt", "Lt", "in", ""])
def test_label_selectors_have_four_operators(operator: str) -> None:
    struct = LabelSelector(match_expressions=(LabelSelectorRequirement("a", operator, ("1",)),))
    with pytest.raises(ValidationError, match="use In, NotIn, Exists or DoesNotExist"):
        compile_label_selector(struct)


@pytest.mark.parametrize(
    ("operator", "count"),
    [("In", 0), ("NotIn", 0), ("Exists", 1), ("DoesNotExist", 1)],
)
def test_each_operator_has_its_number_of_values(operator: str, count: int) -> None:
    struct = LabelSelector(match_expressions=(LabelSelectorRequirement("a", operator, ("v",) * count),))
    with pytest.raises(ValidationError, match=f"has {count} values"):
        compile_label_selector(struct)


def test_labels_of_a_service_are_taken_as_they_are() -> None:
    selector = Selector.of_labels({"b": "not valid!", "a": ""})
    assert selector.matches({"a": "", "b": "not valid!", "c": "d"})
    assert not selector.matches({"b": "not valid!"})
    assert str(selector) == "a=,b=not valid!"


@pytest.mark.parametrize("key", ["a", "A_b.c-d", "x/" + "n" * 63, "a.b-c.d/e", "d" * 253 + "/e", "0"])
def test_label_keys(key: str) -> None:
    assert is_label_key(key)


@pytest.mark.parametrize(
    "key", ["", "-a", "a.", "a/b/c", "/a", "a/", "A/b", "a_b/c", "n" * 64, "d" * 254 + "/e", "a\n", "é"]
)
def test_other_label_keys(key: str) -> None:
    assert not is_label_key(key)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        ("0" * 90 + "1", 1),
    ],
)
def test_integers(text: str, number: int) -> None:
    assert read_int64(text) == number


@pytest.mark.parametrize("text", ["", "1_0", "1.0", " 1", "0x1", str(2**63), "٣", "9" * 5000])
def test_other_texts_are_no_integers(text: str) -> None:
    assert read_int64(text) is None
