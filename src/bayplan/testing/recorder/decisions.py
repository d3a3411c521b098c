"""One pod's way through the real scheduler: from its creation to its node, or to the message that says why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayplan.errors import EnvironmentFault
from bayplan.simulator.workloads.file import write_reference
from bayplan.simulator.workloads.scenario import identity
from bayplan.testing.recorder.trace import bound_step, stored, unbound_step, without_status
from bayplan.testing.recorder.volumes import Provisioner, as_created, claim_names, ephemeral_claim_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.recorder.attempts import SchedulerLog
    from bayplan.testing.recorder.sight import Sight
    from bayplan.testing.recorder.store import ObjectStore

Steps = list[dict[str, Any]]

#: A first attempt may come before the controller has made an ephemeral volume's claim. It decides nothing.
_TOO_EARLY = "waiting for ephemeral volume controller"

_BOUND = "Add event for scheduled pod"


@dataclass(frozen=True, slots=True)
class _Outcome:
    pod: Object
    name: str
    message: str = ""


class Decider:
    """Brings pods to their end, and knows which of them run."""

    def __init__(self, store: ObjectStore, sight: Sight, log: SchedulerLog) -> None:
        self._store, self._sight, self._log = store, sight, log
        self._provisioner = Provisioner(store)
        #: Pods on nodes, by namespace and name.
        self._running: set[tuple[str, str]] = set()
        #: Versions of claims and volumes that the trace has told of.
        self._told: dict[tuple[str, str, str], str] = {}

    def learn(self, objects: Iterable[Object]) -> None:
        """What is there at the beginning."""
        for content in objects:
            self._tell(content)
            if content["kind"] == "Pod":
                self._running.add(identity(content)[1:])

    def create(self, pod: Object, *, keep_gated: bool) -> Steps:
        """A pod arrives."""
        return self._decide("create", self._store.create(pod), keep_gated=keep_gated)

    def update(self, pod: Object) -> Steps:
        """A pod's labels or gates change; one that may go now is decided."""
        _, namespace, name = identity(pod)
        there = self._store.get("Pod", namespace, name)
        if there is None:
            return []
        gates = {name: pod["spec"][name] for name in ("schedulingGates",) if name in pod["spec"]}
        spec = {name: value for name, value in there["spec"].items() if name != "schedulingGates"} | gates
        labels = there["metadata"].get("labels", {}) | pod["metadata"].get("labels", {})
        changed = self._store.put(there | {"metadata": there["metadata"] | {"labels": labels}, "spec": spec})
        self._sight.reached(changed)
        if (namespace, name) not in self._running:
            return self._decide("update", changed, keep_gated=True)
        if changed["metadata"]["resourceVersion"] == there["metadata"]["resourceVersion"]:
            return []
        self._sight.noticed("Update event for scheduled pod", f"{namespace}/{name}")
        return [{"update": {name: value for name, value in stored(changed).items() if name != "status"}}]

    def delete(self, namespace: str, name: str) -> Steps:
        """A pod goes away, and the claims that were made for it."""
        if (namespace, name) not in self._running:
            # It found no node and is gone; or it waits behind its gates, and as far as a trace goes is gone too.
            self._store.delete("Pod", namespace, name)
            return []
        pod = self._store.get("Pod", namespace, name)
        assert pod is not None, "a running pod is there"
        self._store.delete("Pod", namespace, name)
        self._running.discard((namespace, name))
        self._sight.noticed("Delete event for scheduled pod", f"{namespace}/{name}")
        return [{"delete": f"{namespace}/{name}"}, *self._delete_claims(pod)]

    def _decide(self, event: str, pod: Object, *, keep_gated: bool) -> Steps:
        _, namespace, name = identity(pod)
        outcome = self._wait(namespace, name)
        own = self._own_claims(outcome.pod)
        if outcome.name == "bound":
            return [*own, self._bound(event, outcome.pod), *self._told_volumes(outcome.pod)]
        if outcome.name == "gated" and keep_gated:
            return [unbound_step(event, without_status(outcome.pod), "gated", outcome.message)]
        self._store.delete("Pod", namespace, name)
        self._sight.noticed("Delete event for unscheduled pod", f"{namespace}/{name}")
        step = unbound_step(event, without_status(outcome.pod), outcome.name, outcome.message)
        return [*own, step, *self._delete_claims(outcome.pod)]

    def _wait(self, namespace: str, name: str) -> _Outcome:
        """Wait for the pod's end; meanwhile be the driver that its volumes need."""
        found: list[_Outcome] = []

        def decided() -> bool:
            pod = self._store.get("Pod", namespace, name)
            assert pod is not None, "nobody else deletes pods that wait"
            self._log.read()
            outcome = self._judge(pod)
            if outcome is None:
                self._provisioner.serve(pod)
                return False
            found.append(outcome)
            return True

        self._sight.until(decided, f"a decision about {namespace}/{name}")
        return found[0]

    def _judge(self, pod: Object) -> _Outcome | None:
        if "nodeName" in pod["spec"]:
            return _Outcome(pod, "bound")
        condition = _scheduled_condition(pod)
        message = condition.get("message", "")
        if pod["spec"].get("schedulingGates"):
            return _Outcome(pod, "gated", message) if condition.get("reason") == "SchedulingGated" else None
        if condition.get("reason") == "SchedulerError":
            raise EnvironmentFault(
                f"the scheduler failed on {'/'.join(identity(pod)[1:])}: {message}",
                remedy="leave this pod out, or see why in the scheduler's log",
            )
        # A pod for which room was made is tried again, until it is on its node.
        waits = _TOO_EARLY in message or self._log.attempt("/".join(identity(pod)[1:])).nominated
        return None if condition.get("reason") != "Unschedulable" or waits else _Outcome(pod, "unschedulable", message)

    def _bound(self, event: str, pod: Object) -> dict[str, Any]:
        _, namespace, name = identity(pod)
        key = f"{namespace}/{name}"
        self._sight.noticed(_BOUND, key)
        attempt = self._log.attempt(key)
        victims = self._gone() if attempt.nominated else []
        self._running.add((namespace, name))
        return bound_step(event, without_status(pod), pod["spec"]["nodeName"], attempt, victims)

    def _gone(self) -> list[str]:
        """The pods that were running until now and are no more: whoever was evicted."""
        there = {identity(pod)[1:] for pod in self._store.list("Pod")}
        gone = ["/".join(key) for key in self._running - there]
        self._running &= there
        for key in gone:
            self._sight.noticed("Delete event for scheduled pod", key)
        return gone

    # ── volumes ──

    def _own_claims(self, pod: Object) -> Steps:
        """The claims that were made for this pod, told before it: they were there when it was decided."""
        namespace = identity(pod)[1]
        claims = [self._store.get("PersistentVolumeClaim", namespace, name) for name in ephemeral_claim_names(pod)]
        return [{"update": as_created(stored(claim))} for claim in claims if claim is not None]

    def _told_volumes(self, pod: Object) -> Steps:
        """What the volume controller and the driver left of a bound pod's claims, if it is new."""
        steps: Steps = []
        for name in dict.fromkeys(claim_names(pod)):
            claim = self._settled_claim(identity(pod)[1], name)
            volume = self._store.get("PersistentVolume", "", claim["spec"]["volumeName"])
            assert volume is not None, "a bound claim has its volume"
            for content in (volume, claim):
                self._sight.reached(content)
                steps += self._tell(content)
        return steps

    def _settled_claim(self, namespace: str, name: str) -> Object:
        found: list[Object] = []

        def bound() -> bool:
            claim = self._store.get("PersistentVolumeClaim", namespace, name)
            if claim is None or claim["status"].get("phase") != "Bound":
                return False
            volume = self._store.get("PersistentVolume", "", claim["spec"]["volumeName"])
            found.append(claim)
            return volume is not None and volume["status"].get("phase") == "Bound"

        self._sight.until(bound, f"the binding of claim {namespace}/{name}")
        return found[-1]

    def _tell(self, content: Object) -> Steps:
        key, version = identity(content), content["metadata"]["resourceVersion"]
        if self._told.get(key) == version:
            return []
        self._told[key] = version
        return [{"update": stored(content)}]

    def _delete_claims(self, pod: Object) -> Steps:
        """Nobody collects garbage here, so a pod's own claims are taken away by hand."""
        namespace, kind = identity(pod)[1], "PersistentVolumeClaim"
        steps: Steps = []
        for name in ephemeral_claim_names(pod):
            claim, before = self._store.get(kind, namespace, name), self._sight.version(kind)
            if claim is not None and self._store.delete(kind, namespace, name):
                self._sight.reached_version(kind, before + 1)
                steps.append({"delete": write_reference(kind, namespace, name)})
                steps += self._released(claim["spec"].get("volumeName"))
        return steps

    def _released(self, name: str | None) -> Steps:
        """What the controller made of a volume whose claim is gone."""
        found: list[Object] = []

        def released() -> bool:
            volume = self._store.get("PersistentVolume", "", name or "")
            found.append(volume or {})
            return volume is None or volume["status"].get("phase") == "Released"

        if not name:
            return []
        self._sight.until(released, f"the release of volume {name}")
        if not found[-1]:
            return []
        self._sight.reached(found[-1])
        return self._tell(found[-1])


def _scheduled_condition(pod: Object) -> dict[str, str]:
    conditions = pod["status"].get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})
