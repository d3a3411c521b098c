"""One measurement: a piece of work in a process of its own, between `start` and `stop`."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass
class Meter:
    """Wall clock, CPU and memory of this process."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def start(self) -> None:
        """The work begins."""
        self._began, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        """The work is done."""
        self.seconds, self.cpu_seconds = time.perf_counter() - self._began, time.process_time() - self._cpu


def main(subject: str, work: str, kubeconfig: str, events: int) -> None:
    """Do the work once and print what it took."""
    module = import_module(f"bench.subjects.{subject}")
    rss_before = _rss_mb()
    meter = Meter()
    if work == "watch":
        objects = asyncio.run(module.watch_pods(kubeconfig, events, meter))
    else:
        objects = asyncio.run(module.list_pods(kubeconfig, meter))
    found = {
        "objects": objects,
        "seconds": meter.seconds,
        "cpu_s": meter.cpu_seconds,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rss_before_mb": rss_before,
    }
    print(json.dumps(found))


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
