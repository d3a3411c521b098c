"""Playing a scenario to the real scheduler, one thing at a time, and writing down what came of it."""

from __future__ import annotations

from http.client import HTTPException
from typing import TYPE_CHECKING

from bayplan import __version__
from bayplan.errors import EnvironmentFault, UsageError
from bayplan.simulator.workloads.file import write_reference
from bayplan.simulator.workloads.scenario import Create, Delete, Update, identity
from bayplan.testing.controlplane import ControlPlane
from bayplan.testing.recorder.attempts import SchedulerLog
from bayplan.testing.recorder.decisions import Decider
from bayplan.testing.recorder.ledger import check
from bayplan.testing.recorder.setting import control_plane_config, scheduler_config, uses_volumes
from bayplan.testing.recorder.sight import Sight
from bayplan.testing.recorder.store import ObjectStore
from bayplan.testing.recorder.trace import Trace, stored
from bayplan.testing.recorder.volumes import settled_volumes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bayplan.simulator.workloads.scenario import Action, Object, Scenario

#: Namespaces of the control plane's own, in which nothing of a scenario lives.
_SYSTEM_NAMESPACES = {"kube-system", "kube-public", "kube-node-lease"}


def record(scenario: Scenario, progress: Callable[[int, int], None] = lambda _done, _all: None) -> Trace:
    """Play a scenario from its beginning to its end in a control plane of its own.

    Raises an `EnvironmentFault` when the control plane is not there or does not answer, a `UsageError` when it refuses
    an object. Nothing is left running either way.
    """
    with ControlPlane(control_plane_config(scenario)) as plane:
        log = SchedulerLog(plane.logs / "kube-scheduler.log")
        try:
            trace = _Recording(scenario, plane, log).play(progress)
        except UsageError:
            # The scenario is at fault: nobody will want the control plane's logs.
            plane.stop()
            raise
        except (OSError, HTTPException) as error:
            raise EnvironmentFault(
                f"the control plane does not answer any more: {error}", remedy="read its logs, and record again"
            ) from error
        finally:
            log.close()
    check(trace)
    return trace


class _Recording:
    """One scenario on one control plane."""

    def __init__(self, scenario: Scenario, plane: ControlPlane, log: SchedulerLog) -> None:
        self._scenario = scenario
        self._log = log
        self._store = ObjectStore(plane)
        self._sight = Sight(plane, log)
        self._decider = Decider(self._store, self._sight, log)
        self._volumes = uses_volumes(scenario)
        self._trace = Trace(_meta(scenario))

    def play(self, progress: Callable[[int, int], None]) -> Trace:
        self._set_up()
        for done, action in enumerate(self._scenario.actions):
            progress(done, len(self._scenario.actions))
            self._log.forget()
            self._act(action)
        progress(len(self._scenario.actions), len(self._scenario.actions))
        return self._trace

    def _set_up(self) -> None:
        for content in self._scenario.objects:
            # The namespace `default` is there before anybody asks.
            self._store.put(content) if content["kind"] == "Namespace" else self._store.create(content)
        self._settle()
        for kind in dict.fromkeys(["Namespace", *(content["kind"] for content in self._scenario.objects)]):
            objects = [each for each in self._store.list(kind) if identity(each)[2] not in _SYSTEM_NAMESPACES]
            self._sight.reached_version(kind, max(int(each["metadata"]["resourceVersion"]) for each in objects))
            self._trace.objects += map(stored, as_made(objects, self._scenario.objects))
        self._wait_for_handlers()
        self._decider.learn(self._trace.objects)

    def _wait_for_handlers(self) -> None:
        for kind, namespace, name in map(identity, self._trace.objects):
            if kind == "Node":
                self._sight.noticed("Add event for node", name)
            elif kind == "Pod":
                self._sight.noticed("Add event for scheduled pod", f"{namespace}/{name}")

    def _act(self, action: Action) -> None:
        if isinstance(action, Create):
            self._trace.steps += self._decider.create(action.pod, keep_gated=action.keep_gated)
        elif isinstance(action, Delete):
            self._delete(action)
        elif action.object["kind"] == "Pod":
            self._trace.steps += self._decider.update(action.object)
        else:
            self._update(action)

    def _update(self, action: Update) -> None:
        before = self._store.writes
        kind, namespace, name = identity(action.object)
        is_new = self._store.get(kind, namespace, name) is None
        content = self._store.put(action.object)
        self._settle()
        # What the controllers made of it in the meantime is what the scheduler will see.
        content = self._store.get(kind, namespace, name) or content
        self._sight.reached(content)
        if kind == "Node":
            # A node that is new and has a status is one event, whatever else is two.
            message = "Add event for node" if is_new else "Update event for node"
            self._sight.noticed(message, name, 1 if is_new else self._store.writes - before)
        self._trace.steps.append({"update": stored(content)})

    def _delete(self, action: Delete) -> None:
        kind, namespace, name = action.kind, action.namespace, action.name
        if kind == "Pod":
            self._trace.steps += self._decider.delete(namespace, name)
            return
        before = self._sight.version(kind)
        if not self._store.delete(kind, namespace, name):
            return
        if kind == "Node":
            self._sight.noticed("Delete event for node", name)
        # A deletion is a version of its own, which no answer tells: it is the next one that the store gets.
        elif before:
            self._sight.reached_version(kind, before + 1)
        self._trace.steps.append({"delete": write_reference(kind, namespace, name)})

    def _settle(self) -> None:
        if self._volumes:
            self._sight.until(lambda: settled_volumes(self._store), "the binding of all volumes")


def as_made(listed: Iterable[Object], made: Iterable[Object]) -> list[Object]:
    """Objects in the order in which they were made, and what else there is after them.

    The API server lists by name. Where a pod stands among those of its node goes by when it came, and decides which of
    two that nothing else tells apart is evicted.
    """
    places = {_key(one): index for index, one in enumerate(made)}
    return sorted(listed, key=lambda one: places.get(_key(one), len(places)))


def _key(content: Object) -> tuple[str, str, str]:
    """What tells an object from others, whether or not it says that its namespace is the default one."""
    kind, namespace, name = identity(content)
    return kind, namespace or "default", name


def _meta(scenario: Scenario) -> dict[str, object]:
    meta: dict[str, object] = {
        "flavour": scenario.flavour,
        "seed": scenario.seed,
        "nodes": scenario.count("Node"),
        "pods": scenario.pods,
        "scheduler": "kube-scheduler v1.37.1, percentageOfNodesToScore=100",
        "recorder": f"bayplan {__version__}",
    }
    return meta | ({"config": scheduler_config(scenario)} if scenario.config else {})
