"""Taints and tolerations."""

from __future__ import annotations

import pytest

from bayplan.objects.taints import Taint, Toleration, find_untolerated, is_tolerated

TAINT = Taint("role", "db", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        (Toleration("role", "Equal", "db", "NoSchedule"), True),
        (Toleration("role", "", "db"), True),
        (Toleration("role", "Equal", "web"), False),
        (Toleration("role", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("", "Equal", "db"), True),
        (Toleration("other", "Exists"), False),
        (Toleration("role", "Exists", "", "NoExecute"), False),
        (Toleration("role", "Within", "db"), False),
    ],
)
def test_key_value_and_effect_must_fit_where_they_are_given(toleration: Toleration, tolerates: bool) -> None:
    assert toleration.tolerates(TAINT) is tolerates


@pytest.mark.parametrize(
    ("operator", "bound", "found", "tolerates"),
    [
        ("Lt", "10", "9", True),
        ("Lt", "10", "10", False),
        ("Gt", "10", "11", True),
        ("Gt", "-5", "-4", True),
        ("Gt", "10", "011", False),
        ("Gt", "10", "+11", False),
        ("Lt", "10", "-0", False),
        ("Lt", "9223372036854775808", "1", False),
        ("Lt", "ten", "1", False),
    ],
)
def test_comparison_is_of_plain_integers_and_behind_its_gate(
    operator: str, bound: str, found: str, tolerates: bool
) -> None:
    toleration, taint = Toleration("load", operator, bound), Taint("load", found, "NoSchedule")
    assert toleration.tolerates(taint, comparison=True) is tolerates
    assert not toleration.tolerates(taint)


def test_the_first_repelling_taint_that_nobody_tolerates_is_found() -> None:
    taints = (
        Taint("soft", "", "PreferNoSchedule"),
        TAINT,
        Taint("gone", "", "NoExecute"),
        Taint("last", "", "NoSchedule"),
    )
    assert find_untolerated(taints, ()) == TAINT
    assert find_untolerated(taints, (Toleration("role", "Exists"),)) == taints[2]
    assert find_untolerated(taints, (Toleration("", "Exists"),)) is None
    assert find_untolerated(taints, (), effects={"PreferNoSchedule"}) == taints[0]


def test_one_toleration_is_enough() -> None:
    assert is_tolerated(TAINT, (Toleration("x", "Exists"), Toleration("role", "Exists")))
    assert not is_tolerated(TAINT, ())
