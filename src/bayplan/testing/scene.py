"""A small cluster to try things in: what is there, what a plugin says of it, and what the engine decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.cache.cache import Cache
from bayplan.columns.nodes import Node
from bayplan.contract.events import Gone, Seen
from bayplan.engine.engine import Engine
from bayplan.profiles.configuration import default_configuration, read_configuration
from bayplan.profiles.policy import policies_of
from bayplan.testing.asking import Asking

if TYPE_CHECKING:
    from bayplan.columns.cluster import Cluster
    from bayplan.contract.events import ClusterObject
    from bayplan.contract.verdicts import Verdict
    from bayplan.engine.engine import Decision
    from bayplan.engine.policy import Policy
    from bayplan.objects.pod import Pod


class Scene:
    """A cluster with an engine on it: by default that of the default profile, with these plugins added to it.

    ::

        scene = Scene(CoolRacks(limit=65))
        scene.add(node("n1"), node("n2"), pod("db", node="n2"))
        assert scene.place(pod("web")) == "n1"
    """

    def __init__(self, *plugins: object, configuration: str = "") -> None:
        read = read_configuration(configuration) if configuration else default_configuration(plugins=plugins)
        policies: tuple[Policy, ...] = policies_of(read)
        # Whatever a plugin says that it reads: one that is merely asked may read annotations of pods as well.
        self.cache = Cache(annotations_matter=True)
        self.engine = Engine(self.cache.cluster, policies)

    @property
    def cluster(self) -> Cluster:
        """What plugins are given."""
        return self.cache.cluster

    def add(self, *objects: ClusterObject) -> None:
        """These are there now, or have changed. A pod takes room if it is on a node."""
        for one in objects:
            self.cache.apply(Seen(one))

    def remove(self, *objects: ClusterObject) -> None:
        """These are not there any more."""
        for one in objects:
            self.cache.apply(Gone(one))

    def decide(self, pod: Pod) -> Decision:
        """What the engine says of a pod. Nothing changes by it."""
        return self.engine.decide(pod)

    def place(self, pod: Pod) -> str | None:
        """Decide, and take the decision for granted: the pod takes room from now on. Returns its node."""
        node = self.decide(pod).node
        if node is not None:
            self.cache.assume(pod, node)
        return node

    def node(self, name: str) -> Node:
        """A node as scalar plugins see it."""
        return Node(self.cluster, self.cluster.nodes.row_of[name])

    def verdicts(self, plugin: Any, pod: Pod) -> dict[str, Verdict]:
        """What a plugin's filter says of each node."""
        asking = Asking(plugin, pod, self.cluster)
        return asking.verdicts(asking.together())

    def rejected(self, plugin: Any, pod: Pod) -> dict[str, str]:
        """The nodes that a plugin's filter rejects, with its reasons."""
        said = self.verdicts(plugin, pod)
        return {name: ", ".join(verdict.reasons) for name, verdict in said.items() if not verdict}

    def scores(self, plugin: Any, pod: Pod) -> dict[str, float]:
        """What a plugin's score says of each node."""
        asking = Asking(plugin, pod, self.cluster)
        raw = asking.raw_among(self.cluster.nodes.live)
        if raw is None:
            return {}
        return {name: raw[row].item() for name, row in self.cluster.nodes.row_of.items()}

    def points(self, plugin: Any, pod: Pod) -> dict[str, int]:
        """What these scores come to, from 0 to 100, if all nodes are feasible; no node has any where it has no say."""
        return Asking(plugin, pod, self.cluster).points_among(self.cluster.nodes.live)

    def check(self) -> None:
        """Assert that all that is counted is as it must be."""
        self.cache.check()
