"""`make bench-engine`: every workload, and how the cost grows with nodes and with kinds of pods.

Each measurement has a process of its own. What came of them is one JSON file; `bench.report` turns it into pictures
and into the tables of docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayplan.simulator.bench.apart import measure_apart
from bayplan.simulator.bench.loads import WORKLOADS
from bayplan.simulator.bench.run import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

NODES = (100, 1_000, 5_000, 20_000, 50_000)
CLASSES = (1, 10, 100, 1_000)
#: Workloads in which a pod takes a node for itself: there are no more of them than nodes.
_ONE_EACH = {"anti-affinity", "preemption"}


def main() -> None:
    """Measure all series, and write them down."""
    options = arguments()
    chosen = {name: settings for name, settings in series().items() if name in options.only}
    found = {name: [measure(setting, options) for setting in settings] for name, settings in chosen.items()}
    report = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "repeat": options.repeat, "series": found}
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text(json.dumps(report, indent=1) + "\n")
    print(f"bench: wrote {options.to}; now: python -m bench.report --help", file=sys.stderr)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench.engine", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(series()), default=tuple(series()), help="only these series")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the median counts (default: 3)")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="so much of the pods and nodes, to try it out (default: 1.0)"
    )
    parser.add_argument("--to", type=Path, default=Path(".bench/engine.json"), help="where the figures go")
    return parser.parse_args()


def series() -> dict[str, list[Setting]]:
    """What is measured, by the name under which it is reported."""
    return {
        "workloads": [Setting(workload=name, pods=5_000 if name in _ONE_EACH else 10_000) for name in WORKLOADS],
        "large": [Setting(nodes=50_000), Setting(bound=150_000)],
        "churn": [Setting(workload="mixed"), Setting(workload="mixed", churn=True)],
        "nodes": [
            Setting(workload=workload, nodes=nodes, pods=min(10_000, 20 * nodes), churn=churn)
            for workload, churn in (("basic", False), ("mixed", False), ("mixed", True))
            for nodes in NODES
        ],
        "classes": [
            Setting(workload="mixed", classes=classes, churn=churn) for churn in (False, True) for classes in CLASSES
        ],
    }


def measure(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """The run with the median rate. All runs must have decided the same."""
    runs = [measure_apart(scaled(setting, options.scale)) for _ in range(options.repeat)]
    assert len({run.digest for run in runs}) == 1, f"{setting} was decided differently from run to run"
    runs.sort(key=lambda run: run.pods_per_s)
    rates = [run.pods_per_s for run in runs]
    return runs[len(runs) // 2].data() | {"pods_per_s_range": [rates[0], rates[-1]]}


def scaled(setting: Setting, scale: float) -> Setting:
    """A smaller setting of the same kind."""
    from dataclasses import replace

    def part(number: int) -> int:
        return max(1, round(number * scale))

    return replace(setting, nodes=part(setting.nodes), pods=part(setting.pods), bound=round(setting.bound * scale))


def machine() -> str:
    """What the figures belong to."""
    return f"{os.cpu_count()} cores, {processor()}, Python {platform.python_version()}"


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names: Sequence[str] = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"{platform.system()} {platform.machine()}"


if __name__ == "__main__":
    main()
