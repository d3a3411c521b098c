"""What the server's failures mean: each code its error, with what is needed to act on it."""

from __future__ import annotations

import json

import pytest

from bayplan import errors
from bayplan.client.status import decode_status, error_from


def status(code: int, reason: str = "", message: str = "", **details: object) -> bytes:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return json.dumps(body | {"message": message} | ({"details": details} if details else {})).encode()


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (405, "MethodNotAllowed", errors.MethodNotAllowed),
        (409, "Conflict", errors.Conflict),
        (409, "AlreadyExists", errors.AlreadyExists),
        (410, "Expired", errors.Expired),
        (410, "Gone", errors.Expired),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.ServerError),
        (503, "ServiceUnavailable", errors.ServerError),
        (504, "Timeout", errors.ServerError),
        (418, "Teapot", errors.ApiError),
    ],
)
def test_each_code_is_its_error(code: int, reason: str, kind: type[errors.ApiError]) -> None:
    error = error_from(code, {}, status(code, reason, "it says no"))
    assert type(error) is kind
    assert isinstance(error, errors.ApiError)
    assert (error.code, error.reason, error.problem) == (code, reason, "it says no")


def test_an_error_inside_a_watch_carries_its_own_code() -> None:
    told = decode_status(status(410, "Expired", "too old resource version"))
    assert told is not None
    assert type(told.error()) is errors.Expired


def test_causes_and_waits_come_through() -> None:
    body = status(429, "TooManyRequests", causes=[{"reason": "DisruptionBudget"}, {}], retryAfterSeconds=10)
    error = error_from(429, {}, body)
    assert isinstance(error, errors.TooManyRequests)
    assert error.causes == ("DisruptionBudget", "")
    assert error.retry_after == 10


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "-7"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({}, None),
        ({"Retry-After": "Thu, 19 Nov 2026 10:00:30 GMT", "Date": "Thu, 19 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"Retry-After": "Thu, 19 Nov 2026 10:00:30 GMT"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_by_the_servers_clock(headers: dict[str, str], expected: float | None) -> None:
    error = error_from(503, headers, b"")
    assert isinstance(error, errors.ApiError)
    assert error.retry_after == expected


def test_a_page_that_is_no_status_is_quoted_in_short() -> None:
    error = error_from(502, {}, b"<html>\n  <h1>Bad gateway</h1>" + b"x" * 5000)
    assert isinstance(error, errors.ServerError)
    assert error.problem.startswith("the server answered 502: <html> <h1>Bad gateway</h1>xxx")
    assert len(error.problem) < 400


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert "502" in str(error_from(502, {}, b"\xff\xfe\x00"))
    assert error_from(500, {}, b"").problem == "the server answered 500"


def test_a_redirect_is_no_answer_of_an_api_server() -> None:
    error = error_from(302, {"Location": "https://login.example.com"}, b"")
    assert type(error) is errors.ProtocolError
    assert "https://login.example.com" in str(error)
    assert error.remedy


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 503])
def test_every_no_comes_with_a_remedy(code: int) -> None:
    assert error_from(code, {}, status(code)).remedy


def test_a_name_that_is_taken_has_another_remedy_than_an_object_that_moved_on() -> None:
    taken, moved = (error_from(409, {}, status(409, reason)) for reason in ("AlreadyExists", "Conflict"))
    assert taken.remedy != moved.remedy
