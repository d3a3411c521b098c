"""DynamicResources: until devices are placed, pods that claim some are left alone."""

from __future__ import annotations

from bayplan.objects.pod import PodResourceClaim
from bayplan.plugins.dynamicresources import DynamicResources
from bayplan.testing import PluginTests, Scene, node, pod, strategies


class TestPromises(PluginTests):
    plugin = DynamicResources()
    pods = strategies.pods("device_claims")
    examples = 5


def test_a_pod_with_claims_to_devices_goes_nowhere_and_is_told_why() -> None:
    scene = Scene()
    scene.add(node("a"))
    said = scene.decide(pod(resource_claims=(PodResourceClaim("gpu", "claim"),)))

    assert said.node is None
    assert "does not place claims to devices yet: it is left alone" in said.message


def test_of_all_others_no_node_is_better_than_another() -> None:
    scene = Scene()
    scene.add(node("a"), node("b"))

    assert scene.points(DynamicResources(), pod()) == {"a": 0, "b": 0}
