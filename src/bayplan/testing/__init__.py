"""What Bayplan is tested with, public so that plugin authors can use it too.

What a plugin's tests need is imported from here, and loaded when it is asked for: each room below needs something else
that may not be installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayplan.testing.builders import (
        HOSTNAME,
        ZONE,
        budget,
        namespace,
        node,
        on,
        pod,
        replica_set,
        service,
    )
    from bayplan.testing.plugins import PluginTests
    from bayplan.testing.scene import Scene
    from bayplan.testing.terms import among, evenly, taint, toleration, where, wish

__all__ = [
    "HOSTNAME",
    "ZONE",
    "PluginTests",
    "Scene",
    "among",
    "budget",
    "evenly",
    "namespace",
    "node",
    "on",
    "pod",
    "replica_set",
    "service",
    "taint",
    "toleration",
    "where",
    "wish",
]

_MODULES = {
    "builders": ("HOSTNAME", "ZONE", "budget", "namespace", "node", "on", "pod", "replica_set", "service"),
    "plugins": ("PluginTests",),
    "scene": ("Scene",),
    "terms": ("among", "evenly", "taint", "toleration", "where", "wish"),
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
