"""A YAML file as places: every value still knows its file, its line and its path when something is wrong with it.

Reading stops at the node tree that PyYAML composes. A kubeconfig often holds the credentials of twenty clusters;
only the entries that are asked for get looked at, so a broken one elsewhere does no harm, and no secret is in a
message: those say what a value must be, never what it is.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from bayplan.errors import CredentialsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TAG = "tag:yaml.org,2002:"
_KINDS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "seq": "a list"}
# The C parser is there wherever PyYAML came as a wheel, and an order of magnitude faster on inline certificates.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a file, or the place where it would stand."""

    file: Path
    #: Such as `users[ann].user.token`; empty for the whole document.
    path: str
    #: None where the file has nothing, or null. Kept out of `repr`, since secrets are below it.
    node: yaml.Node | None = field(repr=False)
    #: The line to name where there is no node: that of the mapping which lacks it.
    line: int = 1

    def __bool__(self) -> bool:
        """Whether anything is written here."""
        return self.node is not None

    @property
    def may_be_mapping(self) -> bool:
        """Whether a mapping is written here, or nothing."""
        return self.node is None or isinstance(self.node, yaml.MappingNode)

    def complain(self, problem: str, *, remedy: str | None = None) -> CredentialsError:
        """The error for this place."""
        where = f"{self.file}, line {self.line}" + (f", {self.path}" if self.path else "")
        return CredentialsError(f"{where}: {problem}", remedy=remedy)

    def get(self, name: str) -> Place:
        """The value under a key of this mapping."""
        path = f"{self.path}.{name}" if self.path else name
        return _place(self.file, path, self._pairs().get(name), self.line)

    def items(self) -> Iterator[tuple[str, Place]]:
        """Every key of this mapping with its value."""
        for key, value in self._pairs().items():
            yield key, _place(self.file, f"{self.path}.{key}", value, self.line)

    def elements(self) -> list[Place]:
        """The elements of this list; those that have a name are known by it."""
        if self.node is None:
            return []
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.complain(f"must be a list, and is {_kind(self.node)}")
        numbered = [
            _place(self.file, f"{self.path}[{index}]", node, self.line) for index, node in enumerate(self.node.value)
        ]
        return [_named(place, self.path) for place in numbered]

    def text(self) -> str:
        """The text here; empty where there is none."""
        if self.node is None:
            return ""
        if not isinstance(self.node, yaml.ScalarNode) or not _is_text(self.node):
            raise self.complain(f"must be text, and is {_kind(self.node)}", remedy="put it into quotes")
        return str(self.node.value)

    def texts(self) -> list[str]:
        """The list of texts here."""
        return [place.text() for place in self.elements()]

    def flag(self) -> bool:
        """The boolean here; false where there is none."""
        if self.node is None:
            return False
        if self.node.tag != f"{_TAG}bool":
            raise self.complain(f"must be true or false, and is {_kind(self.node)}")
        return str(self.node.value).lower() in {"true", "yes", "on", "y"}

    def data(self) -> bytes:
        """The bytes behind the base64 text here."""
        squeezed = "".join(self.text().split())
        try:
            return base64.b64decode(squeezed, validate=True)
        except (binascii.Error, ValueError):
            # The cause is left out: it may quote what it could not read.
            raise self.complain("is not base64", remedy="write it with `base64 -w0 FILE`") from None

    def path_below(self, folder: Path) -> Path | None:
        """The file that this names; a relative one is meant from the folder of the file that names it."""
        written = self.text()
        return folder / written if written else None

    def plain(self) -> object:
        """The value as JSON would have it."""
        if isinstance(self.node, yaml.MappingNode):
            return {key: place.plain() for key, place in self.items()}
        if isinstance(self.node, yaml.SequenceNode):
            return [place.plain() for place in self.elements()]
        if self.node is None or _is_text(self.node):
            return None if self.node is None else self.node.value
        return yaml.safe_load(str(self.node.value))

    def _pairs(self) -> dict[str, yaml.Node]:
        if self.node is None:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.complain(f"must be a mapping, and is {_kind(self.node)}")
        return {str(key.value): value for key, value in _flattened(self.node)}


def read_document(file: Path) -> Place:
    """Parse one file; an empty one is an empty document.

    Raises FileNotFoundError for one that is not there, and UsageError for one that is not YAML.
    """
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CredentialsError(f"{file} cannot be read: {error.strerror}") from error
    try:
        loader = _LOADER(text)
        try:
            return _place(file, "", loader.get_single_node(), 1)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        # The cause is left out: its text quotes the lines around the fault, and those may hold a key.
        raise _unparsable(file, error) from None


def _unparsable(file: Path, error: yaml.YAMLError) -> UsageError:
    mark = getattr(error, "problem_mark", None)
    where = f"{file}, line {mark.line + 1}" if mark is not None else str(file)
    # A message may quote a key or an anchor; what stands in quotes is dropped with the rest of the file.
    problem = (getattr(error, "problem", None) or "it holds characters that YAML does not allow").split("'")[0]
    return UsageError(f"{where}: not YAML: {problem.strip()}", remedy="correct the file")


def _place(file: Path, path: str, node: yaml.Node | None, line: int) -> Place:
    if node is None or node.tag == f"{_TAG}null":
        return Place(file, path, None, line)
    mark = getattr(node, "start_mark", None)
    return Place(file, path, node, line if mark is None else mark.line + 1)


def _named(place: Place, of: str) -> Place:
    if not isinstance(place.node, yaml.MappingNode):
        return place
    name = place.get("name").text()
    return Place(place.file, f"{of}[{name}]", place.node, place.line) if name else place


def _flattened(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """The pairs of a mapping with those of its `<<` before its own, which win over them."""
    merged: list[tuple[yaml.Node, yaml.Node]] = []
    for key, value in node.value:
        if key.tag == f"{_TAG}merge":
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            mappings = [source for source in sources if isinstance(source, yaml.MappingNode)]
            merged += [pair for source in reversed(mappings) for pair in _flattened(source)]
    return merged + [pair for pair in node.value if pair[0].tag != f"{_TAG}merge"]


def _is_text(node: yaml.Node) -> bool:
    """Whether Go's YAML would call it text: unlike PyYAML's, it knows no dates and no numbers to the base of 60."""
    return node.tag in {f"{_TAG}str", f"{_TAG}timestamp"} or (
        node.tag in {f"{_TAG}int", f"{_TAG}float"} and ":" in node.value
    )


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return _KINDS.get(node.tag.removeprefix(_TAG), "text")
