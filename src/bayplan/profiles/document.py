"""A YAML or JSON text as a tree that knows the line of everything in it.

The tree is built from the parser's events, without recursion, and all of it is bounded: the length of the text, the
depth, and the number of nodes as they would be with every alias written out, so that a few lines of aliases to aliases
cannot grow into billions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import yaml

from bayplan.errors import ConfigurationError
from bayplan.profiles.scalars import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.profiles.scalars import Plain

#: A configuration with every plugin and argument has 6 KB; one with certificates in it, some tens.
MOST_CHARACTERS = 1_000_000
MOST_NODES = 100_000
MOST_DEPTH = 50

_TOO_DEEP = f"lists and mappings are more than {MOST_DEPTH} deep, aliases written out"

#: What is said of a place in the file that cannot be read at all.
Fault: TypeAlias = tuple[int, str]


@dataclass(slots=True)
class Scalar:
    """A text, number, truth value or null."""

    line: int
    value: Plain
    size: int = 1
    height: int = 0


@dataclass(slots=True)
class Items:
    """A list."""

    line: int
    items: list[Node] = field(default_factory=list)
    #: How many nodes it has in it, and how deep they go, with every alias written out.
    size: int = 1
    height: int = 0


@dataclass(slots=True)
class Table:
    """A mapping from texts."""

    line: int
    entries: dict[str, Node] = field(default_factory=dict)
    #: Where each key stands.
    lines: dict[str, int] = field(default_factory=dict)
    #: Keys that are there twice, or cannot be keys.
    faults: list[Fault] = field(default_factory=list)
    size: int = 1
    height: int = 0
    #: What `<<` adds, unless it is there already.
    merged: list[Table] = field(default_factory=list)
    #: The key whose value comes next.
    key: Scalar | None = None


Node: TypeAlias = Scalar | Items | Table


def parse(text: str | bytes, source: str) -> Node:
    """The tree; a ConfigurationError where the text is no single document of YAML."""
    try:
        return _Builder().build(_prepared(text))
    except _Refused as refused:
        raise ConfigurationError(source, [str(refused)]) from refused
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(source, [f"line {line}: this is no YAML: {_worded(error)}"]) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The parser lets some numbers in directives and escapes through to Python, which refuses them.
        raise ConfigurationError(source, [f"this is no YAML: {str(error).splitlines()[0][:200]}"]) from error


class _Refused(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


def _prepared(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise _Refused(line, "this is not UTF-8") from error
    if len(text) > MOST_CHARACTERS:
        raise _Refused(1, f"the file has {len(text):,} characters; {MOST_CHARACTERS:,} are the most")
    text = text.removeprefix("\ufeff")
    return text.replace("\t", " ") if "\t" in text and _is_json(text) else text


def _is_json(text: str) -> bool:
    """JSON may have tabs between its words, where YAML's parser does not bear them. In its strings it has none."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _worded(error: yaml.MarkedYAMLError) -> str:
    context = f"{error.context}: " if error.context else ""
    tab = "; indent with blanks, not with tabs" if "'\\t'" in str(error.problem) else ""
    return f"{context}{error.problem}{tab}"[:300]


class _Builder:
    """Events in, tree out."""

    def __init__(self) -> None:
        self._open: list[tuple[Items | Table, str | None]] = []
        self._anchors: dict[str, Node] = {}
        self._root: Node | None = None

    def build(self, text: str) -> Node:
        documents = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = _line(event)
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise _Refused(line, "a second document begins; put each configuration into a file of its own")
                case yaml.ScalarEvent():
                    self._scalar(event, line)
                case yaml.SequenceStartEvent():
                    self._start(Items(line), event.anchor)
                case yaml.MappingStartEvent():
                    self._start(Table(line), event.anchor)
                case yaml.AliasEvent():
                    self._alias(event.anchor, line)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end()
        if self._root is None:
            raise _Refused(1, "the file is empty")
        return self._root

    def _start(self, node: Items | Table, anchor: str | None) -> None:
        if len(self._open) >= MOST_DEPTH:
            raise _Refused(node.line, _TOO_DEEP)
        self._open.append((node, anchor))

    def _end(self) -> None:
        node, anchor = self._open.pop()
        if isinstance(node, Table):
            _merge(node)
        self._add(node, anchor)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        text = _whole(event.value)
        try:
            value = resolve(text, event.tag, plain=event.implicit[0])
        except ValueError as error:
            raise _Refused(line, f"{text[:40]!r} {error}") from error
        self._add(Scalar(line, value), event.anchor)

    def _alias(self, anchor: str | None, line: int) -> None:
        node = self._anchors.get(anchor or "")
        if node is None:
            raise _Refused(line, f"*{(anchor or '')[:40]} stands for nothing that has ended before it")
        self._add(node, None)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        holder = self._open[-1][0]
        holder.size += node.size
        holder.height = max(holder.height, node.height + 1)
        if holder.height > MOST_DEPTH:
            raise _Refused(holder.line, _TOO_DEEP)
        if holder.size > MOST_NODES:
            raise _Refused(holder.line, f"there are more than {MOST_NODES:,} values, aliases written out")
        if isinstance(holder, Items):
            holder.items.append(node)
        else:
            _put(holder, node)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _whole(text: str) -> str:
    """JSON writes letters beyond the first 65,536 as two halves; the parser leaves them apart."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _put(table: Table, node: Node) -> None:
    """A key, or the value of the key before."""
    if table.key is None:
        table.key = node if isinstance(node, Scalar) else Scalar(node.line, None)
        return
    key, table.key = table.key, None
    name = _key_text(key.value)
    if name == "<<":
        _put_merged(table, node, key.line)
    elif name is None:
        table.faults.append((key.line, "a key is no text"))
    elif name in table.entries:
        table.faults.append((key.line, f"{name[:60]!r} is there twice; it stands on line {table.lines[name]} too"))
    else:
        table.entries[name] = node
        table.lines[name] = key.line


def _put_merged(table: Table, node: Node, line: int) -> None:
    several = node.items if isinstance(node, Items) else [node]
    for one in several:
        if isinstance(one, Table):
            table.merged.append(one)
        else:
            table.faults.append((line, "<< wants a mapping, or a list of them"))


def _merge(table: Table) -> None:
    for other in table.merged:
        for key, node in other.entries.items():
            if key not in table.entries:
                table.entries[key] = node
                table.lines[key] = other.lines[key]


def _key_text(value: Plain) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return value


def plain(node: Node) -> object:
    """The same as lists and dicts, for whoever wants no lines."""
    match node:
        case Scalar():
            return node.value
        case Items():
            return [plain(one) for one in node.items]
        case Table():
            return {key: plain(one) for key, one in node.entries.items()}


def line_at(root: Node, path: str) -> int:
    """The line of what is at a path, or of the last on the way there that exists."""
    node, line = root, root.line
    for step in _steps(path):
        if isinstance(node, Table) and isinstance(step, str) and step in node.entries:
            line, node = node.lines[step], node.entries[step]
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            line = node.line
        else:
            break
    return line


def _steps(path: str) -> Iterator[str | int]:
    for part in path.replace("[", ".[").split("."):
        if part.startswith("[") and part.endswith("]") and part[1:-1].isdecimal():
            yield int(part[1:-1])
        elif part:
            yield part
