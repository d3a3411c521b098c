"""What a plugin may implement. Everything is optional; there is no base class.

A plugin is a frozen dataclass whose fields are its arguments in YAML, and its name is that of its class. It says what
it has to say of a pod and a node in one of three forms, whichever is easiest, and any mixture of them:

====================  =======================================================  =========================================
scalar                vectorised                                               prepared
====================  =======================================================  =========================================
`filter(pod, node)`   `filter_nodes(pod, nodes)`                               `pre_filter(pod, cluster) -> Filtering`
`score(pod, node)`    `score_nodes(pod, nodes)`                                `pre_score(pod, cluster) -> Scoring`
====================  =======================================================  =========================================

**All three must be pure**: of the same pod and the same node they say the same. What they may look at is said by
`reads`. That is what makes them fast: what was said is kept, and asked again only of nodes that have changed.

**The pod stands for its class**: for all pods that placement cannot tell apart. A plugin may read its namespace,
labels, controller and spec, and its annotations if it says `reads_annotations = True`; not its name, uid or status.

The rest of the points are named as kube-scheduler names them. They are called for one pod at a time:

``reserve(pod, node, cluster)``
    A node has been chosen. May change what the plugin counts; a rejecting verdict undoes the choice.
``unreserve(pod, node, cluster)``
    The choice is undone, or was never carried out. Must succeed, and must bear being called without `reserve`.
``permit(pod, node)``
    Yes, no, or `Wait`. The last word before binding.
``pre_bind(pod, node, cluster)``
    What must be written before the pod is bound, as effects.
``post_bind(pod, node)``
    The pod is bound; nothing can be changed any more.
``post_filter(pod, rejection)``
    No node is feasible: what could be done about it.
``queue_sort(pod)``
    A key: pods with smaller ones are tried first.
``wakes(pod)``
    Which events could make a rejected pod worth another try.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.columns.arrays import Bools, Floats, Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Node, Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.effects import Effect
    from bayplan.contract.scores import Normalizer
    from bayplan.contract.verdicts import Verdict, Verdicts
    from bayplan.objects.pod import Pod


class Reads(Flag):
    """What a plugin looks at to say something of a node."""

    #: The node as the API server has it.
    NODE = auto()
    #: What is taken on it, and the pods on it.
    LOAD = auto()
    #: Anything else: other nodes and their pods, volumes, namespaces. Asked anew whenever `catch_up` says so.
    CLUSTER = auto()
    #: For scores: which nodes are feasible. Asked anew for every pod.
    FEASIBLE = auto()


ROW = Reads.NODE | Reads.LOAD


class ScalarFilter(Protocol):
    """A filter in its simplest form."""

    def filter(self, pod: Pod, node: Node) -> Verdict:
        """Whether the node will do."""


class ScalarScore(Protocol):
    """A score in its simplest form."""

    def score(self, pod: Pod, node: Node) -> float:
        """How well it would do; larger is better, by any measure."""


class VectorFilter(Protocol):
    """A filter of many nodes at once."""

    def filter_nodes(self, pod: Pod, nodes: Nodes) -> Verdicts:
        """Whether each of the nodes will do."""


class VectorScore(Protocol):
    """A score of many nodes at once."""

    def score_nodes(self, pod: Pod, nodes: Nodes) -> Ints | Floats:
        """How well each of them would do."""


class Filtering(Protocol):
    """A filter, prepared for the pods of one class.

    Must be hashable. Equal ones share what they said: make it a frozen dataclass of just what it reads of the pod.
    `nodes` may have rows without a node; what is said of those does not matter.
    """

    @property
    def reads(self) -> Reads:
        """What it looks at."""

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """Whether each of the nodes will do."""


class Scoring(Protocol):
    """A score, prepared for the pods of one class. As for `Filtering`, equal ones share."""

    @property
    def reads(self) -> Reads:
        """What it looks at."""

    @property
    def normalizer(self) -> Normalizer:
        """How its scores become points."""

    def score_nodes(self, nodes: Nodes) -> Ints:
        """How well each of the nodes would do."""


@runtime_checkable
class Following(Protocol):
    """A `Filtering` or `Scoring` that reads the cluster, and keeps up with it by itself."""

    def catch_up(self) -> Rows | None:
        """Take in what has happened since. Returns the rows it may now judge differently; None for none."""


@runtime_checkable
class FilteringOne(Protocol):
    """A `Filtering` with a shortcut for a single row, which is what changes when a pod is placed.

    It must say exactly what `filter_nodes` says; tests compare the two.
    """

    def filter_one(self, nodes: Nodes, row: int) -> int:
        """The number of the verdict on this row, the only one of the nodes."""


@runtime_checkable
class ScoringOne(Protocol):
    """The same for a `Scoring`."""

    def score_one(self, nodes: Nodes, row: int) -> int:
        """The score of this row, the only one of the nodes."""


@runtime_checkable
class Rooming(Protocol):
    """A `Filtering` that judges a node by how much room there is on it, and by nothing else."""

    def needs(self) -> tuple[tuple[int, int], ...]:
        """How much must be free, by the number of the resource."""

    def verdict_for(self, has: Mapping[int, int], taken: Mapping[int, int]) -> Verdict:
        """The verdict on a node that has this, and of which this is taken."""


@runtime_checkable
class Inert(Protocol):
    """A `Filtering` that may read pods, and can tell when no coming or going of pods can change what it says."""

    def is_inert(self) -> bool:
        """Whether that is so now. Asked after `catch_up`."""


@runtime_checkable
class Refusing(Protocol):
    """A `Filtering` that can refuse the pod as such, whatever the node, as kube-scheduler's PreFilter does."""

    def refusal(self) -> Verdict | None:
        """Why no node will do, or None. Asked after `catch_up`."""


@runtime_checkable
class Narrowing(Protocol):
    """A `Filtering` that knows beforehand which nodes alone can do."""

    def only(self) -> frozenset[str] | None:
        """The names of these nodes, which need not be there; None for all."""


@runtime_checkable
class Skipping(Protocol):
    """A `Scoring` that has nothing to say at times; then it is left out, as kube-scheduler's PreScore skips."""

    def has_say(self) -> bool:
        """Whether to ask it. Asked after `catch_up`."""


class FeasibleScoring(Protocol):
    """A `Scoring` that reads which nodes are feasible: it scores all rows at once, for every pod anew."""

    def score_among(self, feasible: Bools) -> Ints:
        """The score of each row; of those that are not feasible it does not matter."""


class PreFilter(Protocol):
    """A plugin that prepares its filter. The most work and the most speed; ours do it."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> Filtering | Verdict | None:
        """The filter for these pods; None if it has nothing to say of them; a rejecting verdict refuses them."""


class PreScore(Protocol):
    """A plugin that prepares its score."""

    def pre_score(self, pod: PodClass, cluster: Cluster) -> Scoring | None:
        """The score for these pods, or None."""


class Reserve(Protocol):
    """A plugin that counts something of its own."""

    def reserve(self, pod: Pod, node: str, cluster: Cluster) -> Verdict:
        """A node has been chosen."""

    def unreserve(self, pod: Pod, node: str, cluster: Cluster) -> None:
        """The choice is undone."""


class PreBind(Protocol):
    """A plugin that writes something before the pod is bound."""

    def pre_bind(self, pod: Pod, node: str, cluster: Cluster) -> Iterable[Effect]:
        """What is to be written."""
