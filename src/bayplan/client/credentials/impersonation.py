"""Acting as somebody else, which the API server allows to those who have the right to `impersonate`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from multidict import CIMultiDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bayplan.client.access import Authenticator
    from bayplan.client.credentials.document import Place

#: What may stand in a header's name beside letters, digits and `_.-~`. The percent sign is not among them, since it is
#: what the API server unescapes.
_LEGAL = "!#$&'*+^`|"


class Impersonating:
    """An authenticator that adds who to act as to who we are."""

    def __init__(self, ourselves: Authenticator, them: Sequence[tuple[str, str]]) -> None:
        self._ourselves = ourselves
        self._them = them

    async def headers(self) -> Mapping[str, str]:
        """Both identities."""
        both = CIMultiDict(await self._ourselves.headers())
        both.extend(self._them)
        return both

    def rejected(self) -> None:
        """Our own credentials were refused."""
        self._ourselves.rejected()


def impersonation(user: Place) -> list[tuple[str, str]]:
    """The headers for the `as…` fields of a user, where each group has one of its own; none without such fields."""
    name, uid = user.get("as").text(), user.get("as-uid").text()
    groups = user.get("as-groups").texts()
    extra = [(key, value) for key, values in user.get("as-user-extra").items() for value in values.texts()]
    if not name:
        if uid or groups or extra:
            raise user.complain("as-uid, as-groups and as-user-extra need a user", remedy="add `as: NAME`")
        return []
    headers = [("Impersonate-User", name)]
    headers += [("Impersonate-Uid", uid)] if uid else []
    headers += [("Impersonate-Group", group) for group in groups]
    headers += [(f"Impersonate-Extra-{quote(key, safe=_LEGAL)}", value) for key, value in extra]
    if not all(value.isprintable() for _, value in headers):
        raise user.complain("impersonates a name with a line break or other control character in it")
    return headers
