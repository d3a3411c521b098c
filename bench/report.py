"""Turn the figures of `bench.engine` into pictures, and into the tables of docs/performance.md.

    python -m bench.report .bench/engine.json --pictures docs/pictures --write docs/performance.md

Only what stands between the two marks in the page is written anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.picture import Line, bars, growth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BEGIN = "<!-- engine: written by bench.report, do not edit -->"
END = "<!-- engine: end -->"


def main() -> None:
    """Write what was asked for."""
    options = arguments()
    report = json.loads(options.figures.read_text())
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures(report).items():
            (options.pictures / name).write_text(picture)
    if options.write:
        options.write.write_text(between_marks(options.write.read_text(), tables(report)))
    else:
        print(tables(report))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench.report", description=__doc__.partition("\n")[0])
    parser.add_argument("figures", type=Path, help="what bench.engine wrote")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where the pictures go")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page to write into; else it goes to stdout")
    return parser.parse_args()


def between_marks(page: str, text: str) -> str:
    """The page with what stands between the marks replaced."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        sys.exit(f"bench: the page lacks a line {BEGIN!r} and after it a line {END!r}")
    return f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}"


def pictures(report: dict[str, Any]) -> dict[str, str]:
    """By file name."""
    series = report["series"]
    found = {}
    if "workloads" in series:
        rows = [(one["workload"], one["pods_per_s"]) for one in series["workloads"]]
        found["engine-workloads.svg"] = bars(
            f"Pods decided per second, {series['workloads'][0]['nodes']:,} nodes", rows, "/s"
        )
    panels = []
    if "nodes" in series:
        panels.append(("Time per pod as nodes grow", "nodes", lines(series["nodes"], "nodes")))
    if "classes" in series:
        panels.append(("Time per pod as kinds of pods grow", "kinds of pods", lines(series["classes"], "classes")))
    if panels:
        found["engine-growth.svg"] = growth(panels)
    return found


def lines(rows: Sequence[dict[str, Any]], across: str) -> list[Line]:
    """One line for each workload, calm and in churn."""
    points: dict[str, list[tuple[float, float]]] = {}
    for one in rows:
        name = one["workload"] + (", things move" if one["churn"] else "")
        points.setdefault(name, []).append((one[across], 1e6 / one["pods_per_s"]))
    return [Line(name, found) for name, found in points.items()]


def tables(report: dict[str, Any]) -> str:
    """Everything in Markdown, with the machine and the day."""
    repeated = f"the median of {report['repeat']} runs" if report["repeat"] > 1 else "one run"
    parts = [f"{report['date']}, {report['machine']}; {repeated} each.", ""]
    for name, rows in report["series"].items():
        parts += [*_TITLES[name], "", *table(rows), ""]
        if name == "churn":
            calm, moving = (one["pods_per_s"] for one in rows)
            parts += [f"While things move, {moving / calm:.0%} of the rate is kept.", ""]
    return "\n".join(parts)


_TITLES = {
    "workloads": [
        "### Every workload",
        "",
        "![Pods decided per second, by workload](pictures/engine-workloads.svg)",
    ],
    "large": ["### Large clusters"],
    "churn": ["### When things move"],
    "nodes": ["### As it grows", "", "![Time per pod, by nodes and by kinds of pods](pictures/engine-growth.svg)"],
    "classes": ["By kinds of pods:"],
}


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One row a measurement."""
    yield "| workload | nodes | pods | pods/s (least to most) | p50 | p99 | memory | loaded in | digest |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in rows:
        rates = "{:,.0f} to {:,.0f}".format(*one["pods_per_s_range"])
        yield (
            f"| {_named(one)} | {one['nodes']:,} | {one['pods']:,} "
            f"| {one['pods_per_s']:,.0f} ({rates}) | {one['p50_us']:,.0f} µs | {one['p99_us']:,.0f} µs "
            f"| {one['rss_mb']:,.0f} MB | {one['load_s']:.1f} s | `{one['digest'][:8]}` |"
        )


def _named(one: dict[str, Any]) -> str:
    words = [one["workload"]]
    if one["workload"] == "mixed":
        words.append(f"{one['classes']:,} kinds")
    if one["bound"]:
        words.append(f"{one['bound']:,} running")
    if one["churn"]:
        words.append("things move")
    return ", ".join(words)


if __name__ == "__main__":
    main()
