"""What a scenario is: a cluster at its beginning, and what happens to it, one action after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: An object as JSON has it. Scenarios are data for somebody else's API, so they are not read into structs.
Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Create:
    """A pod arrives, and waits for a node."""

    pod: Object
    #: A gated pod stays for a later `Update` to release it; else it goes away like any pod that found no node.
    keep_gated: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """An object is there from now on as it stands here: changed, or new. A pod without its gates is released."""

    object: Object


@dataclass(frozen=True, slots=True)
class Delete:
    """An object goes away. A pod that never found a node is gone already, and deleting it again means nothing."""

    kind: str
    #: Empty for what has no namespace.
    namespace: str
    name: str


Action: TypeAlias = Create | Update | Delete


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster, a scheduler's configuration for it, and what happens."""

    flavour: str
    #: None where the scenario was read from a file.
    seed: int | None
    #: In an order in which they can be created: namespaces first, then nodes, then what refers to them.
    objects: Sequence[Object]
    actions: Sequence[Action]
    #: What differs from the default KubeSchedulerConfiguration; empty for the default profile.
    config: Mapping[str, Any] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """How many objects of a kind are there at the beginning."""
        return sum(1 for each in self.objects if each["kind"] == kind)

    @property
    def pods(self) -> int:
        """How many pods arrive."""
        return sum(1 for action in self.actions if isinstance(action, Create))


def identity(content: Object) -> tuple[str, str, str]:
    """An object's kind, namespace and name: what tells it from all others in a scenario."""
    metadata = content["metadata"]
    return content["kind"], metadata.get("namespace", ""), metadata["name"]
