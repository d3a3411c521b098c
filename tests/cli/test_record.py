"""`bayplan record` before anything is started: what it refuses, and how."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str]]

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SCENARIO = "objects: []\nsteps: []\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Where no control plane was ever built."""
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    (tmp_path / "config.yaml").write_text(CONFIG)

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "bayplan", "record", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["sweet", "-o", "t.json"], "there is no flavour sweet; take one of basic, ", id="flavour"),
        pytest.param(["basic", "-o", "json"], "json is no name for a trace; let it end in .json or", id="target"),
        pytest.param(["mine.yaml", "--seed", "2", "-o", "t.json"], "leave --seed, --nodes and --pods to", id="seed"),
        pytest.param(["none.yaml", "-o", "t.json"], "none.yaml is no scenario: ", id="no file"),
        pytest.param(
            ["basic", "--config", "mine.yaml", "-o", "t.json"], "is no KubeSchedulerConfiguration", id="config"
        ),
        pytest.param(["basic", "--nodes", "0", "-o", "t.json"], "'--nodes'", id="no nodes"),
        pytest.param(["basic"], "Missing option '-o'", id="no target"),
    ],
)
def test_wrong_use_is_said_before_anything_starts(run: Run, arguments: list[str], said: str) -> None:
    code, error = run(*arguments)
    assert code == 2
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["basic"], ["mine.yaml"], ["basic", "--config", "config.yaml"]])
def test_without_a_control_plane_it_says_how_to_get_one(run: Run, arguments: list[str]) -> None:
    code, error = run(*arguments, "-o", "t.json.gz")
    assert code == 1
    assert "make controlplane" in error
