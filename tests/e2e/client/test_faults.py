"""The fault suite: what can happen between us and a real API server happens, while objects come and go.

After each fault the mirror must equal a fresh list, and on the way every change must start from what was told before,
with a newer version: nothing lost, nothing repeated. How often it lists anew is the server's choice: one that was
restarted knows nothing of what came before its start, and may answer 410 to the newest version we have.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.client.access import ClusterAccess
from bayplan.client.api import Client
from bayplan.client.credentials import load_access, tokens
from bayplan.client.patches import MergePatch
from bayplan.client.reflector import Reflector, Rhythm
from bayplan.errors import ClientError, NotFound, OutcomeUnknown, Unreachable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.resource import Resource
from bayplan.testing.controlplane.overload import grant_all, overload
from bayplan.testing.faults import FaultProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from bayplan.client.access import Authenticator
    from bayplan.client.changes import Change
    from bayplan.testing.controlplane import ControlPlane

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


class ConfigMap(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = {}


CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap", True, ConfigMap)

#: A real server sends a bookmark every minute; tests do not want to wait that long to call silence death.
BRISK = Rhythm(silence=3.0, answer=3.0, first_wait=0.1, longest_wait=1.0)

#: For tests in which nothing may fail: no wait of ours is one that a slow machine could exceed.
PATIENT = Rhythm(silence=300.0, answer=300.0, first_wait=0.1, longest_wait=1.0)

_numbers = count(1)


class Following:
    """A receiver that checks every change against what it was told before."""

    def __init__(self) -> None:
        self.objects: dict[str, ConfigMap] = {}
        self.changes = 0
        #: Set where the server itself goes back in time.
        self.versions_may_fall = False

    def __call__(self, change: Change[ConfigMap]) -> None:
        self.changes += 1
        key = change.object.metadata.key
        assert self.objects.get(key) == change.old
        if change.new is None:
            del self.objects[key]
            return
        if change.old is not None:
            old, new = change.old.metadata, change.new.metadata
            assert old.uid == new.uid
            forward = int(old.resource_version) < int(new.resource_version)
            assert forward or self.versions_may_fall, "told again, or out of order"
        self.objects[key] = change.new


class World:
    """A namespace on a real API server in which objects come and go, written on a way that no fault is put into."""

    def __init__(self, plane: ControlPlane, client: Client, seed: int) -> None:
        self.plane = plane
        self.client = client
        self.namespace = client.namespace
        self.random = random.Random(seed)
        self._names = count()
        self._known: list[str] = []

    async def write(self, times: int = 1) -> None:
        """Create, change and delete."""
        for _ in range(times):
            kind = self.random.choice(["create", "create", "change", "change", "delete", "again"])
            if kind == "create" or not self._known:
                self._known.append(f"c{next(self._names)}")
                await self._create(self._known[-1])
                continue
            name = self.random.choice(self._known)
            if kind == "change":
                await self.client.patch(CONFIGMAPS, name, MergePatch({"data": {"x": str(self.random.random())}}))
                continue
            await self.client.delete(CONFIGMAPS, name)
            if kind == "again":
                await self._create(name)
            else:
                self._known.remove(name)

    async def churn(self) -> None:
        """Write for ever; a server that is away for a while is waited for."""
        while True:
            with suppress(ClientError):
                await self.write()
            # What became of the last write is looked up, not guessed.
            with suppress(ClientError):
                listed = await self.client.list(CONFIGMAPS, namespace=self.namespace)
                self._known = [item.metadata.name for item in listed.items if item.metadata.name.startswith("c")]
            await asyncio.sleep(0.02)

    async def _create(self, name: str) -> None:
        await self.client.create(CONFIGMAPS, ConfigMap(ObjectMeta(name=name), {"x": "y" * self.random.randrange(3000)}))


def connect(way: Path | ClusterAccess, namespace: str) -> Client:
    access = way if isinstance(way, ClusterAccess) else load_access(kubeconfig=way, namespace=namespace)
    return Client.connect(access)


@pytest.fixture
async def world(own_control_plane: ControlPlane) -> AsyncIterator[World]:
    name = f"faults-{next(_numbers)}"
    await asyncio.to_thread(own_control_plane.make_namespace, name)
    async with connect(own_control_plane.admin.kubeconfig, name) as client:
        world = World(own_control_plane, client, seed=int(name.rpartition("-")[2]))
        await world.write(30)
        yield world


@asynccontextmanager
async def churning(world: World) -> AsyncIterator[None]:
    task = asyncio.create_task(world.churn())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def mirroring(
    world: World, way: Path | ClusterAccess, **options: Any
) -> AsyncIterator[tuple[Reflector[ConfigMap], Following]]:
    """Mirror the namespace; at the end, and whenever it is quiet, the mirror equals a fresh list."""
    following = Following()
    async with connect(way, world.namespace) as client:
        options = {"rhythm": BRISK, "page": 10, **options}
        reflector = Reflector(client, CONFIGMAPS, following, namespace=world.namespace, **options)
        task = asyncio.create_task(reflector.run())
        try:
            yield reflector, following
            await equal_to_a_fresh_list(world, reflector, following)
            assert not task.done()
        finally:
            task.cancel()
            outcome = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(outcome[0], asyncio.CancelledError), outcome


async def equal_to_a_fresh_list(world: World, reflector: Reflector[ConfigMap], following: Following) -> None:
    """Wait until the mirror equals what a list says; the wait is bounded by what a silence and two back-offs take."""
    await world.write(5)
    fresh: dict[str, ConfigMap] = {}

    async def is_equal() -> bool:
        nonlocal fresh
        listed = await world.client.list(CONFIGMAPS, namespace=world.namespace)
        fresh = {item.metadata.key: item for item in listed.items}
        return reflector.objects == fresh

    with suppress(TimeoutError):
        await until(is_equal, 60)
    assert dict(reflector.objects) == fresh
    assert following.objects == fresh


async def until(condition: Callable[[], Any], timeout: float = 60.0) -> None:
    async with asyncio.timeout(timeout):
        while True:
            held = condition()
            if await held if asyncio.iscoroutine(held) else held:
                return
            await asyncio.sleep(0.05)


# ── the server ──


async def test_the_server_is_killed_and_restarted_in_mid_watch(world: World) -> None:
    plane = world.plane
    async with mirroring(world, plane.admin.kubeconfig) as (reflector, following), churning(world):
        await until(lambda: following.changes > 40)
        await asyncio.to_thread(plane.apiserver.kill)
        await until(lambda: reflector.health.state == "waiting")
        await asyncio.to_thread(plane.apiserver.restart)
        seen = following.changes
        await until(lambda: following.changes > seen + 20)


async def test_the_server_is_killed_again_before_it_has_answered(world: World) -> None:
    plane = world.plane
    async with mirroring(world, plane.admin.kubeconfig) as (reflector, following), churning(world):
        await reflector.wait_synced()
        for pause in (0.0, 0.3, 1.0):
            plane.apiserver.kill()
            plane.apiserver.daemon.start()
            await asyncio.sleep(pause)
        await asyncio.to_thread(plane.apiserver.restart)
        seen = following.changes
        await until(lambda: following.changes > seen + 20)


async def test_the_server_freezes_with_its_connections_open(world: World) -> None:
    plane = world.plane
    async with mirroring(world, plane.admin.kubeconfig) as (reflector, _):
        await reflector.wait_synced()
        plane.apiserver.pause()
        try:
            await until(lambda: reflector.health.failures >= 2)
            assert (reflector.health.stale_seconds or 0) > BRISK.silence
        finally:
            plane.apiserver.resume()


async def test_history_is_compacted_away_while_we_are_cut_off(world: World) -> None:
    plane = world.plane
    async with (
        FaultProxy(plane.apiserver.port) as proxy,
        mirroring(world, plane.kubeconfig_via(proxy.port)) as (reflector, following),
    ):
        await until(lambda: reflector.health.state == "watching")
        await equal_to_a_fresh_list(world, reflector, following)
        await world._create("to-be-gone")
        gone = f"{world.namespace}/to-be-gone"
        await until(lambda: gone in reflector.objects)
        proxy.refuse()
        proxy.reset()
        await world.client.delete(CONFIGMAPS, "to-be-gone")
        await world.write(30)
        await asyncio.to_thread(plane.expire_history)
        await proxy.resume()
        await until(lambda: reflector.health.lists >= 2)
        assert gone not in reflector.objects


async def test_history_is_compacted_between_two_pages(world: World) -> None:
    plane = world.plane
    await world.write(100)
    async with FaultProxy(plane.apiserver.port) as proxy:
        proxy.delay(0.3)
        async with mirroring(world, plane.kubeconfig_via(proxy.port), page=2) as (reflector, _):
            await proxy.until(lambda proxy: proxy.passed["down"] > 8000)
            assert not reflector.synced
            await asyncio.to_thread(plane.expire_history)
            await proxy.resume()
            await reflector.wait_synced()
            assert reflector.health.failures > 0


async def test_the_store_is_restored_from_a_backup(world: World) -> None:
    """The restored server's versions are older than ours: a watch would keep everything back until they catch up."""
    plane = world.plane
    async with mirroring(world, plane.admin.kubeconfig) as (reflector, following):
        await equal_to_a_fresh_list(world, reflector, following)
        backup = await asyncio.to_thread(plane.back_up)
        kept = list(world._known)
        await world.write(80)
        await until(lambda: reflector.health.state == "watching")
        await equal_to_a_fresh_list(world, reflector, following)
        following.versions_may_fall = True
        await asyncio.to_thread(plane.restore, backup)
        world._known = kept
        await until(lambda: reflector.health.lists >= 2)


# ── the way there ──


async def test_the_way_stalls_and_nothing_is_lost(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        mirroring(world, world.plane.kubeconfig_via(proxy.port)) as (reflector, _),
        churning(world),
    ):
        await reflector.wait_synced()
        for seconds in (1.0, 2 * BRISK.silence):
            proxy.stall()
            await asyncio.sleep(seconds)
            await proxy.resume()
        await until(lambda: reflector.health.failures > 0)
        await until(lambda: reflector.health.state == "watching")


async def test_the_connection_goes_half_open(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        mirroring(world, world.plane.kubeconfig_via(proxy.port)) as (reflector, _),
    ):
        await until(lambda: reflector.health.state == "watching")
        proxy.drop()
        await world.write(10)
        await proxy.until(lambda proxy: proxy.swallowed["down"] > 0)
        await proxy.resume()  # for new connections: the old one has lost bytes, and stays a black hole
        await until(lambda: reflector.health.failures > 0)


async def test_the_connection_is_reset_again_and_again(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        mirroring(world, world.plane.kubeconfig_via(proxy.port)) as (reflector, _),
        churning(world),
    ):
        for wait in (0.0, 0.01, 0.1, 0.3, 0.5, 1.0):
            await asyncio.sleep(wait)
            proxy.reset()
        await until(lambda: reflector.health.failures >= 3)


async def test_connections_are_refused_for_a_while(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        mirroring(world, world.plane.kubeconfig_via(proxy.port)) as (reflector, _),
        churning(world),
    ):
        await reflector.wait_synced()
        proxy.refuse()
        proxy.reset()
        await until(lambda: reflector.health.failures >= 4)
        await proxy.resume()


async def test_the_stream_is_cut_at_any_byte(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        mirroring(world, world.plane.kubeconfig_via(proxy.port)) as (reflector, _),
        churning(world),
    ):
        for cuts in range(15):
            # Each cut ends a connection, and each connection is followed by another.
            await proxy.until(lambda proxy, expected=cuts: proxy.connections > expected)  # type: ignore[misc]
            proxy.cut_after(world.random.randrange(1, 12_000))
        await proxy.until(lambda proxy: proxy.connections > 15)
        await proxy.resume()
        await reflector.wait_synced()


async def test_the_way_is_slow(world: World) -> None:
    async with FaultProxy(world.plane.apiserver.port) as proxy:
        proxy.delay(0.05)
        async with (
            mirroring(world, world.plane.kubeconfig_via(proxy.port), rhythm=PATIENT) as (reflector, following),
            churning(world),
        ):
            await reflector.wait_synced()
            seen = following.changes
            await until(lambda: following.changes > seen + 20)
            assert reflector.health.failures == 0


# ── who we are, and how much we may ask ──


async def test_the_server_sheds_our_load(world: World) -> None:
    """Priority and fairness answers each of our requests with 429."""
    plane = world.plane
    user = plane.user(f"shed-{world.namespace}")
    await asyncio.to_thread(grant_all, plane, user)
    async with (
        FaultProxy(plane.apiserver.port) as proxy,
        mirroring(world, plane.kubeconfig_via(proxy.port, user)) as (reflector, _),
    ):
        await until(lambda: reflector.health.state == "watching")
        with ExitStack() as shedding:
            await asyncio.to_thread(shedding.enter_context, overload(plane, user))
            proxy.reset()
            await world.write(10)
            await until(lambda: reflector.health.failures >= 3)
            assert "too many requests" in reflector.health.problem.lower()
            await asyncio.to_thread(shedding.close)


async def test_the_token_is_rotated_under_us(world: World, tmp_path: Path) -> None:
    plane = world.plane
    user = plane.user("rotating", groups=["system:masters"])
    token = tmp_path / "token"
    token.write_text("first")
    await asyncio.to_thread(plane.accept_tokens, {"first": user})
    async with mirroring(world, plane.kubeconfig_with_token(token)) as (reflector, following):
        await until(lambda: reflector.health.state == "watching")
        await asyncio.to_thread(plane.accept_tokens, {"second": user})
        await until(lambda: "Unauthorized" in reflector.health.problem)
        token.write_text("second")
        await until(lambda: reflector.health.state == "watching")
        await equal_to_a_fresh_list(world, reflector, following)


class Remembering:
    """An authenticator that remembers what was sent, and how often it was refused."""

    def __init__(self, auth: Authenticator) -> None:
        self._auth = auth
        self.sent: list[str] = []
        self.refusals = 0

    async def headers(self) -> Mapping[str, str]:
        headers = await self._auth.headers()
        self.sent.append(headers["Authorization"].removeprefix("Bearer "))
        return headers

    def rejected(self) -> None:
        self.refusals += 1
        self._auth.rejected()


async def test_a_service_accounts_token_is_rotated_without_anybody_noticing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first token is good no more, the second has been sent, and no request was ever refused."""
    plane = world.plane
    monkeypatch.setattr(tokens, "READ_EVERY", 0.2)
    await asyncio.to_thread(grant_everything_to_default_account, plane, world.namespace)
    first, second = [await asyncio.to_thread(bound_token, plane, world.namespace, name) for name in ("one", "two")]
    token = tmp_path / "token"
    token.write_text(first)
    access = load_access(kubeconfig=plane.kubeconfig_with_token(token), namespace=world.namespace)
    auth = Remembering(access.auth)
    # Watches are short, so that one after the other is opened with the token of the moment.
    rhythm = replace(PATIENT, server_timeout=(1.0, 1.0), shortest_watch=0.0)
    async with mirroring(world, replace(access, auth=auth), rhythm=rhythm) as (reflector, _), churning(world):
        await reflector.wait_synced()
        assert set(auth.sent) == {first}
        token.write_text(second)
        await until(lambda: auth.sent[-1] == second)
        await asyncio.to_thread(unbind, plane, world.namespace, "one", first)
        watches = reflector.health.watches
        await until(lambda: reflector.health.watches >= watches + 2)
        assert (auth.refusals, reflector.health.problem) == (0, "")
        assert set(auth.sent) == {first, second}


def bound_token(plane: ControlPlane, namespace: str, secret: str) -> str:
    """A token of the default account that is good for as long as a secret is there."""
    path = f"/api/v1/namespaces/{namespace}"
    assert plane.request("POST", f"{path}/secrets", {"metadata": {"name": secret}}).ok
    bound = {"apiVersion": "v1", "kind": "Secret", "name": secret}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": 600, "boundObjectRef": bound},
    }
    answer = plane.request("POST", f"{path}/serviceaccounts/default/token", body)
    assert answer.ok, answer
    return str(answer.body["status"]["token"])


def unbind(plane: ControlPlane, namespace: str, secret: str, token: str) -> None:
    """Make a token bad, and see that it is: the server remembers for ten seconds that it was good."""
    configmaps = f"/api/v1/namespaces/{namespace}/configmaps?limit=1"
    assert plane.request("GET", configmaps, token=token).ok
    assert plane.request("DELETE", f"/api/v1/namespaces/{namespace}/secrets/{secret}").ok
    plane.wait_until(lambda: plane.request("GET", configmaps, token=token).status == 401)


def grant_everything_to_default_account(plane: ControlPlane, namespace: str) -> None:
    body = {
        "metadata": {"name": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }
    assert plane.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body).ok


# ── writes ──


async def test_a_write_whose_answer_is_lost_is_told_as_unknown_and_can_be_looked_up(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        connect(world.plane.kubeconfig_via(proxy.port), world.namespace) as client,
    ):
        await client.list(CONFIGMAPS, namespace=world.namespace)
        proxy.stall("down")
        writing = asyncio.create_task(client.create(CONFIGMAPS, ConfigMap(ObjectMeta(name="perhaps"))))
        await until(lambda: is_there(world, "perhaps"))
        proxy.reset()
        with pytest.raises(OutcomeUnknown):
            await writing
        await proxy.resume()
        assert (await client.get(CONFIGMAPS, "perhaps")).metadata.name == "perhaps"


async def is_there(world: World, name: str) -> bool:
    try:
        await world.client.get(CONFIGMAPS, name)
    except NotFound:
        return False
    return True


async def test_a_write_that_cannot_have_begun_is_told_as_unreachable(world: World) -> None:
    async with (
        FaultProxy(world.plane.apiserver.port) as proxy,
        connect(world.plane.kubeconfig_via(proxy.port), world.namespace) as client,
    ):
        proxy.refuse()
        with pytest.raises(Unreachable):
            await client.create(CONFIGMAPS, ConfigMap(ObjectMeta(name="never")))
        await proxy.resume()
        with pytest.raises(NotFound):
            await client.get(CONFIGMAPS, "never")


async def test_writes_through_a_server_that_is_killed_are_never_lost_and_never_doubled(world: World) -> None:
    """What was acknowledged is there once; what was told as unreachable is not there; what is unknown may be either."""
    outcomes: dict[str, str] = {}

    async def create(number: int) -> None:
        name = f"w{number}"
        try:
            await client.create(CONFIGMAPS, ConfigMap(ObjectMeta(name=name)))
            outcomes[name] = "done"
        except OutcomeUnknown:
            outcomes[name] = "unknown"
        except Unreachable:
            outcomes[name] = "not done"

    async with connect(world.plane.admin.kubeconfig, world.namespace) as client:
        tasks = []
        for number in range(200):
            tasks.append(asyncio.create_task(create(number)))
            await asyncio.sleep(0.005)
            if number == 100:
                await until(lambda: len(outcomes) > 50)
                world.plane.apiserver.kill()
                world.plane.apiserver.daemon.start()
        await asyncio.gather(*tasks)
    await asyncio.to_thread(world.plane.apiserver.wait_ready)
    listed = await world.client.list(CONFIGMAPS, namespace=world.namespace)
    there = {item.metadata.name for item in listed.items if item.metadata.name.startswith("w")}
    assert {name for name, outcome in outcomes.items() if outcome == "done"} <= there
    assert not there & {name for name, outcome in outcomes.items() if outcome == "not done"}
    assert list(outcomes.values()).count("done") > 50
