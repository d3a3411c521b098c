"""Any life of a server, in any order, with any faults: once it is quiet the mirror equals a fresh list.

On the way every change starts from the object that was told before, so nothing is repeated and nothing is skipped.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.client.api import Client
from bayplan.client.reflector import Reflector
from bayplan.errors import ProtocolError, Unreachable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.resource import Resource
from bayplan.testing.collection import Collection, Reply
from bayplan.testing.effort import examples
from bayplan.testing.virtual_time import run_virtual

if TYPE_CHECKING:
    from bayplan.client.changes import Change

Step = tuple[str, object]


class Thing(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0


THINGS = Resource("example.com", "v1", "things", "Thing", True, Thing)

NAMES = st.sampled_from("abcde")
ANSWERS = st.sampled_from(
    [
        Unreachable("refused"),
        ProtocolError("cut in the middle of a header"),
        Reply.failure(410, "Expired"),
        Reply.failure(429, "TooManyRequests", Retry_After="3"),
        Reply.failure(500, "InternalError"),
        Reply.failure(401, "Unauthorized"),
        Reply.failure(404, "NotFound"),
        Reply(200, b"not json"),
        Reply(302, b"", {"Location": "https://login.example.com"}),
    ]
)
WRITES = st.tuples(st.sampled_from(["touch", "touch", "delete"]), NAMES)
STEPS = st.one_of(
    WRITES,
    WRITES,
    # What happens while nothing is heard, and is forgotten before anything is: only a list can tell it.
    st.tuples(st.just("blackout"), st.lists(WRITES, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["cut", "end", "compact", "bookmark", "hush", "speak", "nonsense"]), st.none()),
    # Objects that no decoder reads, each in its own way.
    st.tuples(st.just("odd"), st.sampled_from([b"[" * 3000 + b"]" * 3000, b'"\xff"', b'"?"'])),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.3, 2.0, 100.0])),
    st.tuples(st.just("answer"), ANSWERS),
)


class Follower:
    def __init__(self) -> None:
        self.objects: dict[str, Thing] = {}

    def __call__(self, change: Change[Thing]) -> None:
        key = change.object.metadata.key
        assert self.objects.get(key) == change.old
        if change.old is not None and change.new is not None:
            old, new = change.old.metadata, change.new.metadata
            assert old.uid == new.uid
            assert int(old.resource_version) < int(new.resource_version)
        if change.new is None:
            del self.objects[key]
        else:
            self.objects[key] = change.new


async def happen(collection: Collection, step: Step, number: int) -> None:
    kind, argument = step
    match kind, argument:
        case "touch", str(name) if f"default/{name}" in collection.objects:
            collection.modify(name, value=number)
        case "touch", str(name):
            collection.create(name, value=number)
        case "delete", str(name) if f"default/{name}" in collection.objects:
            collection.delete(name)
        case "blackout", list(writes):
            await asyncio.sleep(1)
            collection.silent = True
            for write in writes:
                await happen(collection, write, number)
            collection.compact()
            await happen(collection, ("speak", None), number)
        case "cut", _:
            collection.cut()
        case "end", _:
            collection.end()
        case "compact", _:
            collection.compact()
        case "bookmark", _:
            collection.bookmark()
        case "hush", _:
            collection.silent = True
        case "speak", _:
            # What was kept back is lost for the watches of that time, as behind a proxy that has dropped them.
            collection.silent = False
            collection.cut()
        case "nonsense", _:
            for watch in collection.watches[-1:]:
                watch.send_bytes(b'{"type":"MODIFIED","object":{"metadata":\n')
        case "odd", bytes(content):
            told = b'{"type":"ADDED","object":{"metadata":{"name":"odd"},"value":%b}}\n'
            for watch in collection.watches[-1:]:
                watch.send_bytes(told % content)
        case "wait", float(seconds):
            await asyncio.sleep(seconds)
        case "answer", BaseException() | Reply():
            collection.answers.append(argument)


@settings(max_examples=examples(200), deadline=None)
@given(
    steps=st.lists(STEPS, max_size=40),
    page=st.sampled_from([0, 1, 2, 3]),
    piece=st.sampled_from([None, 1, 13, 64]),
    seed=st.integers(0, 10),
)
def test_once_the_world_is_quiet_the_mirror_equals_a_fresh_list(
    steps: list[Step], page: int, piece: int | None, seed: int
) -> None:
    async def live() -> None:
        collection, follower = Collection(), Follower()
        collection.piece = piece
        collection.create("first")
        reflector = Reflector(Client(collection), THINGS, follower, page=page, jitter=random.Random(seed))
        running = asyncio.create_task(reflector.run())
        for number, step in enumerate(steps):
            await happen(collection, step, number)
        await happen(collection, ("speak", None), 0)
        collection.answers.clear()
        await asyncio.sleep(200)
        fresh = {key: msgspec.convert(content, Thing) for key, content in collection.objects.items()}
        assert reflector.objects == follower.objects == fresh
        assert reflector.synced
        assert reflector.health.state == "watching"
        assert not running.done()
        running.cancel()

    run_virtual(live())
