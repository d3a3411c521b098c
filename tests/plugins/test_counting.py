"""Tallies: what is kept while pods and nodes come and go is what counting anew comes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings

from bayplan.contract.events import Event, Seen
from bayplan.plugins.counting import Tallies, grouped
from bayplan.testing import HOSTNAME, ZONE, Scene, node, pod, strategies
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.pods import Group

KEYS = (ZONE, HOSTNAME)


def weigh(group: Group) -> tuple[tuple[str, int, int], ...]:
    """Pods of app web count 3 by zone and 1 by host."""
    return grouped([(ZONE, 3), (HOSTNAME, 1)]) if group.labels.get("app") == "web" else ()


def plainly(cluster: Cluster, key: str, *, alive_only: bool) -> Counter[str]:
    weight = {ZONE: 3, HOSTNAME: 1}[key]
    found: Counter[str] = Counter()
    for placement in cluster.pods.by_key.values():
        one = cluster.nodes.nodes[placement.row]
        counts = placement.pod.metadata.labels.get("app") == "web" and not (alive_only and placement.pod.is_terminating)
        if counts and one is not None and key in one.metadata.labels:
            found[one.metadata.labels[key]] += weight
    return found


def kept(cluster: Cluster, tallies: Tallies, key: str) -> Counter[str]:
    values, tally = cluster.nodes.label(key).values.things, tallies.by_key[key]
    return +Counter({values[number]: int(count) for number, count in enumerate(tally.by_domain.tolist())})


@settings(max_examples=examples(40))
@given(strategies.histories(strategies.pods("ending"), ("Node", "Namespace"), most=20))
def test_after_every_change_the_count_is_as_anew(history: list[Event]) -> None:
    scene = Scene()
    cluster = scene.cluster
    every, alive = (Tallies(cluster, group=weigh, keys=KEYS, alive_only=only) for only in (False, True))
    for event in history:
        before = {key: every.by_key[key].by_domain.copy() for key in KEYS}
        scene.cache.apply(event)
        changed = every.catch_up()
        alive.catch_up()
        for key in KEYS:
            assert kept(cluster, every, key) == plainly(cluster, key, alive_only=False)
            assert kept(cluster, alive, key) == plainly(cluster, key, alive_only=True)
            assert_members(cluster, every, key)
            if changed is not None and isinstance(event, Seen):
                now = every.by_key[key].by_domain
                differ = {(key, int(d)) for d in np.flatnonzero(now[: len(before[key])] != before[key])}
                assert differ <= set(changed)


def assert_members(cluster: Cluster, tallies: Tallies, key: str) -> None:
    nodes = [one for one in cluster.nodes.nodes if one is not None and key in one.metadata.labels]
    values = cluster.nodes.label(key).values.things
    members = dict(enumerate(tallies.by_key[key].members.tolist()))
    assert +Counter({values[number]: count for number, count in members.items() if count}) == Counter(
        one.metadata.labels[key] for one in nodes
    )


def test_the_rows_of_domains_that_changed_are_told() -> None:
    scene = Scene()
    scene.add(*(node(name, labels={ZONE: name[0]}) for name in ("a1", "b1", "a2", *(f"c{n}" for n in range(9)))))
    tallies = Tallies(scene.cluster, group=weigh, keys=(ZONE,))
    tallies.catch_up()
    assert tallies.rows_in(tallies.catch_up()) is None

    scene.add(pod("web", labels={"app": "web"}, node="a2"))
    rows = tallies.rows_in(tallies.catch_up())
    assert rows is not None
    assert [scene.cluster.nodes.name(row) for row in np.arange(12)[rows]] == ["a1", "a2"]

    scene.add(pod("other", labels={"app": "db"}, node="b1"))
    assert tallies.rows_in(tallies.catch_up()) is None


def test_who_falls_behind_the_log_counts_anew() -> None:
    scene = Scene()
    scene.add(node("a1", labels={ZONE: "a"}))
    tallies = Tallies(scene.cluster, group=weigh, keys=(ZONE,))
    tallies.catch_up()
    one = pod("web", labels={"app": "web"}, node="a1")
    for _ in range(66_000):  # twice what the log keeps, as it comes and goes each time
        scene.cluster.put_pod(one, "a1")
    assert tallies.catch_up() is None
    assert kept(scene.cluster, tallies, ZONE) == {"a": 3}
