"""Whether the scheduler has seen what was done to the cluster. Nothing is ever recorded on a guess.

A change is in the scheduler's hands when the store of its informer has reached the change's resource version and no
event is queued before its handlers: both are among its metrics. For pods and nodes, which the scheduler copies into a
cache of its own, its log says when the handler has run.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from bayplan.errors import EnvironmentFault
from bayplan.testing.controlplane.requests import ask_https
from bayplan.testing.recorder.store import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.workloads.scenario import Object
    from bayplan.testing.controlplane import ControlPlane
    from bayplan.testing.recorder.attempts import SchedulerLog

#: For what takes milliseconds when it works; what does not work is not waited for any longer.
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.004

_GAUGE = re.compile(r'^informer_(store_resource_version|queued_items)\{.*?resource="(\w+)".*?\} (\S+)$', re.MULTILINE)


class Sight:
    """Waits until the scheduler has seen something."""

    def __init__(self, plane: ControlPlane, log: SchedulerLog) -> None:
        self._plane = plane
        self._log = log

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; an EnvironmentFault says what was waited for in vain."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise EnvironmentFault(
                    f"{what} did not happen in {_PATIENCE_SECONDS:g} s", remedy="read the control plane's logs"
                )
            time.sleep(_POLL_SECONDS)

    def noticed(self, message: str, subject: str, times: int = 1) -> None:
        """Wait until the scheduler's log has a notice about somebody."""

        def there() -> bool:
            self._log.read()
            return self._log.count(message, subject) >= times

        self.until(there, f"{message!r} about {subject} in the scheduler's log")

    def reached(self, content: Object) -> None:
        """Wait until the scheduler's store has this object, or a later one of its kind."""
        self.reached_version(content["kind"], int(content["metadata"]["resourceVersion"]))

    def reached_version(self, kind: str, version: int) -> None:
        """Wait until the scheduler's store of this kind is as new as this, and nothing of it waits for a handler."""
        resource = plural(kind)

        def there() -> bool:
            stores, queued = self._informers()
            # What the scheduler has no informer for cannot change what it decides.
            return resource not in stores or (stores[resource] >= version and queued.get(resource, 0) == 0)

        self.until(there, f"resource version {version} of {resource} in the scheduler's store")

    def version(self, kind: str) -> int:
        """The newest resource version of this kind that the scheduler has; 0 if it has no informer for it."""
        return self._informers()[0].get(plural(kind), 0)

    def _informers(self) -> tuple[dict[str, int], dict[str, int]]:
        found: dict[str, dict[str, int]] = {"store_resource_version": {}, "queued_items": {}}

        def told() -> bool:
            # A scheduler that has just started does not yet know whom it may answer.
            for gauge, resource, value in _GAUGE.findall(self._metrics()):
                found[gauge][resource] = int(float(value))
            return bool(found["store_resource_version"])

        self.until(told, "an account of informers in the scheduler's metrics")
        return found["store_resource_version"], found["queued_items"]

    def _metrics(self) -> str:
        plane = self._plane
        credentials = plane.admin.credentials
        answer = ask_https(plane.scheduler.port, "GET", "/metrics", authority=plane.authority, client=credentials)
        return str(answer.body) if answer.ok else ""
