"""Bayplan: Kubernetes scheduling, extended from Python.

What a plugin needs is imported from here, and nothing else is public for plugins. It is loaded when it is asked for, so
that programs which need none of it (`bayplan --help`) do not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayplan.columns.arrays import Bools, Floats, Ints
    from bayplan.columns.cluster import Cluster
    from bayplan.columns.fields import NodeField, annotation, label
    from bayplan.columns.nodes import Node, Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.plugins import ROW, Reads
    from bayplan.contract.scores import AsTheyAre, BetweenExtremes, ByLargest
    from bayplan.contract.verdicts import (
        YES,
        Verdict,
        Verdicts,
        reject,
        reject_first,
        reject_if,
        reject_where,
        yes_to_all,
    )
    from bayplan.errors import BayplanError, PluginFailure
    from bayplan.objects.pod import Pod

__all__ = [
    "ROW",
    "YES",
    "AsTheyAre",
    "BayplanError",
    "BetweenExtremes",
    "Bools",
    "ByLargest",
    "Cluster",
    "Floats",
    "Ints",
    "Node",
    "NodeField",
    "Nodes",
    "PluginFailure",
    "Pod",
    "PodClass",
    "Reads",
    "Verdict",
    "Verdicts",
    "__version__",
    "annotation",
    "label",
    "reject",
    "reject_first",
    "reject_if",
    "reject_where",
    "yes_to_all",
]

__version__ = "0.1.0.dev0"

_MODULES = {
    "columns.arrays": ("Bools", "Floats", "Ints"),
    "columns.cluster": ("Cluster",),
    "columns.fields": ("NodeField", "annotation", "label"),
    "columns.nodes": ("Node", "Nodes"),
    "columns.podclass": ("PodClass",),
    "contract.plugins": ("ROW", "Reads"),
    "contract.scores": ("AsTheyAre", "BetweenExtremes", "ByLargest"),
    "contract.verdicts": (
        "YES",
        "Verdict",
        "Verdicts",
        "reject",
        "reject_first",
        "reject_if",
        "reject_where",
        "yes_to_all",
    ),
    "errors": ("BayplanError", "PluginFailure"),
    "objects.pod": ("Pod",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
