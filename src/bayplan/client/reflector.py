"""Keeps a mirror of one collection true, through whatever happens to the server and to the way there.

::

                    ┌───────────── 410, or the server went back in time ──────────────┐
                    ▼                                                                 │
    start ──► list, in pages ──► deliver the difference ──► watch, with bookmarks ────┤
                    ▲                    │                     ▲       │              │
                    └─── back off ◄──────┴── any failure       └───────┴─ back off, and look whether
                                                                          the server is still where we left it

What can go wrong, and what notices it:

* the connection is refused, reset or ended: the watch is opened again after the last version that was heard of;
* it is half-open, and nothing ever comes: the kernel's probes (see `sockets`) sever a dead peer's connection after half
  a minute; where something in between keeps the connection alive, silence for `Rhythm.silence` does. A
  healthy server sends a bookmark every minute, however quiet the cluster is;
* the version is too old (410): the collection is listed anew, and the difference delivered, deletions included;
* the version is too *new*, because the server's store was restored from a backup: a watch would be accepted, and would
  silently keep back everything up to that version. So after every failure the server's own version is asked for first;
* the server sheds load (429) or fails (5xx): waits grow, with jitter, and never undercut its Retry-After;
* an object does not fit its struct: it is set aside by name and the others go on.

There is no thread and no global state: `run` is one task, and a change is delivered inside it, before the next line
is decoded. So a slow receiver slows the reading, and in the end the server, rather than filling a queue.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from bayplan.client.api import NO_PATIENCE, PAGE
from bayplan.client.backoff import Backoff
from bayplan.client.codec import Unreadable, decode_event
from bayplan.client.health import Health
from bayplan.client.mirror import Mirror
from bayplan.client.status import Status
from bayplan.errors import ApiError, BadRequest, ClientError, Expired, Invalid, NotFound, ProtocolError, Unreachable
from bayplan.objects.meta import ResourceVersion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bayplan.client.api import Client
    from bayplan.client.changes import Change
    from bayplan.client.codec import KubernetesObject, Page
    from bayplan.client.health import State
    from bayplan.client.transport import Response
    from bayplan.objects.resource import Resource

    T = TypeVar("T", bound=KubernetesObject)
else:
    T = TypeVar("T")

_log = logging.getLogger(__name__)

#: A list of 100,000 objects is delivered in portions, so that timers and other tasks are not kept waiting.
_PORTION = 1000

#: No object of Kubernetes comes near this: etcd refuses them at 1.5 MB. What does is no line of a watch.
_LONGEST_LINE = 64 << 20

#: A problem that goes on is warned of again after so many seconds.
_SAY_AGAIN = 600.0

#: After these the version that we hold is of no more use: only a new list helps.
_LIST_ANEW = (Expired, BadRequest, Invalid, NotFound, ProtocolError)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long a reflector waits for what, in seconds."""

    #: A watch is ended by the server after a time drawn from this range, as client-go does it: connections spread
    #: over the servers there are, and no watch lives for ever.
    server_timeout: tuple[float, float] = (300.0, 600.0)
    #: No byte for this long means that the watch is dead. Bookmarks come every 60 s; one may be late.
    silence: float = 90.0
    #: For the head of an answer; the pages of a list have the client's own time.
    answer: float = 30.0
    #: The first wait after a failure; waits double up to the longest.
    first_wait: float = 0.5
    longest_wait: float = 30.0
    #: A server, or a maintenance page before it, may ask for a longer wait. More than this is not believed.
    longest_asked: float = 120.0
    #: A watch that the server ends sooner than this, having said nothing, counts as a failure.
    shortest_watch: float = 1.0


class Reflector(Generic[T]):
    """Mirrors one collection, or the part of it that selectors choose, and delivers each change once, in order.

    Run `run()` as a task. What `deliver` raises ends it: a receiver that missed a change has no true picture any more.
    """

    def __init__(
        self,
        client: Client,
        resource: Resource[T],
        deliver: Callable[[Change[T]], None],
        *,
        namespace: str | None = None,
        labels: str = "",
        fields: str = "",
        page: int = PAGE,
        rhythm: Rhythm = Rhythm(),
        jitter: random.Random | None = None,
    ) -> None:
        self._client = client
        self._resource = resource
        self._deliver = deliver
        self._namespace = namespace
        self._labels = labels
        self._fields = fields
        self._page = page
        self._rhythm = rhythm
        self._jitter = jitter or random.Random()
        self._backoff = Backoff(rhythm.first_wait, rhythm.longest_wait, self._jitter)
        self._mirror: Mirror[T] = Mirror()
        self._path = resource.path(namespace=namespace)
        #: Where the next watch starts; None when only a list can tell.
        self._version: ResourceVersion | None = None
        #: Whether the server may have gone back in time since `_version` was heard of.
        self._doubtful = False
        #: Whether the version expired between two pages: the next list then asks for everything at once.
        self._pages_expire = False
        self._synced = asyncio.Event()
        self._state: State = "idle"
        self._heard_at: float | None = None
        self._problem = ""
        #: Whether the last failure was a version that had expired.
        self._expired = False
        #: What was last warned of, and when.
        self._warned = ("", 0.0)
        self._lists = self._watches = self._changes = self._failures = 0

    @property
    def objects(self) -> Mapping[str, T]:
        """What is there, by `namespace/name`. A live view: it changes whenever the event loop runs."""
        return self._mirror.objects

    @property
    def synced(self) -> bool:
        """Whether the first list has been delivered completely."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Return once the first list has been delivered completely."""
        await self._synced.wait()

    @property
    def health(self) -> Health:
        """How true the mirror is right now."""
        now = asyncio.get_running_loop().time()
        return Health(
            resource=self._resource.qualified_name,
            state=self._state,
            synced=self.synced,
            stale_seconds=None if self._heard_at is None else now - self._heard_at,
            objects=len(self._mirror.objects),
            unreadable=tuple(self._mirror.unreadable),
            resource_version=self._version or "",
            lists=self._lists,
            watches=self._watches,
            changes=self._changes,
            failures=self._failures,
            problem=self._problem,
        )

    async def run(self) -> NoReturn:
        """Mirror until cancelled."""
        try:
            while True:
                try:
                    await self._follow()
                except ClientError as error:
                    await self._recover(error)
        finally:
            self._state = "idle"

    async def _follow(self) -> None:
        """Bring the mirror up to date and keep it there until the server ends the watch in good order."""
        if self._doubtful and self._version is not None and await self._server_went_back(self._version):
            _log.warning("%s: the server's history is older than ours; listing anew", self._path)
            self._version = None
        if self._version is None:
            self._version = await self._list()
        self._doubtful = False
        await self._watch(self._version)

    async def _recover(self, error: ClientError) -> None:
        self._failures += 1
        if isinstance(error, Expired) and self._state == "listing":
            self._pages_expire = True
        if isinstance(error, _LIST_ANEW):
            self._version = None
        self._doubtful = True
        wait, problem = self._wait_after(error), str(error)
        self._state, self._problem = "waiting", problem
        self._log_failure(problem, wait)
        await asyncio.sleep(wait)

    def _wait_after(self, error: ClientError) -> float:
        """How long to wait before the next try."""
        expired_again = self._expired
        self._expired = isinstance(error, Expired)
        if self._expired and not expired_again:
            # No sign of trouble but of life: a server that was restarted answers so, and its mirror is to be true again
            # at once, however long the server was away. Versions that keep expiring are trouble.
            self._backoff.reset()
            return 0.0
        asked = error.retry_after if isinstance(error, ApiError) else None
        return self._backoff.next(at_least=None if asked is None else min(asked, self._rhythm.longest_asked))

    def _log_failure(self, problem: str, wait: float) -> None:
        """Warn of a new problem at once, and of one that lasts now and then."""
        now = asyncio.get_running_loop().time()
        last, at = self._warned
        repeats = problem == last and now - at < _SAY_AGAIN
        if not repeats:
            self._warned = problem, now
        level = logging.DEBUG if repeats else logging.WARNING if wait else logging.INFO
        _log.log(level, "%s: %s (next try in %.1f s)", self._path, problem, wait)

    async def _server_went_back(self, version: ResourceVersion) -> bool:
        """Whether the server's history ends before a version that we have heard of.

        Versions are decimal numbers since Kubernetes promised so in 1.35; of others nothing can be said.
        """
        if not version.isdecimal():
            return False
        async with aclosing(self._pages(limit=1, timeout=self._rhythm.answer)) as pages:
            there = (await anext(pages)).metadata.resource_version
        return there.isdecimal() and int(there) < int(version)

    async def _list(self) -> ResourceVersion:
        """List the collection, deliver the difference, and return the version from which to watch."""
        self._state = "listing"
        version = ResourceVersion("")
        items: list[T] = []
        unreadable: list[Unreadable] = []
        async with aclosing(self._pages(limit=0 if self._pages_expire else self._page)) as pages:
            async for page in pages:
                version = version or page.metadata.resource_version
                items += page.items
                unreadable += page.unreadable
        self._pages_expire = False
        for number, change in enumerate(self._mirror.replace(items, unreadable), 1):
            self._changes += 1
            self._deliver(change)
            if number % _PORTION == 0:
                await asyncio.sleep(0)
        for one in unreadable:
            self._complain(one)
        self._lists += 1
        self._note_heard()
        self._synced.set()
        return version

    def _pages(self, limit: int, timeout: float | None = None) -> AsyncGenerator[Page[T], None]:
        return self._client.pages(
            self._resource,
            namespace=self._namespace,
            labels=self._labels,
            fields=self._fields,
            limit=limit,
            timeout=timeout,
            patience=NO_PATIENCE,
        )

    async def _watch(self, version: ResourceVersion) -> None:
        """Take in changes after this version until the server ends the watch in good order."""
        query = {
            "watch": True,
            "resourceVersion": version,
            "allowWatchBookmarks": True,
            "timeoutSeconds": round(self._jitter.uniform(*self._rhythm.server_timeout)),
            "labelSelector": self._labels,
            "fieldSelector": self._fields,
        }
        response = await self._client.open(self._path, query, timeout=self._rhythm.answer)
        clock = asyncio.get_running_loop().time
        began, heard = clock(), False
        self._state = "watching"
        self._watches += 1
        # The server has accepted our version: whatever it has to tell after it is on its way.
        self._note_heard()
        if self._problem:
            _log.info("%s: watching again after %d failed tries", self._path, self._backoff.failures)
            self._problem = ""
        try:
            async with aclosing(self._lines(response)) as portions:
                async for lines in portions:
                    for line in lines:
                        self._take(line)
                    heard = True
                    self._note_heard()
                    self._expired = False
                    self._backoff.reset()
        finally:
            response.close()
            lasted = clock() - began
            if lasted > self._rhythm.longest_wait:
                self._backoff.reset()
        if not heard and lasted < self._rhythm.shortest_watch:
            raise Unreachable("the server ended the watch as soon as it had begun")

    async def _lines(self, response: Response) -> AsyncGenerator[list[bytes], None]:
        """The whole lines of the answer, as many at a time as have come."""
        rest: list[bytes] = []
        size = 0
        async with aclosing(response.chunks()) as chunks:
            while True:
                try:
                    async with asyncio.timeout(self._rhythm.silence):
                        chunk = await anext(chunks, b"")
                except TimeoutError:
                    raise Unreachable(f"nothing was heard of the watch for {self._rhythm.silence:g} s") from None
                if not chunk:
                    return
                first, *others = chunk.split(b"\n")
                rest.append(first)
                size += len(first)
                if size > _LONGEST_LINE:
                    raise ProtocolError(f"a line of the watch is longer than {_LONGEST_LINE >> 20} MiB")
                if others:
                    lines = [b"".join(rest), *others]
                    rest = [lines.pop()]
                    size = len(rest[0])
                    yield lines

    def _take(self, line: bytes) -> None:
        kind, told = decode_event(self._resource.type, line, self._path)
        if isinstance(told, Status):
            raise told.error()
        if kind != "BOOKMARK":
            if isinstance(told, Unreadable):
                self._complain(told)
            for change in self._mirror.apply(kind, told):
                self._changes += 1
                self._deliver(change)
        # Last: what was not delivered is asked for again.
        self._version = told.metadata.resource_version or self._version

    def _complain(self, one: Unreadable) -> None:
        _log.error("%s: %s cannot be read and is left as it was: %s", self._path, one.metadata.key, one.problem)

    def _note_heard(self) -> None:
        self._heard_at = asyncio.get_running_loop().time()
