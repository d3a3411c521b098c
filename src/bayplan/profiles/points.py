"""Extension points: what they are called, and which of them a plugin has.

A filter or a score has three forms here, scalar, vectorised and prepared, and each of them makes a plugin one that
filters or scores. `preFilter` and `preScore` are had by those that prepare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.plugins.registry import BUILT_IN
from bayplan.profiles.reading import camel

if TYPE_CHECKING:
    from collections.abc import Mapping

#: By the name of the field, in the order in which they are come by: the methods of which one is enough to have it.
METHODS: Mapping[str, tuple[str, ...]] = {
    "pre_enqueue": ("pre_enqueue",),
    "queue_sort": ("queue_sort",),
    "pre_filter": ("pre_filter",),
    "filter": ("filter", "filter_nodes", "pre_filter"),
    "post_filter": ("post_filter",),
    "pre_score": ("pre_score",),
    "score": ("score", "score_nodes", "pre_score"),
    "reserve": ("reserve",),
    "permit": ("permit",),
    "pre_bind": ("pre_bind",),
    "bind": ("bind",),
    "post_bind": ("post_bind",),
}

#: kube-scheduler's points for groups of pods, behind a gate that is off by default. They are read, and nothing more.
OF_GROUPS = ("placement_generate", "placement_score", "pod_group_post_filter")


def has_point(plugin: type[Any], point: str) -> bool:
    """Whether the plugin has something to say there."""
    return any(callable(getattr(plugin, method, None)) for method in METHODS.get(point, ()))


def may_name(name: str, plugin: type[Any], point: str) -> bool:
    """Whether a configuration may enable the plugin there.

    For kube-scheduler's own plugins that is as there, whether ours has less to say at this point or more.
    """
    built_in = BUILT_IN.get(name)
    return camel(point) in built_in.points if built_in is not None else has_point(plugin, point)
