"""Which plugins decide, in which order and with which weight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bayplan.engine.lifting import name_of


@dataclass(frozen=True, slots=True)
class Policy:
    """The plugins of one profile. Of each, only what stands at its point is used."""

    #: Asked in this order: the first that rejects a node is the one that is named.
    filters: tuple[Any, ...] = ()
    #: With their weights.
    scores: tuple[tuple[Any, int], ...] = ()
    #: Asked in turn when no node is feasible, until one has found a way.
    post_filters: tuple[Any, ...] = ()
    pre_enqueue: tuple[Any, ...] = ()
    reserves: tuple[Any, ...] = ()
    permits: tuple[Any, ...] = ()
    pre_binds: tuple[Any, ...] = ()
    #: Prepared, though their filters are switched off: they may still refuse pods as such, or narrow the nodes down.
    only_prepared: tuple[Any, ...] = ()
    #: Names of those that would prepare, and are not asked to: they filter and score without.
    unprepared_filters: frozenset[str] = frozenset()
    unprepared_scores: frozenset[str] = frozenset()
    #: What pods name in `spec.schedulerName`.
    scheduler_name: str = "default-scheduler"
    #: How many of the nodes to look for feasible ones among, in percent; None for all.
    percentage_of_nodes: int | None = None
    #: Names of all plugins, for messages and stories.
    names: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        listed = [name_of(plugin) for plugin in (*self.filters, *(plugin for plugin, _ in self.scores))]
        object.__setattr__(self, "names", tuple(dict.fromkeys(listed)))

    @property
    def reads_annotations(self) -> bool:
        """Whether some plugin reads annotations of pods, so that pods with different ones differ."""
        plugins = (*self.filters, *(plugin for plugin, _ in self.scores))
        return any(getattr(plugin, "reads_annotations", False) for plugin in plugins)
