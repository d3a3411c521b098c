"""A plugin that is switched off at one of its points, and on at the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayplan import PluginFailure
from bayplan.testing import Scene, among, node, pod, where, wish

_NAMED = where("metadata.name", "In", "b")


def _scene(**disabled: str) -> Scene:
    plugins = {point: {"disabled": [{"name": name}]} for point, name in disabled.items()}
    document: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
        "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
    }
    scene = Scene(configuration=json.dumps(document))
    scene.add(node("a", labels={"disk": "ssd"}), node("b"), node("c", unschedulable=True))
    return scene


def _scored(scene: Scene, **of_pod: Any) -> dict[str, int]:
    page = scene.decide(pod("web", **of_pod)).story.read()
    assert page is not None
    return {points.plugin: points.weighted for points in page.ranked[0].points or ()}


def test_without_its_filter_a_plugin_still_narrows_the_nodes_down_to_those_that_a_pod_names() -> None:
    scene = _scene(filter="NodeAffinity")

    assert scene.decide(pod("web", nodes=[_NAMED])).node == "b"
    nobody = scene.decide(pod("web", nodes=[where("metadata.name", "In", "nowhere")]))
    assert nobody.message.startswith("0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].")


def test_without_its_filter_a_plugin_still_refuses_the_pod_as_such() -> None:
    decision = _scene(filter="VolumeBinding").decide(pod("web", claims=["nowhere"]))

    assert decision.message.startswith('0/3 nodes are available: persistentvolumeclaim "nowhere" not found.')


def test_without_its_filter_a_plugin_rejects_no_node() -> None:
    decision = _scene(filter="NodeAffinity").decide(pod("web", nodes=[where("disk", "In", "tape")]))

    assert decision.feasible == 2


def test_a_plugin_that_is_not_asked_to_prepare_judges_each_node() -> None:
    scene = _scene(preFilter="NodeAffinity")

    assert scene.decide(pod("web", nodes=[_NAMED])).node == "b"
    nobody = scene.decide(pod("web", nodes=[where("metadata.name", "In", "nowhere")]))
    assert nobody.message.startswith(
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector."
    )


def test_a_plugin_that_is_not_asked_to_prepare_scores_nothing_where_it_would_have_kept_silent() -> None:
    assert "NodeAffinity" not in _scored(_scene())
    assert _scored(_scene(preScore="NodeAffinity"))["NodeAffinity"] == 0
    assert _scored(_scene(preScore="NodeResourcesBalancedAllocation"))["NodeResourcesBalancedAllocation"] == 0
    wished = wish(5, where("disk", "In", "ssd"))
    assert _scored(_scene(preScore="NodeAffinity"), nodes=[wished])["NodeAffinity"] == 200


def test_wishes_that_cannot_be_meant_matter_only_where_nodes_are_compared() -> None:
    wished = wish(5, where("disk", "Gt", "much"))
    scene = _scene()

    with pytest.raises(PluginFailure, match="NodeAffinity"):
        scene.decide(pod("web", nodes=[wished]))
    assert scene.decide(pod("web", nodes=[wished, _NAMED])).node == "b"
    assert scene.decide(pod("web", nodes=[wished], near=[among({"app": "db"}, by="disk")])).node is None
