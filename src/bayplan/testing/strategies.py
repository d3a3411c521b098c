"""Hypothesis strategies: nodes, pods with whatever placement reads of them, and what happens to a cluster.

Names, labels and amounts come from small pools, so that things meet: pods ask for labels that some nodes have, sizes
that some have room for, and pods that may be there. A cluster can live through `events` in any order, so a list of them
is a history, and a small cluster is a short one.

::

    @given(strategies.histories(), strategies.pods("ports", "tolerations"))
    def test_…(history, pod): ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from bayplan.contract.events import Event, Gone, Seen
from bayplan.testing import builders, storage
from bayplan.testing.builders import HOSTNAME, ZONE
from bayplan.testing.features import FEATURES, LABELS, NAMESPACES, PODS
from bayplan.testing.terms import taint

if TYPE_CHECKING:
    from collections.abc import Collection

    from hypothesis.strategies import SearchStrategy

    from bayplan.contract.events import ClusterObject
    from bayplan.objects.node import Namespace, Node
    from bayplan.objects.pod import Pod
    from bayplan.objects.workloads import PodDisruptionBudget, ReplicaSet, Service

NODES = tuple(f"n{number}" for number in range(5))
#: The most features that one pod has: enough for any two of them to meet.
_MOST_FEATURES = 4

_taints = st.lists(
    st.sampled_from(
        [
            taint(text)
            for text in ("gpu=yes:NoSchedule", "gpu:PreferNoSchedule", "old:NoExecute", "old:PreferNoSchedule")
        ]
    ),
    max_size=2,
    unique=True,
)
_node_labels = st.fixed_dictionaries(
    {},
    optional={
        ZONE: st.sampled_from("abc"),
        "disk": st.sampled_from(["ssd", "hdd"]),
        "size": st.sampled_from(["1", "7", "x"]),
        HOSTNAME: st.just("another"),
    },
)
_images = {"web:1": 300 << 20, "db:latest": 900 << 20, "big:1": 3000 << 20}


def pods(*features: str, name: SearchStrategy[str] | None = None) -> SearchStrategy[Pod]:
    """A pod without a node. It has some of these features (the keys of `FEATURES`); of all, if none are named."""
    return _pods(tuple(features or FEATURES), st.sampled_from(PODS) if name is None else name)


@st.composite
def _pods(draw: st.DrawFn, features: tuple[str, ...], name: SearchStrategy[str]) -> Pod:
    chosen = draw(st.lists(st.sampled_from(features), max_size=_MOST_FEATURES, unique=True))
    fields: dict[str, Any] = {}
    for feature in chosen:
        fields |= draw(FEATURES[feature])
    namespace, labels = draw(st.sampled_from(NAMESPACES)), draw(st.sampled_from(LABELS))
    return builders.pod(draw(name), namespace=namespace, labels=labels, **fields)


@st.composite
def nodes(draw: st.DrawFn, name: SearchStrategy[str] | None = None) -> Node:
    """A node, more often than not with zone, taints, images, devices."""
    cpu, memory, count = draw(st.sampled_from([("4", "8Gi", 110), ("1", "1Gi", 2), ("2500m", "3Gi", 4), ("0", "0", 0)]))
    resources = draw(st.sampled_from([{}, {}, {"example.com/gpu": "2"}, {"ephemeral-storage": "10Gi"}]))
    images = draw(st.sets(st.sampled_from(sorted(_images)), max_size=2))
    return builders.node(
        draw(st.sampled_from(NODES) if name is None else name),
        cpu=cpu,
        memory=memory,
        pods=count,
        resources=resources,
        labels=draw(_node_labels),
        annotations=draw(st.sampled_from([{}, {"example.com/celsius": "60"}, {"example.com/celsius": "hot"}])),
        taints=draw(_taints),
        unschedulable=draw(st.sampled_from([False, False, False, True])),
        images={image: _images[image] for image in images},
        features=draw(st.sampled_from([(), ("RestartAllContainersOnContainerExits",)])),
    )


def namespaces() -> SearchStrategy[Namespace]:
    """A namespace, of some team."""
    labels = st.sampled_from([{}, {"team": "a"}, {"team": "b"}])
    return st.builds(builders.namespace, st.sampled_from(NAMESPACES), labels=labels)


def services() -> SearchStrategy[Service]:
    """A Service."""
    selectors = st.sampled_from([None, {}, {"app": "web"}, {"app": "db"}])
    return st.builds(builders.service, st.sampled_from(["s0", "s1"]), selectors, namespace=st.sampled_from(NAMESPACES))


def replica_sets() -> SearchStrategy[ReplicaSet]:
    """A ReplicaSet; some pods belong to it."""
    selectors = st.sampled_from([{}, {"app": "web"}, {"app": "db"}])
    return st.builds(
        builders.replica_set, st.sampled_from(["r0", "r1"]), selectors, namespace=st.sampled_from(NAMESPACES)
    )


def budgets() -> SearchStrategy[PodDisruptionBudget]:
    """A PodDisruptionBudget."""
    return st.builds(
        builders.budget,
        st.sampled_from(["b0", "b1"]),
        st.sampled_from([None, {}, {"app": "web"}]),
        allowed=st.integers(0, 2),
        disrupted=st.sampled_from([(), ("p1",)]),
        namespace=st.sampled_from(NAMESPACES),
    )


def placed(pods: SearchStrategy[Pod]) -> SearchStrategy[Pod]:
    """These pods, each on some node."""
    return st.builds(builders.on, pods, st.sampled_from(NODES))


#: What events can be about: strategies by kind, without pods.
KINDS: dict[str, SearchStrategy[Any]] = {
    "Node": nodes(),
    "Namespace": namespaces(),
    "Service": services(),
    "ReplicaSet": replica_sets(),
    "PodDisruptionBudget": budgets(),
    **storage.KINDS,
}


def objects(pods: SearchStrategy[Pod], kinds: Collection[str] = tuple(KINDS)) -> SearchStrategy[ClusterObject]:
    """Anything of these kinds, and these pods, with a node or without; nodes and pods more often than the rest."""
    weighted = [*(["Pod"] * 4), *(["Node"] * 3 if "Node" in kinds else ()), *kinds]

    def of(kind: str) -> SearchStrategy[Any]:
        return placed(pods) if kind == "Pod" else KINDS[kind]

    return st.sampled_from(weighted).flatmap(of)


def events(pods: SearchStrategy[Pod] | None = None, kinds: Collection[str] = tuple(KINDS)) -> SearchStrategy[Event]:
    """Something that happens: three times out of four an object comes or changes, else one goes, there or not."""
    about = objects(_pods(tuple(FEATURES), st.sampled_from(PODS)) if pods is None else pods, kinds)
    return st.builds(lambda form, one: form(one), st.sampled_from([Seen, Seen, Seen, Gone]), about)


def histories(
    pods: SearchStrategy[Pod] | None = None, kinds: Collection[str] = tuple(KINDS), *, most: int = 12
) -> SearchStrategy[list[Event]]:
    """How a cluster came to be: some nodes first, then anything."""
    first = st.lists(nodes().map(Seen), max_size=3)
    return st.tuples(first, st.lists(events(pods, kinds), max_size=most)).map(lambda parts: [*parts[0], *parts[1]])
