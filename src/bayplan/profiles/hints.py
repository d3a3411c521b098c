"""The types of a class's fields, as they can be used while the program runs.

Annotations are texts, and what they name is often imported for type checkers alone, as linters advise. So a name that
is missing is looked for where its module imports it `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import inspect
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

#: More names than any class has in its annotations.
_MOST = 100


def field_types(form: type[Any]) -> dict[str, Any]:
    """The type of each annotated field. A NameError where a name leads nowhere."""
    known: dict[str, Any] = {}
    for _ in range(_MOST):
        try:
            return get_type_hints(form, localns=known, include_extras=True)
        except NameError as error:
            if error.name is None or error.name in known:
                raise
            known[error.name] = _find(form, error)
    raise NameError(f"the types of {form.__name__} name too much that is not there")


def _find(form: type[Any], error: NameError) -> Any:
    for owner in form.__mro__:
        module = sys.modules.get(owner.__module__)
        for imported, name, shown in _imports_for_checkers(module):
            if shown == error.name:
                found = import_module(imported)
                return getattr(found, name) if name else found
    raise error


def _imports_for_checkers(module: ModuleType | None) -> Iterator[tuple[str, str, str]]:
    """Module, name in it, and the name that it is given here."""
    try:
        tree = ast.parse(inspect.getsource(module)) if module is not None else ast.Module([], [])
    except (OSError, TypeError, SyntaxError):
        return
    for block in tree.body:
        if isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING"):
            yield from _imported(block, module)


def _imported(block: ast.If, module: ModuleType | None) -> Iterator[tuple[str, str, str]]:
    for statement in ast.walk(block):
        if isinstance(statement, ast.ImportFrom):
            origin = _absolute(statement, module)
            yield from ((origin, alias.name, alias.asname or alias.name) for alias in statement.names)
        elif isinstance(statement, ast.Import):
            yield from ((alias.name, "", alias.asname or alias.name) for alias in statement.names)


def _absolute(statement: ast.ImportFrom, module: ModuleType | None) -> str:
    name = statement.module or ""
    if not statement.level:
        return name
    package = (module.__package__ or "") if module is not None else ""
    above = package.split(".")[: len(package.split(".")) - statement.level + 1]
    return ".".join([*above, name] if name else above)
