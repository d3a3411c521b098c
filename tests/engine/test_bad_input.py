"""Objects that no API server lets through, and some that it does: a clear error or a clear verdict, and no harm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.contract.events import Gone, Seen
from bayplan.errors import PluginFailure, ValidationError
from bayplan.objects.pod import Container, ContainerPort, ResourceRequirements
from bayplan.objects.selection import LabelSelector, LabelSelectorRequirement
from bayplan.objects.taints import Toleration
from bayplan.testing import HOSTNAME, ZONE, Scene, among, budget, evenly, node, pod, service, where, wish
from bayplan.testing.effort import examples
from bayplan.testing.picture import picture

if TYPE_CHECKING:
    from bayplan.objects.pod import Pod

WEB = {"app": "web"}
BROKEN = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Nope", ("x",)),))
BEYOND = 10**30

UNREADABLE = ["abc", "", "NaN", "inf", "1.2.3", "1e", "9" * 5000]
TOO_MUCH = ["1" + "0" * 30, "1e30", "9223372036854775807", "1Ei", "9e300", 1e30]
LITTLE = ["-5", "-9223372036854775808", "-1e30", "1e-30", "0", -1, None]


def scene() -> Scene:
    scene = Scene()
    scene.add(node("a"), node("b", cpu="2"))
    return scene


@pytest.mark.parametrize("amount", UNREADABLE)
@pytest.mark.parametrize("what", ["node", "pod on a node"])
def test_amounts_that_cannot_be_read_are_refused_and_nothing_has_changed(amount: Any, what: str) -> None:
    there = scene()
    there.add(node("n"), pod("p", node="n", cpu="1"))
    before = picture(there.cluster, order=True)
    bad = node("n", cpu=amount) if what == "node" else pod("p", node="n", memory=amount)

    with pytest.raises(ValidationError, match=r"^(Node n|Pod default/p): .* is not a quantity: "):
        there.add(bad)

    assert picture(there.cluster, order=True) == before
    there.check()


@pytest.mark.parametrize("amount", UNREADABLE)
def test_a_pod_whose_amounts_cannot_be_read_fails_and_others_go_on(amount: str) -> None:
    there = scene()
    for _ in range(2):
        with pytest.raises((PluginFailure, ValidationError), match="is not a quantity"):
            there.decide(pod(memory=amount))
    assert there.place(pod()) is not None


@pytest.mark.parametrize("resource", ["cpu", "memory", "ephemeral-storage", "example.com/gpu"])
@pytest.mark.parametrize("amount", TOO_MUCH)
def test_who_asks_for_more_than_can_be_counted_goes_nowhere(amount: Any, resource: str) -> None:
    there = scene()
    there.add(node("large", resources=dict.fromkeys(["cpu", "memory", "ephemeral-storage", "example.com/gpu"], "80P")))

    said = there.decide(pod(requests={resource: amount}))

    assert said.node is None
    assert f"3 Insufficient {resource}" in said.message


@pytest.mark.parametrize("resource", ["cpu", "memory", "example.com/gpu"])
@pytest.mark.parametrize("amount", TOO_MUCH)
def test_beside_one_that_takes_more_than_can_be_counted_there_is_no_room(amount: Any, resource: str) -> None:
    there = scene()
    there.add(
        node("large", resources={"example.com/gpu": "7"}), pod("greedy", node="large", requests={resource: amount})
    )
    wants = pod(requests={resource: "1"}, node_selector={HOSTNAME: "large"})

    assert there.decide(wants).node is None
    there.check()
    there.remove(pod("greedy"))
    assert there.decide(wants).node == "large"
    there.check()


@pytest.mark.parametrize("amount", LITTLE)
def test_less_than_nothing_is_nothing(amount: Any) -> None:
    there = scene()
    there.add(node("n", cpu=amount, memory=amount), pod("p", node="a", cpu=amount, memory=amount))
    there.check()
    # 1e-30 is rounded up to one thousandth, or one byte.
    assert there.cluster.nodes.resources.allocatable[:2, 2].max() <= 1

    assert there.place(pod("wants", cpu=amount, memory=amount)) is not None
    there.check()


def test_hundreds_of_absurd_pods_on_a_node_do_not_wrap_around() -> None:
    there = scene()
    greedy = [
        pod(f"p{n}", node="a", cpu="92233720368547758", memory="9Ei", overhead={"cpu": "9e15"}) for n in range(300)
    ]
    there.add(*greedy)
    there.check()
    assert there.cluster.nodes.resources.requested.min() >= 0
    assert there.place(pod("wants", cpu="1")) == "b"
    there.remove(*greedy[10:], *greedy[:10])
    there.check()
    assert there.cluster.nodes.resources.requested[:, 0].tolist() == [0] * 4


def test_what_is_not_counted_is_not_read() -> None:
    there = scene()
    there.add(node("n", resources={"unknown": "abc", "kubernetes": ""}))
    assert there.place(pod(cpu="4")) is not None


@pytest.mark.parametrize("count", [-1, 0, 2**31, 2**63, BEYOND])
def test_counts_of_pods(count: int) -> None:
    there = scene()
    there.add(node("n", cpu="100", memory="100Gi", pods=count))
    assert there.decide(pod(cpu="50")).node == ("n" if count > 0 else None)


def test_twenty_thousand_labels() -> None:
    many = {f"key-{number}": "v" for number in range(20_000)}
    there = scene()
    there.add(node("n", labels=many), pod("p", node="n", labels=many), service("s", many))
    wants = pod(labels=many, node_selector={"key-19999": "v"}, far=[among(many, by=HOSTNAME)])
    assert there.decide(wants).message.startswith("0/3 nodes are available: 1 node(s) didn't match pod anti-affinity")


def test_of_two_nodes_or_pods_of_one_name_the_last_is_the_one() -> None:
    there = scene()
    there.add(node("n", cpu="8"), node("n", cpu="1"), pod("p", node="a", cpu="4"), pod("p", node="b", cpu="1"))
    there.check()
    assert there.cluster.nodes.count == 3
    assert there.place(pod("wants", cpu="4")) == "a"


@pytest.mark.parametrize("nameless", [node(""), pod("", node="a"), service("", {})])
def test_what_has_no_name_is_refused(nameless: Any) -> None:
    there = scene()
    before = picture(there.cluster)
    for event in (Seen(nameless), Gone(nameless)):
        with pytest.raises(ValidationError, match=rf"^a {type(nameless).__name__} has no name; give it one"):
            there.cache.apply(event)
    assert picture(there.cluster) == before


def test_owners_that_own_each_other_are_followed_one_step() -> None:
    there = scene()
    assert there.place(pod("p", owner="ReplicaSet/p")) is not None
    assert there.place(pod("q", owner="Pod/q")) is not None


@pytest.mark.parametrize("priority", [2**31 - 1, 0, -(2**31) + 1, -(2**31), 2**31, -(2**40), 2**62])
def test_priorities_at_the_ends(priority: int) -> None:
    there = Scene()
    there.add(node("n", cpu="1"), pod("lowest", node="n", cpu="1", priority=-(2**31)))
    said = there.decide(pod(cpu="1", priority=priority))
    assert (said.preemption is not None) is (priority > -(2**31))


@pytest.mark.parametrize(
    "spec",
    [
        {"priority": BEYOND},
        {"spread": [evenly(WEB, by=ZONE, skew=BEYOND)]},
        {"spread": [evenly(WEB, by=ZONE, min_domains=-BEYOND)]},
        {"near": [wish(BEYOND, among(WEB, by=ZONE))]},
        {"host_ports": [BEYOND]},
        {"tolerations": [Toleration("k", "Exists", "", "", BEYOND)]},
        {"cpu": BEYOND},
    ],
)
def test_numbers_beyond_64_bits_are_told_of(spec: dict[str, Any]) -> None:
    there = scene()
    with pytest.raises(ValidationError, match="Pod default/pod: a number in its spec does not fit 64 bits"):
        there.decide(pod(**spec))
    before = picture(there.cluster)
    with pytest.raises(ValidationError, match="Pod default/pod: a number in its spec does not fit 64 bits"):
        there.add(pod(node="a", **spec))
    assert picture(there.cluster) == before


WEIGHTS = [0, -1, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_of_any_size_make_points_from_0_to_100(weight: int) -> None:
    there = scene()
    wishes = [wish(weight, among(WEB, by=HOSTNAME))] * 4
    there.add(*(pod(f"w{n}", node="a", labels=WEB, near=wishes, far=wishes[:1]) for n in range(5)))
    there.add(pod("v", node="b", labels=WEB))
    for one in (
        pod(labels=WEB, near=wishes),
        pod(labels=WEB, far=wishes),
        pod(nodes=[wish(weight, where(HOSTNAME, "In", "a"))] * 4),
        pod(spread=[evenly(WEB, by=HOSTNAME, skew=weight, strict=False)]),
    ):
        assert_points(there, one)


def assert_points(there: Scene, one: Pod) -> None:
    said = there.decide(one)
    assert said.node in {"a", "b"}
    page = said.story.read()
    assert page is not None
    given = [points for story in page.ranked for points in story.points or ()]
    assert given
    assert all(0 <= points.normalized <= 100 and math.isfinite(points.raw) for points in given)


@pytest.mark.parametrize(
    "spec",
    [
        {"spread": [evenly(BROKEN, by=ZONE)]},
        {"spread": [evenly(BROKEN, by=ZONE, strict=False)]},
        {"nodes": [wish(5, where("disk", "Nope"))]},
    ],
)
def test_selectors_that_break_the_rules_fail_their_pod_as_they_do_in_kube_scheduler(spec: dict[str, Any]) -> None:
    there = scene()
    with pytest.raises(PluginFailure, match="'Nope' is not an operator"):
        there.decide(pod(**spec))
    assert there.place(pod()) is not None


def test_and_those_of_others_are_no_matter_to_it() -> None:
    there = scene()
    there.add(pod("p", node="a", far=[among(BROKEN, by=ZONE)], near=[wish(5, among(BROKEN, by=ZONE))]))
    there.add(budget("b", BROKEN), pod("q", node="b", cpu="2", spread=[evenly(BROKEN, by=ZONE)]))
    assert there.place(pod("r", cpu="3")) == "a"
    assert there.decide(pod("s", cpu="2", priority=5)).preemption is not None


@pytest.mark.parametrize(
    "started",
    ["yesterday", "", "9" * 50, "²" * 19, "\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661T00:00:00Z", "-1"],
)
def test_times_that_are_none(started: str) -> None:
    there = scene()
    there.add(pod("p", node="a", cpu="4", started=started), pod("q", node="b", cpu="2", started=started))
    assert there.decide(pod("r", cpu="1", priority=5)).preemption is not None


@pytest.mark.parametrize(
    "absurd",
    [
        node("n", taints=[f"k{number}:NoSchedule" for number in range(5_000)]),
        node("n", images={"web:1": BEYOND, "db:1": -5, "": 7}),
        node("n", annotations={"a": "x" * 1_000_000}),
        node("n", labels={"": "", "a/b/c": "\0"}),
        pod("p", node="a", containers=tuple(Container(name="same", image="web:1") for _ in range(3_000))),
        pod(
            "p", node="a", host_ports=[ContainerPort(2**62), ContainerPort(-7), ContainerPort(1, "no address", "NONE")]
        ),
        pod("p", node="a", overhead={"cpu": "-9e15"}, resources=ResourceRequirements({"cpu": "-1"})),
        budget("b", WEB, allowed=-BEYOND),
        budget("b", WEB, allowed=BEYOND),
        service("s", {"": ""}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_absurd_does_no_harm_to_others(absurd: Any) -> None:
    there = scene()
    there.add(absurd, pod("low", node="b", labels=WEB, cpu="2"))
    there.check()
    assert there.place(pod("wants", image="web:1", cpu="3", host_ports=[80])) is not None
    assert there.decide(pod("more", cpu="4", priority=5)) is not None
    there.remove(absurd)
    there.check()


amounts = st.sampled_from([*TOO_MUCH, *LITTLE, "1", "3", "9Ei", "92233720368547758"])


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(amounts, amounts), max_size=8), amounts, amounts)
def test_room_is_counted_right_whatever_is_asked_for(there: list[tuple[Any, Any]], cpu: Any, memory: Any) -> None:
    scene = Scene()
    scene.add(node("n", cpu="90P", memory="90P"))
    pods = [pod(f"p{number}", node="n", cpu=cpu, memory=memory) for number, (cpu, memory) in enumerate(there)]
    scene.add(*pods)
    scene.check()
    placed = scene.place(pod("wants", cpu=cpu, memory=memory))
    assert placed is None or not {cpu, memory} & set(TOO_MUCH)
    scene.check()
    scene.remove(*pods)
    scene.check()
