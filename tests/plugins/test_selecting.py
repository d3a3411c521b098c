"""Node selectors over columns say what they say of each node by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.columns.nodes import Nodes
from bayplan.objects.nodeaffinity import compile_required_affinity
from bayplan.plugins.selecting import matching_rows
from bayplan.testing import Scene, node, pod, strategies
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from bayplan.objects.node import Node
    from bayplan.objects.pod import Pod


@settings(max_examples=examples(100))
@given(
    st.lists(strategies.nodes(), min_size=1, max_size=5),
    strategies.pods("node_selector", "node_affinity"),
)
def test_column_by_column_as_node_by_node(nodes: list[Node], wants: Pod) -> None:
    scene = Scene()
    scene.add(*nodes)
    required, table = compile_required_affinity(wants.spec), scene.cluster.nodes
    plainly = {
        one.metadata.name: required.matches(one.metadata.name, one.metadata.labels) for one in table.nodes if one
    }

    found = matching_rows(Nodes.every(scene.cluster), required)
    assert {table.name(row): bool(found[row]) for row in range(table.size)} == plainly
    backwards = np.arange(table.size, dtype=np.intp)[::-1]
    assert matching_rows(Nodes(scene.cluster, backwards), required).tolist() == found[::-1].tolist()


def test_a_node_that_has_gone_matches_nothing_that_it_had() -> None:
    scene = Scene()
    scene.add(node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "ssd"}))
    required = compile_required_affinity(pod(node_selector={"disk": "ssd"}).spec)
    assert matching_rows(Nodes.every(scene.cluster), required).tolist() == [True, True]
    scene.remove(node("a"))
    assert matching_rows(Nodes.every(scene.cluster), required).tolist() == [False, True]
