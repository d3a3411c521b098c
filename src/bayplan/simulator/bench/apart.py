"""Measurements in processes of their own, so that the memory of one is not that of those before it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from bayplan.errors import EnvironmentFault
from bayplan.simulator.bench.run import Result

if TYPE_CHECKING:
    from bayplan.simulator.bench.run import Setting


def measure_apart(setting: Setting) -> Result:
    """Measure once, in a fresh process."""
    command = [sys.executable, "-m", "bayplan", "bench", "engine", "--output", "json", *arguments_for(setting)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise EnvironmentFault(
            f"measuring {setting.workload} on {setting.nodes} nodes ended with exit code {done.returncode}",
            remedy="see above, or take fewer nodes or pods if the memory did not suffice",
        )
    return Result(**json.loads(done.stdout))


def arguments_for(setting: Setting) -> list[str]:
    """The options of `bayplan bench engine` that mean this setting."""
    words: list[str] = []
    for name, value in asdict(setting).items():
        if isinstance(value, bool):
            words += [f"--{name}"] if value else []
        else:
            words += [f"--{name}", str(value)]
    return words
