"""What every plugin promises, as tests to inherit.

::

    class TestCoolRacks(PluginTests):
        plugin = CoolRacks(limit=65)

The engine keeps what a plugin said and asks again only where it must. So a plugin that breaks a promise does not fail:
it decides wrongly, later and somewhere else. Here it fails, with the smallest cluster that shows how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bayplan.cache.cache import Cache
from bayplan.contract.events import Seen
from bayplan.engine.engine import Engine
from bayplan.engine.lifting import filters, scores
from bayplan.engine.policy import Policy
from bayplan.objects.meta import Uid
from bayplan.testing import strategies
from bayplan.testing.anew import assert_as_anew, assert_as_elsewhere
from bayplan.testing.asking import Asking
from bayplan.testing.effort import examples
from bayplan.testing.picture import picture

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hypothesis.strategies import SearchStrategy

    from bayplan.columns.cluster import Cluster
    from bayplan.contract.events import Event
    from bayplan.objects.pod import Pod


class PluginTests:
    """Inherit this, and set `plugin`. The rest is for plugins that are about something in particular."""

    #: The plugin, with any arguments.
    plugin: ClassVar[Any]
    #: The pods that it is asked about.
    pods: ClassVar[SearchStrategy[Pod]] = strategies.pods()
    #: The pods that are there already.
    others: ClassVar[SearchStrategy[Pod]] = strategies.pods()
    #: What else comes and goes.
    kinds: ClassVar[Collection[str]] = tuple(strategies.KINDS)
    #: How many clusters each test tries, where Hypothesis would try a hundred.
    examples: ClassVar[int] = 15

    def test_of_the_same_it_says_the_same(self) -> None:
        """Asked again, prepared again, or asked about another pod of the class."""

        def check(history: Sequence[Event], pod: Pod) -> None:
            cluster = built(history).cluster
            first, again = Asking(self.plugin, pod, cluster), Asking(self.plugin, pod, cluster)
            asked = [first, again]
            if not _is_one_of_a_kind(pod):
                # On a cluster of its own, where it is the one that the class is known by.
                another = replace(pod, metadata=replace(pod.metadata, name="another", uid=Uid("another")))
                asked.append(Asking(self.plugin, another, built(history).cluster))
            for one in asked:
                assert one.refusal == first.refusal
                assert one.verdicts(one.together()) == first.verdicts(first.together())
                assert one.scores(one.together()) == first.scores(first.together())
            for kept, anew in ((first.filtering, again.filtering), (first.scoring, again.scoring)):
                assert kept != anew or hash(kept) == hash(anew)

        self._for_all(check)

    def test_what_it_says_of_a_node_is_no_matter_of_how_it_is_asked(self) -> None:
        """All nodes at once, some of them, each alone; by the shortcut for one; by its scalar form if it has both."""

        def check(history: Sequence[Event], pod: Pod) -> None:
            asking = Asking(self.plugin, pod, built(history).cluster)
            said, scored = asking.verdicts(asking.together()), asking.scores(asking.together())
            for groups in (asking.every_row(), asking.apart()):
                assert asking.verdicts(groups) == said
                assert asking.scores(groups) == scored
            assert asking.verdicts_one_by_one() in (None, said)
            assert asking.scores_one_by_one() in (None, scored)
            assert asking.verdicts_of_scalar() in (None, said)
            assert asking.scores_of_scalar() in (None, scored)

        self._for_all(check)

    def test_scores_are_finite_and_points_are_from_0_to_100(self) -> None:
        """Whichever nodes are feasible."""

        def check(history: Sequence[Event], pod: Pod) -> None:
            cluster = built(history).cluster
            asking, live = Asking(self.plugin, pod, cluster), cluster.nodes.live
            for feasible in (live, live & (np.arange(len(live)) % 2 == 0), live & (np.arange(len(live)) == 0)):
                raw = asking.raw_among(feasible)
                assert raw is None or np.isfinite(raw[feasible]).all()
                assert all(0 <= points <= 100 for points in asking.points_among(feasible).values())

        self._for_all(check)

    def test_what_is_kept_is_what_it_would_say_anew(self) -> None:
        """After every change of the cluster, and on one where the same things came in another order."""

        def check(history: Sequence[Event], pod: Pod, changes: Sequence[Event]) -> None:
            cache = built(history)
            engine = Engine(cache.cluster, self._policies(pod))
            engine.decide(pod)
            for change in changes:
                cache.apply(change)
                decision = assert_as_anew(engine, pod)
                assert_as_elsewhere(engine, decision, built_from_the_last_of([*history, *changes], change).cluster)

        changes = st.lists(strategies.events(self.others, self.kinds), min_size=1, max_size=6)
        self._for_all(check, changes)

    def test_it_changes_nothing_by_being_asked(self) -> None:
        """The cluster is as it was."""

        def check(history: Sequence[Event], pod: Pod) -> None:
            cluster = built(history).cluster
            before = repr((picture(cluster, order=True), pod))  # as text, since objects can be changed in place
            Engine(cluster, self._policies(pod)).decide(pod)
            assert repr((picture(cluster, order=True), pod)) == before

        self._for_all(check)

    def test_what_is_reserved_can_be_undone(self) -> None:
        """And undone without having been reserved."""
        if not hasattr(self.plugin, "reserve"):
            return

        def check(history: Sequence[Event], pod: Pod) -> None:
            cluster = built(history).cluster
            for node in sorted(cluster.nodes.row_of):
                before = self._all_of(cluster, pod)
                self.plugin.unreserve(pod, node, cluster)
                assert self._all_of(cluster, pod) == before
                self.plugin.reserve(pod, node, cluster)
                self.plugin.unreserve(pod, node, cluster)
                assert self._all_of(cluster, pod) == before

        self._for_all(check)

    def _for_all(self, check: Callable[..., None], *more: SearchStrategy[Any]) -> None:
        """Not a decorator: the tests are inherited, and each class has pods of its own."""
        histories = strategies.histories(self.others, self.kinds)

        @settings(max_examples=examples(self.examples), deadline=None)
        @given(st.tuples(histories, self.pods, *more))
        def tried(drawn: tuple[Any, ...]) -> None:
            check(*drawn)

        tried()

    def _policies(self, pod: Pod) -> Policy:
        return Policy(
            filters=(self.plugin,) if filters(self.plugin) else (),
            scores=((self.plugin, 1),) if scores(self.plugin) else (),
            scheduler_name=pod.spec.scheduler_name or "default-scheduler",
        )

    def _all_of(self, cluster: Cluster, pod: Pod) -> tuple[Any, ...]:
        asking = Asking(self.plugin, pod, cluster)
        together = asking.together()
        return picture(cluster, order=True), asking.verdicts(together), asking.scores(together)


def built(history: Sequence[Event]) -> Cache:
    """The cluster that came of all this."""
    cache = Cache(annotations_matter=True)
    for event in history:
        cache.apply(event)
    return cache


def built_from_the_last_of(history: Sequence[Event], until: Event) -> Cache:
    """A cluster of the objects that were there in the end, up to this event."""
    last: dict[tuple[str, str], Event] = {}
    for event in history:
        last[type(event.object).__name__, event.object.metadata.key] = event
        if event is until:
            break
    return built([event for event in last.values() if isinstance(event, Seen)])


def _is_one_of_a_kind(pod: Pod) -> bool:
    """Whether no other pod is of its class: its volumes bear its name."""
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)
