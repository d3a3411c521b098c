"""Examples that need no cluster, run as their READMEs say. `tests/e2e/test_examples.py` has the others."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "cool-racks"


def _run(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False)


def test_cool_racks_keeps_what_a_plugin_promises() -> None:
    options = ("-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "ignore")
    done = _run("-m", "pytest", *options, "--rootdir=.", path=".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_cool_racks_goes_by_its_name_once_it_is_installed(tmp_path: Path) -> None:
    """What an installer makes of the example's pyproject.toml, by hand: building it would ask a package index."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "cool_racks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    (group, entries), *_ = project["entry-points"].items()
    (info / "entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in entries.items()))
    code = (
        "from bayplan.testing import Scene\n"
        "text = open('scheduler.yaml').read().replace('cool_racks:CoolRacks', 'CoolRacks')\n"
        "print(Scene(configuration=text).engine.policies['cool'].scores[-1])\n"
    )
    done = _run("-c", code, path=f"{tmp_path}:{EXAMPLE}")
    assert done.stdout.strip() == "(CoolRacks(limit=65.0), 5)", done.stderr
