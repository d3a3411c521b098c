"""The one difference that remains is what we say it is: docs/fidelity.md, "ImageLocality while nodes come and go".

kube-scheduler's numbers are worked out here by its own rule, from the trace alone: how many nodes had an image is kept
with each node, and counted anew only before an attempt that finds something changed on that node.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import Decided, Deleted, Updated, read_trace

if TYPE_CHECKING:
    from bayplan.simulator.traces import Step, Trace

CHURN = Path(__file__).parent.parent / "traces" / "churn-222.json.gz"
MEGABYTE = 1024 * 1024


class Remembering:
    """What kube-scheduler remembers of images, and of which nodes it has to look again."""

    def __init__(self, trace: Trace) -> None:
        self.nodes: dict[str, Node] = {}
        self.sizes: dict[str, int] = {}
        self.remembered: dict[str, dict[str, int]] = {}
        self.touched: set[str] = set()
        self.where: dict[str, str] = {}
        for one in trace.objects:
            self.learn(one)

    def learn(self, one: object) -> None:
        if isinstance(one, Node):
            self.nodes[one.metadata.name] = one
            self.touched.add(one.metadata.name)
            for image in one.status.images:
                for name in image.names:
                    self.sizes.setdefault(name, image.size_bytes)
        elif isinstance(one, Pod):
            self.put(one.metadata.key, one.spec.node_name)

    def put(self, pod: str, node: str) -> None:
        self.where[pod] = node
        self.touched.add(node)

    def follow(self, step: Step) -> None:
        if isinstance(step, Updated):
            self.learn(step.object)
        elif isinstance(step, Deleted) and step.kind == "Node":
            self.nodes.pop(step.key)
        elif isinstance(step, Deleted) and step.kind == "Pod":
            self.touched.add(self.where.pop(step.key, ""))
        elif isinstance(step, Decided):
            self.touched |= {self.where.pop(victim, "") for victim in step.victims}
            if step.node:
                self.put(step.pod.metadata.key, step.node)

    def look(self) -> None:
        """Before an attempt: count anew on the nodes where something has changed."""
        for node in self.touched & self.nodes.keys():
            self.remembered[node] = {name: self.having(name) for name in images_of(self.nodes[node])}
        self.touched.clear()

    def having(self, image: str) -> int:
        return sum(image in images_of(node) for node in self.nodes.values())

    def score(self, pod: Pod, node: str) -> int:
        names = [with_tag(one.image) for one in (*pod.spec.init_containers, *pod.spec.containers)]
        remembered = self.remembered[node]
        there = sum(
            int(self.sizes[name] * (remembered[name] / len(self.nodes))) for name in names if name in remembered
        )
        least, most = 23 * MEGABYTE, 1000 * MEGABYTE * len(names)
        return 100 * (min(max(there, least), most) - least) // (most - least)


def images_of(node: Node) -> set[str]:
    return {name for image in node.status.images for name in image.names}


def with_tag(image: str) -> str:
    return f"{image}:latest" if image.rfind(":") <= image.rfind("/") else image


def test_every_score_of_image_locality_is_that_of_a_count_from_when_the_node_was_looked_at() -> None:
    trace = read_trace(CHURN)
    memory = Remembering(trace)
    compared = 0
    for step in trace.steps:
        if isinstance(step, Decided):
            memory.look()
            for node, score in step.scores.get("ImageLocality", {}).items():
                assert memory.score(step.pod, node) == score, f"{step.pod.metadata.key} on {node}"
                compared += 1
        memory.follow(step)
    assert compared > 500


def test_it_is_this_plugin_alone_that_differs() -> None:
    plugins = {one.get("plugin") for one in Replay(read_trace(CHURN)).run().disagreements if one["aspect"] == "scores"}
    assert plugins <= {"ImageLocality", "total"}
