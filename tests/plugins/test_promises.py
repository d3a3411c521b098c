"""What every plugin promises, for those whose rules are tested by hand in other files."""

from __future__ import annotations

import pytest

from bayplan.engine.lifting import filters, scores
from bayplan.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from bayplan.plugins.nodename import NodeName
from bayplan.plugins.nodeunschedulable import NodeUnschedulable
from bayplan.plugins.nodevolumelimits import NodeVolumeLimits
from bayplan.plugins.registry import BUILT_IN, load_plugin
from bayplan.plugins.volumebinding import VolumeBinding
from bayplan.plugins.volumerestrictions import VolumeRestrictions
from bayplan.plugins.volumezone import VolumeZone
from bayplan.testing import PluginTests, strategies

STORAGE = ("claims", "disk")

#: Each has its promises in the file of its name.
ELSEWHERE = {
    "DynamicResources",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "PodTopologySpread",
    "TaintToleration",
}


class TestNodeName(PluginTests):
    plugin = NodeName()
    pods = strategies.placed(strategies.pods("requests"))
    others = strategies.pods("requests")
    examples = 10


class TestNodeUnschedulable(PluginTests):
    plugin = NodeUnschedulable()
    pods = strategies.pods("tolerations")
    kinds = ("Node",)
    examples = 10


class TestNodeDeclaredFeatures(PluginTests):
    plugin = NodeDeclaredFeatures()
    pods = strategies.pods("fussy")
    kinds = ("Node",)
    examples = 10


class TestNodeVolumeLimits(PluginTests):
    plugin = NodeVolumeLimits()
    pods = others = strategies.pods(*STORAGE)
    examples = 20


class TestVolumeBinding(PluginTests):
    plugin = VolumeBinding()
    pods = others = strategies.pods(*STORAGE)
    examples = 25


class TestVolumeRestrictions(PluginTests):
    plugin = VolumeRestrictions()
    pods = others = strategies.pods(*STORAGE)
    examples = 20


class TestVolumeZone(PluginTests):
    plugin = VolumeZone()
    pods = others = strategies.pods(*STORAGE)
    examples = 20


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_no_plugin_is_left_out(name: str) -> None:
    plugin = load_plugin(name)
    here = {item.plugin.__class__.__name__ for item in globals().values() if hasattr(item, "plugin")}
    assert name in here | ELSEWHERE or not (filters(plugin) or scores(plugin))
