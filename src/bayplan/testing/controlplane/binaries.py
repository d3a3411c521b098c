"""Where the control plane's programs are.

``KUBEBUILDER_ASSETS`` comes first, as everywhere in the Kubernetes world; then the newest complete build in the cache
that ``make controlplane`` fills.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bayplan.errors import EnvironmentFault

#: Without these there is no cluster. The others are asked for when a test needs them.
REQUIRED = ("etcd", "kube-apiserver")

#: build.py writes it into a build's directory when all the programs are there.
_RECEIPT = "build.json"

_REMEDY = "run `make controlplane` (needs Go), or set KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with the control plane's programs in it."""

    directory: Path

    def path(self, name: str) -> Path:
        """The program of this name; an EnvironmentFault says how to get it when it is not there."""
        program = self.directory / name
        if not _is_program(program):
            raise EnvironmentFault(f"{name} is not in {self.directory}", remedy=_REMEDY)
        return program

    def has(self, *names: str) -> bool:
        """Whether all of these are there."""
        return all(_is_program(self.directory / name) for name in names)


def cache_root() -> Path:
    """Where builds are kept: outside any repository, shared by all of them."""
    own = os.environ.get("BAYPLAN_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan"
    return base.absolute() / "controlplane"


def find_binaries() -> Binaries:
    """The programs to test against, or an EnvironmentFault that says in one line how to get them."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets:
        # The programs are run in a directory of their own, where a relative path would lead elsewhere.
        return _check_assets(Path(assets).absolute())
    builds = [
        receipt.parent for receipt in cache_root().glob(f"*/{_RECEIPT}") if Binaries(receipt.parent).has(*REQUIRED)
    ]
    if not builds:
        raise EnvironmentFault("the control plane is not built and KUBEBUILDER_ASSETS is not set", remedy=_REMEDY)
    return Binaries(max(builds, key=lambda build: build.stat().st_mtime))


def _check_assets(directory: Path) -> Binaries:
    found = Binaries(directory)
    missing = [name for name in REQUIRED if not found.has(name)]
    if missing:
        raise EnvironmentFault(
            f"KUBEBUILDER_ASSETS is {directory}, which lacks {' and '.join(missing)}",
            remedy="point it at a directory that has them, or unset it",
        )
    return found


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
