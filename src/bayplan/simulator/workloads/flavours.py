"""The flavours there are: what each scenario is about, how large it is, and with which configuration it is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bayplan.errors import UsageError
from bayplan.simulator.workloads import configurations, tales
from bayplan.simulator.workloads.dice import Dice
from bayplan.simulator.workloads.scenario import Scenario
from bayplan.simulator.workloads.story import Story

if TYPE_CHECKING:
    from collections.abc import Callable


class Flavour(NamedTuple):
    """How a story is told, how large it is when nobody says, and with which configuration."""

    tell: Callable[[Story, int], None]
    nodes: int
    pods: int
    configure: Callable[[], configurations.Config] = dict


def make_scenario(flavour: str, *, seed: int = 1, nodes: int | None = None, pods: int | None = None) -> Scenario:
    """The scenario of a flavour, a seed and a size: always the same one."""
    if flavour not in FLAVOURS:
        raise UsageError(f"there is no flavour {flavour}", remedy=f"take one of {', '.join(FLAVOURS)}")
    chosen = FLAVOURS[flavour]
    story = Story(Dice(f"{flavour}/{seed}"), chosen.nodes if nodes is None else nodes)
    chosen.tell(story, chosen.pods if pods is None else pods)
    return Scenario(flavour, seed, story.objects, story.actions, chosen.configure())


FLAVOURS: dict[str, Flavour] = {
    "basic": Flavour(tales.basic, 25, 150),
    "affinity": Flavour(tales.affinity, 25, 150),
    "spread": Flavour(tales.spread, 25, 150),
    "mixed": Flavour(tales.mixed, 25, 150),
    "everything": Flavour(tales.everything, 300, 60, configurations.preempt_everywhere),
    "resources": Flavour(tales.resources, 25, 150),
    "ratio": Flavour(tales.resources, 25, 150, configurations.shaped_by_use),
    "packed": Flavour(tales.resources, 25, 150, configurations.packed),
    "arguments": Flavour(tales.mixed, 25, 150, configurations.argued),
    "odd": Flavour(tales.odd, 20, 150),
    "owners": Flavour(tales.owners, 25, 150),
    "list-defaults": Flavour(tales.owners, 25, 150, configurations.spread_by_list),
    "volumes": Flavour(tales.volumes, 20, 150),
    "waiting": Flavour(tales.waiting, 15, 120),
    "waiting-shaped": Flavour(tales.waiting, 15, 120, configurations.room_scored),
    "gates": Flavour(tales.gates, 15, 100),
    "profiles": Flavour(tales.profiles, 25, 150, configurations.three_profiles),
    "namespaces": Flavour(tales.namespaces, 20, 150),
    "churn": Flavour(tales.churn, 15, 150),
    "preempt": Flavour(tales.preempt, 8, 120),
    "preempt-volumes": Flavour(tales.preempt_volumes, 10, 120),
    "preempt-full": Flavour(tales.preempt_full, 250, 60, configurations.preempt_everywhere),
    # As kube-scheduler comes: it looks at a hundred candidates only, from a random one on.
    "preempt-sampled": Flavour(tales.preempt_full, 250, 40),
}
