"""The reflector: whatever happens to the server and the way there, the mirror ends up equal to a fresh list."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.client.api import Client
from bayplan.client.reflector import Reflector, Rhythm
from bayplan.errors import Unreachable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.resource import Resource
from bayplan.testing.collection import Collection, Reply
from bayplan.testing.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bayplan.client.changes import Change


class Thing(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0


THINGS = Resource("example.com", "v1", "things", "Thing", True, Thing)


class Following:
    """A receiver that checks every change against what it was told before."""

    def __init__(self) -> None:
        self.objects: dict[str, Thing] = {}
        self.told: list[str] = []

    def __call__(self, change: Change[Thing]) -> None:
        key = change.object.metadata.key
        assert self.objects.get(key) == change.old, "a change that does not start from what was told before"
        self.told.append(f"{change.kind} {change.object.metadata.name}")
        if change.new is None:
            del self.objects[key]
        else:
            self.objects[key] = change.new


@asynccontextmanager
async def reflecting(collection: Collection, **options: Any) -> AsyncIterator[tuple[Reflector[Thing], Following]]:
    following = Following()
    reflector = Reflector(Client(collection), THINGS, following, jitter=random.Random(1), **options)
    task = asyncio.create_task(reflector.run())
    try:
        yield reflector, following
        assert_equal_to_a_fresh_list(collection, reflector, following)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def assert_equal_to_a_fresh_list(collection: Collection, reflector: Reflector[Thing], following: Following) -> None:
    fresh = {key: msgspec.convert(content, Thing) for key, content in collection.objects.items()}
    assert reflector.objects == fresh
    assert following.objects == fresh


def watches(collection: Collection) -> list[dict[str, str]]:
    queries = [dict(request.query) for request in collection.requests]
    return [query for query in queries if query.get("watch") == "true"]


def lists(collection: Collection) -> list[dict[str, str]]:
    queries = [dict(request.query) for request in collection.requests]
    return [query for query in queries if "watch" not in query]


@virtual_time
async def test_it_lists_then_watches_and_tells_every_change_once() -> None:
    collection = Collection()
    collection.create("a", value=1)
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        collection.create("b")
        collection.modify("a", value=2)
        collection.delete("b")
        await asyncio.sleep(1)
        assert following.told == ["added a", "added b", "modified a", "deleted b"]
        assert reflector.objects["default/a"].value == 2


@virtual_time
async def test_synced_says_when_the_first_list_is_complete() -> None:
    collection = Collection()
    for number in range(5):
        collection.create(f"n{number}")
    collection.answers = [None, Unreachable("no answer")]  # the second page is lost, and the list begins anew
    async with reflecting(collection, page=2) as (reflector, following):
        assert not reflector.synced
        assert reflector.health.stale_seconds is None
        await reflector.wait_synced()
        assert len(following.objects) == 5
        assert following.told == [f"added n{number}" for number in range(5)]


@virtual_time
async def test_an_empty_collection_is_synced_too() -> None:
    async with reflecting(Collection()) as (reflector, _):
        await reflector.wait_synced()


@virtual_time
async def test_pages_are_of_one_moment_and_the_watch_goes_on_from_it() -> None:
    collection = Collection()
    for number in range(5):
        collection.create(f"n{number}")
    async with reflecting(collection, page=2) as (_, following):
        await asyncio.sleep(0)  # the first page is asked for; what happens now is in none of the pages
        collection.delete("n4")
        collection.create("late")
        await asyncio.sleep(1)
        assert following.told[-2:] == ["deleted n4", "added late"]
        assert len(lists(collection)) == 3


@virtual_time
async def test_a_watch_asks_for_bookmarks_a_server_timeout_and_the_selectors() -> None:
    collection = Collection()
    async with reflecting(collection, labels="app=x", fields="spec.nodeName=", namespace="ns") as (reflector, _):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        (query,) = watches(collection)
        assert query["allowWatchBookmarks"] == "true"
        assert 300 <= int(query["timeoutSeconds"]) <= 600
        assert query["resourceVersion"] == "100"
        assert lists(collection)[0]["labelSelector"] == query["labelSelector"] == "app=x"
        assert lists(collection)[0]["fieldSelector"] == query["fieldSelector"] == "spec.nodeName="
        assert {request.path for request in collection.requests} == {"/apis/example.com/v1/namespaces/ns/things"}


@virtual_time
async def test_lines_may_arrive_in_any_pieces() -> None:
    collection = Collection()
    collection.piece = 7
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(0.1)
        for number in range(20):
            collection.create(f"n{number}", value=number)
        await asyncio.sleep(1)
        assert len(following.told) == 20
        assert (reflector.health.lists, reflector.health.failures) == (1, 0)


@virtual_time
async def test_a_cut_watch_goes_on_where_it_was_without_a_list() -> None:
    collection = Collection()
    collection.create("a")
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        collection.create("b")
        await asyncio.sleep(1)
        collection.cut()
        collection.create("c")
        collection.delete("a")
        await asyncio.sleep(30)
        assert following.told == ["added a", "added b", "added c", "deleted a"]
        assert reflector.health.lists == 1
        assert watches(collection)[-1]["resourceVersion"] == "102"


@virtual_time
async def test_a_watch_that_ends_in_good_order_is_opened_again_at_once() -> None:
    collection = Collection()
    async with reflecting(collection) as (reflector, _):
        await asyncio.sleep(400)
        before = len(collection.requests)
        collection.bookmark()
        await asyncio.sleep(0)
        collection.end()
        await asyncio.sleep(0.01)
        assert len(collection.requests) == before + 1
        assert reflector.health.failures == reflector.health.watches - 2


@virtual_time
async def test_a_bookmark_moves_the_place_where_the_next_watch_starts() -> None:
    collection = Collection()
    async with reflecting(collection) as (_, following):
        await asyncio.sleep(1)
        collection.version = 500
        collection.bookmark()
        await asyncio.sleep(1)
        collection.cut()
        await asyncio.sleep(10)
        assert watches(collection)[-1]["resourceVersion"] == "500"
        assert following.told == []


@virtual_time
async def test_an_expired_version_is_answered_with_a_list_and_only_the_difference_is_told() -> None:
    collection = Collection()
    for name in ("same", "changed", "gone", "anew"):
        collection.create(name)
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        collection.silent = True
        collection.delete("gone")
        collection.delete("anew")
        collection.create("anew")
        collection.modify("changed", value=2)
        collection.create("new")
        collection.compact()
        collection.silent = False
        collection.cut()
        following.told.clear()
        await asyncio.sleep(30)
        assert sorted(following.told) == [
            "added anew", "added new", "deleted anew", "deleted gone", "modified changed",
        ]  # fmt: skip
        assert reflector.health.lists == 2


@virtual_time
async def test_pages_that_expire_are_followed_by_a_list_in_one_piece() -> None:
    collection = Collection()
    for number in range(6):
        collection.create(f"n{number}")
    expired = Reply.failure(410, "Expired")
    collection.answers = [None, expired]
    async with reflecting(collection, page=2) as (reflector, following):
        await reflector.wait_synced()
        assert "limit" not in lists(collection)[-1]
        assert len(following.told) == 6


@virtual_time
async def test_a_server_restored_from_a_backup_is_noticed() -> None:
    """Such a server accepts our version, which it has not reached, and keeps back everything up to it."""
    collection = Collection()
    collection.create("old")
    backup = collection.version, dict(collection.objects)
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        for number in range(50):
            collection.create(f"lost{number}")
        await asyncio.sleep(1)
        collection.cut()
        collection.go_back(*backup)
        collection.create("after")
        await asyncio.sleep(30)
        assert set(following.objects) == {"default/old", "default/after"}


@virtual_time
async def test_silence_is_taken_for_death() -> None:
    collection = Collection()
    async with reflecting(collection, rhythm=Rhythm(silence=90)) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        collection.silent = True
        collection.create("a")
        await asyncio.sleep(88)
        assert following.told == []
        assert reflector.health.stale_seconds == pytest.approx(89, abs=0.1)
        collection.silent = False
        await asyncio.sleep(3)
        assert following.told == ["added a"]


@virtual_time
async def test_a_server_that_hangs_before_it_answers_is_given_up() -> None:
    """The transport ends a request that gets no answer; the reflector must not add patience of its own."""
    collection = Collection()
    collection.answers = [Unreachable("no answer: the time allowed was over")] * 3
    async with reflecting(collection) as (reflector, _):
        await asyncio.sleep(10)
        assert reflector.synced
        assert reflector.health.failures == 3


@virtual_time
async def test_waits_grow_with_jitter_up_to_the_longest_and_start_small_again_after_success() -> None:
    collection = Collection()
    moments: list[float] = []
    loop = asyncio.get_running_loop()

    class Clocked(list[Any]):
        def __bool__(self) -> bool:
            moments.append(loop.time())
            return super().__len__() > 0

    collection.answers = Clocked([Unreachable("refused")] * 9)
    async with reflecting(collection, rhythm=Rhythm(first_wait=1, longest_wait=30)) as (reflector, _):
        await asyncio.sleep(400)
        assert reflector.synced
        waits = [later - earlier for earlier, later in pairwise(moments)][:9]
        for wait, limit in zip(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30], strict=True):
            assert limit / 2 <= wait <= limit + 0.001
        assert len({round(wait, 3) for wait in waits}) == 9, "waits without jitter"
        collection.bookmark()
        await asyncio.sleep(0)
        collection.cut()
        at = len(moments)
        await asyncio.sleep(5)
        assert moments[at] - 400 <= 1.001


@pytest.mark.parametrize("code", [429, 503])
@virtual_time
async def test_retry_after_is_never_undercut(code: int) -> None:
    collection = Collection()
    collection.answers = [Reply.failure(code, "Busy", Retry_After="20")]
    async with reflecting(collection) as (reflector, _):
        await asyncio.sleep(19.9)
        assert len(collection.requests) == 1
        assert reflector.health.state == "waiting"
        await asyncio.sleep(5)
        assert reflector.synced


@virtual_time
async def test_a_wait_without_measure_is_not_believed() -> None:
    """A maintenance page may ask for an hour; the mirror is not to be blind so long after the server is back."""
    collection = Collection()
    collection.answers = [Reply.failure(503, "Busy", Retry_After="3600")]
    async with reflecting(collection, rhythm=Rhythm(longest_asked=60)) as (reflector, _):
        await asyncio.sleep(59)
        assert not reflector.synced
        await asyncio.sleep(14)
        assert reflector.synced


@virtual_time
async def test_an_expired_version_is_answered_at_once_however_long_the_server_was_away() -> None:
    """A server that was restarted has lost its history: that it says so is a sign of life."""
    collection = Collection()
    collection.create("a")
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        last_answer = asyncio.Event()

        class Telling(list[Any]):
            def pop(self, *index: Any) -> Any:
                if len(self) == 1:
                    last_answer.set()
                return super().pop(*index)

        collection.answers = Telling([*[Unreachable("refused")] * 9, Reply.failure(410, "Expired")])
        collection.cut()
        await last_answer.wait()
        collection.create("b")
        await asyncio.sleep(0.1)
        assert following.told == ["added a", "added b"]


@virtual_time
async def test_versions_that_keep_expiring_are_asked_for_ever_more_rarely() -> None:
    collection = Collection()
    collection.answers = [Reply.failure(410, "Expired")] * 1000
    async with reflecting(collection) as (reflector, _):
        await asyncio.sleep(120)
        assert 5 <= len(collection.requests) <= 20
        collection.answers = []
        await asyncio.sleep(40)
        assert reflector.synced


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422, 500, 502, 504])
@virtual_time
async def test_no_answer_of_the_server_ends_it(code: int) -> None:
    collection = Collection()
    collection.create("a")
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        collection.answers = [Reply.failure(code, "Whatever")] * 5
        collection.cut()
        collection.create("b")
        await asyncio.sleep(120)
        assert following.told == ["added a", "added b"]
        assert reflector.health.problem == ""


@virtual_time
async def test_an_error_inside_a_watch_is_survived() -> None:
    collection = Collection()
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        collection.watches[-1].send("ERROR", {"kind": "Status", "code": 500, "message": "etcd is unwell"})
        collection.watches[-1].closed = True
        collection.create("a")
        await asyncio.sleep(10)
        assert following.told == ["added a"]
        assert reflector.health.lists == 1


@virtual_time
async def test_nonsense_in_a_watch_is_survived_by_a_new_list() -> None:
    collection = Collection()
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        collection.watches[-1].send_bytes(b"<html>a proxy's page</html>\n")
        collection.watches[-1].closed = True
        collection.create("a")
        await asyncio.sleep(10)
        assert following.told == ["added a"]
        assert reflector.health.lists == 2


@virtual_time
async def test_a_line_that_is_cut_off_is_not_taken_for_a_whole_one() -> None:
    collection = Collection()
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        await asyncio.sleep(1)
        line = {"type": "ADDED", "object": {"metadata": {"name": "half", "namespace": "default", "uid": "u"}}}
        collection.watches[-1].send_bytes(json.dumps(line).encode()[:-1])
        collection.watches[-1].end()
        collection.watches[-1].closed = True
        await asyncio.sleep(10)
        assert following.told == []


@virtual_time
async def test_a_watch_that_ends_as_it_begins_is_not_opened_in_a_tight_loop() -> None:
    class Closing(Collection):
        async def send(self, request: Any) -> Any:
            answer = await super().send(request)
            self.end()
            return answer

    collection = Closing()
    async with reflecting(collection) as (reflector, _):
        await asyncio.sleep(600)
        assert 10 < len(watches(collection)) < 50
        assert "as soon as it had begun" in reflector.health.problem


@virtual_time
async def test_an_unreadable_object_hides_no_other_and_is_named(caplog: pytest.LogCaptureFixture) -> None:
    collection = Collection()
    collection.create("bad", value="not a number")
    collection.create("good", value=1)
    following = Following()
    reflector = Reflector(Client(collection), THINGS, following)
    task = asyncio.create_task(reflector.run())
    await reflector.wait_synced()
    collection.modify("good", value="nor this")
    collection.create("third")
    await asyncio.sleep(1)
    assert following.told == ["added good", "added third"]
    assert reflector.objects["default/good"].value == 1
    assert set(reflector.health.unreadable) == {"default/bad", "default/good"}
    assert "default/bad cannot be read" in caplog.text
    collection.modify("bad", value=2)
    await asyncio.sleep(1)
    assert following.told[-1] == "added bad"
    task.cancel()


@virtual_time
async def test_an_object_that_is_too_deep_to_decode_hides_no_other_and_is_named() -> None:
    """Kubernetes keeps custom objects that are 10,000 levels deep."""
    deep = b'"value":%b%b' % (b"[" * 10_000, b"]" * 10_000)
    collection = Collection()
    collection.create("good")
    good = json.dumps(collection.objects["default/good"]).encode()
    bad = b'{"metadata":{"name":"bad","namespace":"default","uid":"2"},%b}' % deep
    collection.answers = [Reply(200, b'{"metadata":{"resourceVersion":"101"},"items":[%b,%b]}' % (good, bad))]
    async with reflecting(collection) as (reflector, following):
        await reflector.wait_synced()
        assert (following.told, reflector.health.unreadable) == (["added good"], ("default/bad",))
        await asyncio.sleep(1)
        worse = bad.replace(b'"bad"', b'"worse"')
        collection.watches[-1].send_bytes(b'{"type":"ADDED","object":%b}\n' % worse)
        collection.create("third")
        await asyncio.sleep(1)
        assert following.told == ["added good", "added third"]
        assert (reflector.health.unreadable, reflector.health.failures) == (("default/bad", "default/worse"), 0)


@virtual_time
async def test_a_receiver_that_fails_ends_it() -> None:
    collection = Collection()
    collection.create("a")

    def fail(change: Change[Thing]) -> None:
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        await Reflector(Client(collection), THINGS, fail).run()


@virtual_time
async def test_health_says_what_it_is_doing_and_how_stale_it_is() -> None:
    collection = Collection()
    async with reflecting(collection) as (reflector, _):
        assert reflector.health.state == "idle"
        await reflector.wait_synced()
        await asyncio.sleep(50)
        assert (reflector.health.state, reflector.health.problem) == ("watching", "")
        assert reflector.health.stale_seconds == pytest.approx(50, abs=0.1)
        collection.bookmark()
        await asyncio.sleep(1)
        assert reflector.health.stale_seconds == pytest.approx(1, abs=0.1)
        collection.answers = [Unreachable("refused")] * 4
        collection.cut()
        await asyncio.sleep(2)
        assert (reflector.health.state, reflector.health.problem) == ("waiting", "refused")
        await asyncio.sleep(30)
        assert (reflector.health.state, reflector.health.problem) == ("watching", "")
        assert reflector.health.failures == 5


@virtual_time
async def test_a_failure_that_lasts_is_warned_of_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    collection = Collection()
    collection.answers = [Unreachable("refused")] * 30
    async with reflecting(collection):
        await asyncio.sleep(590)
        assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
        await asyncio.sleep(60)
        assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 2
        await asyncio.sleep(600)


@virtual_time
async def test_a_long_list_leaves_the_loop_to_others() -> None:
    collection = Collection()
    for number in range(5000):
        collection.create(f"n{number}")
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    async with reflecting(collection, page=0) as (reflector, following):
        while not following.told:  # noqa: ASYNC110 - the turns of the loop are what is counted
            await asyncio.sleep(0)
        before = turns
        await reflector.wait_synced()
        assert turns - before >= 4
    counting.cancel()
