"""The stories that flavours tell: who arrives, what they ask for, and what happens meanwhile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bayplan.simulator.workloads.configurations import DEFAULT, PACKING, PLAIN
from bayplan.simulator.workloads.oddities import add_odd_requests, make_odd
from bayplan.simulator.workloads.owners import add_owner, make_owners, make_services
from bayplan.simulator.workloads.placement import add_node_affinity, add_pod_affinity, add_spread
from bayplan.simulator.workloads.pods import add_extras, add_scarce_resources
from bayplan.simulator.workloads.scenario import Update
from bayplan.simulator.workloads.storage import add_volumes, change_storage, make_bound_storage
from bayplan.simulator.workloads.tenancy import add_priority, fill, make_budgets, make_hungry_pod
from bayplan.simulator.workloads.waiting import add_waiting_volumes, change_capacity, make_waiting_storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.workloads.scenario import Object
    from bayplan.simulator.workloads.story import Story


def basic(story: Story, pods: int) -> None:
    """Requests, taints, ports, images, node affinity: what a pod is about by itself."""
    story.add(*make_services())
    for _ in range(pods):
        story.arrive(partial(_dress_plainly, story))
        story.happen()


def affinity(story: Story, pods: int) -> None:
    """Pods that want to be near some pods and far from others."""
    for _ in range(pods):
        story.arrive(partial(add_pod_affinity, story.dice))
        story.happen()


def spread(story: Story, pods: int) -> None:
    """Constraints on how evenly pods are spread, under Services that spread some by default."""
    story.add(*make_services())

    def dress(pod: Object) -> None:
        if story.dice.chance(0.7):
            add_spread(story.dice, pod)
        if story.dice.chance(0.3):
            add_node_affinity(story.dice, pod, story.names)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()


def mixed(story: Story, pods: int) -> None:
    """All of the above, in pods whose labels may change while they run."""
    story.add(*make_services())
    for _ in range(pods):
        story.arrive(partial(_dress_fully, story))
        story.happen()
        if story.dice.chance(0.05):
            story.change_pod()


def everything(story: Story, pods: int) -> None:
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


def resources(story: Story, pods: int) -> None:
    """Devices, huge pages, storage on the node."""

    def dress(pod: Object) -> None:
        add_extras(story.dice, pod)
        add_scarce_resources(story.dice, pod)

    for _ in range(pods):
        story.arrive(dress)
        story.happen(node=0.1)


def owners(story: Story, pods: int) -> None:
    """Pods of Services and controllers, spread by default."""
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


def volumes(story: Story, pods: int) -> None:
    """Claims that are bound, and disks named in the pod."""
    story.add(*make_bound_storage(story.dice, story.nodes))
    for _ in range(pods):
        story.arrive(partial(add_volumes, story.dice), size=0.5)
        story.happen(leave=0.3)
        if story.dice.chance(0.05):
            story.tell(change_storage(story.dice, story.nodes))


def waiting(story: Story, pods: int) -> None:
    """Claims that are bound once their first pod has a node."""
    claims = max(4, pods // 2)
    story.add(*make_waiting_storage(story.dice, story.nodes, claims))
    for _ in range(pods):
        story.arrive(lambda pod: add_waiting_volumes(story.dice, pod, claims), size=0.5)
        story.happen(leave=0.2)
        if story.dice.chance(0.15):
            story.tell(change_capacity(story.dice))


def gates(story: Story, pods: int) -> None:
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


def profiles(story: Story, pods: int) -> None:
    """Pods for one of three profiles."""
    names = {DEFAULT: 2, PACKING: 2, PLAIN: 1}

    def dress(pod: Object) -> None:
        _dress_fully(story, pod)
        pod["spec"]["schedulerName"] = story.dice.weighted(names)

    for _ in range(pods):
        story.arrive(dress)
        story.happen()


def namespaces(story: Story, pods: int) -> None:
    """Affinity across namespaces that change hands, and that are made on the way."""
    for number in range(pods):
        story.arrive(partial(add_pod_affinity, story.dice))
        if story.dice.chance(0.25):
            story.change_namespace()
        if number in (10, 40):
            story.add_namespace(f"late-{number}")
        story.happen()


def churn(story: Story, pods: int) -> None:
    """Nodes that join, leave and change."""
    for _ in range(pods):
        story.arrive(partial(_dress_fully, story))
        _now_and_then(story, story.add_node, story.remove_node, story.change_node)
        story.happen(node=0.1)


def preempt(story: Story, pods: int) -> None:
    """Priorities and budgets in a cluster that fills up."""
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


def preempt_volumes(story: Story, pods: int) -> None:
    """Room that is not only cpu and memory: a claim for one pod at a time, attach limits, host ports, anti-affinity."""
    dice = story.dice
    story.add(*make_budgets(dice), *make_bound_storage(dice, story.nodes))

    def dress(pod: Object) -> None:
        add_volumes(dice, pod)
        add_priority(dice, pod)
        if dice.chance(0.3):
            add_extras(dice, pod)
        if dice.chance(0.3):
            add_pod_affinity(dice, pod)

    for _ in range(pods):
        story.arrive(dress, size=0.5)
        story.happen(leave=0.03, node=0.03)


def odd(story: Story, pods: int) -> None:
    """Amounts that nobody would write."""
    for node in story.nodes:
        make_odd(story.dice, node)
    story.objects = [*story.namespaces, *story.nodes]

    def dress(pod: Object) -> None:
        add_odd_requests(story.dice, pod)
        if story.dice.chance(0.2):
            add_spread(story.dice, pod)

    for _ in range(pods):
        story.arrive(dress)
        story.happen(leave=0.2)


def preempt_full(story: Story, pods: int) -> None:
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
