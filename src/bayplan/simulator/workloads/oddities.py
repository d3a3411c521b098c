"""What nobody writes and everybody may: amounts in strange notations, of nothing, or of more than there is anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.simulator.workloads.nodes import GPU, HOSTNAME, ZONE

if TYPE_CHECKING:
    from bayplan.simulator.workloads.dice import Dice
    from bayplan.simulator.workloads.scenario import Object

_CPU_HAD = ("0", "0.5", "1500m", "3e0", "2500000u", "4k", "7", "0.0035k", "16")
#: No memory beyond 92P: a hundred times as much overflows the integers that kube-scheduler scores with.
_MEMORY_HAD = ("0", "1e9", "1.5Gi", "2147483647", "4294967296", "3145728Ki", "5T", "80P", "12345678901234567")
_PODS_HAD = ("0", "1", "3", "11e1", "110", "110")

_CPU_ASKED = ("0", "0.1", "1e-3", "1500u", "33m", "1000000001n", "2.5", "2k")
_MEMORY_ASKED = ("0", "1", "1e3", "0.5Gi", "999999999", "1.1Mi", "3e8", "7P", "128974848000m")


def make_odd(dice: Dice, node: Object) -> None:
    """Give a node strange amounts, and now and then take from it what all nodes have."""
    has = {
        "cpu": dice.one(_CPU_HAD),
        "memory": dice.one(_MEMORY_HAD),
        "pods": dice.one(_PODS_HAD),
        "ephemeral-storage": dice.one(("0", "1e10", "20Gi")),
    }
    if dice.chance(0.4):
        has[GPU] = dice.one(("0", "1", "2e0", "1k"))
    if dice.chance(0.15):
        del has[dice.one(list(has))]
    node["status"] |= {"capacity": has, "allocatable": has}
    if dice.chance(0.2):
        node["metadata"]["labels"].pop(dice.one((HOSTNAME, ZONE)), None)


def add_odd_requests(dice: Dice, pod: Object) -> None:
    """Let a pod ask for strange amounts: of one thing, of several, or explicitly of nothing."""
    requests: dict[str, str] = {}
    if dice.chance(0.8):
        requests["cpu"] = dice.one(_CPU_ASKED)
    if dice.chance(0.8):
        requests["memory"] = dice.one(_MEMORY_ASKED)
    if dice.chance(0.2):
        requests["ephemeral-storage"] = dice.one(("0", "1e9", "1.5Gi"))
    resources: dict[str, Any] = {"requests": requests}
    if dice.chance(0.2):
        requests[GPU] = amount = dice.one(("0", "1", "1e0", "20"))
        resources["limits"] = {GPU: amount}
    pod["spec"]["containers"] = [{**pod["spec"]["containers"][0], "resources": resources}]
