"""Runs the code blocks of the documentation as tests: `make check` collects README.md and docs.

A block that cannot run where there is no cluster says why, in a comment above it:
``<!--- skip: next "needs a cluster" -->``.

* ``python`` runs, `await` at the top level included; blocks of one page share their names.
* ``console`` runs the lines that begin with `$ bayplan`, and compares what they print with what follows
  them; a line of `…` stands for any lines.
* ``yaml`` and ``json`` must parse.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, SkipParser

if TYPE_CHECKING:
    from sybil import Example

ROOT = Path(__file__).parent


def run_python(example: Example) -> None:
    source = "\n" * (example.line - 1) + str(example.parsed)
    code = compile(source, example.path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    result: Any = eval(code, example.namespace)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def run_console(example: Example) -> str | None:
    for command, expected in _commands(str(example.parsed)):
        if not command.startswith("bayplan"):
            continue
        printed = _run(command)
        if expected and not _matches(expected, printed):
            return f"$ {command}\nprinted\n{printed}\ninstead of\n{expected}"
    return None


def parse_yaml(example: Example) -> None:
    list(yaml.safe_load_all(str(example.parsed)))


def parse_json(example: Example) -> None:
    json.loads(str(example.parsed))


def _commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ (.*)\n?", block, flags=re.MULTILINE)[1:]
    return [(parts[i].split("#")[0].strip(), parts[i + 1].strip()) for i in range(0, len(parts), 2)]


def _run(command: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": home,
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            cwd=ROOT,
            check=False,
        )
    return (done.stdout + done.stderr).strip()


def _matches(expected: str, printed: str) -> bool:
    pattern = r".*".join(re.escape(part.strip("\n")) for part in re.split(r"^…$", expected, flags=re.MULTILINE))
    return re.fullmatch(pattern, printed, flags=re.DOTALL) is not None


pytest_collect_file = Sybil(
    parsers=[
        SkipParser(),
        CodeBlockParser(language="python", evaluator=run_python),
        CodeBlockParser(language="console", evaluator=run_console),
        CodeBlockParser(language="yaml", evaluator=parse_yaml),
        CodeBlockParser(language="json", evaluator=parse_json),
    ],
    patterns=["*.md"],
).pytest()
