"""One measurement: pods that come as bytes, are decided against all nodes and assumed, and whose stories are kept."""

from __future__ import annotations

import gc
import hashlib
import random
import resource
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bayplan.cache.cache import Cache
from bayplan.contract.events import Gone, Seen
from bayplan.engine.engine import Engine
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.wire import decoder_for
from bayplan.profiles.configuration import default_configuration
from bayplan.profiles.policy import policies_of
from bayplan.simulator.bench.loads import load_named, node_bytes, pod_bytes, pods

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.engine.engine import Decision
    from bayplan.engine.preemption import Preemption
    from bayplan.simulator.bench.loads import Load


@dataclass(frozen=True, slots=True)
class Setting:
    """What is measured."""

    workload: str = "basic"
    nodes: int = 5000
    pods: int = 10_000
    #: How many classes of pods, for the mixed workload.
    classes: int = 50
    #: Pods that are on the nodes already.
    bound: int = 0
    #: Whether one node changes, one pod goes and one label is edited for every ten pods.
    churn: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    workload: str
    nodes: int
    pods: int
    classes: int
    bound: int
    churn: bool
    seed: int
    #: Pods decided, and of those how many were placed.
    placed: int
    unschedulable: int
    preemptions: int
    pods_per_s: float
    p50_us: float
    p99_us: float
    #: Of the whole process, at the end.
    rss_mb: float
    #: To take the nodes and the pods on them in.
    load_s: float
    #: Of what was decided, in order: two runs with the same seed have the same.
    digest: str

    def data(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


class Measurement:
    """A cluster in the engine, and pods for it."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._load: Load = load_named(setting.workload, setting.classes)
        self._dice = random.Random(setting.seed)
        self._cache = Cache()
        self._engine = Engine(self._cache.cluster, policies_of(default_configuration()))
        self._decode_pod = decoder_for(Pod).decode
        self._digest = hashlib.sha256()
        self._placed: list[Pod] = []
        self._nodes: list[Node] = []
        self._took = 0.0
        #: Called ten times on the way, with how many pods are decided.
        self.on_progress: Callable[[int], None] | None = None

    def run(self) -> Result:
        """Measure."""
        setting = self.setting
        self._fill()
        stream = list(pods(self._load, setting.pods, self._dice))
        milestones = {setting.pods * tenth // 10 for tenth in range(1, 10)} if self.on_progress else ()
        times: list[int] = []
        preemptions = unplaced = 0
        gc.collect()
        gc.freeze()
        began = time.perf_counter_ns()
        for index, data in enumerate(stream):
            start = time.perf_counter_ns()
            decision = self._place(self._decode_pod(data))
            if decision.preemption is not None:
                preemptions += 1
                decision = self._place(self._make_room(decision.pod, decision.preemption))
            unplaced += decision.node is None
            times.append(time.perf_counter_ns() - start)
            if setting.churn and index % 10 == 9:
                self._churn(index)
            if index in milestones:
                self._tell(index)
        took = (time.perf_counter_ns() - began) / 1e9
        times.sort()
        return Result(
            **asdict(setting),
            placed=len(stream) - unplaced,
            unschedulable=unplaced,
            preemptions=preemptions,
            pods_per_s=round(len(stream) / took, 1),
            p50_us=round(times[len(times) // 2] / 1e3, 1),
            p99_us=round(times[len(times) * 99 // 100] / 1e3, 1),
            rss_mb=round(_rss(), 1),
            load_s=round(self._took, 3),
            digest=self._digest.hexdigest()[:16],
        )

    def _tell(self, done: int) -> None:
        if self.on_progress is not None:
            self.on_progress(done)

    def _fill(self) -> None:
        """Take in the nodes and the pods that are on them already."""
        setting = self.setting
        nodes = [node_bytes(index, self._load) for index in range(setting.nodes)]
        decode_node = decoder_for(Node).decode
        before = list(self._before())
        began = time.perf_counter()
        for data in nodes:
            node = decode_node(data)
            self._nodes.append(node)
            self._cache.apply(Seen(node))
        for data in before:
            self._cache.apply(Seen(self._decode_pod(data)))
        self._took = time.perf_counter() - began

    def _before(self) -> Any:
        if self._load.before is not None:
            shape, each = self._load.before
            for index in range(self.setting.nodes):
                for number in range(each):
                    yield pod_bytes(f"old-{index}-{number}", shape(index, self._dice), f"node-{index:05}")
        for index in range(self.setting.bound):
            made = {"requests": {"cpu": "10m", "memory": "10Mi"}, "labels": {"app": f"old-{index % 200}"}}
            yield pod_bytes(f"bound-{index}", made, f"node-{index % self.setting.nodes:05}")

    def _place(self, pod: Pod) -> Decision:
        decision = self._engine.decide(pod)
        if decision.node is not None:
            self._cache.assume(pod, decision.node)
            if self.setting.churn:
                self._placed.append(pod)
        self._digest.update(f"{pod.metadata.name}={decision.node}\n".encode())
        return decision

    def _make_room(self, pod: Pod, preemption: Preemption) -> Pod:
        """The victims go, and the pod is promised the node."""
        for victim in preemption.victims:
            self._cache.apply(Gone(victim))
        return msgspec.structs.replace(
            pod, status=msgspec.structs.replace(pod.status, nominated_node_name=preemption.node)
        )

    def _churn(self, index: int) -> None:
        """One node changes, one pod goes, one label is edited."""
        dice = self._dice
        which = dice.randrange(len(self._nodes))
        node = self._nodes[which]
        labels = {**node.metadata.labels, "edited": str(index % 7)}
        edited = msgspec.structs.replace(node, metadata=msgspec.structs.replace(node.metadata, labels=labels))
        self._nodes[which] = edited
        self._cache.apply(Seen(edited))
        which = dice.randrange(len(self._nodes))
        spec = msgspec.structs.replace(self._nodes[which].spec, unschedulable=bool(dice.randrange(8) == 0))
        self._nodes[which] = msgspec.structs.replace(self._nodes[which], spec=spec)
        self._cache.apply(Seen(self._nodes[which]))
        if self._placed:
            gone = self._placed.pop(dice.randrange(len(self._placed)))
            self._cache.apply(Gone(gone))


def _rss() -> float:
    """Megabytes; the most that the process ever had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 * 1024 if sys.platform == "darwin" else 1024)
