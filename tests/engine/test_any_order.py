"""Whatever happens to a cluster and in whatever order, the engine says what one would say that has just been made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from bayplan.cache.cache import Cache
from bayplan.columns import table
from bayplan.columns.log import ChangeLog
from bayplan.contract.events import Event, Gone, Seen
from bayplan.engine import engine, slots
from bayplan.engine.engine import Decision, Engine
from bayplan.engine.journal import Journal
from bayplan.engine.supposing import supposing
from bayplan.objects.meta import Uid
from bayplan.objects.pod import Pod
from bayplan.profiles import read_configuration
from bayplan.profiles.policy import policies_of
from bayplan.testing import strategies
from bayplan.testing.anew import assert_as_anew, assert_as_elsewhere
from bayplan.testing.builders import on
from bayplan.testing.effort import examples
from bayplan.testing.features import FEATURES
from bayplan.testing.picture import picture

if TYPE_CHECKING:
    import pytest

    from bayplan.engine.story import Page, Story

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: other
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}, {name: example.com/gpu}]}}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
      - {maxSkew: 1, topologyKey: disk, whenUnsatisfiable: ScheduleAnyway}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 7, ignorePreferredTermsOfExistingPods: true}
"""
POLICIES = policies_of(read_configuration(CONFIGURATION))

#: These are asked about after every step, so what is kept of them has much to keep up with. They never come themselves.
watched = strategies.pods(name=st.just("watched"))
nodes = st.sampled_from(strategies.NODES)
#: A pod that is yet to be placed has no status of a resize, which would count for more than it asks for.
pending = strategies.pods(*sorted(FEATURES.keys() - {"resizing", "finished", "ending"}))


class Life(RuleBasedStateMachine):
    """A cluster, its cache, and what the API server and the binder know, by plain bookkeeping."""

    #: Whether plans are let go, and the details of stories with them.
    fades = False

    def __init__(self) -> None:
        super().__init__()
        #: What the API server has, by kind and key.
        self.there: dict[tuple[str, str], Any] = {}
        #: What we have placed and the watch has not shown.
        self.assumed: dict[str, tuple[Pod, str]] = {}
        self.told: list[tuple[Story, Page]] = []

    @initialize(
        first=st.lists(strategies.nodes(), min_size=1, max_size=4),
        watched=st.lists(watched, min_size=1, max_size=3),
        cells=st.sampled_from([8_000_000, 500]),
    )
    def begin(self, first: list[Any], watched: list[Pod], cells: int) -> None:
        # One more of the same class: what is kept for the one must not be taken for the other's.
        meta = replace(watched[0].metadata, name="twin", uid=Uid("twin"))
        self.watched, self.cells = [*watched, replace(watched[0], metadata=meta)], cells
        self.restart()
        for node in first:
            self.happens(Seen(node))

    # ── what happens ──

    @rule(event=strategies.events())
    def happens(self, event: Event) -> None:
        one = event.object
        place = (type(one).__name__, one.metadata.key)
        if isinstance(one, Pod):
            self.note_pod(event, one)
        self.cache.apply(event)
        if isinstance(event, Seen):
            self.there[place] = one
        else:
            self.there.pop(place, None)

    def note_pod(self, event: Event, pod: Pod) -> None:
        key = pod.metadata.key
        ours = self.assumed.get(key)
        same = ours is not None and ours[0].metadata.uid == pod.metadata.uid
        ended = isinstance(event, Gone) or pod.is_finished
        if same if ended else (bool(pod.spec.node_name) or not same):
            self.assumed.pop(key, None)

    @rule(pod=pending)
    def is_placed(self, pod: Pod) -> None:
        """Follow the engine: where it sends a pod there is room, and whom it evicts goes."""
        if not self.is_pending(pod):
            return
        decision = self.engine.decide(pod)
        if decision.node is not None:
            self.is_assumed(pod, decision.node)
            self.room_is_not_overdrawn(pod, decision.node)
        elif decision.preemption is not None:
            for victim in decision.preemption.victims:
                self.happens(Gone(victim))

    @rule(pod=strategies.pods(), node=nodes)
    def is_assumed(self, pod: Pod, node: str) -> None:
        if self.is_pending(pod):
            self.cache.assume(pod, node)
            self.assumed[pod.metadata.key] = (pod, node)

    @precondition(lambda self: self.assumed)
    @rule(data=st.data())
    def is_forgotten(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.assumed)))
        del self.assumed[key]
        self.cache.forget(key)

    @precondition(lambda self: self.assumed)
    @rule(data=st.data(), shown_pending=st.booleans())
    def is_confirmed(self, data: st.DataObject, shown_pending: bool) -> None:
        pod, node = self.assumed[data.draw(st.sampled_from(sorted(self.assumed)))]
        self.happens(Seen(pod if shown_pending else on(pod, node)))

    @rule(data=st.data(), node=nodes)
    def is_promised(self, data: st.DataObject, node: str) -> None:
        pod = data.draw(st.sampled_from(self.watched))
        if not pod.is_finished:
            self.happens(Seen(replace(pod, status=replace(pod.status, nominated_node_name=node))))

    @rule()
    def restart(self) -> None:
        self.cache, self.assumed = self.built_anew({}), {}
        self.engine = Engine(self.cache.cluster, POLICIES, journal=Journal(self.cells))
        self.told.clear()

    # ── what leaves no trace ──

    @rule(coming=st.lists(strategies.pods(), max_size=3), row=st.integers(0, 4), going=st.integers(0, 9))
    def is_supposed(self, coming: list[Pod], row: int, going: int) -> None:
        cluster = self.cache.cluster
        before = picture(cluster, order=True)
        with supposing(cluster) as suppose:
            for key in list(cluster.pods.by_key)[going:]:
                suppose.goes(key)
            for pod in coming:
                there = row < cluster.nodes.size and cluster.nodes.nodes[row] is not None
                if there and cluster.pod_on_node(pod.metadata.key) is None:
                    suppose.comes(pod, row)
            cluster.check()
            for pod in self.watched:
                self.engine.decide(pod)
        assert picture(cluster, order=True) == before

    # ── what must hold ──

    @invariant()
    def all_is_as_anew(self) -> None:
        if not hasattr(self, "cache"):
            return
        self.cache.check()
        anew = self.built_anew(self.assumed)
        assert picture(self.cache.cluster) == picture(anew.cluster)
        for pod in self.watched:
            before = picture(self.cache.cluster, order=True)
            decision = assert_as_anew(self.engine, pod)
            assert picture(self.cache.cluster, order=True) == before
            assert_as_elsewhere(self.engine, decision, anew.cluster)
            self.remember(decision)
        self.stories_stay_as_they_were()

    def remember(self, decision: Decision) -> None:
        page = decision.story.read()
        assert page is not None
        assert {story.node for story in page.nodes} == self.cache.cluster.nodes.row_of.keys()
        self.told.append((decision.story, page))

    def stories_stay_as_they_were(self) -> None:
        for story, page in self.told[-20:]:
            read = story.read()
            assert read == page or (read is None and (self.fades or self.cells == 500))

    def room_is_not_overdrawn(self, pod: Pod, node: str) -> None:
        placement = self.cache.cluster.pods.by_key[pod.metadata.key]
        resources, row = self.cache.cluster.nodes.resources, self.cache.cluster.nodes.row_of[node]
        for number, _ in placement.load[0]:
            assert resources.requested[number, row] <= resources.allocatable[number, row]

    def is_pending(self, pod: Pod) -> bool:
        """Whether the scheduler would be asked about such a pod."""
        key = pod.metadata.key
        there = self.there.get(("Pod", key))
        known = there is None or (there.metadata.uid == pod.metadata.uid and not there.spec.node_name)
        return known and key not in self.assumed and not pod.is_finished and not (there and there.is_finished)

    def built_anew(self, assumed: dict[str, tuple[Pod, str]]) -> Cache:
        cache = Cache()
        for one in self.there.values():
            cache.apply(Seen(one))
        for pod, node in assumed.values():
            cache.assume(pod, node)
        return cache


class FadingLife(Life):
    """The same where little is kept."""

    fades = True


def test_whatever_happens_the_engine_says_what_it_would_say_anew() -> None:
    run_state_machine_as_test(Life, settings=settings(max_examples=examples(20), stateful_step_count=30, deadline=None))


def test_so_it_does_where_logs_are_short_and_tables_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is rare in small clusters happens all the time: readers fall behind, tables grow, many rows change."""
    begin = ChangeLog.__init__
    monkeypatch.setattr(ChangeLog, "__init__", lambda log, keep=3: begin(log, 3))
    monkeypatch.setattr(ChangeLog, "keep_at_least", lambda log, count: None)
    monkeypatch.setattr(table, "_FIRST_LENGTH", 1)
    monkeypatch.setattr(slots, "_FEW", 1)
    monkeypatch.setattr(engine, "_FEWEST_PLANS", 1)
    monkeypatch.setattr(engine, "_PLAN_BYTES", 0)
    enough = settings(max_examples=examples(10), stateful_step_count=30, deadline=None)
    run_state_machine_as_test(FadingLife, settings=enough)
