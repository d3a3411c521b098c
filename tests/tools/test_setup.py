"""Setting up: whoever lacks the right Python is told so in one line, whatever target was asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: All that need Python.
TARGETS = ["up", "test", "check", "format", "e2e", "bench", "controlplane", "lock"]


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A directory with a space in its name, in which nothing was set up yet."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "tools", "locks"):
        origin = ROOT / name
        (shutil.copytree if origin.is_dir() else shutil.copy)(origin, folder / name)
    return folder


def make(folder: Path, target: str, python: str) -> tuple[int, list[str]]:
    """Its exit code, and what it says, make's own last word apart."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", target, f"PYTHON={python}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith("make")]


@pytest.mark.parametrize("target", TARGETS)
def test_a_missing_python_is_one_line(fresh: Path, target: str) -> None:
    code, (line,) = make(fresh, target, "no-such-python")
    assert code != 0
    assert line.startswith("bayplan: no no-such-python on the PATH; install Python 3.11 or later")


@pytest.mark.parametrize("target", TARGETS)
def test_a_python_that_is_too_old_is_one_line(fresh: Path, target: str) -> None:
    old = fresh / "old-python"
    old.write_text('#!/bin/sh\ncase "$1" in --version) echo Python 3.6.15 ;; *) exit 1 ;; esac\n')
    old.chmod(0o755)
    code, (line,) = make(fresh, target, "./old-python")
    assert code != 0
    assert line.startswith("bayplan: Python 3.6.15 is too old; install Python 3.11 or later")
