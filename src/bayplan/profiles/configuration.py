"""From a text to a configuration, or to all that is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.errors import ConfigurationError
from bayplan.profiles.assembly import Assembly, same_queue
from bayplan.profiles.checks import check_file, name_of
from bayplan.profiles.document import Node, Scalar, Table, line_at, parse
from bayplan.profiles.file import API_VERSION, KIND, ConfigurationFile, PluginEntry, PluginSet, PluginSets, ProfileEntry
from bayplan.profiles.problems import Problems
from bayplan.profiles.profile import Profile, SchedulerConfiguration
from bayplan.profiles.reading import UNFIT, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What is read, checked, and has no effect: with the reason.
_IGNORED = {
    "parallelism": "one thread decides, and looks at all nodes at once",
    "clientConnection.qps": "requests are not slowed down",
    "clientConnection.burst": "requests are not slowed down",
    "clientConnection.contentType": "JSON is spoken",
    "clientConnection.acceptContentTypes": "JSON is spoken",
    "enableProfiling": "Go's profiles have no counterpart",
    "enableContentionProfiling": "Go's profiles have no counterpart",
}


def read_configuration(text: str | bytes, source: str = "the configuration") -> SchedulerConfiguration:
    """The configuration in a text of YAML or JSON. A ConfigurationError lists everything that is wrong with it."""
    root = parse(text, source)
    problems = Problems(source)
    file = Reader(problems).read(root, ConfigurationFile, "")
    if file is UNFIT:
        problems.raise_if_any()
    return _complete(file, root, problems, {})


def default_configuration(
    scheduler_name: str = "default-scheduler", plugins: Sequence[object] = ()
) -> SchedulerConfiguration:
    """What there is without a file: kube-scheduler's default profile, and these plugins with it."""
    given: dict[str, Any] = {f"{type(one).__module__}:{type(one).__qualname__}": one for one in plugins}
    if len(given) < len(plugins):
        raise ConfigurationError("the list of plugins", ["a plugin is there twice"])
    enabled = PluginSets(multi_point=PluginSet(tuple(PluginEntry(name) for name in given)))
    file = ConfigurationFile(API_VERSION, KIND, profiles=(ProfileEntry(scheduler_name, plugins=enabled),))
    return _complete(file, Table(1), Problems("the default configuration"), given)


def _complete(
    file: ConfigurationFile, root: Node, problems: Problems, given: Mapping[str, Any]
) -> SchedulerConfiguration:
    for path, message in check_file(file):
        # A place that could not be read has its default now, of which nothing need be said.
        if not problems.at(path):
            problems.add(line_at(root, path), path, message)
    assemblies = list(_assemblies(file, root, problems, given))
    alone = len(assemblies) == 1
    profiles = tuple(one.profile(name_of(one.entry, alone), file.percentage_of_nodes_to_score) for one in assemblies)
    if not len(problems):
        for path, message in same_queue(profiles):
            problems.add(line_at(root, path), path, message)
    problems.raise_if_any()
    notes = (*_notes(root), *(note for one in assemblies for note in one.notes))
    return _result(file, profiles, notes)


def _assemblies(
    file: ConfigurationFile, root: Node, problems: Problems, given: Mapping[str, Any]
) -> Iterator[Assembly]:
    ignored = tuple(
        resource.name
        for extender in file.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    for index, entry in enumerate(file.profiles or (ProfileEntry(),)):
        yield Assembly(entry, f"profiles[{index}]", root, problems, given, ignored)


def _result(file: ConfigurationFile, profiles: tuple[Profile, ...], notes: tuple[str, ...]) -> SchedulerConfiguration:
    contention = file.enable_contention_profiling
    return SchedulerConfiguration(
        profiles=profiles,
        percentage_of_nodes_to_score=file.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds=file.pod_initial_backoff_seconds,
        pod_max_backoff_seconds=file.pod_max_backoff_seconds,
        leader_election=file.leader_election,
        client_connection=file.client_connection,
        extenders=file.extenders,
        parallelism=file.parallelism,
        enable_profiling=file.enable_profiling,
        enable_contention_profiling=file.enable_profiling if contention is None else contention,
        delay_cache_until_active=file.delay_cache_until_active,
        notes=notes,
    )


def _notes(root: Node) -> Iterator[str]:
    for path, reason in _IGNORED.items():
        if _is_stated(root, path):
            yield f"{path} has no effect: {reason}"
    if _is_stated(root, "percentageOfNodesToScore", zero=True):
        yield "percentageOfNodesToScore 0 is all nodes here, where kube-scheduler takes a share of a large cluster"


def _is_stated(root: Node, path: str, *, zero: bool = False) -> bool:
    node: Node | None = root
    for step in path.split("."):
        node = node.entries.get(step) if isinstance(node, Table) else None
    if not isinstance(node, Scalar) or node.value is None:
        return False
    return not zero or node.value == 0
