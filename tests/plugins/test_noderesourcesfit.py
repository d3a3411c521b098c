"""NodeResourcesFit: room, and how much of it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.contract.verdicts import Kind
from bayplan.objects.pod import Container, ContainerStatus, PodStatus, ResourceRequirements
from bayplan.plugins.arguments import (
    RequestedToCapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from bayplan.plugins.noderesourcesfit import NodeResourcesFit
from bayplan.testing import PluginTests, Scene, node, pod, strategies

GPU = "example.com/gpu"
ROOM = ("requests", "devices", "whole", "init", "resizing", "ending")
SHAPE = RequestedToCapacityRatio(
    (UtilizationShapePoint(0, 10), UtilizationShapePoint(50, 2), UtilizationShapePoint(80, 6))
)
RATIO = ScoringStrategy("RequestedToCapacityRatio", requested_to_capacity_ratio=SHAPE)
MOST = ScoringStrategy("MostAllocated", (ResourceSpec("cpu", 3), ResourceSpec(GPU, 2), ResourceSpec("memory")))


class TestPromises(PluginTests):
    plugin = NodeResourcesFit()
    pods = others = strategies.pods(*ROOM)
    kinds = ("Node",)
    examples = 20


class TestPromisesOfMostAllocated(PluginTests):
    plugin = NodeResourcesFit(scoring_strategy=MOST)
    pods = others = strategies.pods(*ROOM)
    kinds = ("Node",)
    examples = 10


class TestPromisesOfARatio(PluginTests):
    plugin = NodeResourcesFit(ignored_resources=(GPU,), scoring_strategy=RATIO)
    pods = others = strategies.pods(*ROOM)
    kinds = ("Node",)
    examples = 10


def said(wanted: dict[str, Any], *there: Any, plugin: NodeResourcesFit | None = None, **has: Any) -> tuple[str, ...]:
    scene = Scene()
    room: dict[str, Any] = {"cpu": "2", "memory": "2Gi", "pods": 3}
    scene.add(node("n", **(room | has)), *there)
    return scene.verdicts(plugin or NodeResourcesFit(), pod("wants", **wanted))["n"].reasons


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        ({}, ()),
        ({"cpu": "2", "memory": "2Gi"}, ()),
        ({"cpu": "2001m"}, ("Insufficient cpu",)),
        ({"cpu": "3", "memory": "3Gi"}, ("Insufficient cpu", "Insufficient memory")),
        ({"requests": {GPU: 1}}, ("Insufficient example.com/gpu",)),
        ({"requests": {GPU: 0}}, ()),
        ({"requests": {"ephemeral-storage": "1Ki"}}, ("Insufficient ephemeral-storage",)),
        ({"requests": {"hugepages-2Mi": "2Mi"}}, ("Insufficient hugepages-2Mi",)),
        ({"requests": {"unknown": 5}}, ()),
        ({"cpu": "1500m", "overhead": {"cpu": "600m"}}, ("Insufficient cpu",)),
        ({"cpu": "5", "resources": ResourceRequirements({"cpu": "1"})}, ()),
        ({"cpu": "1", "resources": ResourceRequirements({"cpu": "5"})}, ("Insufficient cpu",)),
    ],
)
def test_what_is_missing_is_listed(wanted: dict[str, Any], missing: tuple[str, ...]) -> None:
    assert said(wanted) == missing


def test_init_containers_need_their_room_one_after_the_other() -> None:
    init = tuple(Container(name=str(n), resources=ResourceRequirements({"cpu": "1800m"})) for n in range(3))
    side = Container(name="s", restart_policy="Always", resources=ResourceRequirements({"cpu": "300m"}))

    assert said({"init_containers": init}) == ()
    assert said({"init_containers": (*init, side)}) == ()
    assert said({"init_containers": (side, *init)}) == ("Insufficient cpu",)


def test_pods_have_to_be_counted_too() -> None:
    there = [pod(f"p{number}", node="n") for number in range(3)]
    assert said({}, *there) == ("Too many pods",)
    assert said({"cpu": "3"}, *there) == ("Too many pods", "Insufficient cpu")


def test_of_what_it_does_not_want_a_node_may_be_overdrawn() -> None:
    greedy = pod("greedy", node="n", cpu="5", memory="1Gi")
    assert said({"memory": "1Gi"}, greedy) == ()
    assert said({"memory": "1Gi", "cpu": "0"}, greedy) == ()
    assert said({"memory": "1025Mi"}, greedy) == ("Insufficient memory",)


def test_more_than_the_node_has_is_hopeless_whoever_goes() -> None:
    scene = Scene()
    scene.add(node("n", cpu="2", pods=1), pod("there", node="n", cpu="1"))
    verdict = scene.verdicts(NodeResourcesFit(), pod(cpu="2"))["n"]
    assert verdict.reasons == ("Too many pods", "Insufficient cpu")
    assert verdict.kind is Kind.UNSCHEDULABLE
    assert scene.verdicts(NodeResourcesFit(), pod(cpu="3"))["n"].kind is Kind.UNRESOLVABLE


def test_resources_that_others_count_are_ignored() -> None:
    wanted = {"requests": {GPU: 1, "other.com/nic": 2}}
    assert said(wanted) == ("Insufficient example.com/gpu", "Insufficient other.com/nic")
    assert said(wanted, plugin=NodeResourcesFit(ignored_resources=(GPU,))) == ("Insufficient other.com/nic",)
    assert said(wanted, plugin=NodeResourcesFit(ignored_resource_groups=("example.com", "other.com"))) == ()


def test_pods_that_have_finished_take_nothing_and_those_that_end_still_do() -> None:
    assert said({"cpu": "2"}, pod("done", node="n", cpu="1", phase="Failed")) == ()
    assert said({"cpu": "2"}, pod("ending", node="n", cpu="1", deleted=True)) == ("Insufficient cpu",)


def score(plugin: NodeResourcesFit, wanted: dict[str, Any], *there: Any, **has: Any) -> float:
    scene = Scene()
    scene.add(node("n", **({"cpu": "4", "memory": "8Gi"} | has)), *there)
    return scene.scores(plugin, pod("wants", **wanted))["n"]


def test_the_emptier_the_better_by_default() -> None:
    plugin = NodeResourcesFit()
    assert score(plugin, {"cpu": "1", "memory": "2Gi"}) == 75
    assert score(plugin, {"cpu": "1", "memory": "2Gi"}, pod("p", node="n", cpu="1", memory="0")) == (50 + 75) // 2
    assert score(plugin, {"cpu": "4", "memory": "8Gi"}) == 0
    assert score(plugin, {"cpu": "40", "memory": "80Gi"}) == 0


def test_who_asks_for_nothing_counts_for_something() -> None:
    # 100 thousandths of 4 CPUs, and 200 of 8192 MiB
    assert score(NodeResourcesFit(), {}) == (97 + 97) // 2
    assert score(NodeResourcesFit(), {}, pod("p", node="n")) == (95 + 95) // 2


def test_the_fuller_the_better_with_weights() -> None:
    plugin = NodeResourcesFit(scoring_strategy=MOST)
    assert score(plugin, {"cpu": "1", "memory": "4Gi"}) == (3 * 25 + 50) // 4
    with_gpu = {"cpu": "1", "memory": "4Gi", "requests": {GPU: 1}}
    assert score(plugin, with_gpu, resources={GPU: 2}) == (3 * 25 + 2 * 50 + 50) // 6
    # A resource that the node does not have counts for nothing, and so does one that the pod does not ask for.
    assert score(plugin, with_gpu) == (3 * 25 + 50) // 4


@pytest.mark.parametrize(("cpu", "points"), [("1", 60), ("2", 20), ("2600m", 40), ("3200m", 60), ("4", 60)])
def test_along_a_shape(cpu: str, points: int) -> None:
    strategy = ScoringStrategy("RequestedToCapacityRatio", (ResourceSpec("cpu"),), SHAPE)
    assert score(NodeResourcesFit(scoring_strategy=strategy), {"cpu": cpu, "memory": "1Gi"}) == points


def test_a_pod_that_is_resized_takes_the_most_of_what_it_asked_for_has_and_gets() -> None:
    status = PodStatus(
        container_statuses=(ContainerStatus("main", {"cpu": "1500m"}, ResourceRequirements({"cpu": "1"})),)
    )
    there = pod("there", node="n", cpu="500m", status=status)
    assert said({"cpu": "500m"}, there) == ()
    assert said({"cpu": "501m"}, there) == ("Insufficient cpu",)
