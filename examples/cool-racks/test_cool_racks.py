"""The rule on a cluster of three nodes, and the promises of every plugin on any."""

from __future__ import annotations

from pathlib import Path

import pytest
from cool_racks import CoolRacks, CoolRacksAtOnce

from bayplan.testing import PluginTests, Scene, node, pod


def racks() -> Scene:
    """Three nodes, warm, cool and hot."""
    scene = Scene(configuration=(Path(__file__).parent / "scheduler.yaml").read_text())
    for name, celsius in (("warm", "50"), ("cool", "21.5"), ("hot", "66")):
        scene.add(node(name, annotations={"example.com/celsius": celsius}))
    return scene


@pytest.mark.parametrize("plugin", [CoolRacks(limit=65), CoolRacksAtOnce(limit=65)])
def test_hot_racks_are_left_alone_and_cool_ones_come_first(plugin: object) -> None:
    """What each form says of the three."""
    scene = racks()
    assert scene.rejected(plugin, pod()) == {"hot": "rack is too hot"}
    assert scene.points(plugin, pod()) == {"warm": 35, "cool": 100, "hot": 0}


def test_a_pod_that_asks_for_this_scheduler_goes_to_the_coolest() -> None:
    """Beside kube-scheduler's own plugins, as the configuration has it."""
    web = pod("web", scheduler_name="cool")
    assert racks().place(web) == "cool"


class TestCoolRacks(PluginTests):
    """What the simplest form promises."""

    plugin = CoolRacks()


class TestCoolRacksAtOnce(PluginTests):
    """What the other one promises."""

    plugin = CoolRacksAtOnce()
