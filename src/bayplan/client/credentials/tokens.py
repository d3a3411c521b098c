"""Secrets as the `Authorization` header: a token as it is written, or the file in which it keeps being renewed."""

from __future__ import annotations

import base64
import logging
import time
from typing import TYPE_CHECKING

from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bayplan.client.credentials.material import Material

_log = logging.getLogger(__name__)

#: Seconds for which a token is not read again, unless it is refused. kubelet renews a token when a fifth of its life
#: is left, and that life is ten minutes at least, so two are always good; client-go waits as long.
READ_EVERY = 50.0


def bearer(token: str, label: str) -> dict[str, str]:
    """The header for a bearer token."""
    token = token.strip()
    if not token:
        raise CredentialsError(f"{label} is empty", remedy="put a token there")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise CredentialsError(
            f"{label} holds characters that no token has", remedy="put the token there and nothing else"
        )
    return {"Authorization": f"Bearer {token}"}


def basic(username: str, password: str) -> dict[str, str]:
    """The header for a user name and a password."""
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


class TokenFile:
    """An authenticator over a file that holds a token, and will hold another one before the token expires."""

    def __init__(
        self, token: Material, *, fallback: Mapping[str, str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._token = token
        #: The headers that serve while the file cannot be read: those read last, or those of the kubeconfig's own
        #: `token`.
        self._headers = fallback
        self._clock = clock
        self._read_again_at = 0.0
        self._read_once = False
        self._trouble = ""

    async def headers(self) -> Mapping[str, str]:
        """The token, read anew now and then."""
        now = self._clock()
        if self._read_once and now < self._read_again_at:
            assert self._headers is not None
            return self._headers
        self._read_once, self._read_again_at = True, now + READ_EVERY
        try:
            self._headers = bearer(self._token.read().decode(errors="replace"), self._token.label)
            self._trouble = ""
        except CredentialsError as error:
            if self._headers is None:
                self._read_once = False
                raise
            self._complain(str(error))
        return self._headers

    def rejected(self) -> None:
        """Look into the file before the next request."""
        self._read_again_at = 0.0

    def _complain(self, trouble: str) -> None:
        if trouble != self._trouble:
            _log.warning("the token known so far stays in use: %s", trouble)
        self._trouble = trouble
