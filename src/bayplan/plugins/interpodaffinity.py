"""InterPodAffinity: pods that want to be near others, or far from them, or that others want near or far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.columns.affinity import Term, Terms
from bayplan.columns.arrays import joined
from bayplan.contract.plugins import Reads
from bayplan.contract.scores import BetweenExtremes
from bayplan.contract.verdicts import Verdict, Verdicts, reject, reject_first
from bayplan.errors import ValidationError
from bayplan.plugins.arguments import Int32, range_problem
from bayplan.plugins.counting import Tallies, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bayplan.columns.arrays import Bools, Ints, Rows
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.columns.pods import Group
    from bayplan.plugins.arguments import Problem
    from bayplan.plugins.counting import Weights

_NOT_NEAR = reject("node(s) didn't match pod affinity rules", resolvable=False)
_NOT_FAR = reject("node(s) didn't match pod anti-affinity rules")
_NOT_WANTED = reject("node(s) didn't satisfy existing pods anti-affinity rules")

_MOST_WEIGHT = 100


@dataclass(frozen=True, slots=True)
class InterPodAffinity:
    """Keep pods near and far as they and those on the nodes demand; among the rest, as they wish."""

    #: What it counts for that a pod on a node demands a pod like this one near.
    hard_pod_affinity_weight: Int32 = 1
    #: Leave out what pods on nodes wish, for pods that wish nothing themselves.
    ignore_preferred_terms_of_existing_pods: bool = False

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> AffinityCounting | Verdict:
        """Even for pods that demand nothing: others may demand them far."""
        if isinstance(pod.terms, ValidationError):
            return reject(f"parsing pod: {pod.terms.problem}", resolvable=False)
        return AffinityCounting(pod, cluster)

    def pre_score(self, pod: PodClass, cluster: Cluster) -> WishCounting | None:
        """Even for pods that wish nothing: others may wish them near or far."""
        if isinstance(pod.terms, ValidationError):
            return None
        wishes = pod.terms is not None and bool(pod.terms.preferred)
        if self.ignore_preferred_terms_of_existing_pods and not wishes:
            return None
        return WishCounting(pod, cluster, self.hard_pod_affinity_weight)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of these arguments."""
        yield from range_problem("hardPodAffinityWeight", self.hard_pod_affinity_weight, 0, _MOST_WEIGHT)


class _Matching:
    """Which pods the terms of a class mean, and which terms mean the class."""

    def __init__(self, pod: PodClass, cluster: Cluster) -> None:
        self._pod = pod
        self._cluster = cluster

    @property
    def own(self) -> Terms:
        """The terms of the class."""
        terms = self._pod.terms
        return terms if isinstance(terms, Terms) else _NO_TERMS

    def means(self, term: Term, group: Group) -> bool:
        """Whether a term of the class means the pods of a group."""
        return term.means_of_known(group.namespace, group.labels, self._cluster.namespace_labels(group.namespace))

    def is_meant(self, term: Term) -> bool:
        """Whether a term of a pod on a node means this class."""
        return term.means(self._pod.namespace, self._pod.labels, self._namespace_labels())

    def means_itself(self) -> bool:
        """Whether the first pod of a kind may come though there is none to be near to: it demands its own kind."""
        own = self.own.required
        namespace = self._namespace_labels()
        return bool(own) and all(term.means_of_known(self._pod.namespace, self._pod.labels, namespace) for term in own)

    def _namespace_labels(self) -> Mapping[str, str] | None:
        return self._cluster.namespace_labels(self._pod.namespace)


class AffinityCounting:
    """What the pods of one class, and the pods on nodes, demand of each other."""

    reads = Reads.CLUSTER

    def __init__(self, pod: PodClass, cluster: Cluster) -> None:
        self._matching = _Matching(pod, cluster)
        self._cluster = cluster
        own = self._matching.own
        near_keys = tuple(dict.fromkeys(term.topology_key for term in own.required))
        far_keys = tuple(dict.fromkeys(term.topology_key for term in own.forbidden))
        self._near = Tallies(cluster, group=self._weigh_near, keys=near_keys) if near_keys else None
        self._far = Tallies(cluster, group=self._weigh_far, keys=far_keys) if far_keys else None
        self._theirs = Tallies(cluster, terms=self._weigh_theirs)
        self._alone: bool | None = None

    def catch_up(self) -> Rows | None:
        """All rows when the first pod to be near to comes or the last goes; else those of domains that changed."""
        rows: Rows | None = None
        for tallies in (self._near, self._far, self._theirs):
            if tallies is not None:
                rows = joined(rows, tallies.rows_in(tallies.catch_up()))
        alone = self._is_alone()
        if alone != self._alone:
            self._alone = alone
            return slice(0, self._cluster.nodes.size)
        return rows

    def is_inert(self) -> bool:
        """Whether it demands nothing, and nobody on any node demands anything of it."""
        theirs = any(tally.matches.any() for tally in self._theirs.by_key.values())
        return self._near is None and self._far is None and not theirs

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """What it demands near comes first, then what it demands far, then what others demand."""
        cases: list[tuple[Bools, Verdict]] = []
        if self._near is not None:
            cases.append((~self._is_near(nodes, self._near), _NOT_NEAR))
        if self._far is not None:
            cases.append((_any_above_zero(nodes, self._far), _NOT_FAR))
        cases.append((_any_above_zero(nodes, self._theirs), _NOT_WANTED))
        return reject_first(*cases)

    def _is_alone(self) -> bool:
        """Whether there is no pod to be near to, and it would do to be near to itself."""
        if self._near is None:
            return False
        nobody = all(tally.labelled == 0 for tally in self._near.by_key.values())
        return nobody and self._matching.means_itself()

    def _is_near(self, nodes: Nodes, tallies: Tallies) -> Bools:
        labelled: Bools = np.ones(len(nodes), dtype=np.bool_)
        near: Bools = np.ones(len(nodes), dtype=np.bool_)
        for key, tally in tallies.by_key.items():
            ids = nodes.label_ids(key)
            labelled &= ids >= 0
            if len(tally.by_domain):
                near &= tally.by_domain[ids] > 0
            else:
                near[:] = False
        return labelled if self._alone else labelled & near

    def _weigh_near(self, group: Group) -> Weights:
        """A pod counts only if all terms mean it."""
        required = self._matching.own.required
        if not all(self._matching.means(term, group) for term in required):
            return ()
        return grouped((term.topology_key, 1) for term in required)

    def _weigh_far(self, group: Group) -> Weights:
        return grouped(
            (term.topology_key, 1) for term in self._matching.own.forbidden if self._matching.means(term, group)
        )

    def _weigh_theirs(self, terms: Terms) -> Weights:
        return grouped((term.topology_key, 1) for term in terms.forbidden if self._matching.is_meant(term))


class WishCounting:
    """What the pods of one class, and the pods on nodes, wish of each other."""

    reads = Reads.CLUSTER
    normalizer = BetweenExtremes()

    def __init__(self, pod: PodClass, cluster: Cluster, hard_weight: int) -> None:
        self._matching = _Matching(pod, cluster)
        self._cluster = cluster
        self._hard_weight = hard_weight
        wishes = bool(self._matching.own.preferred)
        self._tallies = Tallies(cluster, group=self._weigh_ours if wishes else None, terms=self._weigh_theirs)

    def catch_up(self) -> Rows | None:
        """The rows of domains that changed."""
        return self._tallies.rows_in(self._tallies.catch_up())

    def has_say(self) -> bool:
        """Whether any wish met any pod."""
        return any(tally.labelled for tally in self._tallies.by_key.values())

    def score_nodes(self, nodes: Nodes) -> Ints:
        """The weights of all wishes that would come true, less those of the opposite."""
        total = nodes.zeros()
        for key, tally in self._tallies.by_key.items():
            if len(tally.by_domain):
                ids = nodes.label_ids(key)
                total += np.where(ids >= 0, tally.by_domain[ids], 0)
        return total

    def _weigh_ours(self, group: Group) -> Weights:
        return grouped(
            (term.topology_key, term.weight)
            for term in self._matching.own.preferred
            if self._matching.means(term, group)
        )

    def _weigh_theirs(self, terms: Terms) -> Weights:
        hard = terms.required if self._hard_weight > 0 else ()
        return grouped(
            [
                *((term.topology_key, self._hard_weight) for term in hard if self._matching.is_meant(term)),
                *((term.topology_key, term.weight) for term in terms.preferred if self._matching.is_meant(term)),
            ]
        )


def _any_above_zero(nodes: Nodes, tallies: Tallies) -> Bools:
    found: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for key, tally in tallies.by_key.items():
        if len(tally.by_domain) and tally.labelled:
            ids = nodes.label_ids(key)
            found |= (ids >= 0) & (tally.by_domain[ids] > 0)
    return found


_NO_TERMS = Terms()
