"""Acting as somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.client.access import StaticHeaders
from bayplan.client.credentials.impersonation import Impersonating, impersonation
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.client.credentials.document import Place


def test_nobody_is_impersonated_unless_asked_for(user_entry: Callable[..., Place]) -> None:
    assert impersonation(user_entry(token="x")) == {}


def test_every_group_and_extra_value_gets_a_header_of_its_own(user_entry: Callable[..., Place]) -> None:
    groups = ["cooks", "captains", "a,b"]
    fields = {"as": "bob", "as-uid": "7", "as-groups": groups, "as-user-extra": {"example.com/Scope%": ["x", "y"]}}
    headers = impersonation(user_entry(**fields))
    told = sorted((name.lower(), value) for name, value in headers.items())
    assert told == [
        ("impersonate-extra-example.com%2fscope%25", "x"),
        ("impersonate-extra-example.com%2fscope%25", "y"),
        ("impersonate-group", "a,b"),
        ("impersonate-group", "captains"),
        ("impersonate-group", "cooks"),
        ("impersonate-uid", "7"),
        ("impersonate-user", "bob"),
    ]


def test_a_person_in_hundreds_of_groups_loses_none(user_entry: Callable[..., Place]) -> None:
    groups = [f"g{index}" for index in range(500)]
    headers = impersonation(user_entry(**{"as": "bob", "as-groups": groups}))
    assert {value for name, value in headers.items() if name.lower() == "impersonate-group"} == set(groups)


@pytest.mark.parametrize("fields", [{"as-uid": "7"}, {"as-groups": ["x"]}, {"as-user-extra": {"x": ["y"]}}])
def test_groups_without_a_user_are_refused(user_entry: Callable[..., Place], fields: dict[str, object]) -> None:
    with pytest.raises(CredentialsError, match="need a user; add `as: NAME`"):
        impersonation(user_entry(**fields))


def test_a_line_break_cannot_smuggle_in_a_header(user_entry: Callable[..., Place]) -> None:
    with pytest.raises(CredentialsError, match="line break"):
        impersonation(user_entry(**{"as": "bob\r\nImpersonate-Group: system:masters"}))


async def test_our_own_credentials_go_along_and_hear_of_a_refusal() -> None:
    class Ours(StaticHeaders):
        refusals = 0

        def rejected(self) -> None:
            Ours.refusals += 1

    acting = Impersonating(Ours({"Authorization": "Bearer x"}), {"Impersonate-User": "bob"})
    assert await acting.headers() == {"Authorization": "Bearer x", "Impersonate-User": "bob"}
    acting.rejected()
    assert Ours.refusals == 1
