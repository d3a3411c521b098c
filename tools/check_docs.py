"""Checks what running the documentation cannot show: dead links, and blocks of a kind that nobody runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])

#: Languages that the root conftest.py runs or parses, and those in which there is nothing to run.
CHECKED = {"python", "console", "yaml", "json"}
NOTHING_TO_RUN = {"text", "diff"}

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(.*)$")
SKIP = re.compile(r'<!--- skip: next(, reason=)? ?"[^"]+" -->')


def main() -> int:
    """Print every problem with its page and line."""
    problems = [problem for page in PAGES for problem in (*broken_links(page), *unrun_blocks(page))]
    problems += unlisted_decisions()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def broken_links(page: Path) -> list[str]:
    """Relative links whose file is missing, or whose heading is."""
    found = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = page if not path else (page.parent / path).resolve()
            if not file.exists():
                found.append(f"{_place(page, number)}: no such file: {target}")
            elif anchor and anchor not in anchors(file):
                found.append(f"{_place(page, number)}: no such heading: {target}")
    return found


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def unrun_blocks(page: Path) -> list[str]:
    """Code blocks that no test runs and that do not say why."""
    found, inside, before = [], False, ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if fence := FENCE.match(line):
            inside = not inside
            language = fence.group(1).strip()
            if inside and language not in CHECKED | NOTHING_TO_RUN and not SKIP.search(before):
                found.append(
                    f"{_place(page, number)}: a block of {language or 'no language'} is never run; "
                    'use one of the languages in tools/check_docs.py, or <!--- skip: next "why" --> above it'
                )
        if line.strip():
            before = line
    return found


def unlisted_decisions() -> list[str]:
    """Decision pages that the index does not name."""
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    return [
        f"docs/decisions/README.md does not list {page.name}"
        for page in sorted(folder.glob("[0-9]*.md"))
        if page.name not in index
    ]


def _place(page: Path, line: int) -> str:
    return f"{page.relative_to(ROOT)}:{line}"


if __name__ == "__main__":
    sys.exit(main())
