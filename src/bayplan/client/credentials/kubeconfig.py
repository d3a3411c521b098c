"""Which kubeconfig files count, and what they say together.

The rules are client-go's. One file that was named outright is the only one, and must exist. Otherwise the files of
`$KUBECONFIG`, or else `~/.kube/config`, are laid over one another: missing ones are skipped, and of two entries with
one name the first counts whole, so nothing of the second shines through.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.client.credentials.document import read_document
from bayplan.errors import CredentialsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.client.credentials.document import Place


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """What the files say together: entries by name, each still in its place."""

    #: Those that were read, in order of precedence.
    files: tuple[Path, ...]
    #: Those that were looked for and not found.
    missing: tuple[Path, ...]
    current_context: str
    contexts: Mapping[str, Place]
    clusters: Mapping[str, Place]
    users: Mapping[str, Place]

    @property
    def source(self) -> str:
        """The files, for messages."""
        return os.pathsep.join(map(str, self.files))


def read_kubeconfig(explicit: str | Path | None, environ: Mapping[str, str]) -> Kubeconfig:
    """Read the files that count; a UsageError where one of them is no kubeconfig at all."""
    if not explicit:
        return _merge(_candidates(environ))
    merged = _merge([Path(explicit)])
    if merged.missing:
        raise CredentialsError(f"{explicit} does not exist", remedy="name another file, or leave --kubeconfig out")
    return merged


def _candidates(environ: Mapping[str, str]) -> list[Path]:
    if listed := environ.get("KUBECONFIG"):
        return [Path(name) for name in dict.fromkeys(listed.split(os.pathsep)) if name]
    home = environ.get("HOME")
    return [Path(home, ".kube", "config")] if home else []


def _merge(files: Iterable[Path]) -> Kubeconfig:
    read: list[Path] = []
    missing: list[Path] = []
    current = ""
    entries: dict[str, dict[str, Place]] = {"contexts": {}, "clusters": {}, "users": {}}
    for file in files:
        try:
            document = read_document(file)
        except FileNotFoundError:
            missing.append(file)
            continue
        _check_kind(document)
        read.append(file)
        current = current or document.get("current-context").text()
        for section, known in entries.items():
            known.update(_named(document.get(section)) | known)
    return Kubeconfig(tuple(read), tuple(missing), current, **entries)


def _check_kind(document: Place) -> None:
    """Catch the wrong file, such as a manifest, before its lack of contexts is blamed. Both words may be left out."""
    if not document.may_be_mapping:
        raise _no_kubeconfig(document, "this is no mapping, and so no kubeconfig")
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind.text() not in {"", "Config"} or version.text() not in {"", "v1"}:
        raise _no_kubeconfig(document, f"this is {version.text() or 'v1'} {kind.text() or 'Config'}, not a kubeconfig")


def _no_kubeconfig(document: Place, problem: str) -> UsageError:
    # Not the credentials are wrong but the file that was named.
    told = document.complain(problem)
    return UsageError(told.problem, remedy="name a file of kind Config")


def _named(section: Place) -> dict[str, Place]:
    """Each entry below its name: `- name: x` beside `cluster:`, `context:` or `user:`."""
    inner = {"contexts": "context", "clusters": "cluster", "users": "user"}[section.path]
    named: dict[str, Place] = {}
    for entry in section.elements():
        name = entry.get("name").text()
        if name in named:
            raise entry.complain(f"{inner} {name!r} is defined twice in this file", remedy="keep one of them")
        named[name] = entry.get(inner)
    return named
