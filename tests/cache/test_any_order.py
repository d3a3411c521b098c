"""Any order of events, placements and restarts: the cache is what one would be that has just been built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from msgspec.structs import replace

from bayplan.cache.cache import Cache
from bayplan.contract.events import Event, Gone, Seen
from bayplan.errors import ValidationError
from bayplan.objects.meta import Uid
from bayplan.objects.pod import Pod
from bayplan.testing import on, strategies
from bayplan.testing import pod as make_pod
from bayplan.testing.builders import node as make_node
from bayplan.testing.effort import examples
from bayplan.testing.picture import picture

if TYPE_CHECKING:
    from bayplan.contract.events import ClusterObject

NODES = st.sampled_from(strategies.NODES)
#: What cannot be counted.
UNREADABLE = (make_pod("p0", namespace="one", node="n0", cpu="x"), make_node("n0", cpu="x"))


class Mirror(RuleBasedStateMachine):
    """What the watch has said and what we have decided, each written down beside the cache."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = Cache()
        self.there: dict[tuple[type, str], ClusterObject] = {}
        self.assumed: dict[str, tuple[Pod, str]] = {}

    @rule(event=strategies.events())
    def the_watch_says(self, event: Event) -> None:
        one = event.object
        if isinstance(one, Pod):
            self.note(one, gone=isinstance(event, Gone))
        if isinstance(event, Seen):
            self.there[type(one), one.metadata.key] = one
        else:
            self.there.pop((type(one), one.metadata.key), None)
        self.cache.apply(event)

    def note(self, pod: Pod, *, gone: bool) -> None:
        """What the watch says of a pod ends what we assumed of it, but for a pod that it still shows without a node."""
        key = pod.metadata.key
        same = key in self.assumed and self.assumed[key][0].metadata.uid == pod.metadata.uid
        over = same if gone or pod.is_finished else bool(pod.spec.node_name) or not same
        if over:
            self.assumed.pop(key, None)

    @rule(pod=strategies.pods(), node=NODES)
    def we_place(self, pod: Pod, node: str) -> None:
        shown = self.there.get((Pod, pod.metadata.key))
        if isinstance(shown, Pod):
            pod = shown
        if not pod.spec.node_name and not pod.is_finished:
            self.cache.assume(pod, node)
            self.assumed[pod.metadata.key] = (pod, node)

    @precondition(lambda self: self.assumed)
    @rule(data=st.data(), how=st.sampled_from(["forgotten", "confirmed", "elsewhere", "late", "deleted", "replaced"]))
    def it_turns_out(self, data: st.DataObject, how: str) -> None:
        pod, node = self.assumed[data.draw(st.sampled_from(sorted(self.assumed)))]
        if how == "forgotten":
            del self.assumed[pod.metadata.key]
            self.cache.forget(pod.metadata.key)
        elif how in {"confirmed", "elsewhere"}:
            self.the_watch_says(Seen(on(pod, node if how == "confirmed" else "n0")))
        elif how == "late":
            self.the_watch_says(Seen(pod))
        elif how == "deleted":
            self.the_watch_says(Gone(pod))
        else:
            meta = replace(pod.metadata, uid=Uid("one made anew"))
            self.the_watch_says(Seen(replace(pod, metadata=meta)))

    @rule(key=st.sampled_from(["one/p0", "two/p1", "no/such"]))
    def one_is_forgotten_that_was_never_assumed(self, key: str) -> None:
        if key not in self.assumed:
            self.cache.forget(key)

    @rule(one=st.sampled_from(UNREADABLE))
    def something_unreadable_comes(self, one: ClusterObject) -> None:
        before = picture(self.cache.cluster, order=True)
        try:
            self.cache.apply(Seen(one))
        except ValidationError:
            assert picture(self.cache.cluster, order=True) == before
        else:
            raise AssertionError("it was taken in")

    @rule()
    def we_begin_anew(self) -> None:
        self.assumed.clear()
        self.cache = self.built()

    @invariant()
    def it_is_as_built_anew(self) -> None:
        self.cache.check()
        assert dict(self.cache.assumed).keys() == self.assumed.keys()
        assert picture(self.cache.cluster) == picture(self.built().cluster)

    def built(self) -> Cache:
        cache = Cache()
        # Nodes last: then all pods are strays before they are on nodes.
        for one in sorted(self.there.values(), key=lambda one: type(one).__name__, reverse=True):
            cache.apply(Seen(one))
        for pod, node in self.assumed.values():
            cache.assume(pod, node)
        return cache


def test_whatever_the_order() -> None:
    enough = settings(max_examples=examples(40), stateful_step_count=40, deadline=None)
    run_state_machine_as_test(Mirror, settings=enough)
