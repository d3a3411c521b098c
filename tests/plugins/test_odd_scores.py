"""Scores where configurations and labels are odder than anybody would make them on purpose."""

from __future__ import annotations

from bayplan.plugins.arguments import ResourceSpec, ScoringStrategy
from bayplan.plugins.balancedallocation import NodeResourcesBalancedAllocation
from bayplan.plugins.noderesourcesfit import NodeResourcesFit
from bayplan.plugins.podtopologyspread import PodTopologySpread
from bayplan.testing import HOSTNAME, ZONE, Scene, node, pod, service


def test_how_many_pods_a_node_takes_is_no_resource_to_score_by() -> None:
    scene = Scene()
    scene.add(node("a", cpu="4", memory="8Gi"), node("b", cpu="2", memory="8Gi"))
    web = pod("web", cpu="1", memory="1Gi")
    named = (ResourceSpec("pods", 100), ResourceSpec("cpu"))
    balanced = (ResourceSpec("pods"), ResourceSpec("cpu"))

    assert scene.scores(NodeResourcesFit(scoring_strategy=ScoringStrategy("LeastAllocated", named)), web) == {
        "a": 75,
        "b": 50,
    }
    assert scene.scores(NodeResourcesBalancedAllocation(balanced), web) == {"a": 75, "b": 75}
    of_pods_alone = ScoringStrategy("MostAllocated", (ResourceSpec("pods"),))
    assert scene.scores(NodeResourcesFit(scoring_strategy=of_pods_alone), web) == {"a": 0, "b": 0}


def test_by_the_defaults_a_node_without_a_zone_is_in_the_zone_without_a_name() -> None:
    scene = Scene()
    scene.add(service("web", {"app": "web"}))
    for name, labels in {"a": {ZONE: "z"}, "b": {ZONE: ""}, "c": {}}.items():
        scene.add(node(name, labels={HOSTNAME: name, **labels}))
    scene.add(*(pod(f"on-c-{index}", labels={"app": "web"}, node="c") for index in range(3)))

    # By host: 0, 0 and 3 times log(3 + 2), and 2 for what is allowed; by zone: 0 and 3 times log(2 + 2), and 4.
    assert scene.scores(PodTopologySpread(), pod("web", labels={"app": "web"})) == {"a": 6, "b": 10, "c": 7}
