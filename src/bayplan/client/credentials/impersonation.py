"""Acting as somebody else, which the API server allows to those who have the right to `impersonate`."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING
from urllib.parse import quote

from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bayplan.client.access import Authenticator
    from bayplan.client.credentials.document import Place

_GROUP, _EXTRA = "Impersonate-Group", "Impersonate-Extra-"

#: What may stand in a header's name beside letters, digits and `_.-~`. The percent sign is not among them, since it is
#: what the API server unescapes.
_LEGAL = "!#$&'*+^`|"


class Impersonating:
    """An authenticator that adds who to act as to who we are."""

    def __init__(self, ourselves: Authenticator, them: Mapping[str, str]) -> None:
        self._ourselves = ourselves
        self._them = them

    async def headers(self) -> Mapping[str, str]:
        """Both identities."""
        return {**await self._ourselves.headers(), **self._them}

    def rejected(self) -> None:
        """Our own credentials were refused."""
        self._ourselves.rejected()


def impersonation(user: Place) -> dict[str, str]:
    """The headers for the `as…` fields of a user; none if there are no such fields."""
    name, uid = user.get("as").text(), user.get("as-uid").text()
    groups = user.get("as-groups").texts()
    extra = {key: values.texts() for key, values in user.get("as-user-extra").items()}
    if not name:
        if uid or groups or extra:
            raise user.complain("as-uid, as-groups and as-user-extra need a user", remedy="add `as: NAME`")
        return {}
    headers = {"Impersonate-User": _one_line(name, user)}
    if uid:
        headers["Impersonate-Uid"] = _one_line(uid, user)
    headers |= _repeated(_GROUP, "", groups, user)
    for key, values in extra.items():
        headers |= _repeated(_EXTRA, quote(key, safe=_LEGAL), values, user)
    return headers


def _repeated(name: str, suffix: str, values: Sequence[str], user: Place) -> dict[str, str]:
    """One header for each value.

    Commas do not part groups, so the header must be repeated, and a mapping cannot repeat a key. But the names of
    headers do not heed case: `Impersonate-Group` and `impersonate-group` are two keys here and one name there.
    """
    names = list(islice(_spellings(name), len(values)))
    if len(names) < len(values):
        raise CredentialsError(f"{user.path} impersonates {len(values)} groups, more than can be sent")
    return {spelt + suffix: _one_line(value, user) for spelt, value in zip(names, values, strict=True)}


def _spellings(name: str) -> Iterator[str]:
    """The name, and then every other way to write it."""
    for letters in product(*({letter: None, letter.swapcase(): None} for letter in reversed(name))):
        yield "".join(reversed(letters))


def _one_line(value: str, user: Place) -> str:
    if not value.isprintable():
        raise user.complain("impersonates a name with a line break or other control character in it")
    return value
