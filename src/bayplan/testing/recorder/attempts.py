"""kube-scheduler's log at -v=10, read while it is written: what each attempt to place a pod came to.

The scheduler writes a line before it goes on. So when the API server shows what an attempt led to (a node, or a
condition that says no), all the lines of that attempt are in the file: only reading them is left to do.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(rb'^[IWEF]\d{4} [^\]]*\] "((?:[^"\\]|\\.)*)"(.*)$')
_PAIR = re.compile(rb' (\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)')

_BEGIN = "Attempting to schedule pod"
_SCORE, _TOTAL = "Plugin scored node for pod", "Calculated node's final score for pod"
_PREEMPT = "the target node for the preemption is determined"

#: What is only counted, with the field that says about whom.
_NOTICES = {
    "Successfully bound pod to node": "pod",
    "Add event for scheduled pod": "pod",
    "Update event for scheduled pod": "pod",
    "Delete event for scheduled pod": "pod",
    "Delete event for unscheduled pod": "pod",
    "Add event for node": "node",
    "Update event for node": "node",
    "Delete event for node": "node",
}
_KNOWN = {text.encode() for text in (_BEGIN, _SCORE, _TOTAL, _PREEMPT, *_NOTICES)}


@dataclass(slots=True)
class Attempt:
    """The last attempt to place a pod, as far as the log tells."""

    #: Plugin to node to score, normalised and weighted. Empty when fewer than two nodes were feasible.
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    #: The node where an attempt before this one made room, if any did.
    nominated: str = ""

    def sorted_scores(self) -> dict[str, dict[str, int]]:
        """Scores with their nodes in order. The scheduler's own order changes from run to run and means nothing."""
        return {plugin: dict(sorted(nodes.items())) for plugin, nodes in self.scores.items()}


class SchedulerLog:
    """Follows the log file. Waiting is the caller's business: `read` takes what is there."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._rest = b""
        self._attempts: dict[str, Attempt] = {}
        self._notices: Counter[tuple[str, str]] = Counter()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def attempt(self, pod: str) -> Attempt:
        """The last attempt for `namespace/name`; an empty one before the first."""
        return self._attempts.get(pod, Attempt())

    def count(self, message: str, subject: str) -> int:
        """How often a notice was seen since `forget`."""
        assert message in _NOTICES, f"{message} is not among the notices that are counted"
        return self._notices[message, subject]

    def forget(self) -> None:
        """Begin a new step: what was read so far is of no more interest."""
        self.read()
        self._attempts.clear()
        self._notices.clear()

    def read(self) -> None:
        """Take in all whole lines that were written since the last call."""
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        matched = _LINE.match(line)
        # Most lines are of no interest; their fields, some of them whole objects, are not looked at.
        if not matched or matched[1] not in _KNOWN:
            return
        message = matched[1].decode()
        fields = {name.decode(): value.decode().strip('"') for name, value in _PAIR.findall(matched[2])}
        if message in _NOTICES:
            self._notices[message, fields.get(_NOTICES[message], "")] += 1
        else:
            self._note(message, fields)

    def _note(self, message: str, fields: dict[str, str]) -> None:
        pod = fields["pod"]
        attempt = self._attempts.setdefault(pod, Attempt())
        if message == _BEGIN:
            self._attempts[pod] = Attempt(nominated=attempt.nominated)
        elif message == _SCORE:
            attempt.scores.setdefault(fields["plugin"], {})[fields["node"]] = int(fields["score"])
        elif message == _TOTAL:
            attempt.totals[fields["node"]] = int(fields["score"])
        else:
            attempt.nominated = fields["node"]
