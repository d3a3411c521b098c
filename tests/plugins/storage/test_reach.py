"""Selectors over columns say what selectors over single nodes say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayplan.columns.cluster import Cluster
from bayplan.columns.nodes import Nodes
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.nodeaffinity import compile_node_selector
from bayplan.objects.selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.plugins.storage.reach import reachable

KEYS, VALUES = ("k", "l"), ("1", "2", "30", "x")

requirements = st.builds(
    NodeSelectorRequirement,
    st.sampled_from(KEYS),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like"]),
    st.lists(st.sampled_from(VALUES), max_size=2).map(tuple),
)
fields = st.builds(NodeSelectorRequirement, st.just("metadata.name"), st.just("In"), st.just(("n0",)))
terms = st.builds(
    NodeSelectorTerm, st.lists(requirements, max_size=2).map(tuple), st.lists(fields, max_size=1).map(tuple)
)
selectors = st.builds(NodeSelector, st.lists(terms, max_size=3).map(tuple))
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(st.lists(labels, min_size=1, max_size=6), selectors, st.data())
def test_columns_agree_with_single_nodes(
    nodes: list[dict[str, str]], selector: NodeSelector, data: st.DataObject
) -> None:
    cluster = Cluster()
    for number, each in enumerate(nodes):
        cluster.put_node(Node(ObjectMeta(name=f"n{number}", labels=each)))
    rows = data.draw(st.lists(st.integers(0, len(nodes) - 1), unique=True, min_size=1))
    # A volume is matched with the labels of a node that has no name.
    wanted = [compile_node_selector(selector).matches("", nodes[row]) for row in rows]
    assert reachable(selector, Nodes(cluster, np.array(rows, dtype=np.intp))).tolist() == wanted
    assert reachable(selector, Nodes.every(cluster))[rows].tolist() == wanted


def test_without_affinity_a_volume_is_everywhere() -> None:
    cluster = Cluster()
    cluster.put_node(Node(ObjectMeta(name="n0")))
    assert reachable(None, Nodes.every(cluster)).tolist() == [True]
