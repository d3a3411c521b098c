"""Field selectors: terms, escapes, and what Kubernetes refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.errors import ValidationError
from bayplan.objects.fields import FieldRequirement, FieldSelector, escape_value, parse_field_selector

names = st.sampled_from(["metadata.name", "spec.nodeName", "status.phase"])
plain = st.text(alphabet="ab,=\\! é", max_size=6)
fields = st.dictionaries(names, plain, max_size=3)


@settings(deadline=None)
@given(st.lists(st.tuples(names, plain, st.booleans()), max_size=4), fields)
def test_a_selector_matches_where_all_its_terms_hold(terms: list[tuple[str, str, bool]], of: dict[str, str]) -> None:
    text = ",".join(f"{name}{'!=' if negated else '='}{escape_value(value)}" for name, value, negated in terms)
    expected = all((of.get(name, "") == value) != negated for name, value, negated in terms)
    assert parse_field_selector(text).matches(of) is expected


@settings(deadline=None)
@given(st.lists(st.builds(FieldRequirement, names, plain, st.booleans()), max_size=4))
def test_the_text_of_a_selector_parses_to_the_same_terms(requirements: list[FieldRequirement]) -> None:
    parsed = parse_field_selector(str(FieldSelector(tuple(requirements))))
    assert sorted(map(str, parsed.requirements)) == sorted(map(str, requirements))
    assert set(parsed.requirements) == set(requirements)


@settings(deadline=None)
@given(st.text(alphabet="ab,=\\!", max_size=12) | st.text(max_size=8))
def test_any_text_is_a_selector_or_a_validation_error(text: str) -> None:
    try:
        selector = parse_field_selector(text)
    except ValidationError:
        return
    assert selector.empty is (not selector.requirements)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (",,", ""),
        ("=", ""),
        ("b==1,a!=2", "a!=2,b=1"),
        ("spec.nodeName=", "spec.nodeName="),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("a!b=c", "a!b=c"),
    ],
)
def test_known_texts(text: str, canonical: str) -> None:
    assert str(parse_field_selector(text)) == canonical


@pytest.mark.parametrize("text", ["a", "a=b=c", "a=b\\", r"a=\x", "a=1,b", "a!b", "a===b"])
def test_other_texts_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ValidationError, match="write terms such as"):
        parse_field_selector(text)
