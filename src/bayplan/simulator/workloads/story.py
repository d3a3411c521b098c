"""A scenario while it is being made up: what is there so far, and what may happen next."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from bayplan.simulator.workloads.nodes import make_node, make_nodes, relabel, resize
from bayplan.simulator.workloads.pods import make_pod
from bayplan.simulator.workloads.scenario import Create, Delete, Update, identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Action, Object

_TEAMS = {"default": None, "blue": "red", "green": None}


class Story:
    """Objects at the beginning, and the actions told so far. The first actions are arrivals more than anything else."""

    def __init__(self, dice: Dice, nodes: int, *, tainted: float = 0.25) -> None:
        self.dice = dice
        #: As they are after the actions told so far.
        self.nodes = make_nodes(dice, nodes, tainted=tainted)
        self.namespaces = [_namespace(name, team) for name, team in _TEAMS.items()]
        self.objects: list[Object] = copy.deepcopy([*self.namespaces, *self.nodes])
        self.actions: list[Action] = []
        self._made_nodes = nodes
        self._made_pods = 0
        #: Pods that arrived and were not sent away. Whether they found a node, nobody knows yet.
        self._here: list[Object] = []

    @property
    def names(self) -> list[str]:
        """The nodes' names."""
        return [node["metadata"]["name"] for node in self.nodes]

    def add(self, *objects: Object) -> None:
        """More that is there at the beginning."""
        self.objects += copy.deepcopy(objects)

    def tell(self, action: Action) -> None:
        """Something happens."""
        self.actions.append(copy.deepcopy(action))

    def arrive(self, dress: Callable[[Object], None], *, size: float = 1.0, keep_gated: bool = False) -> Object:
        """A pod arrives, after `dress` has given it what this flavour is about."""
        pod = make_pod(self.dice, self._made_pods, size=size)
        self._made_pods += 1
        dress(pod)
        self._here.append(pod)
        self.tell(Create(pod, keep_gated=keep_gated))
        return pod

    def leave(self) -> None:
        """One of the pods goes away."""
        if self._here:
            pod = self._here.pop(self.dice.number(0, len(self._here) - 1))
            self.tell(Delete(*identity(pod)))

    def change_pod(self) -> None:
        """A pod's labels change while it runs."""
        if self._here:
            pod = self.dice.one(self._here)
            pod["metadata"]["labels"]["tier"] = self.dice.one(("front", "back", "data"))
            self.tell(Update(pod))

    def change_node(self) -> None:
        """A node's labels, taints, or what it has to give."""
        place = self.dice.number(0, len(self.nodes) - 1)
        change = resize if self.dice.chance(0.25) else relabel
        self.nodes[place] = change(self.dice, self.nodes[place])
        self.tell(Update(self.nodes[place]))

    def add_node(self) -> None:
        """A node joins."""
        self.nodes.append(make_node(self.dice, self._made_nodes))
        self._made_nodes += 1
        self.tell(Update(self.nodes[-1]))

    def remove_node(self) -> None:
        """A node goes away. Its pods are still there, as they are until somebody collects them."""
        if len(self.nodes) > 2:
            node = self.nodes.pop(self.dice.number(0, len(self.nodes) - 1))
            self.tell(Delete(*identity(node)))

    def change_namespace(self) -> None:
        """A namespace changes hands: its labels are what affinity terms select namespaces by."""
        namespace = self.dice.one(self.namespaces)
        labels = {"team": self.dice.one(("red", "grey"))} if self.dice.chance(0.7) else {}
        namespace["metadata"]["labels"] = labels
        self.tell(Update(namespace))

    def add_namespace(self, name: str) -> None:
        """A namespace is made."""
        self.namespaces.append(_namespace(name, "red"))
        self.tell(Update(self.namespaces[-1]))

    def happen(self, *, leave: float = 0.12, node: float = 0.05) -> None:
        """What goes on in every cluster between two arrivals, now and then."""
        if self.dice.chance(leave):
            self.leave()
        if self.dice.chance(node):
            self.change_node()


def _namespace(name: str, team: str | None) -> Object:
    metadata = {"name": name, "labels": {"team": team} if team else {}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
