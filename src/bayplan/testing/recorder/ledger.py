"""A second opinion on a trace: plain bookkeeping of which nodes and pods there are, and what each step may claim.

It knows nothing of scheduling. What it asserts is what any trace must keep to, whoever recorded it: a mistake of the
recorder's own, such as scores of another attempt or a step that was told twice, would show here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.recorder.trace import Trace

Step = dict[str, Any]

_NODES = re.compile(r"^0/(\d+) nodes are available: ")
_EVENTS = {"create", "update", "delete"}
_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp")


def check(trace: Trace) -> None:
    """Go through a trace; an AssertionError says what does not fit, and in which step."""
    ledger = Ledger(trace.objects)
    for number, step in enumerate(trace.steps):
        try:
            ledger.take(step)
        except (AssertionError, KeyError) as error:
            error.add_note(f"in step {number} of the trace")
            raise


class Ledger:
    """The nodes and pods of a trace, step by step. Every method asserts what must hold then."""

    def __init__(self, objects: list[Object]) -> None:
        self.nodes: set[str] = set()
        #: Where each pod runs.
        self.running: dict[str, str] = {}
        #: Pods whose gates were closed when they were last heard of.
        self.gated: set[str] = set()
        self._known: set[tuple[str, str]] = set()
        for content in objects:
            assert _key(content) not in self._known, f"{_key(content)} is there twice"
            self._learn(content)

    def take(self, step: Step) -> None:
        """One step: what it says must fit what is known, and is known from then on."""
        event = _EVENTS & step.keys()
        assert len(event) == 1, f"a step is one of {_EVENTS}, not {sorted(event)}"
        if "delete" in step:
            self._delete(step["delete"])
        elif "outcome" in step:
            self._decide(step)
        else:
            self._learn(step["update"])

    def _learn(self, content: Object) -> None:
        assert content["apiVersion"]
        assert all(content["metadata"].get(name) for name in _SERVERS_OWN), "the API server stored it"
        self._known.add(_key(content))
        if content["kind"] == "Node":
            self.nodes.add(content["metadata"]["name"])
        elif content["kind"] == "Pod":
            self.running[_key(content)[1]] = content["spec"]["nodeName"]

    def _delete(self, reference: str) -> None:
        if reference[0].islower():
            assert reference.count("/") == 1
            del self.running[reference]
            return
        kind, _, name = reference.partition("/")
        self._known.remove((kind, name))
        if kind == "Node":
            self.nodes.remove(name)

    def _decide(self, step: Step) -> None:
        pod = step.get("create") or step["update"]
        name = _key(pod)[1]
        assert pod["kind"] == "Pod"
        assert "status" not in pod
        assert "nodeName" not in pod["spec"]
        assert ("update" in step) == (name in self.gated), "only a gated pod is decided by an update"
        self.gated.discard(name)
        {"bound": self._bound, "unschedulable": self._unschedulable, "gated": self._gated}[step["outcome"]](name, step)

    def _bound(self, name: str, step: Step) -> None:
        assert step["node"] in self.nodes
        assert "message" not in step
        if "victims" in step:
            self._preempted(step)
        if "totals" in step:
            self._scored(step)
        self.running[name] = step["node"]

    def _preempted(self, step: Step) -> None:
        assert step["victims"] == sorted(set(step["victims"]))
        assert step["victims"], "room is made by somebody"
        assert "scores" not in step, "a nominated node is taken without comparing"
        for victim in step["victims"]:
            assert self.running.pop(victim) == step["nominated"]

    def _scored(self, step: Step) -> None:
        totals = step["totals"]
        assert len(totals) > 1, "one feasible node is not scored"
        assert totals.keys() <= self.nodes
        for plugin, scores in step["scores"].items():
            assert scores.keys() == totals.keys(), f"{plugin} scored other nodes"
            assert min(scores.values()) >= 0
        for node, total in totals.items():
            assert total == sum(scores[node] for scores in step["scores"].values())
        assert totals[step["node"]] == max(totals.values())

    def _unschedulable(self, name: str, step: Step) -> None:
        assert not step.keys() & {"node", "scores", "totals", "victims"}
        if not self.nodes:
            assert step["message"] == "no nodes available to schedule pods"
            return
        counted = _NODES.match(step["message"])
        assert counted, f"{name}: {step['message']}"
        assert int(counted[1]) == len(self.nodes)
        reasons, _, _ = step["message"][counted.end() :].partition(". ")
        numbers = [int(number) for number in re.findall(r"(?:^|, )(\d+) ", reasons)]
        # A node may give several reasons; a pod that no node could ever take gives one without a number.
        assert not numbers or sum(numbers) >= len(self.nodes)

    def _gated(self, name: str, step: Step) -> None:
        assert (step.get("create") or step["update"])["spec"]["schedulingGates"]
        assert step["message"]
        self.gated.add(name)


def _key(content: Object) -> tuple[str, str]:
    metadata = content["metadata"]
    name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
    return content["kind"], name
