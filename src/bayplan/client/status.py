"""What the API server's answers mean: a `Status` or a bare HTTP error becomes one of our errors."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import msgspec

from bayplan.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ProtocolError,
    ServerError,
    TooManyRequests,
    Unauthorized,
)
from bayplan.objects.wire import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A proxy's error page says little more in its thousandth character.
_LONGEST_TEXT = 300

_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: TooManyRequests,
}

_REMEDIES: dict[int, str] = {
    400: "check what was asked for, and that the address is right, https:// included",
    401: "see with `bayplan cluster` whose credentials these are, and whether they have expired",
    403: "ask for the right, or grant it with a Role and a RoleBinding",
    404: "see whether it exists, and in which namespace",
    405: "see with `kubectl api-resources -o wide` what this resource can do",
    409: "read it again: it has moved on",
    410: "list again",
    422: "correct what the message names",
    429: "wait, and ask for less at a time",
}
_SERVER_REMEDY = "see whether the server is well, and try again"


class _Cause(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
    field: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    causes: list[_Cause] | None = None
    retry_after_seconds: float | None = None


class Status(msgspec.Struct):
    """`meta/v1 Status`: how the API server says no, and what a watch sends instead of an object when it breaks."""

    kind: str = ""
    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: _Details | None = None

    def error(self, code: int | None = None, retry_after: float | None = None) -> ApiError:
        """The error that this status stands for; the HTTP code serves when it carries none of its own."""
        code = self.code or code or 500
        details = self.details or _Details()
        if retry_after is None and details.retry_after_seconds:
            retry_after = details.retry_after_seconds
        kind = _BY_CODE.get(code, ServerError if code >= 500 else ApiError)
        if self.reason == "AlreadyExists":
            kind = AlreadyExists
        return kind(
            self.message or f"the server answered {code}",
            code=code,
            reason=self.reason or "",
            causes=[cause.reason or "" for cause in details.causes or ()],
            retry_after=retry_after,
            remedy=_remedy(code, self.reason),
        )


def _remedy(code: int, reason: str | None) -> str | None:
    if reason == "AlreadyExists":
        return "choose another name, or change the one that is there"
    return _SERVER_REMEDY if code >= 500 else _REMEDIES.get(code)


_decoder = msgspec.json.Decoder(Status)


def decode_status(body: bytes) -> Status | None:
    """The Status in a body, or None when it holds something else."""
    try:
        status = _decoder.decode(body)
    except UNDECODABLE:
        return None
    return status if status.kind == "Status" else None


def error_from(code: int, headers: Mapping[str, str], body: bytes) -> ApiError | ProtocolError:
    """The error for an answer that is not a success."""
    if code < 400:
        where = f" to {headers['Location']}" if "Location" in headers else ""
        return ProtocolError(
            f"the server answered {code}{where}, which no API server does",
            remedy="check the server's address in the kubeconfig",
        )
    retry_after = _retry_after(headers.get("Retry-After"), headers.get("Date"))
    status = decode_status(body) or Status(message=_text(code, body))
    return status.error(code, retry_after)


def _text(code: int, body: bytes) -> str:
    text = " ".join(body[: 4 * _LONGEST_TEXT].decode(errors="replace").split())
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + "…"
    return f"the server answered {code}: {text}" if text else f"the server answered {code}"


def _retry_after(value: str | None, date: str | None) -> float | None:
    """Seconds, or a date that is compared with the server's own clock."""
    if not value:
        return None
    try:
        return max(0.0, float(int(value)))
    except (ValueError, OverflowError):
        pass
    try:
        now = parsedate_to_datetime(date or "")
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    except (TypeError, ValueError):
        return None
