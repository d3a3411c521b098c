"""What `make bench-engine` makes of its figures, with figures that nobody measured."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parent.parent.parent
PAGE = "# Page\n\n<!-- engine: written by bench.report, do not edit -->\nold\n<!-- engine: end -->\n\nThe end.\n"


def row(**differs: Any) -> dict[str, Any]:
    setting = {"workload": "basic", "nodes": 5000, "pods": 10_000, "classes": 50, "bound": 0, "churn": False}
    found = {"pods_per_s": 2000.0, "p50_us": 4.0, "p99_us": 50.0, "rss_mb": 60.0, "load_s": 0.7, "digest": "ab" * 8}
    return setting | found | {"pods_per_s_range": [1000.0, 3000.0]} | differs


@pytest.fixture
def report(tmp_path: Path) -> Report:
    mixed = [row(workload="mixed"), row(workload="mixed", churn=True, pods_per_s=1500.0)]
    figures = {
        "machine": "a machine",
        "date": "2026-01-01",
        "repeat": 3,
        "series": {
            "workloads": [row(), row(workload="spread", pods_per_s=1.0)],
            "large": [row(bound=150_000)],
            "churn": mixed,
            "nodes": [row(nodes=100), row(nodes=50_000), row(workload="mixed"), row(workload="mixed", nodes=100)],
            "classes": [row(workload="mixed", classes=1), row(workload="mixed", classes=1000)],
        },
    }
    (tmp_path / "figures.json").write_text(json.dumps(figures))

    def report(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bench.report", str(tmp_path / "figures.json"), *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    return report


def test_only_what_is_between_the_marks_is_written_anew(report: Report, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert report("--write", str(page)).returncode == 0
    once = page.read_text()
    assert once.startswith("# Page\n\n<!-- engine: written")
    assert once.endswith("<!-- engine: end -->\n\nThe end.\n")
    assert "old" not in once
    assert "2026-01-01, a machine; the median of 3 runs each." in once
    assert "| basic, 150,000 running | 5,000 | 10,000 | 2,000 (1,000 to 3,000) | 4 µs | 50 µs |" in once
    assert "75% of the rate is kept" in once
    report("--write", str(page))
    assert page.read_text() == once


def test_a_page_without_marks_is_left_alone(report: Report, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    done = report("--write", str(page))
    assert done.returncode != 0
    assert "the page lacks" in done.stderr
    assert page.read_text() == "# Page\n"


def test_pictures_are_small_and_the_same_for_the_same_figures(report: Report, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert report("--pictures", str(tmp_path / folder)).returncode == 0
    pictures = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert pictures == ["engine-growth.svg", "engine-workloads.svg"]
    for name in pictures:
        drawn = (tmp_path / "one" / name).read_text()
        assert drawn == (tmp_path / "two" / name).read_text()
        assert len(drawn) < 20_000
        assert ET.fromstring(drawn).tag.endswith("svg")


def test_the_documentation_has_the_marks(report: Report, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text((ROOT / "docs" / "performance.md").read_text())
    assert report("--write", str(page)).returncode == 0
