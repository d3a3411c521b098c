"""ImageLocality: where a pod's images are."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.pod import Container, ImageVolume, Volume
from bayplan.plugins.imagelocality import ImageLocality
from bayplan.testing import PluginTests, Scene, node, pod, strategies

MEGABYTE = 1024 * 1024


class TestPromises(PluginTests):
    plugin = ImageLocality()
    pods = strategies.pods("image", "init")
    kinds = ("Node",)
    examples = 20


def scene(**images: dict[str, int]) -> Scene:
    scene = Scene()
    for name, sizes in images.items():
        scene.add(node(name, images={image: size * MEGABYTE for image, size in sizes.items()}))
    return scene


def test_an_image_counts_for_its_size_by_how_many_nodes_have_it() -> None:
    some = scene(a={"web:1": 500}, b={"web:1": 500}, c={}, d={})
    assert some.points(ImageLocality(), pod(image="web:1")) == {"a": 23, "b": 23, "c": 0, "d": 0}
    assert (250 - 23) * 100 // (1000 - 23) == 23


@pytest.mark.parametrize(("size", "points"), [(20, 0), (23, 0), (1000, 100), (5000, 100)])
def test_little_counts_for_nothing_and_much_for_no_more_than_enough(size: int, points: int) -> None:
    assert scene(a={"web:1": size}).points(ImageLocality(), pod(image="web:1")) == {"a": points}


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("web", "web:latest"),
        ("web:latest", "web:latest"),
        ("reg.example:5000/web", "reg.example:5000/web:latest"),
        ("web:2", None),
    ],
)
def test_without_a_tag_the_latest_is_meant(named: str, found: str | None) -> None:
    assert scene(a={found or "web:1": 1000}).points(ImageLocality(), pod(image=named)) == {"a": 100 if found else 0}


def test_all_containers_and_image_volumes_add_up() -> None:
    spec: dict[str, Any] = {
        "containers": (Container(name="a", image="one:1"), Container(name="b", image="two:1")),
        "init_containers": (Container(name="c", image="three:1"),),
        "volumes": (Volume(name="v", image=ImageVolume("four:1")),),
    }
    everything = {f"{name}:1": 1000 for name in ("one", "two", "three", "four")}
    assert scene(a=everything).points(ImageLocality(), pod(**spec)) == {"a": 100}
    half = dict(list(everything.items())[:2])
    assert scene(a=half).points(ImageLocality(), pod(**spec)) == {"a": (2000 - 23) * 100 // (4000 - 23)}


def test_an_image_that_leaves_its_last_node_is_forgotten() -> None:
    some = scene(a={"web:1": 1000}, b={})
    some.decide(pod(image="web:1"))
    some.add(node("a"))
    assert some.points(ImageLocality(), pod(image="web:1")) == {"a": 0, "b": 0}
    some.add(node("b", images={"web:1": 2000 * MEGABYTE}))
    assert some.points(ImageLocality(), pod(image="web:1")) == {"a": 0, "b": 100}
