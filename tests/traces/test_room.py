"""The scheduler that was recorded had seen every change before it, as its own scores prove.

NodeResourcesFit's score of a node follows from what runs there and from the pod. So it is worked out here, by a formula
of three lines, from what the trace told until then: had the recorder created a pod before the scheduler knew of a
node's new size, of a pod that was evicted or of one that has just been bound, some score would tell.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bayplan.objects.pod import Pod
from bayplan.objects.requests import Numbers, count_allocatable, count_held, count_to_rank
from bayplan.testing.recorder import Trace, read_trace

TRACES = sorted(Path(__file__).parent.glob("*.json.gz"))


class Rooms:
    """Nodes, and what the pods on them take of cpu and memory."""

    def __init__(self, objects: list[dict[str, Any]]) -> None:
        self.nodes: dict[str, Numbers] = {}
        self._where: dict[str, tuple[str, int, int]] = {}
        self._taken: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for content in objects:
            self.learn(content)

    def learn(self, content: dict[str, Any]) -> None:
        if content["kind"] == "Node":
            self.nodes[content["metadata"]["name"]] = count_allocatable(content["status"]["allocatable"])
        elif content["kind"] == "Pod":
            self.leave(key(content))
            self.enter(content, content["spec"]["nodeName"])

    def enter(self, pod: dict[str, Any], node: str) -> None:
        held = count_held(decode(pod))
        self._where[key(pod)] = node, held.nonzero_milli_cpu, held.nonzero_memory
        self._take(node, held.nonzero_milli_cpu, held.nonzero_memory)

    def leave(self, pod: str) -> None:
        if pod in self._where:
            node, cpu, memory = self._where.pop(pod)
            self._take(node, -cpu, -memory)

    def score(self, pod: dict[str, Any], node: str) -> int:
        """As LeastAllocated has it: the share that stays free, for cpu and memory alike, of what the node has at all.

        The budget of a pod as a whole is left out for the pod that is placed, and only there: kube-scheduler's scorer
        is never told that there are such budgets.
        """
        spec = {name: value for name, value in pod["spec"].items() if name != "resources"}
        asks = count_to_rank(decode(pod | {"spec": spec}))
        (cpu, memory), has = self._taken[node], self.nodes[node]
        amounts = ((cpu + asks["cpu"], has.milli_cpu), (memory + asks["memory"], has.memory))
        free = [max(0, (most - taken) * 100 // most) for taken, most in amounts if most]
        return sum(free) // max(1, len(free))

    def _take(self, node: str, cpu: int, memory: int) -> None:
        self._taken[node][0] += cpu
        self._taken[node][1] += memory


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_every_score_follows_from_the_steps_before_it(path: Path) -> None:
    trace = read_trace(path)
    if "NodeResourcesFit" in str(trace.meta.get("config")):
        pytest.skip("its configuration scores by another formula")
    play(trace)


def test_a_change_that_the_scheduler_missed_would_be_found() -> None:
    trace = read_trace(next(path for path in TRACES if path.name.startswith("basic")))
    first = next(number for number, step in enumerate(trace.steps) if step.get("outcome") == "bound")
    trace.steps.pop(first)
    with pytest.raises(AssertionError):
        play(trace)


def play(trace: Trace) -> None:
    rooms = Rooms(trace.objects)
    for number, step in enumerate(trace.steps):
        if "outcome" in step:
            decide(rooms, step, number)
        elif "update" in step:
            rooms.learn(step["update"])
        else:
            rooms.leave(step["delete"])


def decide(rooms: Rooms, step: dict[str, Any], number: int) -> None:
    pod = step.get("create") or step["update"]
    for victim in step.get("victims", []):
        rooms.leave(victim)
    for node, score in step.get("scores", {}).get("NodeResourcesFit", {}).items():
        assert rooms.score(pod, node) == score, f"step {number}, {key(pod)} on {node}"
    if step["outcome"] == "bound":
        rooms.enter(pod, step["node"])


def decode(pod: dict[str, Any]) -> Pod:
    return msgspec.json.decode(msgspec.json.encode(pod), type=Pod)


def key(content: dict[str, Any]) -> str:
    return f"{content['metadata'].get('namespace', '')}/{content['metadata']['name']}"
