"""Requests: what goes over the wire, what is sent again, and what never is."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan import errors
from bayplan.client.api import NO_PATIENCE, Client, Patience
from bayplan.client.patches import ApplyPatch, JsonPatch, MergePatch, StrategicMergePatch
from bayplan.objects.meta import ObjectMeta, ResourceVersion, Uid
from bayplan.objects.resource import Resource
from bayplan.testing.collection import Reply
from bayplan.testing.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bayplan.client.transport import Request, Response


class Thing(msgspec.Struct, frozen=True, omit_defaults=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0


THINGS = Resource("example.com", "v1", "things", "Thing", True, Thing)
NODES = Resource("", "v1", "nodes", "Node", False, Thing)
OK = Reply(200, b'{"metadata":{"name":"a"},"value":1}')
EMPTY_LIST = Reply(200, b'{"metadata":{"resourceVersion":"5"}}')


@dataclass
class Script:
    """A transport that answers from a list, and repeats the last answer for ever."""

    answers: list[Reply | Exception] = field(default_factory=lambda: [OK])
    requests: list[Request] = field(default_factory=list)
    closed: bool = False

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None:
        self.closed = True


def sent(script: Script) -> tuple[str, str, dict[str, str], Any]:
    request = script.requests[-1]
    return request.method, request.path, dict(request.query), json.loads(request.body or b"null")


# ── what goes over the wire ──


@virtual_time
async def test_get_asks_for_one_object_in_the_clients_namespace_or_the_one_named() -> None:
    script = Script()
    client = Client(script, namespace="mine")
    assert await client.get(THINGS, "a") == Thing(ObjectMeta(name="a"), 1)
    assert sent(script)[:2] == ("GET", "/apis/example.com/v1/namespaces/mine/things/a")
    await client.get(THINGS, "a b?c", namespace="other")
    assert sent(script)[1] == "/apis/example.com/v1/namespaces/other/things/a%20b%3Fc"
    await client.get(NODES, "n1")
    assert sent(script)[1] == "/api/v1/nodes/n1"


@pytest.mark.parametrize("word", ["", "/", "a/", "x/y", "..", ".", "%2f"])
@virtual_time
async def test_a_name_that_leads_elsewhere_is_never_sent(word: str) -> None:
    """A server unescapes before it looks where a path leads: a delete of `/` was one of the whole collection."""
    script = Script()
    client = Client(script)
    for request in (
        client.get(THINGS, word),
        client.replace(THINGS, word, {}),
        client.patch(THINGS, word, MergePatch({})),
        client.delete(THINGS, word),
        client.scale(THINGS, word, 3),
        client.bind("ns", word, "n1", uid=Uid("u")),
        client.evict("ns", word),
    ):
        with pytest.raises(errors.UsageError):
            await request
    assert script.requests == []


@pytest.mark.parametrize("word", ["/", "a/", "x/y", "..", "%2f"])
@virtual_time
async def test_a_namespace_or_subresource_that_leads_elsewhere_is_never_sent(word: str) -> None:
    script = Script()
    client = Client(script)
    for request in (
        client.list(THINGS, namespace=word),
        client.create(THINGS, {}, namespace=word),
        client.delete(THINGS, "a", namespace=word),
        client.bind(word, "a", "n1", uid=Uid("u")),
        client.replace(THINGS, "a", {}, subresource=word),
        Client(script, namespace=word).get(THINGS, "a"),
    ):
        with pytest.raises(errors.UsageError):
            await request
    assert script.requests == []


@virtual_time
async def test_list_gathers_the_pages_of_all_namespaces() -> None:
    def page(number: int, more: str) -> Reply:
        items = [{"metadata": {"name": f"n{number}"}}]
        return Reply(200, json.dumps({"metadata": {"resourceVersion": "9", "continue": more}, "items": items}).encode())

    script = Script([page(1, "x"), page(2, "y"), page(3, "")])
    listed = await Client(script).list(THINGS, labels="a=b", fields="c=d")
    assert [item.metadata.name for item in listed.items] == ["n1", "n2", "n3"]
    assert listed.metadata.resource_version == "9"
    queries = [dict(request.query) for request in script.requests]
    assert [query.get("continue") for query in queries] == [None, "x", "y"]
    assert all(query["labelSelector"] == "a=b" and query["fieldSelector"] == "c=d" for query in queries)
    assert {request.path for request in script.requests} == {"/apis/example.com/v1/things"}


@virtual_time
async def test_a_list_whose_pages_expire_is_asked_for_in_one_piece() -> None:
    def page(names: str, more: str = "") -> Reply:
        items = [{"metadata": {"name": name}} for name in names]
        return Reply(200, json.dumps({"metadata": {"resourceVersion": "9", "continue": more}, "items": items}).encode())

    script = Script([page("ab", "x"), Reply.failure(410, "Expired"), page("acd")])
    listed = await Client(script).list(THINGS)
    assert [item.metadata.name for item in listed.items] == ["a", "c", "d"]
    first, _, last = (dict(request.query) for request in script.requests)
    assert "limit" in first
    assert not {"limit", "continue"} & set(last)


@virtual_time
async def test_create_and_replace_send_the_object_with_its_kind() -> None:
    script = Script()
    client = Client(script)
    await client.create(THINGS, Thing(value=3), dry_run=True, field_manager="me")
    assert sent(script) == (
        "POST",
        "/apis/example.com/v1/namespaces/default/things",
        {"dryRun": "All", "fieldManager": "me"},
        {"apiVersion": "example.com/v1", "kind": "Thing", "value": 3},
    )
    await client.replace(THINGS, "a", {"value": 4}, subresource="status")
    assert sent(script)[:2] == ("PUT", "/apis/example.com/v1/namespaces/default/things/a/status")


@pytest.mark.parametrize(
    ("patch", "media_type", "body"),
    [
        (MergePatch({"spec": None}), "application/merge-patch+json", {"spec": None}),
        (StrategicMergePatch({"a": 1}), "application/strategic-merge-patch+json", {"a": 1}),
        (JsonPatch([{"op": "remove", "path": "/a"}]), "application/json-patch+json", [{"op": "remove", "path": "/a"}]),
    ],
)
@virtual_time
async def test_each_kind_of_patch_has_its_media_type(patch: Any, media_type: str, body: object) -> None:
    script = Script()
    await Client(script).patch(THINGS, "a", patch, field_manager="me")
    assert sent(script)[0] == "PATCH"
    assert sent(script)[2:] == ({"fieldManager": "me"}, body)
    assert script.requests[-1].headers["Content-Type"] == media_type


@virtual_time
async def test_apply_names_its_manager_and_its_kind() -> None:
    script = Script()
    await Client(script).patch(THINGS, "a", ApplyPatch({"value": 2}, manager="bayplan", force=True))
    assert sent(script)[2] == {"fieldManager": "bayplan", "force": "true"}
    assert sent(script)[3] == {"apiVersion": "example.com/v1", "kind": "Thing", "value": 2}
    assert script.requests[-1].headers["Content-Type"] == "application/apply-patch+yaml"


@virtual_time
async def test_delete_says_under_which_conditions() -> None:
    script = Script()
    client = Client(script)
    await client.delete(
        THINGS, "a", uid=Uid("u"), resource_version=ResourceVersion("7"), grace_seconds=0, propagation="Foreground"
    )
    method, path, _, body = sent(script)
    assert (method, path) == ("DELETE", "/apis/example.com/v1/namespaces/default/things/a")
    assert body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Foreground",
    }
    await client.delete(THINGS, "a")
    assert sent(script)[3] == {"apiVersion": "v1", "kind": "DeleteOptions"}


@virtual_time
async def test_bind_evict_and_scale_use_their_subresources() -> None:
    script = Script()
    client = Client(script)
    await client.bind("ns", "p", "n1", uid=Uid("u"))
    assert sent(script)[:2] == ("POST", "/api/v1/namespaces/ns/pods/p/binding")
    assert sent(script)[3]["target"]["name"] == "n1"
    assert sent(script)[3]["metadata"]["uid"] == "u"
    await client.evict("ns", "p", uid=Uid("u"), grace_seconds=3)
    assert sent(script)[:2] == ("POST", "/api/v1/namespaces/ns/pods/p/eviction")
    assert sent(script)[3]["deleteOptions"]["preconditions"] == {"uid": "u"}
    await client.scale(THINGS, "a", 5)
    assert sent(script)[:2] == ("PATCH", "/apis/example.com/v1/namespaces/default/things/a/scale")
    assert sent(script)[3] == {"spec": {"replicas": 5}}


# ── what is sent again ──

WRITES: list[Callable[[Client], Awaitable[object]]] = [
    lambda client: client.create(THINGS, {}),
    lambda client: client.replace(THINGS, "a", {}),
    lambda client: client.patch(THINGS, "a", MergePatch({})),
    lambda client: client.delete(THINGS, "a"),
    lambda client: client.bind("ns", "p", "n", uid=Uid("u")),
    lambda client: client.evict("ns", "p"),
    lambda client: client.scale(THINGS, "a", 1),
]
READS: list[Callable[[Client], Awaitable[object]]] = [
    lambda client: client.get(THINGS, "a"),
    lambda client: client.list(THINGS),
]


def answer_for(request: Callable[[Client], Awaitable[object]]) -> Reply:
    return EMPTY_LIST if request is READS[1] else OK


NO_EFFECT: list[Reply | Exception] = [
    errors.Unreachable("refused"),
    Reply.failure(429, "TooManyRequests", Retry_After="1"),
    Reply.failure(503, "ServiceUnavailable", Retry_After="1"),
]
#: The last is a proxy's: the connection behind it broke, and nobody knows when.
PERHAPS: list[Reply | Exception] = [Reply.failure(code, "Internal") for code in (500, 502, 504)]
PERHAPS.append(Reply(503, b"upstream connect error or disconnect"))


@pytest.mark.parametrize("request_", READS + WRITES)
@pytest.mark.parametrize("failure", NO_EFFECT)
@virtual_time
async def test_what_had_no_effect_is_sent_again(
    request_: Callable[[Client], Awaitable[object]], failure: Reply | Exception
) -> None:
    script = Script([failure, failure, answer_for(request_)])
    await request_(Client(script))
    assert len(script.requests) == 3


@pytest.mark.parametrize("request_", WRITES)
@pytest.mark.parametrize("failure", PERHAPS)
@virtual_time
async def test_a_write_that_may_have_happened_is_not_sent_again(
    request_: Callable[[Client], Awaitable[object]], failure: Reply
) -> None:
    script = Script([failure, OK])
    with pytest.raises(errors.OutcomeUnknown) as raised:
        await request_(Client(script))
    assert len(script.requests) == 1
    assert raised.value.remedy
    assert isinstance(raised.value.__cause__, errors.ServerError)


@pytest.mark.parametrize("request_", WRITES)
@virtual_time
async def test_a_write_whose_answer_was_lost_is_told_as_unknown(
    request_: Callable[[Client], Awaitable[object]],
) -> None:
    script = Script([errors.OutcomeUnknown("no answer"), OK])
    with pytest.raises(errors.OutcomeUnknown):
        await request_(Client(script))
    assert len(script.requests) == 1


@pytest.mark.parametrize("request_", WRITES)
@virtual_time
async def test_a_503_of_the_api_servers_own_is_a_clear_no(request_: Callable[[Client], Awaitable[object]]) -> None:
    script = Script([Reply.failure(503, "ServiceUnavailable")])
    with pytest.raises(errors.ServerError):
        await request_(Client(script))
    assert len(script.requests) == 1


@virtual_time
async def test_a_write_that_left_behind_what_cannot_be_read_is_told_as_done() -> None:
    script = Script([Reply(201, b'{"metadata":{"name":"a"},"value":"not a number"}')])
    with pytest.raises(errors.ProtocolError, match="has answered with success") as raised:
        await Client(script).create(THINGS, {})
    assert "take the write for done" in (raised.value.remedy or "")
    assert len(script.requests) == 1


@pytest.mark.parametrize("request_", READS)
@pytest.mark.parametrize("failure", [*PERHAPS, errors.ProtocolError("cut")])
@virtual_time
async def test_a_read_is_sent_again_after_anything_that_may_pass(
    request_: Callable[[Client], Awaitable[object]], failure: Reply | Exception
) -> None:
    script = Script([failure, failure, answer_for(request_)])
    await request_(Client(script))
    assert len(script.requests) == 3


@pytest.mark.parametrize("code", [400, 403, 404, 405, 409, 410, 422])
@pytest.mark.parametrize("request_", READS + WRITES)
@virtual_time
async def test_a_clear_no_is_an_answer(request_: Callable[[Client], Awaitable[object]], code: int) -> None:
    script = Script([Reply.failure(code, "No")])
    with pytest.raises(errors.ApiError) as raised:
        await request_(Client(script))
    assert raised.value.code == code
    assert len(script.requests) == 1


@virtual_time
async def test_an_eviction_that_a_budget_holds_back_is_an_answer() -> None:
    body = {"kind": "Status", "code": 429, "details": {"causes": [{"reason": "DisruptionBudget"}]}}
    script = Script([Reply(429, json.dumps(body).encode(), {"Retry-After": "10"})])
    with pytest.raises(errors.TooManyRequests):
        await Client(script).evict("ns", "p")
    assert len(script.requests) == 1


@virtual_time
async def test_credentials_are_renewed_once_after_a_401() -> None:
    script = Script([Reply.failure(401, "Unauthorized"), OK])
    await Client(script).create(THINGS, {})
    assert len(script.requests) == 2
    script = Script([Reply.failure(401, "Unauthorized")])
    with pytest.raises(errors.Unauthorized):
        await Client(script).get(THINGS, "a")
    assert len(script.requests) == 2


@virtual_time
async def test_tries_are_counted_and_waits_are_bounded() -> None:
    loop = asyncio.get_running_loop()
    script = Script([errors.Unreachable("refused")])
    with pytest.raises(errors.Unreachable):
        await Client(script, patience=Patience(tries=4, base=1)).get(THINGS, "a")
    assert len(script.requests) == 4
    assert 3.5 <= loop.time() <= 7
    script = Script([Reply.failure(429, "TooManyRequests", Retry_After="3600")])
    with pytest.raises(errors.TooManyRequests) as raised:
        await Client(script).get(THINGS, "a")
    assert raised.value.retry_after == 3600
    assert len(script.requests) == 1
    script = Script([errors.Unreachable("refused")])
    with pytest.raises(errors.Unreachable):
        await Client(script, patience=NO_PATIENCE).get(THINGS, "a")
    assert len(script.requests) == 1


@virtual_time
async def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    script = Script([Reply.failure(429, "TooManyRequests", Retry_After="7"), OK])
    await Client(script).get(THINGS, "a")
    assert 7 <= asyncio.get_running_loop().time() <= 8.5


# ── the rest ──


@virtual_time
async def test_a_stream_that_is_refused_is_an_error_and_is_closed() -> None:
    script = Script([Reply.failure(403, "Forbidden")])
    with pytest.raises(errors.Forbidden):
        await Client(script).open("/api/v1/pods", {"watch": True}, timeout=1)
    assert len(script.requests) == 1
    assert script.requests[0].stream


@virtual_time
async def test_a_warning_of_the_server_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    script = Script([Reply(200, OK.body, {"Warning": '299 - "v1 Endpoints is deprecated"'})])
    client = Client(script)
    for _ in range(3):
        await client.get(THINGS, "a")
    assert caplog.text.count("is deprecated") == 1


@virtual_time
async def test_a_client_closes_its_transport() -> None:
    script = Script()
    async with Client(script):
        assert not script.closed
    assert script.closed
