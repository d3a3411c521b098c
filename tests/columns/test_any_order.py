"""Tables that grow, lose rows and use them again; columns that are asked for late; logs that are followed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from bayplan import NodeField, annotation, label
from bayplan.columns import table
from bayplan.columns.cluster import Cluster
from bayplan.columns.log import ChangeLog
from bayplan.columns.nodes import Nodes
from bayplan.columns.store import Store
from bayplan.testing import ZONE, on, strategies
from bayplan.testing.effort import examples
from bayplan.testing.storage import claim

if TYPE_CHECKING:
    import pytest

    from bayplan.objects.node import Node
    from bayplan.objects.pod import Pod
    from bayplan.objects.storage import PersistentVolumeClaim

NAMES = st.sampled_from([f"n{number}" for number in range(12)])
FIELDS: tuple[NodeField[Any], ...] = (
    annotation("example.com/celsius", float, missing=20),
    label("size", int, missing=-1),
    NodeField("taints", lambda node: len(node.spec.taints), 0),
)


class Table(RuleBasedStateMachine):
    """Nodes and pods, written to the columns directly."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, tuple[str, Pod]] = {}
        #: A reader that keeps a copy of a column by following the log.
        self.copy: dict[int, str] = {}
        self.position = 0

    @rule(node=strategies.nodes(name=NAMES))
    def a_node_comes(self, node: Node) -> None:
        self.nodes[node.metadata.name] = node
        self.cluster.put_node(node)

    @rule(name=NAMES)
    def a_node_goes(self, name: str) -> None:
        self.nodes.pop(name, None)
        self.cluster.remove_node(name)

    @rule(pod=strategies.pods("requests", "ports", "far", "claims"), node=NAMES)
    def a_pod_comes(self, pod: Pod, node: str) -> None:
        self.pods[pod.metadata.key] = (node, pod)
        self.cluster.put_pod(on(pod, node), node)

    @rule(data=st.data())
    def a_pod_goes(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([*sorted(self.pods), "no/such"]))
        self.pods.pop(key, None)
        self.cluster.remove_pod(key)

    @rule(field=st.sampled_from(FIELDS), key=st.sampled_from([ZONE, "disk", "none"]))
    def a_column_is_asked_for(self, field: NodeField[Any], key: str) -> None:
        table = self.cluster.nodes
        values, ids = table.field(field), table.label(key)
        for name, row in table.row_of.items():
            assert values[row].item() == field.read(self.nodes[name])
            number = ids.ids.item(row)
            assert (ids.values.things[number] if number >= 0 else None) == self.nodes[name].metadata.labels.get(key)

    @rule()
    def somebody_reads_the_log(self) -> None:
        log = self.cluster.nodes.node_log
        changed = log.since(self.position)
        self.position = log.position
        for row in range(self.cluster.nodes.size) if changed is None else changed:
            self.copy[row] = self.cluster.nodes.name(row)
        assert self.copy == {row: self.cluster.nodes.name(row) for row in range(self.cluster.nodes.size)}

    @invariant()
    def all_is_sound(self) -> None:
        self.cluster.check()
        assert self.cluster.nodes.row_of.keys() == self.nodes.keys()
        there = {key for key, (node, _) in self.pods.items() if node in self.nodes}
        assert self.cluster.pods.by_key.keys() == there
        assert {key for pods in self.cluster.strays().values() for key in pods} == self.pods.keys() - there
        every = Nodes.every(self.cluster)
        assert (every.free("cpu") == every.allocatable("cpu") - every.requested("cpu")).all()
        assert every.labelled(ZONE).tolist() == [
            node is not None and ZONE in node.metadata.labels for node in self.cluster.nodes.nodes
        ]
        backwards = Nodes(self.cluster, np.arange(self.cluster.nodes.size, dtype=np.intp)[::-1])
        assert backwards.labelled("disk", "ssd").tolist() == every.labelled("disk", "ssd").tolist()[::-1]


def test_tables_are_sound_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_FIRST_LENGTH", 2)
    begin = ChangeLog.__init__
    monkeypatch.setattr(ChangeLog, "__init__", lambda log, keep=4: begin(log, 4))
    monkeypatch.setattr(ChangeLog, "keep_at_least", lambda log, count: None)
    enough = settings(max_examples=examples(30), stateful_step_count=40, deadline=None)
    run_state_machine_as_test(Table, settings=enough)


class Claims(RuleBasedStateMachine):
    """A store: what the watch says, and what we take for granted until it says something newer."""

    def __init__(self) -> None:
        super().__init__()
        self.store: Store[PersistentVolumeClaim] = Store()
        self.said: dict[str, PersistentVolumeClaim] = {}
        self.granted: dict[str, PersistentVolumeClaim] = {}
        self.version = 0

    claims = st.builds(
        claim,
        st.sampled_from("ab"),
        namespace=st.just("one"),
        version=st.sampled_from("12"),
        size=st.sampled_from(["1Gi", "2Gi"]),
    )

    @rule(one=claims)
    def the_watch_shows(self, one: PersistentVolumeClaim) -> None:
        key = one.metadata.key
        granted = self.granted.get(key)
        if granted is not None and granted.metadata.resource_version != one.metadata.resource_version:
            del self.granted[key]
        self.said[key] = one
        self.store.put(one)

    @rule(one=claims)
    def the_watch_shows_it_gone(self, one: PersistentVolumeClaim) -> None:
        self.said.pop(one.metadata.key, None)
        self.granted.pop(one.metadata.key, None)
        self.store.remove(one.metadata.key)

    @rule(one=claims)
    def we_take_a_change_for_granted(self, one: PersistentVolumeClaim) -> None:
        if one.metadata.key in self.said:
            self.granted[one.metadata.key] = one
        self.store.assume(one)

    @rule(one=claims)
    def we_take_nothing_for_granted(self, one: PersistentVolumeClaim) -> None:
        self.granted.pop(one.metadata.key, None)
        self.store.restore(one.metadata.key)

    @invariant()
    def readers_see_what_was_said_and_granted(self) -> None:
        expected = self.said | self.granted
        assert {one.metadata.key: one for one in self.store} == expected
        assert len(self.store) == len(expected)
        for key in ("one/a", "one/b"):
            assert self.store.get(key) == expected.get(key)
            assert self.store.is_assumed(key) == (key in self.granted)
        assert self.store.version >= self.version
        self.version = self.store.version


def test_a_store_has_what_was_said_and_what_was_taken_for_granted() -> None:
    enough = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Claims, settings=enough)
