"""Records what an unmodified kube-scheduler decides: plays a scenario to a real control plane and writes a trace.

The format of a trace is in docs/traces.md. `record` does it all; `bayplan record` is its command.
"""

from __future__ import annotations

from bayplan.testing.recorder.ledger import check
from bayplan.testing.recorder.recording import record
from bayplan.testing.recorder.trace import Trace, read_trace, write_trace

__all__ = ["Trace", "check", "read_trace", "record", "write_trace"]
