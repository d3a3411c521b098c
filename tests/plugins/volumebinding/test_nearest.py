"""The first reachable volume is the one that trying all in turn would find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bayplan.columns.cluster import Cluster
from bayplan.columns.nodes import Nodes
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.plugins.storage.reach import reachable
from bayplan.plugins.volumebinding.nearest import first_reachable

requirements = st.builds(
    NodeSelectorRequirement,
    st.sampled_from("kl"),
    st.sampled_from(["In", "In", "In", "NotIn", "Exists", "Like"]),
    st.lists(st.sampled_from("123"), min_size=1, max_size=2).map(tuple),
)
terms = st.builds(NodeSelectorTerm, st.lists(requirements, max_size=2).map(tuple))
affinities = st.none() | st.builds(NodeSelector, st.lists(terms, max_size=2).map(tuple))
labels = st.dictionaries(st.sampled_from("kl"), st.sampled_from("12"))


@given(st.lists(labels, min_size=1, max_size=5), st.lists(affinities, max_size=5))
def test_looking_volumes_up_is_trying_them(nodes: list[dict[str, str]], volumes: list[NodeSelector | None]) -> None:
    cluster = Cluster()
    for number, each in enumerate(nodes):
        cluster.put_node(Node(ObjectMeta(name=f"n{number}", labels=each)))
    every = Nodes.every(cluster)
    tried = [reachable(affinity, every).tolist() for affinity in volumes]
    wanted = [next((number for number, there in enumerate(tried) if there[row]), -1) for row in range(len(nodes))]
    assert first_reachable(volumes, every).tolist() == wanted
