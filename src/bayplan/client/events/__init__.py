"""Telling people what happened: Kubernetes Events, recorded in passing and sent when there is time.

::

    recorder = EventRecorder(client, "bayplan-scheduler")
    recorder.record(regarding=pod_reference, reason="Scheduled", action="Binding", note="…")   # never waits

`run()` sends, as a task of its own; `drain()` waits until everything is told.
"""

from bayplan.client.events.recorder import EventHealth, EventRecorder
from bayplan.client.events.series import EventLimits, EventType

__all__ = ["EventHealth", "EventLimits", "EventRecorder", "EventType"]
