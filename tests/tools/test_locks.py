"""The locks: the same code is installed for everybody, and whoever installs it decides from where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

LOCKS = sorted((Path(__file__).parents[2] / "locks").glob("*.txt"))

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_each_package_has_one_version_for_every_python(lock: Path) -> None:
    """With two numpys, mypy finds other errors on one Python than on the other."""
    names = [name for name, _ in _REQUIREMENT.findall(lock.read_text())]
    assert names
    assert len(names) == len(set(names))


def test_locks_agree_with_one_another() -> None:
    pinned: dict[str, set[str]] = {}
    for lock in LOCKS:
        for name, version in _REQUIREMENT.findall(lock.read_text()):
            pinned.setdefault(name, set()).add(version)
    assert {name: versions for name, versions in pinned.items() if len(versions) > 1} == {}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_locks_have_hashes_and_name_no_host(lock: Path) -> None:
    text = lock.read_text()
    for requirement in re.split(r"\n(?=\S)", text):
        assert not _REQUIREMENT.match(requirement) or "--hash=sha256:" in requirement, requirement
    assert "://" not in text
    assert "--index-url" not in text
