"""Plugins made with their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayplan.plugins.registry import BUILT_IN
from bayplan.profiles.document import Items, Node, Scalar, Table, line_at
from bayplan.profiles.file import API_VERSION
from bayplan.profiles.problems import Problems, child, joined
from bayplan.profiles.reading import UNFIT, Reader

if TYPE_CHECKING:
    from bayplan.profiles.naming import Names

_TYPE_META = ("apiVersion", "kind")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Where the arguments of a plugin stand."""

    node: Node
    path: str


def make_plugin(name: str, form: type[Any], arguments: Arguments, names: Names, problems: Problems) -> Any:
    """The plugin, or UNFIT with what is wrong among the problems."""
    if name in names.given:
        plugin, before = names.given[name], len(problems)
    else:
        built_in = names.is_built_in(name)
        node = _without_type(name, arguments, problems) if built_in else arguments.node
        if built_in and not BUILT_IN[name].takes_arguments:
            node = Table(node.line)
        before = len(problems)
        plugin = Reader(problems, empty_is_default=built_in).read_object(node, form, arguments.path)
    if plugin is not UNFIT:
        _ask_for_problems(name, plugin, arguments, problems)
    return plugin if len(problems) == before else UNFIT


def _without_type(name: str, arguments: Arguments, problems: Problems) -> Node:
    """kube-scheduler's own arguments may say what they are; then it must be so."""
    node = arguments.node
    if not isinstance(node, Table) or not BUILT_IN[name].takes_arguments:
        return node
    for key, wanted in zip(_TYPE_META, (API_VERSION, f"{name}Args"), strict=True):
        said = node.entries.get(key)
        if said is not None and not (isinstance(said, Scalar) and said.value in (None, "", wanted)):
            problems.add(said.line, child(arguments.path, key), f"is not {wanted}")
    kept = {key: one for key, one in node.entries.items() if key not in _TYPE_META}
    return Table(node.line, kept, node.lines, node.faults)


def _ask_for_problems(name: str, plugin: Any, arguments: Arguments, problems: Problems) -> None:
    ask = getattr(plugin, "problems", None)
    if not callable(ask):
        return
    try:
        found = [(str(path), str(message)) for path, message in ask()]
    except Exception as error:  # noqa: BLE001 - a stranger's code
        found = [("", f"{name}.problems() failed: {type(error).__name__}: {error}")]
    for below, message in found:
        path = joined(arguments.path, below)
        # What could not be read has been complained of, and its default is not what the file says.
        if not problems.at(path):
            problems.add(line_at(arguments.node, below), path, message)


def is_given(node: Node) -> bool:
    """Whether there is anything in the arguments."""
    match node:
        case Scalar():
            return node.value is not None
        case Items():
            return True
        case Table():
            return bool(node.entries)
