"""NodeResourcesBalancedAllocation: what a pod does to the balance of a node."""

from __future__ import annotations

from typing import Any

from bayplan.plugins.arguments import ResourceSpec
from bayplan.plugins.balancedallocation import NodeResourcesBalancedAllocation
from bayplan.testing import PluginTests, Scene, node, pod, strategies

GPU = "example.com/gpu"
THREE = NodeResourcesBalancedAllocation((ResourceSpec("cpu"), ResourceSpec("memory"), ResourceSpec(GPU)))


class TestPromises(PluginTests):
    plugin = NodeResourcesBalancedAllocation()
    pods = others = strategies.pods("requests", "devices", "whole", "init", "resizing")
    kinds = ("Node",)
    examples = 20


class TestPromisesOfThree(PluginTests):
    plugin = THREE
    pods = others = strategies.pods("requests", "devices", "whole", "init", "resizing")
    kinds = ("Node",)
    examples = 20


def score(wanted: dict[str, Any], *there: Any, plugin: Any = None, **has: Any) -> dict[str, int]:
    scene = Scene()
    scene.add(node("n", **({"cpu": "4", "memory": "8Gi"} | has)), *there)
    return scene.points(plugin or NodeResourcesBalancedAllocation(), pod("wants", **wanted))


def test_what_leaves_the_balance_as_it_is_gets_75() -> None:
    assert score({"cpu": "1", "memory": "2Gi"}) == {"n": 75}


def test_what_tips_it_gets_less_and_what_restores_it_more() -> None:
    # A quarter of the CPU alone deviates by an eighth from the mean: 87 of 100.
    assert score({"cpu": "1"}) == {"n": 50 + (50 + 87 - 100) // 2}
    tipped = pod("p", node="n", cpu="1")
    assert score({"memory": "2Gi"}, tipped) == {"n": 50 + (50 + 100 - 87) // 2}


def test_pods_that_ask_for_nothing_are_no_matter_to_it() -> None:
    assert score({}) == {}
    assert score({"requests": {"ephemeral-storage": "1Gi"}}) == {}


def test_beyond_its_capacity_a_node_is_full() -> None:
    assert score({"cpu": "40", "memory": "80Gi"}) == {"n": 75}


def test_a_resource_that_the_node_does_not_have_does_not_count() -> None:
    wanted = {"cpu": "1", "memory": "2Gi", "requests": {GPU: 1}}
    assert score(wanted, plugin=THREE) == {"n": 75}
    # Fractions of a quarter, a quarter and a half: a deviation of 0.1178…
    assert score(wanted, plugin=THREE, resources={GPU: 2}) == {"n": 50 + (50 + 88 - 100) // 2}


def test_a_node_that_has_nothing_is_in_balance() -> None:
    assert score({"cpu": "1", "memory": "1Gi"}, cpu="0", memory="0") == {"n": 75}
