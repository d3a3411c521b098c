"""A configuration as kube-scheduler would print it, with all defaults said. It reads back the same."""

from __future__ import annotations

import base64
import dataclasses
import enum
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import msgspec

from bayplan.plugins.registry import BUILT_IN
from bayplan.profiles.durations import format_duration
from bayplan.profiles.file import API_VERSION, KIND
from bayplan.profiles.merging import sets_of
from bayplan.profiles.reading import camel, fields_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.profiles.file import Extender, PluginSets
    from bayplan.profiles.profile import PluginInstance, Profile, SchedulerConfiguration

#: What kube-scheduler prints of an extender even where it is empty.
_ALWAYS = frozenset({"urlPrefix", "httpTimeout", "name"})


def effective(configuration: SchedulerConfiguration) -> dict[str, Any]:
    """The whole configuration as a file would have it."""
    printed = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "parallelism": configuration.parallelism,
        "leaderElection": _object(configuration.leader_election, _any),
        "clientConnection": _object(configuration.client_connection, _any),
        "enableProfiling": configuration.enable_profiling,
        "enableContentionProfiling": configuration.enable_contention_profiling,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": configuration.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": configuration.pod_max_backoff_seconds,
        "profiles": [_profile(profile) for profile in configuration.profiles],
    }
    if configuration.extenders:
        printed["extenders"] = [_extender(extender) for extender in configuration.extenders]
    if configuration.delay_cache_until_active:
        printed["delayCacheUntilActive"] = True
    return printed


def _profile(profile: Profile) -> dict[str, Any]:
    printed: dict[str, Any] = {"schedulerName": profile.scheduler_name, "plugins": _sets(profile.sets)}
    if profile.stated_percentage is not None:
        printed["percentageOfNodesToScore"] = profile.stated_percentage
    known = sorted(profile.plugins.values(), key=lambda one: one.reference)
    arguments = [{"name": one.reference, "args": _arguments(one)} for one in known if _has_arguments(one)]
    if arguments:
        printed["pluginConfig"] = arguments
    return printed


def _sets(sets: PluginSets) -> dict[str, Any]:
    printed: dict[str, Any] = {}
    for name, own in sets_of(sets):
        lists = {"enabled": own.enabled, "disabled": own.disabled}
        printed[camel(name)] = {
            key: [{"name": one.name, "weight": one.weight} for one in entries]
            for key, entries in lists.items()
            if entries
        }
    return printed


def _has_arguments(instance: PluginInstance) -> bool:
    built_in = BUILT_IN.get(instance.reference)
    return built_in.takes_arguments if built_in is not None else bool(fields_of(type(instance.plugin)))


def _arguments(instance: PluginInstance) -> dict[str, Any]:
    printed = _object(instance.plugin, _is_said)
    if instance.reference in BUILT_IN:
        return {"apiVersion": API_VERSION, "kind": f"{instance.reference}Args", **printed}
    return printed


def _extender(extender: Extender) -> dict[str, Any]:
    return _object(extender, lambda key, value: key in _ALWAYS or bool(value))


def _any(_key: str, _value: object) -> bool:
    return True


def _is_said(_key: str, value: object) -> bool:
    """Go leaves out what is null, and most lists that are empty."""
    return value is not None and value != () and value != []


def _object(value: Any, keep: Callable[[str, object], bool]) -> dict[str, Any]:
    printed = {}
    for key, field in fields_of(type(value)).items():
        one = getattr(value, field.name)
        if keep(key, one):
            printed[key] = _value(one, field.type, keep)
    return printed


def _value(value: Any, form: Any, keep: Callable[[str, object], bool]) -> Any:
    if get_origin(form) is Annotated and "duration" in get_args(form)[1:]:
        return format_duration(value)
    match value:
        case enum.Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
        case bytes():
            return base64.b64encode(value).decode()
        case tuple() | list() | frozenset() | set():
            return [_value(one, _inner(form), keep) for one in value]
        case _ if dataclasses.is_dataclass(value):
            return _object(value, keep)
        case _:
            return msgspec.json.decode(msgspec.json.encode(value))


def _inner(form: Any) -> Any:
    return next(iter(get_args(form)), Any)
