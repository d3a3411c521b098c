"""DefaultPreemption: who has to go, and from where."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.meta import Condition
from bayplan.objects.pod import PodResourceClaim, PodStatus
from bayplan.testing import HOSTNAME, Scene, among, budget, node, pod

WEB = {"app": "web"}
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def scene(*there: Any, **nodes: str) -> Scene:
    """Nodes with so many CPUs, and pods."""
    scene = Scene()
    scene.add(*(node(name, cpu=cpu) for name, cpu in nodes.items()), *there)
    return scene


def evicted(there: Scene, **wanted: Any) -> tuple[str, list[str]] | None:
    fields: dict[str, Any] = {"priority": 10, "cpu": "1"}
    found = there.decide(pod("wants", **(fields | wanted))).preemption
    return None if found is None else (found.node, [one.metadata.name for one in found.victims])


def low(name: str, on: str, cpu: str = "1", **more: Any) -> Any:
    return pod(name, node=on, cpu=cpu, **more)


def test_only_pods_of_lower_priority_go() -> None:
    there = scene(
        low("same", "a", priority=10), low("higher", "b", priority=11), low("lower", "c"), a="1", b="1", c="1"
    )

    assert evicted(there) == ("c", ["lower"])
    assert evicted(there, priority=0) is None


def test_no_more_go_than_have_to_and_the_more_important_stay() -> None:
    there = scene(low("a", "n", priority=1), low("b", "n", priority=3), low("c", "n", priority=2), n="3")

    assert evicted(there) == ("n", ["a"])
    assert evicted(there, cpu="2") == ("n", ["c", "a"])


def test_of_equal_pods_those_stay_that_have_been_there_longer() -> None:
    there = scene(low("young", "n", started=LATE), low("old", "n", started=EARLY), low("new", "n"), n="3")

    assert evicted(there) == ("n", ["new"])
    assert evicted(there, cpu="2") == ("n", ["young", "new"])


@pytest.mark.parametrize(
    ("on_a", "on_b"),
    [
        ([{"priority": 5}], [{"priority": 4}]),
        ([{"priority": 4, "cpu": "500m"}, {"priority": 4, "cpu": "500m"}], [{"priority": 4}]),
        ([{"priority": 4, "cpu": "500m"}, {"priority": 2, "cpu": "500m"}], [{"priority": 4}]),
        ([{"started": EARLY}], [{"started": LATE}]),
        ([{"labels": WEB, "priority": -5}], [{"priority": 5}]),
    ],
    ids=["least important", "fewest", "least sum", "latest started", "no budget violated"],
)
def test_the_node_where_it_hurts_least(on_a: list[Any], on_b: list[Any]) -> None:
    there = scene(budget("web", WEB), a="1", b="1")
    for name, pods in (("a", on_a), ("b", on_b)):
        for number, more in enumerate(pods):
            there.add(low(f"{name}{number}", name, **more))
    found = evicted(there)
    assert found is not None
    assert found[0] == "b"


def test_pods_that_a_budget_protects_are_let_back_first() -> None:
    guarded = low("guarded", "n", labels=WEB, started=LATE)
    there = scene(guarded, low("other", "n", started=EARLY), budget("web", WEB), n="2")
    assert evicted(there) == ("n", ["other"])
    # It may go once the budget allows it, and is then the younger of the two.
    there.add(budget("web", WEB, allowed=1))
    assert evicted(there) == ("n", ["guarded"])
    # A pod that is going already is not counted again.
    there.add(budget("web", WEB, allowed=0, disrupted=["guarded"]))
    assert evicted(there) == ("n", ["guarded"])


@pytest.mark.parametrize("selector", [None, {}])
def test_a_budget_that_selects_all_or_none_protects_nobody(selector: Any) -> None:
    there = scene(low("young", "n", labels=WEB, started=LATE), low("old", "n", started=EARLY), n="2")
    there.add(budget("web", selector))
    assert evicted(there) == ("n", ["young"])


def test_distance_can_be_made_too() -> None:
    hermit = pod("hermit", node="n", labels=WEB)
    there = scene(hermit, pod("bystander", node="n"), n="4")

    assert evicted(there, far=[among(WEB, by=HOSTNAME)]) == ("n", ["hermit"])
    assert evicted(there, near=[among({"app": "none"}, by=HOSTNAME)]) is None


def test_who_must_not_preempt_says_so() -> None:
    there = scene(low("lower", "n"), n="1")
    said = there.decide(pod(priority=10, cpu="1", preemption_policy="Never"))

    assert said.preemption is None
    assert said.message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    )


def test_where_nothing_helps_it_is_told_for_each_node() -> None:
    there = scene(low("same", "a", priority=10), a="1", b="100m")
    there.add(node("c", taints=["x:NoSchedule"]))

    assert there.decide(pod(priority=10, cpu="1")).message == (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are "
        "available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    )


def test_whoever_has_been_promised_a_node_waits_for_those_who_leave_it() -> None:
    ends = PodStatus(conditions=(Condition("DisruptionTarget", "True", "PreemptionByScheduler"),))
    there = scene(low("leaving", "n", deleted=True, status=ends), low("other", "m"), n="1", m="1")

    waits = there.decide(pod(priority=10, cpu="1", nominated="n"))
    assert waits.preemption is None
    assert waits.message.endswith("preemption: not eligible due to a terminating pod on the nominated node.")
    assert evicted(there) is not None


def test_a_promise_keeps_others_away_and_not_the_one_that_has_it() -> None:
    there = scene(n="1")
    promised = pod("promised", priority=10, cpu="1", nominated="n")
    there.add(promised)

    assert there.decide(pod("equal", priority=10, cpu="1")).node is None
    assert there.decide(pod("lower", priority=9, cpu="1")).node is None
    assert there.decide(pod("higher", priority=11, cpu="1")).node == "n"
    assert there.decide(promised).node == "n"


def test_one_of_a_class_does_not_stand_in_the_way_of_the_others_promise() -> None:
    """What is known of room is kept for a class; whom a node is promised to is not."""
    there = scene(low("lower", "n"), n="1")
    first, second = (
        pod(name, priority=10, cpu="1", nominated="n" if name == "first" else "") for name in ("first", "second")
    )
    there.add(first)

    assert there.decide(second).preemption is None
    found = there.decide(first).preemption
    assert found is not None
    assert [one.metadata.name for one in found.victims] == ["lower"]
    assert there.decide(second).preemption is None


def test_a_pod_that_is_refused_as_such_frees_no_node_that_has_room() -> None:
    there = scene(low("lower", "n"), n="4")
    said = there.decide(pod(priority=10, cpu="1", resource_claims=(PodResourceClaim("gpu", "claim"),)))
    assert said.node is None
    assert said.preemption is None
