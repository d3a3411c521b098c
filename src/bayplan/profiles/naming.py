"""Which class a profile means by a name.

Names are those of built-in plugins, of plugins that installed packages bring, or dotted paths. One that is named by its
path somewhere in a profile may be named by its class alone elsewhere in it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from bayplan.plugins.registry import BUILT_IN, WITHOUT_EFFECT, installed, is_dotted, load_installed, load_plugin
from bayplan.profiles.file import PluginSet, PluginSets
from bayplan.profiles.merging import ALL, sets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bayplan.plugins.arguments import Problem
    from bayplan.profiles.file import ProfileEntry


def short(reference: str) -> str:
    """What a plugin is called in stories and messages."""
    return reference.rpartition(":")[2].rpartition(".")[2] if is_dotted(reference) else reference


def named(profile: ProfileEntry) -> Iterator[str]:
    """Every name that the profile enables or configures."""
    for _, own in sets_of(profile.plugins):
        yield from (one.name for one in own.enabled)
    yield from (one.name for one in profile.plugin_config)


def with_full_names(profile: ProfileEntry) -> ProfileEntry:
    """The same profile, every plugin with a path called by it throughout."""
    paths = {short(name): name for name in named(profile) if is_dotted(name) and short(name) not in BUILT_IN}
    if not paths:
        return profile
    plugins = PluginSets(**{name: _renamed(own, paths) for name, own in sets_of(profile.plugins)})
    config = tuple(replace(one, name=paths.get(one.name, one.name)) for one in profile.plugin_config)
    return replace(profile, plugins=plugins, plugin_config=config)


def _renamed(own: PluginSet, paths: Mapping[str, str]) -> PluginSet:
    lists = {
        one.name: tuple(replace(entry, name=paths.get(entry.name, entry.name)) for entry in getattr(own, one.name))
        for one in fields(own)
    }
    return PluginSet(**lists)


@dataclass(frozen=True, slots=True)
class Names:
    """The classes behind names, as one profile sees them."""

    #: Built-in plugins whose place an installed one takes.
    replaced: frozenset[str]
    #: Plugins that were handed over as objects.
    given: Mapping[str, Any]

    @classmethod
    def of(cls, profile: ProfileEntry, given: Mapping[str, Any]) -> Names:
        """An installed plugin takes the place of ours with the same name only where ours is disabled by name."""
        gone = profile.plugins.multi_point.disabled_names
        return cls(frozenset(name for name in _colliding() if name in gone or ALL in gone), given)

    def load(self, name: str) -> type[Any]:
        """The class; a UsageError says why there is none."""
        if name in self.given:
            return type(self.given[name])
        return load_installed(name) if name in self.replaced else load_plugin(name)

    def is_built_in(self, name: str) -> bool:
        """Whether it is ours."""
        return name in BUILT_IN and name not in self.replaced

    def collisions(self, used: Iterable[str]) -> Iterator[Problem]:
        """Plugins that a story could not tell apart. One that is installed has to be chosen or ruled out."""
        first: dict[str, str] = {}
        for name in used:
            if short(name) in first:
                yield "", f"{first[short(name)]!r} and {name!r} would both be called {short(name)}; disable one"
            first.setdefault(short(name), name)
            if name in _colliding() and name not in self.replaced:
                package = installed()[name].value
                yield "", f"{package} is installed as {name} too; disable {name} under multiPoint to use that one"


def has_no_effect(name: str) -> bool:
    """Whether kube-scheduler takes the name, and does nothing for it with its gates as they are by default."""
    return name in WITHOUT_EFFECT


def _colliding() -> frozenset[str]:
    return frozenset(installed()) & BUILT_IN.keys()
