"""Tokens, and the files in which they are renewed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from bayplan.client.credentials.material import Material
from bayplan.client.credentials.tokens import READ_EVERY, TokenFile, basic, bearer
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from pathlib import Path


class Renewed:
    """A token file and a clock."""

    def __init__(self, folder: Path, content: str | None = "one\n", fallback: str | None = None) -> None:
        self.now = 1000.0
        self.file = folder / "token"
        if content is not None:
            self.file.write_text(content)
        headers = bearer(fallback, "x") if fallback else None
        self.auth = TokenFile(Material("the token", file=self.file), fallback=headers, clock=lambda: self.now)

    async def sent(self) -> str:
        return dict(await self.auth.headers())["Authorization"].removeprefix("Bearer ")


async def test_a_renewed_token_is_noticed_after_a_while_and_not_before(tmp_path: Path) -> None:
    token = Renewed(tmp_path)
    assert await token.sent() == "one"
    token.file.write_text("two")
    token.now += READ_EVERY - 1
    assert await token.sent() == "one"
    token.now += 1
    assert await token.sent() == "two"


async def test_between_two_readings_the_file_is_not_touched(tmp_path: Path) -> None:
    token = Renewed(tmp_path)
    await token.sent()
    token.file.unlink()
    token.now += READ_EVERY - 1
    assert await token.sent() == "one"


async def test_a_refused_token_is_read_again_at_once(tmp_path: Path) -> None:
    token = Renewed(tmp_path)
    await token.sent()
    token.file.write_text("two")
    token.auth.rejected()
    assert await token.sent() == "two"


@pytest.mark.parametrize("content", [None, "", " \n"])
async def test_a_file_that_is_empty_or_gone_for_a_while_leaves_the_old_token(
    tmp_path: Path, content: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    token = Renewed(tmp_path)
    await token.sent()
    if content is None:
        token.file.unlink()
    else:
        token.file.write_text(content)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            token.now += READ_EVERY
            assert await token.sent() == "one"
    assert len(caplog.records) == 1
    assert "one" not in caplog.text
    token.file.write_text("two")
    token.now += READ_EVERY
    assert await token.sent() == "two"


async def test_a_file_that_was_never_there_is_an_error_until_it_is(tmp_path: Path) -> None:
    token = Renewed(tmp_path, content=None)
    for _ in range(2):
        with pytest.raises(CredentialsError, match="the token cannot be read: No such file"):
            await token.sent()
    token.file.write_text("one")
    assert await token.sent() == "one"


async def test_the_file_wins_over_the_token_beside_it_which_serves_while_the_file_is_missing(tmp_path: Path) -> None:
    token = Renewed(tmp_path, content=None, fallback="written")
    assert await token.sent() == "written"
    token.file.write_text("one")
    token.now += READ_EVERY
    assert await token.sent() == "one"


@pytest.mark.parametrize("token", ["s3cret\r\nX-Evil: 1", "s3cret two", "s3crét", "s3cret\x00"])
def test_what_cannot_be_a_token_is_refused_without_quoting_it(token: str) -> None:
    with pytest.raises(CredentialsError, match="the token of ann") as refused:
        bearer(token, "the token of ann")
    assert "s3cr" not in str(refused.value)


def test_user_name_and_password_are_joined_as_http_wants_it() -> None:
    assert basic("ann", "pä:ss") == {"Authorization": "Basic YW5uOnDDpDpzcw=="}
