"""From a profile to what the engine is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.engine.policy import Policy
from bayplan.plugins.registry import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.profiles.profile import PluginInstance, Profile, SchedulerConfiguration


def policies_of(configuration: SchedulerConfiguration) -> tuple[Policy, ...]:
    """What each profile decides by."""
    return tuple(policy_of(profile) for profile in configuration.profiles)


def policy_of(profile: Profile) -> Policy:
    """The plugins of a profile at the points that the engine asks."""
    return Policy(
        filters=_plugins(profile.filter),
        scores=tuple((one.plugin, one.weight) for one in profile.score),
        post_filters=_plugins(profile.post_filter),
        pre_enqueue=_plugins(profile.pre_enqueue),
        reserves=_plugins(profile.reserve),
        permits=_plugins(profile.permit),
        pre_binds=_plugins(profile.pre_bind),
        only_prepared=_plugins(one for one in profile.pre_filter if one not in profile.filter),
        unprepared_filters=_unprepared(profile.filter, profile.pre_filter, "preFilter"),
        unprepared_scores=_unprepared(profile.score, profile.pre_score, "preScore"),
        scheduler_name=profile.scheduler_name,
        percentage_of_nodes=profile.percentage_of_nodes_to_score,
    )


def _plugins(instances: Iterable[PluginInstance]) -> tuple[Any, ...]:
    return tuple(one.plugin for one in instances if _decides(one.plugin))


def _unprepared(used: Iterable[PluginInstance], prepared: tuple[PluginInstance, ...], point: str) -> frozenset[str]:
    """Those of kube-scheduler's own that have this point and are switched off there."""
    return frozenset(
        one.name
        for one in used
        if one not in prepared and one.reference in BUILT_IN and point in BUILT_IN[one.reference].points
    )


def _decides(plugin: object) -> bool:
    """Some plugins stand for what the host does, such as binding: they have no method of their own."""
    return plugin is not None
