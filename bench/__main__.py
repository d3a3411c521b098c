"""`make bench`: measure the client beside others, in one run on one machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SUBJECTS = ("bayplan", "lightkube", "kubernetes_asyncio")
#: The last is the same list from a real API server, where one is built.
WORKS = ("list", "watch", "list-real")

#: A subject that takes longer than this for one piece of work is given up.
LONGEST = 600.0


def main() -> None:
    """Run every piece of work with every subject in turn, and print the medians."""
    options = arguments()
    rows: list[dict[str, Any]] = []
    if replayed := [work for work in options.only if work != "list-real"]:
        with replaying(options.pods, options.events) as kubeconfig:
            rows += [row for work in replayed for row in measure(work, kubeconfig, options)]
    if "list-real" in options.only:
        rows += measure_real(options)
    report = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "rows": rows}
    if options.output == "json":
        print(json.dumps(report, indent=2))
    else:
        show(report)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=WORKS, default=WORKS, help="measure only these")
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=SUBJECTS, help="measure only these clients")
    parser.add_argument("--pods", type=int, default=10_000, help="pods in the list (default: 10000)")
    parser.add_argument("--events", type=int, default=50_000, help="events in the watch (default: 50000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the median counts (default: 3)")
    parser.add_argument("--output", choices=("table", "json"), default="table", help="what to print on stdout")
    return parser.parse_args()


@contextmanager
def replaying(pods: int, events: int) -> Iterator[str]:
    """A replay server in a process of its own, and a kubeconfig that leads to it."""
    command = [sys.executable, "-m", "bench.replay", str(pods), str(events)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            with tempfile.TemporaryDirectory() as folder:
                yield str(write_kubeconfig(Path(folder) / "config", port))
        finally:
            server.terminate()


def write_kubeconfig(file: Path, port: int) -> Path:
    """Plain HTTP, so that what is measured is the client and not TLS."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "replay", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "replay", "user": {}}],
        "contexts": [{"name": "replay", "context": {"cluster": "replay", "user": "replay"}}],
        "current-context": "replay",
    }
    file.write_text(json.dumps(config))
    return file


def measure(work: str, kubeconfig: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The medians of one piece of work: the subjects take turns, so that a busy moment hits them all."""
    runs: dict[str, list[dict[str, float]]] = {subject: [] for subject in options.subjects}
    for number in range(options.repeat):
        for subject in options.subjects:
            print(f"bench: {work}, {subject}, run {number + 1} of {options.repeat}", file=sys.stderr)
            runs[subject].append(run(subject, work, kubeconfig, options.events))
            assert runs[subject][-1]["objects"] == options.pods, f"{subject} lost objects"
    return [row(work, subject, taken, options) for subject, taken in runs.items()]


def measure_real(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The list from a real API server, or one line that says why not."""
    from bayplan.errors import EnvironmentFault
    from bench.real import control_plane_with_pods

    try:
        with control_plane_with_pods(options.pods) as kubeconfig:
            return measure("list-real", kubeconfig, options)
    except EnvironmentFault as fault:
        print(f"bench: list-real is left out: {fault}", file=sys.stderr)
        return []


def run(subject: str, work: str, kubeconfig: str, events: int) -> dict[str, float]:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "bench.meter", subject, work, kubeconfig, str(events)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LONGEST, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def row(work: str, subject: str, runs: list[dict[str, float]], options: argparse.Namespace) -> dict[str, Any]:
    """What to report of some runs."""
    count = options.events if work == "watch" else options.pods
    seconds = [run["seconds"] for run in runs]
    cpu = [run["cpu_s"] for run in runs]
    return {
        "work": work,
        "subject": subject,
        "seconds": round(statistics.median(seconds), 3),
        "cpu_s": round(statistics.median(cpu), 3),
        "cpu_s_range": [round(min(cpu), 3), round(max(cpu), 3)],
        "per_s": round(count / statistics.median(seconds)),
        "cpu_us_each": round(1e6 * statistics.median(cpu) / count, 1),
        "rss_mb": round(statistics.median(run["rss_mb"] for run in runs)),
        "rss_before_mb": round(statistics.median(run["rss_before_mb"] for run in runs)),
    }


def machine() -> str:
    """What the figures belong to."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def show(report: dict[str, Any]) -> None:
    """A table in Markdown, ready for docs/performance.md."""
    print(f"{report['date']}, {report['machine']}\n")
    print("| work | client | objects/s | CPU | CPU each | RSS (of it imports) |")
    print("|---|---|---|---|---|---|")
    for found in report["rows"]:
        print(
            f"| {found['work']} | {found['subject']} | {found['per_s']:,} | {found['cpu_s']:.2f} s "
            f"| {found['cpu_us_each']:.0f} µs | {found['rss_mb']} MB ({found['rss_before_mb']}) |"
        )


if __name__ == "__main__":
    main()
