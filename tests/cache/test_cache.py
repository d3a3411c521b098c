"""The corners of the cache that came to light."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.testing import Scene, node, pod

if TYPE_CHECKING:
    from bayplan.objects.pod import Pod


def promised(scene: Scene) -> dict[str, list[str]]:
    return {name: sorted(pods) for name, pods in scene.cluster.nominated().items()}


def waiting(nominated: str = "n") -> Pod:
    return pod("waits", priority=5, nominated=nominated)


def test_a_pod_that_is_forgotten_is_promised_its_node_as_before() -> None:
    scene = Scene()
    scene.add(node("n"), waiting())
    scene.cache.assume(waiting(), "n")
    assert promised(scene) == {}
    scene.cache.forget("default/waits")
    assert promised(scene) == {"n": ["default/waits"]}


def test_what_the_watch_says_of_the_promise_meanwhile_counts() -> None:
    scene = Scene()
    scene.add(node("n"), waiting())
    scene.cache.assume(waiting(), "n")
    scene.add(waiting("other"))
    assert promised(scene) == {}
    scene.cache.forget("default/waits")
    assert promised(scene) == {"other": ["default/waits"]}


def test_a_promise_that_is_taken_back_is_none() -> None:
    scene = Scene()
    scene.add(node("n"), waiting(), waiting(nominated=""))
    assert promised(scene) == {}


def test_pods_wait_for_a_node_that_is_not_there_yet_and_stay_when_it_goes() -> None:
    scene = Scene()
    there = pod("p", node="n", cpu="3")
    scene.add(there)
    assert scene.cluster.pod_on_node("default/p") is there
    for _ in range(2):
        scene.add(node("n", cpu="4"))
        assert scene.place(pod("too-large", cpu="2")) is None
        scene.remove(node("n"))
        assert scene.cluster.pod_on_node("default/p") is there
    scene.check()
