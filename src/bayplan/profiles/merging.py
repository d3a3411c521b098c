"""A profile's plugin sets on top of the default ones, and the plugins of each point that come of it.

kube-scheduler does it in two steps, and so do we, because both show: what it prints is merged and not yet spread out.

1. A set is laid over the default one. What is disabled leaves it; what is enabled by a name that is there takes that
   place, with its weight; the rest goes to the end.
2. What is enabled for all points goes to each point that it has, unless it is disabled there. At a point come first
   those that the file names there and `multiPoint` names too, in the order of the point; then those of `multiPoint`
   alone; then those of the point alone.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from bayplan.profiles.file import PluginEntry, PluginSet, PluginSets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALL = "*"

#: kube-scheduler's, with the feature gates as they are by default.
DEFAULTS = PluginSets(
    multi_point=PluginSet(
        enabled=tuple(
            PluginEntry(name, weight)
            for name, weight in (
                ("SchedulingGates", 0),
                ("PrioritySort", 0),
                ("NodeName", 0),
                ("NodeUnschedulable", 0),
                ("TaintToleration", 3),
                ("NodeAffinity", 2),
                ("NodePorts", 0),
                ("NodeResourcesFit", 1),
                ("VolumeRestrictions", 0),
                ("NodeVolumeLimits", 0),
                ("VolumeBinding", 0),
                ("VolumeZone", 0),
                ("PodTopologySpread", 2),
                ("InterPodAffinity", 2),
                # Before preemption, so that claims which nobody uses go before pods do.
                ("DynamicResources", 2),
                ("DefaultPreemption", 0),
                ("NodeResourcesBalancedAllocation", 1),
                ("ImageLocality", 1),
                ("DefaultBinder", 0),
                ("NodeDeclaredFeatures", 0),
            )
        )
    )
)


def sets_of(plugins: PluginSets) -> Iterator[tuple[str, PluginSet]]:
    """Each point's name and its set."""
    return ((one.name, getattr(plugins, one.name)) for one in fields(plugins))


def merge(custom: PluginSets, defaults: PluginSets = DEFAULTS) -> PluginSets:
    """The sets of a file over the default ones."""
    return PluginSets(**{name: _merge_set(getattr(defaults, name), own) for name, own in sets_of(custom)})


def _merge_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    disabled = (*custom.disabled, *default.disabled)
    gone = {one.name for one in disabled}
    anew = {one.name: index for index, one in enumerate(custom.enabled)}
    kept = [] if ALL in gone else [one for one in default.enabled if one.name not in gone]
    replaced = {anew[one.name] for one in kept if one.name in anew}
    in_place = [custom.enabled[anew[one.name]] if one.name in anew else one for one in kept]
    added = [one for index, one in enumerate(custom.enabled) if index not in replaced]
    return PluginSet((*in_place, *added), tuple(PluginEntry(one.name) for one in disabled))


def spread(point: PluginSet, multi_point: PluginSet, has_point: Callable[[str], bool]) -> tuple[str, ...]:
    """The names of the plugins at a point, in order. `has_point` says of a name whether the plugin has it."""
    named = [one.name for one in point.enabled if has_point(one.name)]
    gone = point.disabled_names
    if ALL in gone:
        return tuple(dict.fromkeys(named))
    everywhere = [one.name for one in multi_point.enabled if has_point(one.name) and one.name not in gone]
    both = [name for name in named if name in everywhere]
    return tuple(dict.fromkeys((*both, *(name for name in everywhere if name not in named), *named)))


def weights(sets: PluginSets) -> dict[str, int]:
    """How much the scores of each plugin count: what is said at `score` comes first, and nothing said is 1."""
    entries = (*sets.score.enabled, *sets.multi_point.enabled)
    return {one.name: one.weight or 1 for one in reversed(entries)}


def needed(sets: PluginSets) -> tuple[str, ...]:
    """All that is enabled anywhere; first what is enabled for all points."""
    others = [one.name for name, own in sets_of(sets) if name != "multi_point" for one in own.enabled]
    return tuple(dict.fromkeys([one.name for one in sets.multi_point.enabled] + others))
