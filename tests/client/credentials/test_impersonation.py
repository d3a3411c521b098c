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
    assert impersonation(user_entry(token="x")) == []


def test_every_group_and_extra_value_gets_a_header_of_its_own(user_entry: Callable[..., Place]) -> None:
    groups = ["cooks", "captains", "a,b"]
    fields = {"as": "bob", "as-uid": "7", "as-groups": groups, "as-user-extra": {"example.com/Scope%": ["x", "y"]}}
    assert impersonation(user_entry(**fields)) == [
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "cooks"),
        ("Impersonate-Group", "captains"),
        ("Impersonate-Group", "a,b"),
        ("Impersonate-Extra-example.com%2FScope%25", "x"),
        ("Impersonate-Extra-example.com%2FScope%25", "y"),
    ]


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

    them = [("Impersonate-User", "bob"), ("Impersonate-Group", "cooks"), ("Impersonate-Group", "captains")]
    acting = Impersonating(Ours({"Authorization": "Bearer x"}), them)
    assert list((await acting.headers()).items()) == [("Authorization", "Bearer x"), *them]
    acting.rejected()
    assert Ours.refusals == 1
