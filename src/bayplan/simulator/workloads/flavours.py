"""The flavours there are: what each scenario is about.

A flavour is a function that tells a story of so many pods. It is found by its name with dashes for underscores.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from bayplan.errors import UsageError
from bayplan.simulator.workloads import configurations
from bayplan.simulator.workloads.dice import Dice
from bayplan.simulator.workloads.owners import add_owner, make_owners, make_services
from bayplan.simulator.workloads.placement import add_node_affinity, add_pod_affinity, add_spread
from bayplan.simulator.workloads.pods import add_extras, add_scarce_resources
from bayplan.simulator.workloads.scenario import Scenario, Update
from bayplan.simulator.workloads.storage import add_volumes, change_storage, make_bound_storage
from bayplan.simulator.workloads.story import Story
from bayplan.simulator.workloads.tenancy import add_priority, fill, make_budgets, make_hungry_pod
from bayplan.simulator.workloads.waiting import add_waiting_volumes, change_capacity, make_waiting_storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.workloads.scenario import Object


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


def _basic(story: Story, pods: int) -> None:
    story.add(*make_services())
    for _ in range(pods):
        story.arrive(partial(_dress_plainly, story))
        story.happen()


def _affinity(story: Story, pods: int) -> None:
    for _ in range(pods):
        story.arrive(partial(add_pod_affinity, story.dice))
        story.happen()


def _spread(story: Story, pods: int) -> None:
    story.add(*make_services())

    def dress(pod: Object) -> None:
        if story.dice.chance(0.7):
            add_spread(story.dice, pod)
        if story.dice.chance(0.3):
            add_node_affinity(story.dice, pod, story.names)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()


def _mixed(story: Story, pods: int) -> None:
    story.add(*make_services())
    for _ in range(pods):
        story.arrive(partial(_dress_fully, story))
        story.happen()
        if story.dice.chance(0.05):
            story.change_pod()


def _everything(story: Story, pods: int) -> None:
    """All of it in a cluster that is full of pods already: storage, priorities, budgets, gates, namespaces."""
    dice, claims = story.dice, 40
    story.add(*make_services(), *make_owners(), *make_budgets(dice))
    story.add(*make_bound_storage(dice, story.nodes[:30]), *make_waiting_storage(dice, story.nodes[30:60], claims))
    _fill(story, each=3)

    def dress(pod: Object) -> None:
        _dress_fully(story, pod)
        add_priority(dice, pod)
        what = dice.number(0, 6)
        if what == 0:
            add_volumes(dice, pod)
        elif what == 1:
            add_waiting_volumes(dice, pod, claims)
        elif what == 2:
            add_owner(dice, pod)
        elif what in (3, 4):
            make_hungry_pod(dice, pod, story.names)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()
        _now_and_then(story, story.change_namespace, story.change_pod, story.add_node)


def _resources(story: Story, pods: int) -> None:
    def dress(pod: Object) -> None:
        add_extras(story.dice, pod)
        add_scarce_resources(story.dice, pod)

    for _ in range(pods):
        story.arrive(dress)
        story.happen(node=0.1)


def _owners(story: Story, pods: int) -> None:
    story.add(*make_services(), *make_owners())

    def dress(pod: Object) -> None:
        if story.dice.chance(0.6):
            add_owner(story.dice, pod)
        if story.dice.chance(0.2):
            add_spread(story.dice, pod)
        if story.dice.chance(0.2):
            add_pod_affinity(story.dice, pod)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()


def _volumes(story: Story, pods: int) -> None:
    story.add(*make_bound_storage(story.dice, story.nodes))
    for _ in range(pods):
        story.arrive(partial(add_volumes, story.dice), size=0.5)
        story.happen(leave=0.3)
        if story.dice.chance(0.05):
            story.tell(change_storage(story.dice, story.nodes))


def _waiting(story: Story, pods: int) -> None:
    claims = max(4, pods // 2)
    story.add(*make_waiting_storage(story.dice, story.nodes, claims))
    for _ in range(pods):
        story.arrive(lambda pod: add_waiting_volumes(story.dice, pod, claims), size=0.5)
        story.happen(leave=0.2)
        if story.dice.chance(0.15):
            story.tell(change_capacity(story.dice))


def _gates(story: Story, pods: int) -> None:
    """Pods that wait for somebody's leave; most of them get it later, some in two steps, some never."""
    gated: list[Object] = []

    def dress(pod: Object) -> None:
        _dress_plainly(story, pod)
        if story.dice.chance(0.5):
            names = story.dice.some(("example.com/quota", "example.com/review", "example.com/data"), 1, 2)
            pod["spec"]["schedulingGates"] = [{"name": name} for name in names]

    for _ in range(pods):
        pod = story.arrive(dress, keep_gated=True)
        if "schedulingGates" in pod["spec"]:
            gated.append(pod)
        if gated and story.dice.chance(0.45):
            pod = gated.pop(story.dice.number(0, len(gated) - 1))
            if _open_one_gate(pod):
                gated.append(pod)
            story.tell(Update(pod))
        story.happen(leave=0.05)


def _profiles(story: Story, pods: int) -> None:
    names = {configurations.DEFAULT: 2, configurations.PACKING: 2, configurations.PLAIN: 1}

    def dress(pod: Object) -> None:
        _dress_fully(story, pod)
        pod["spec"]["schedulerName"] = story.dice.weighted(names)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()


def _namespaces(story: Story, pods: int) -> None:
    for number in range(pods):
        story.arrive(partial(add_pod_affinity, story.dice))
        if story.dice.chance(0.25):
            story.change_namespace()
        if number in (10, 40):
            story.add_namespace(f"late-{number}")
        story.happen()


def _churn(story: Story, pods: int) -> None:
    for _ in range(pods):
        story.arrive(partial(_dress_fully, story))
        _now_and_then(story, story.add_node, story.remove_node, story.change_node)
        story.happen(node=0.1)


def _preempt(story: Story, pods: int) -> None:
    story.add(*make_budgets(story.dice))

    def dress(pod: Object) -> None:
        _dress_plainly(story, pod)
        add_priority(story.dice, pod)
        if story.dice.chance(0.25):
            add_pod_affinity(story.dice, pod)
        if story.dice.chance(0.2):
            add_spread(story.dice, pod)

    for _ in range(pods):
        story.arrive(dress, size=1.6)
        story.happen(leave=0.0, node=0.03)


def _preempt_full(story: Story, pods: int) -> None:
    """A full cluster of hundreds of nodes, budgets that are used up, and pods that must make room for themselves."""
    story.add(*make_budgets(story.dice))
    _fill(story, each=4)
    for _ in range(pods):
        story.arrive(lambda pod: make_hungry_pod(story.dice, pod, story.names))
        story.happen(leave=0.1, node=0.05)


def _now_and_then(story: Story, *changes: Callable[[], None]) -> None:
    if story.dice.chance(0.25):
        story.dice.one(changes)()


def _fill(story: Story, *, each: int) -> None:
    for place, node in enumerate(story.nodes):
        # Small, so that what runs on them takes it all.
        node["status"]["capacity"] |= {"cpu": "3", "memory": "6Gi"}
        node["status"]["allocatable"] |= {"cpu": "3", "memory": "6Gi"}
        count = story.dice.number(each - 1, each + 1)
        story.add(*fill(story.dice, node, place * (each + 1), count))
    kept = [each for each in story.objects if each["kind"] != "Node"]
    namespaces = [each for each in kept if each["kind"] == "Namespace"]
    story.objects = [*namespaces, *story.nodes, *(each for each in kept if each["kind"] != "Namespace")]


def _dress_plainly(story: Story, pod: Object) -> None:
    add_extras(story.dice, pod)
    if story.dice.chance(0.4):
        add_scarce_resources(story.dice, pod)
    if story.dice.chance(0.5):
        add_node_affinity(story.dice, pod, story.names)


def _dress_fully(story: Story, pod: Object) -> None:
    _dress_plainly(story, pod)
    if story.dice.chance(0.4):
        add_pod_affinity(story.dice, pod)
    if story.dice.chance(0.35):
        add_spread(story.dice, pod)


def _open_one_gate(pod: Object) -> bool:
    """Take one gate away; whether there is another."""
    gates = pod["spec"]["schedulingGates"][1:]
    if gates:
        pod["spec"]["schedulingGates"] = gates
        return True
    del pod["spec"]["schedulingGates"]
    return False


FLAVOURS: dict[str, Flavour] = {
    "basic": Flavour(_basic, 25, 150),
    "affinity": Flavour(_affinity, 25, 150),
    "spread": Flavour(_spread, 25, 150),
    "mixed": Flavour(_mixed, 25, 150),
    "everything": Flavour(_everything, 300, 60, configurations.preempt_everywhere),
    "resources": Flavour(_resources, 25, 150),
    "ratio": Flavour(_resources, 25, 150, configurations.shaped_by_use),
    "packed": Flavour(_resources, 25, 150, configurations.packed),
    "owners": Flavour(_owners, 25, 150),
    "list-defaults": Flavour(_owners, 25, 150, configurations.spread_by_list),
    "volumes": Flavour(_volumes, 20, 150),
    "waiting": Flavour(_waiting, 15, 120),
    "waiting-shaped": Flavour(_waiting, 15, 120, configurations.room_scored),
    "gates": Flavour(_gates, 15, 100),
    "profiles": Flavour(_profiles, 25, 150, configurations.three_profiles),
    "namespaces": Flavour(_namespaces, 20, 150),
    "churn": Flavour(_churn, 15, 150),
    "preempt": Flavour(_preempt, 8, 120),
    "preempt-full": Flavour(_preempt_full, 250, 60, configurations.preempt_everywhere),
    # As kube-scheduler comes: it looks at a hundred candidates only, from a random one on.
    "preempt-sampled": Flavour(_preempt_full, 250, 40),
}
