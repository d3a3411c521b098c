"""The core: events and the time go in, effects come out, and no step leaves a trace that is undone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from bayplan.contract.effects import Bind, Effect, Evict, PatchStatus, Record, WakeAt
from bayplan.contract.events import Gone, Seen
from bayplan.contract.outcomes import Bound, Doubtful, NotBound, Wait
from bayplan.contract.verdicts import YES, Verdict, reject
from bayplan.engine.core import Core
from bayplan.profiles.configuration import default_configuration
from bayplan.profiles.policy import policies_of
from bayplan.testing.builders import node, pod
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.engine.policy import Policy
    from bayplan.objects.pod import Pod

POLICY = policies_of(default_configuration())[0]
KEY = "default/web"


@dataclass(frozen=True)
class Ledger:
    """Counts something of its own, and can be told to say no, to wait, or to break."""

    says: Any = YES
    permits: Any = YES
    counted: list[str] = field(default_factory=list)

    def reserve(self, pod: Pod, node: str, cluster: Cluster) -> Verdict:
        self.counted.append(pod.metadata.key)
        verdict: Verdict = self.says
        return verdict

    def unreserve(self, pod: Pod, node: str, cluster: Cluster) -> None:
        self.counted.remove(pod.metadata.key)

    def permit(self, pod: Pod, node: str) -> Verdict | Wait:
        verdict: Verdict | Wait = self.permits
        return verdict


def policy_with(ledger: Ledger) -> Policy:
    return replace(POLICY, reserves=(*POLICY.reserves, ledger), permits=(ledger,))


def core_with(*nodes: str, ledger: Ledger | None = None, cpu: str = "4") -> Core:
    core = Core(policy_with(ledger) if ledger is not None else POLICY)
    for name in nodes:
        core.handle(Seen(node(name, cpu=cpu, memory="8Gi")), 0.0)
    return core


def taken(core: Core) -> int:
    return int(core.cache.cluster.nodes.resources.requested.sum())


def kinds(effects: list[Effect]) -> list[type]:
    return [type(effect) for effect in effects]


def on(one: Pod, name: str) -> Pod:
    return msgspec.structs.replace(one, spec=msgspec.structs.replace(one.spec, node_name=name))


def test_a_pod_is_bound_where_it_was_decided_and_takes_its_room_at_once() -> None:
    core = core_with("n1")
    web = pod("web", cpu="3")
    assert core.place(web, 1.0) == [Bind(web, "n1")]
    assert core.place(web, 1.0) == []
    assert kinds(core.place(pod("other", cpu="3"), 2.0)) == [Record, PatchStatus]
    [told] = core.settle(Bound(KEY, web.metadata.uid), 3.0)
    assert told == Record(web, "Scheduled", "Successfully assigned default/web to n1")
    core.handle(Seen(on(web, "n1")), 4.0)
    assert not core.cache.assumed
    assert len(core.reservations) == 0


def test_a_binding_that_failed_gives_everything_back() -> None:
    ledger = Ledger()
    core = core_with("n1", ledger=ledger)
    before = taken(core)
    web = pod("web", cpu="3")
    core.place(web, 1.0)
    assert ledger.counted == [KEY]
    effects = core.settle(NotBound(KEY, web.metadata.uid, "the node is gone"), 2.0)
    assert kinds(effects) == [Record, PatchStatus]
    assert (taken(core), ledger.counted, len(core.reservations)) == (before, [], 0)


def test_a_binding_in_doubt_keeps_its_room_until_the_watch_speaks() -> None:
    core = core_with("n1")
    web = pod("web", cpu="3")
    core.place(web, 1.0)
    assert core.settle(Doubtful(KEY, web.metadata.uid), 2.0) == []
    core.handle(Seen(web), 3.0)
    assert kinds(core.place(pod("other", cpu="3"), 4.0)) == [Record, PatchStatus]
    core.handle(Gone(web), 5.0)
    assert taken(core) == 0


def test_the_watch_is_believed_though_the_binder_says_otherwise() -> None:
    core = core_with("n1", "n2")
    web = pod("web", cpu="3")
    [bind] = core.place(web, 1.0)
    assert isinstance(bind, Bind)
    elsewhere = "n2" if bind.node == "n1" else "n1"
    core.handle(Seen(on(web, elsewhere)), 2.0)
    assert core.settle(NotBound(KEY, web.metadata.uid, "conflict"), 3.0) == []
    [placement] = core.cache.cluster.pods.by_key.values()
    assert core.cache.cluster.nodes.name(placement.row) == elsewhere


def test_a_pod_made_anew_under_the_same_name_is_another_one() -> None:
    core = core_with("n1")
    core.place(pod("web", cpu="3", uid="first"), 1.0)
    core.handle(Seen(pod("web", cpu="1", uid="second")), 2.0)
    assert taken(core) == 0
    assert core.settle(Bound(KEY, "first"), 3.0) == []
    assert kinds(core.place(pod("web", cpu="1", uid="second"), 4.0)) == [Bind]


def test_what_a_plugin_counted_is_given_back_when_one_after_it_says_no() -> None:
    ledger = Ledger(says=reject("the ledger is full"))
    core = core_with("n1", ledger=ledger)
    effects = core.place(pod("web", cpu="3"), 1.0)
    assert isinstance(effects[1], PatchStatus)
    assert "the ledger is full" in effects[1].message
    assert (taken(core), ledger.counted) == (0, [])


def test_a_permit_is_waited_for_and_then_the_pod_is_bound() -> None:
    core = core_with("n1", ledger=Ledger(permits=Wait(30.0)))
    web = pod("web", cpu="3")
    assert core.place(web, 100.0) == [WakeAt(130.0)]
    assert core.permit(KEY, "Ledger") == [Bind(web, "n1")]


@pytest.mark.parametrize("refused", [True, False])
def test_a_permit_that_does_not_come_gives_everything_back(refused: bool) -> None:
    ledger = Ledger(permits=Wait(30.0))
    core = core_with("n1", ledger=ledger)
    core.place(pod("web", cpu="3"), 100.0)
    effects = core.permit(KEY, "Ledger", reject("no quorum")) if refused else core.wake(130.0)
    assert kinds(effects) == [Record, PatchStatus]
    assert (taken(core), ledger.counted, core.wake(1000.0)) == (0, [], [])


def test_victims_are_evicted_and_the_pod_is_promised_the_node() -> None:
    core = core_with("n1")
    core.handle(Seen(pod("old", cpu="3", priority=0, node="n1")), 0.0)
    vip = pod("vip", cpu="3", priority=10)
    effects = core.place(vip, 1.0)
    assert [one.pod.metadata.name for one in effects if isinstance(one, Evict)] == ["old"]
    [status] = [one for one in effects if isinstance(one, PatchStatus)]
    assert status.nominated_node == "n1"
    core.handle(Gone(pod("old", cpu="3", node="n1")), 2.0)
    assert kinds(core.place(pod("late", cpu="3", priority=5), 3.0)) == [Record, PatchStatus]
    assert kinds(core.place(vip, 4.0)) == [Bind]


def test_a_plugin_that_breaks_fails_that_pod_by_name() -> None:
    @dataclass(frozen=True)
    class Fragile:
        def filter(self, pod: Pod, node: Any) -> Verdict:
            raise RuntimeError("out of glue")

    core = Core(replace(POLICY, filters=(*POLICY.filters, Fragile())))
    core.handle(Seen(node("n1", cpu="4")), 0.0)
    [_, status] = core.place(pod("web"), 1.0)
    assert isinstance(status, PatchStatus)
    assert status.reason == "SchedulerError"
    assert "Fragile" in status.message
    assert "out of glue" in status.message


class AnyOrder(RuleBasedStateMachine):
    """Placements, outcomes, permits, deletions and time in any order: room is never given twice, nor ever lost."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(permits=Wait(30.0))
        self.core = core_with("n1", "n2", ledger=self.ledger, cpu="2")
        self.now = 0.0
        self.there: dict[str, Pod] = {}
        self.binding: dict[str, Bind] = {}

    def take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Bind):
                assert effect.pod.metadata.key not in self.binding, "bound twice"
                self.binding[effect.pod.metadata.key] = effect

    @rule(target=names, number=st.integers(0, 5))
    def create(self, number: int) -> str:
        name = f"p{number}"
        if name not in self.there:
            self.there[name] = pod(name, cpu="1", uid=f"{name}-{self.now}")
            self.take(self.core.handle(Seen(self.there[name]), self.now))
        return name

    @rule(name=names)
    def place(self, name: str) -> None:
        one = self.there.get(name)
        if one is not None and not one.spec.node_name and one.metadata.key not in self.binding:
            self.take(self.core.place(one, self.now))

    @rule(name=names, verdict=st.sampled_from([YES, reject("no")]))
    def permit(self, name: str, verdict: Verdict) -> None:
        self.take(self.core.permit(f"default/{name}", "Ledger", verdict))

    @rule(name=names, outcome=st.sampled_from([Bound, NotBound, Doubtful]))
    def settle(self, name: str, outcome: Any) -> None:
        bind = self.binding.pop(f"default/{name}", None)
        if bind is None:
            return
        key, uid = bind.pod.metadata.key, bind.pod.metadata.uid
        self.take(
            self.core.settle(NotBound(key, uid, "why not") if outcome is NotBound else outcome(key, uid), self.now)
        )
        same = name in self.there and self.there[name].metadata.uid == uid
        if outcome is not NotBound and same:
            self.there[name] = on(self.there[name], bind.node)
            self.take(self.core.handle(Seen(self.there[name]), self.now))

    @rule(name=names)
    def delete(self, name: str) -> None:
        one = self.there.pop(name, None)
        if one is not None:
            self.take(self.core.handle(Gone(one), self.now))

    @rule(seconds=st.floats(0.5, 40.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.take(self.core.wake(self.now))

    @invariant()
    def never_overcommitted(self) -> None:
        resources = self.core.cache.cluster.nodes.resources
        assert (resources.requested <= resources.allocatable).all()

    @invariant()
    def whoever_is_counted_is_held_or_there(self) -> None:
        held = {one.pod.metadata.key for one in self.core.reservations}
        on_nodes = set(self.core.cache.cluster.pods.by_key)
        seen = {one.metadata.key for one in self.there.values() if one.spec.node_name}
        assert on_nodes == held | seen | set(self.core.cache.assumed)
        assert set(self.ledger.counted) >= held
        assert set(self.core.cache.assumed) >= held


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=examples(40), stateful_step_count=40, deadline=None)
