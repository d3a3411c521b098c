"""Where plugins come from: ours by name, those of installed packages by theirs, any other by its dotted path.

Nothing is imported before somebody asks for it by name.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The group of entry points that a package puts its plugins in.
GROUP = "bayplan.plugins"

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One of ours, named as kube-scheduler names it."""

    name: str
    module: str
    #: The points that kube-scheduler's plugin has, as its configuration calls them.
    points: frozenset[str]
    #: Whether kube-scheduler knows arguments for it. For the others it takes anything and reads nothing.
    takes_arguments: bool


def _built_in(name: str, module: str, points: str, *, arguments: bool = False) -> BuiltIn:
    return BuiltIn(name, f"bayplan.plugins.{module}", frozenset(points.split()), arguments)


_FILTER = "preFilter filter"
_BOTH = "preFilter filter preScore score"

BUILT_IN: Mapping[str, BuiltIn] = {
    one.name: one
    for one in (
        _built_in("DefaultBinder", "defaultbinder", "bind"),
        _built_in("DefaultPreemption", "defaultpreemption", "preEnqueue postFilter podGroupPostFilter", arguments=True),
        _built_in(
            "DynamicResources",
            "dynamicresources",
            "preEnqueue preFilter filter postFilter podGroupPostFilter score reserve preBind",
            arguments=True,
        ),
        _built_in("ImageLocality", "imagelocality", "score"),
        _built_in("InterPodAffinity", "interpodaffinity", _BOTH, arguments=True),
        _built_in("NodeAffinity", "nodeaffinity", _BOTH, arguments=True),
        _built_in("NodeDeclaredFeatures", "nodedeclaredfeatures", _FILTER),
        _built_in("NodeName", "nodename", _FILTER),
        _built_in("NodePorts", "nodeports", _FILTER),
        _built_in("NodeResourcesBalancedAllocation", "balancedallocation", "preScore score", arguments=True),
        _built_in("NodeResourcesFit", "noderesourcesfit", f"{_BOTH} placementScore", arguments=True),
        _built_in("NodeUnschedulable", "nodeunschedulable", _FILTER),
        _built_in("NodeVolumeLimits", "nodevolumelimits", _FILTER),
        _built_in("PodTopologySpread", "podtopologyspread", _BOTH, arguments=True),
        _built_in("PrioritySort", "prioritysort", "queueSort"),
        _built_in("SchedulingGates", "schedulinggates", "preEnqueue"),
        _built_in("TaintToleration", "tainttoleration", _BOTH),
        _built_in("VolumeBinding", "volumebinding", f"{_BOTH} reserve preBind", arguments=True),
        _built_in("VolumeRestrictions", "volumerestrictions", _FILTER),
        _built_in("VolumeZone", "volumezone", _FILTER),
    )
}

#: What kube-scheduler has and we have not. Behind gates that are off by default: enabled without them, they do nothing.
WITHOUT_EFFECT = frozenset(
    {"DeferredPodScheduling", "GangScheduling", "PodGroupPodsCount", "TopologyPlacementGenerator"}
)

#: What kube-scheduler had once and refuses now.
_REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})


def load_plugin(name: str) -> type[Any]:
    """The class of the plugin that is called this in a configuration; a UsageError says why there is none."""
    if name in BUILT_IN:
        return _load(name, f"{BUILT_IN[name].module}:{name}")
    found = installed().get(name)
    if found is not None:
        return _load(name, found.value)
    if _DOTTED.fullmatch(name):
        return _load(name, name)
    raise UsageError(f"{_shown(name)} {_why_unknown(name)}")


def load_installed(name: str) -> type[Any]:
    """The class that an installed package calls this, though it is the name of one of ours."""
    return _load(name, installed()[name].value)


@cache
def installed() -> Mapping[str, EntryPoint]:
    """The plugins of installed packages, by name. Looked for once: it takes a look at every package there is."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def is_dotted(name: str) -> bool:
    """Whether it is a path such as `examples.cool_racks:CoolRacks`."""
    return _DOTTED.fullmatch(name) is not None


def is_gone(name: str) -> bool:
    """Whether kube-scheduler had such a plugin once and refuses it now."""
    return name in _REMOVED


def _why_unknown(name: str) -> str:
    if name in _REMOVED:
        return "was removed from kube-scheduler; NodeVolumeLimits does its work"
    close = difflib.get_close_matches(name[:100], [*BUILT_IN, *installed()], n=1)
    meant = (
        f"; {close[0]} is one" if close else "; name one of kube-scheduler's, an installed one, or package.module:Class"
    )
    return f"is not a plugin{meant}"


def _load(name: str, value: str) -> type[Any]:
    module, _, attribute = value.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # Importing runs whatever a stranger wrote.
        raise UsageError(f"{_shown(name)} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(found, type):
        raise UsageError(f"{_shown(name)} is no plugin: {value} is no class")
    return found


def _shown(name: str) -> str:
    return repr(name if len(name) <= 100 else name[:100] + "…")
