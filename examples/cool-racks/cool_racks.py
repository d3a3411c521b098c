"""Keep pods off hot racks; among the rest, prefer the coolest. Once node by node, once for all nodes at once."""

from __future__ import annotations

from dataclasses import dataclass

from bayplan import Floats, Node, Nodes, Pod, Verdict, Verdicts, annotation, reject_if, reject_where

CELSIUS = annotation("example.com/celsius", float, missing=20.0)


@dataclass(frozen=True)
class CoolRacks:
    """In its simplest form."""

    limit: float = 70.0

    def filter(self, pod: Pod, node: Node) -> Verdict:
        """No where it is too hot, for good: that a pod leaves cools nothing."""
        return reject_if(node[CELSIUS] > self.limit, "rack is too hot", resolvable=False)

    def score(self, pod: Pod, node: Node) -> float:
        """The cooler the better."""
        return -float(node[CELSIUS])


@dataclass(frozen=True)
class CoolRacksAtOnce:
    """The same, for all nodes at once: a hundred times as fast where there are thousands."""

    limit: float = 70.0

    def filter_nodes(self, pod: Pod, nodes: Nodes) -> Verdicts:
        """No where it is too hot."""
        return reject_where(nodes[CELSIUS] > self.limit, "rack is too hot", resolvable=False)

    def score_nodes(self, pod: Pod, nodes: Nodes) -> Floats:
        """The cooler the better."""
        return -nodes[CELSIUS]
