"""NodePorts: a port of a node goes to one pod at a time."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.pod import Container, ContainerPort
from bayplan.plugins.nodeports import NodePorts
from bayplan.testing import PluginTests, Scene, node, pod, strategies


class TestPromises(PluginTests):
    plugin = NodePorts()
    pods = others = strategies.pods("ports", "init")
    examples = 15


def taken(there: dict[str, Any], wanted: dict[str, Any]) -> bool:
    scene = Scene()
    scene.add(node("n"), node("free"), pod("there", node="n", **there))
    rejected = scene.rejected(NodePorts(), pod("wants", **wanted))
    assert set(rejected) <= {"n"}
    assert set(rejected.values()) <= {"node(s) didn't have free ports for the requested pod ports"}
    return bool(rejected)


@pytest.mark.parametrize(
    ("there", "wanted", "conflict"),
    [
        (ContainerPort(80), ContainerPort(80), True),
        (ContainerPort(80), ContainerPort(81), False),
        (ContainerPort(80, protocol="UDP"), ContainerPort(80), False),
        (ContainerPort(80, protocol="TCP"), ContainerPort(80), True),
        (ContainerPort(80, "10.0.0.1"), ContainerPort(80, "10.0.0.2"), False),
        (ContainerPort(80, "10.0.0.1"), ContainerPort(80, "10.0.0.1"), True),
        (ContainerPort(80, "10.0.0.1"), ContainerPort(80), True),
        (ContainerPort(80, "0.0.0.0"), ContainerPort(80, "10.0.0.1"), True),
        (ContainerPort(container_port=80), ContainerPort(80), False),
        (ContainerPort(80), ContainerPort(container_port=80), False),
    ],
)
def test_the_same_port_of_the_same_address_and_protocol(
    there: ContainerPort, wanted: ContainerPort, conflict: bool
) -> None:
    assert taken({"host_ports": [there]}, {"host_ports": [wanted]}) is conflict


def test_init_containers_give_their_ports_back_and_sidecars_keep_them() -> None:
    init = Container(name="init", ports=(ContainerPort(80),))
    sidecar = Container(name="side", restart_policy="Always", ports=(ContainerPort(80),))

    assert not taken({"init_containers": (init,)}, {"host_ports": [80]})
    assert taken({"init_containers": (sidecar,)}, {"host_ports": [80]})
    assert taken({"host_ports": [80]}, {"init_containers": (sidecar,)})


def test_a_port_is_free_once_its_pod_is_gone() -> None:
    scene = Scene()
    there = pod("there", node="n", host_ports=[80])
    scene.add(node("n"), there)
    wants = pod("wants", host_ports=[80])
    assert scene.decide(wants).node is None
    scene.remove(there)
    assert scene.place(wants) == "n"
    assert scene.place(pod("next", host_ports=[80])) is None
