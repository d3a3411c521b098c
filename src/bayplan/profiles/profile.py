"""What a configuration comes to: for each profile the plugins at each point, in order, with their arguments in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayplan.profiles.file import ClientConnection, LeaderElection, PluginSets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.profiles.file import Extender

_NO_SETS = PluginSets()
_LEADER_ELECTION = LeaderElection()
_CLIENT_CONNECTION = ClientConnection()


@dataclass(frozen=True, slots=True)
class PluginInstance:
    """A plugin of one profile. All its points share it."""

    #: What stories, metrics and messages call it.
    name: str
    #: What the configuration calls it: the same, or its dotted path.
    reference: str
    #: The frozen dataclass, its arguments in its fields.
    plugin: Any
    #: How often its points count; 0 if it does not score.
    weight: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A scheduler's name and what decides for the pods that ask for it. Each tuple is in the order of asking."""

    scheduler_name: str
    #: None for all nodes.
    percentage_of_nodes_to_score: int | None = None
    #: By name, in the order of the names in `multiPoint` and then of the others.
    plugins: Mapping[str, PluginInstance] = field(default_factory=dict, hash=False)
    pre_enqueue: tuple[PluginInstance, ...] = ()
    queue_sort: tuple[PluginInstance, ...] = ()
    #: Those among the filters whose refusal of the pod as such, and whose narrowing, is asked for.
    pre_filter: tuple[PluginInstance, ...] = ()
    filter: tuple[PluginInstance, ...] = ()
    post_filter: tuple[PluginInstance, ...] = ()
    pre_score: tuple[PluginInstance, ...] = ()
    score: tuple[PluginInstance, ...] = ()
    reserve: tuple[PluginInstance, ...] = ()
    permit: tuple[PluginInstance, ...] = ()
    pre_bind: tuple[PluginInstance, ...] = ()
    bind: tuple[PluginInstance, ...] = ()
    post_bind: tuple[PluginInstance, ...] = ()
    multi_point: tuple[PluginInstance, ...] = ()
    #: As in the file, with the defaults merged in: what it is printed from.
    sets: PluginSets = _NO_SETS
    #: As in the file; None where it says nothing.
    stated_percentage: int | None = None


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """A whole configuration. What is read and of no effect here is in it too, and `notes` says so."""

    profiles: tuple[Profile, ...]
    #: As in the file: 0 for all nodes.
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    leader_election: LeaderElection = _LEADER_ELECTION
    client_connection: ClientConnection = _CLIENT_CONNECTION
    #: In the order of the file. The ignorable ones are asked last.
    extenders: tuple[Extender, ...] = ()
    parallelism: int = 16
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
    #: What was accepted and has no effect, a sentence each.
    notes: tuple[str, ...] = ()

    def profile(self, scheduler_name: str) -> Profile | None:
        """The profile for pods of this scheduler name."""
        return next((one for one in self.profiles if one.scheduler_name == scheduler_name), None)
