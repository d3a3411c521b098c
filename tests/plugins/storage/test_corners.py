"""What an unmodified kube-scheduler decided in the corners of storage, where ours must decide the same.

The traces have what the flavours of `bayplan record` leave out: in-tree volumes of every kind, on nodes that have moved
to CSI drivers and on others; VolumeAttachments; drivers that must be there; zones in old labels and in new; blocks,
selectors, attributes classes; claims of all classes for pods that may preempt.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import read_trace

TRACES = sorted((Path(__file__).parent / "traces").glob("*.json.gz"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_every_decision_is_kube_schedulers(path: Path) -> None:
    agreement = Replay(read_trace(path)).run()
    assert agreement.disagreements == []
    assert agreement.counts["feasible"].compared > 100
