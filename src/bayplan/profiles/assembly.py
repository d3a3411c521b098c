"""One profile of a file, made whole: its names looked up, its plugins made, its points filled."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError
from bayplan.plugins.registry import BUILT_IN, installed, is_dotted, is_gone
from bayplan.profiles.arguments import Arguments, is_given, make_plugin
from bayplan.profiles.document import Node, Scalar, line_at
from bayplan.profiles.merging import ALL, merge, needed, sets_of, spread, weights
from bayplan.profiles.naming import Names, has_no_effect, short, with_full_names
from bayplan.profiles.points import METHODS, OF_GROUPS, has_point, may_name
from bayplan.profiles.problems import Problems, shortened
from bayplan.profiles.profile import PluginInstance, Profile
from bayplan.profiles.reading import UNFIT, camel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayplan.profiles.file import PluginSet, PluginSets, ProfileEntry

_FIT = "NodeResourcesFit"


@dataclass(slots=True)
class Assembly:
    """A profile on its way. What is wrong with it goes into `problems`, what is ignored into `notes`."""

    entry: ProfileEntry
    path: str
    root: Node
    problems: Problems
    given: Mapping[str, Any]
    #: Resources that extenders look after, and NodeResourcesFit is not to count.
    ignored_resources: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    _names: Names = field(init=False)
    _classes: dict[str, type[Any]] = field(init=False, default_factory=dict)
    _unknown: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.entry = with_full_names(self.entry)
        self._names = Names.of(self.entry, self.given)

    def profile(self, scheduler_name: str, percentage: int) -> Profile:
        """The profile. Good for nothing if problems were found."""
        for point, own in sets_of(self.entry.plugins):
            self._check_set(point, own)
        sets = merge(self.entry.plugins)
        used = [name for name in needed(sets) if not has_no_effect(name)]
        arguments = self._arguments()
        instances = self._instances(used, arguments, weights(sets))
        self._note_unused(arguments, used)
        for below, message in self._names.collisions(used):
            self._add(f"plugins{below}", message)
        points = {point: self._at(point, sets, instances) for point in METHODS}
        self._check_points(points)
        stated = self.entry.percentage_of_nodes_to_score
        return Profile(
            scheduler_name=scheduler_name,
            percentage_of_nodes_to_score=(percentage if stated is None else stated) or None,
            plugins=MappingProxyType({one.name: one for one in instances.values()}),
            multi_point=tuple(instances[one.name] for one in sets.multi_point.enabled if one.name in instances),
            sets=sets,
            stated_percentage=stated,
            **points,
        )

    def _check_set(self, point: str, own: PluginSet) -> None:
        """Names that are enabled: each once, each of a plugin that has the point."""
        key = camel(point)
        seen: set[str] = set()
        for index, one in enumerate(own.enabled):
            path = f"plugins.{key}.enabled[{index}]"
            if one.name in seen:
                self._add(path, f"{shortened(one.name)} is enabled there already")
            elif not one.name:
                self._add(f"{path}.name", "has to be given")
            elif has_no_effect(one.name):
                self._note(path, f"{one.name} does nothing without a feature gate that is off by default")
            else:
                self._check_enabled(one.name, one.weight, point, path)
            seen.add(one.name)
        for index, one in enumerate(own.disabled):
            if one.name != ALL and not self._is_known(one.name):
                self._note(
                    f"plugins.{key}.disabled[{index}]", f"{shortened(one.name)} is not a plugin, so nothing goes"
                )

    def _check_enabled(self, name: str, weight: int, point: str, path: str) -> None:
        form = self._class(name, f"{path}.name")
        if form is None:
            return
        if point == "multi_point":
            scores = "score" in BUILT_IN[name].points if name in BUILT_IN else has_point(form, "score")
            if not any(has_point(form, one) for one in METHODS):
                self._add(f"{path}.name", f"{short(name)} has none of the methods of a plugin")
        else:
            scores = point in {"score", "placement_score"}
            if not may_name(name, form, point):
                self._add(f"{path}.name", f"{short(name)} has nothing to say at {camel(point)}")
            elif point in OF_GROUPS:
                self._note(path, "groups of pods are not placed as such")
        if weight < 0 and scores:
            self._add(f"{path}.weight", f"{weight} is below zero")

    def _class(self, name: str, path: str) -> type[Any] | None:
        """The class, looked up once; where there is none, each place that names it is complained of."""
        if name not in self._classes:
            try:
                self._classes[name] = self._names.load(name)
            except UsageError as error:
                self._unknown.add(name)
                self._add(path, str(error))
                return None
        return self._classes[name]

    def _arguments(self) -> dict[str, Arguments]:
        found: dict[str, Arguments] = {}
        for index, config in enumerate(self.entry.plugin_config):
            path = f"pluginConfig[{index}]"
            if not config.name:
                self._add(f"{path}.name", "has to be given")
            elif config.name in found:
                self._add(f"{path}.name", f"{shortened(config.name)} has arguments already")
            else:
                node = config.args if config.args is not None else Scalar(self._line(path), None)
                found[config.name] = Arguments(node, f"{self.path}.{path}.args")
        return found

    def _instances(
        self, used: Iterable[str], arguments: Mapping[str, Arguments], weight_of: Mapping[str, int]
    ) -> dict[str, PluginInstance]:
        """All that is used. Arguments of others are checked as well."""
        made: dict[str, PluginInstance] = {}
        for name in dict.fromkeys([*used, *arguments]):
            if has_no_effect(name) or not name:
                continue
            plugin = self._make(name, arguments.get(name))
            if plugin is not UNFIT and name in used:
                form = self._classes[name]
                weight = weight_of.get(name, 1) if has_point(form, "score") else 0
                made[name] = PluginInstance(short(name), name, plugin, weight)
        return made

    def _make(self, name: str, arguments: Arguments | None) -> Any:
        missing = Arguments(Scalar(self._line("plugins"), None), f"{self.path}.pluginConfig[{short(name)}].args")
        own = arguments or missing
        place = own.path.removeprefix(f"{self.path}.").removesuffix(".args") if arguments else "plugins"
        if name in self._unknown and arguments is None:
            return UNFIT
        form = self._class(name, f"{place}.name" if arguments else place)
        if form is None:
            return UNFIT
        if arguments and name in BUILT_IN and not BUILT_IN[name].takes_arguments and is_given(own.node):
            self._note(place, f"{name} takes no arguments, so these have no effect")
        plugin = make_plugin(name, form, own, self._names, self.problems)
        if name == _FIT and plugin is not UNFIT and self.ignored_resources:
            return dataclasses.replace(plugin, ignored_resources=self.ignored_resources)
        return plugin

    def _at(self, point: str, sets: PluginSets, instances: Mapping[str, PluginInstance]) -> tuple[PluginInstance, ...]:
        def has(name: str) -> bool:
            form = self._classes.get(name)
            return name in instances and form is not None and has_point(form, point) and may_name(name, form, point)

        return tuple(instances[name] for name in spread(getattr(sets, point), sets.multi_point, has))

    def _check_points(self, points: Mapping[str, tuple[PluginInstance, ...]]) -> None:
        if len(self.problems):
            return  # What is missing may be just what could not be made.
        sorting = [one.name for one in points["queue_sort"]]
        if len(sorting) != 1:
            self._add("plugins.queueSort", f"one plugin has to sort the queue; here are {', '.join(sorting) or 'none'}")
        if not points["bind"]:
            self._add("plugins.bind", "one plugin at least has to bind")

    def _note_unused(self, arguments: Mapping[str, Arguments], used: list[str]) -> None:
        for name, own in arguments.items():
            if name not in used and name not in self._unknown:
                self.notes.append(f"{own.path.removesuffix('.args')}: {short(name)} is not enabled")

    def _is_known(self, name: str) -> bool:
        return name in BUILT_IN or name in installed() or is_dotted(name) or is_gone(name) or has_no_effect(name)

    def _note(self, path: str, message: str) -> None:
        self.notes.append(f"{self.path}.{path}: {message}")

    def _add(self, path: str, message: str) -> None:
        self.problems.add(self._line(path), f"{self.path}.{path}", message)

    def _line(self, path: str) -> int:
        return line_at(self.root, f"{self.path}.{path}")


def same_queue(profiles: Iterable[Profile]) -> Iterable[tuple[str, str]]:
    """All profiles share one queue, so they have to sort it alike."""
    first, *others = profiles
    for index, other in enumerate(others, start=1):
        if other.sets.queue_sort != first.sets.queue_sort:
            yield f"profiles[{index}].plugins.queueSort", "is not the same as in profiles[0]"
        elif [(one.reference, one.plugin) for one in other.queue_sort] != [
            (one.reference, one.plugin) for one in first.queue_sort
        ]:
            yield f"profiles[{index}].plugins", "sorts the queue otherwise than profiles[0]"
