"""Every recorded decision is ours as well; and a decision that is not, is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import UsageError
from bayplan.simulator.batch import play as play_one
from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import parse_trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.simulator.agreement import Agreement

    Play = Callable[[dict[str, Any]], Agreement]

TRACES = sorted((Path(__file__).parent.parent / "traces").glob("*.json.gz"))

#: Where we differ from kube-scheduler, and why. docs/fidelity.md says more of each.
EXCEPTIONS = {
    # While nodes join and leave, kube-scheduler scores a node that nothing has touched by how many nodes had an image
    # when that node was last looked at. We go by how many have it.
    "churn-222": {"ImageLocality"},
}


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_every_decision_is_that_of_kube_scheduler(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayplan.simulator.agreement.KEPT", 1_000_000)
    agreement = play_one(read_trace(path)).agreement
    excepted = EXCEPTIONS.get(path.name.partition(".")[0], set())
    assert [one for one in agreement.disagreements if not is_excepted(one, agreement, excepted)] == []
    assert agreement.complete or excepted
    assert agreement.counts["feasible"].compared >= 10


def is_excepted(one: dict[str, Any], agreement: Agreement, plugins: set[str]) -> bool:
    """Whether it is an exception's, or a total or a choice that follows from one at the same step."""
    if one["aspect"] == "scores" and one["plugin"] != "total":
        return one["plugin"] in plugins
    causes = {other["step"] for other in agreement.disagreements if other.get("plugin") in plugins}
    return one["aspect"] in {"scores", "choice"} and one["step"] in causes


def test_the_small_trace_agrees_in_all_that_it_has(small: dict[str, Any], play: Play) -> None:
    agreement = play(small)
    assert agreement.disagreements == []
    assert agreement.steps == len(small["steps"])
    compared = {aspect: count.compared for aspect, count in agreement.counts.items()}
    assert compared == {"feasible": 4, "scores": 14, "choice": 5, "message": 2, "preemption": 1}


@pytest.mark.parametrize(
    ("step", "change", "aspect", "ours", "theirs"),
    [
        pytest.param(0, {"node": "little"}, "choice", ["big"], "little", id="a node that is not the best"),
        pytest.param(0, {"totals": {"big": 443}}, "feasible", ["big", "little"], ["big"], id="a node too many"),
        pytest.param(1, {"node": "little"}, "feasible", ["big"], ["little"], id="another node"),
        pytest.param(
            2, {"message": "0/2 nodes are available."}, "message", None, "0/2 nodes are available.", id="words"
        ),
        pytest.param(2, {"outcome": "bound", "node": "big"}, "choice", None, "big", id="none instead of a node"),
        pytest.param(1, {"outcome": "unschedulable"}, "feasible", ["big"], [], id="a node instead of none"),
        pytest.param(1, {"outcome": "gated"}, "choice", "decided", "gated", id="a gate that is not there"),
        pytest.param(
            3, {"outcome": "bound", "node": "big"}, "choice", "gated", "bound", id="a gate that is overlooked"
        ),
        pytest.param(
            4,
            {"victims": ["default/there"]},
            "preemption",
            {"node": "big", "victims": ["default/large", "default/light", "default/there"]},
            {"node": "big", "victims": ["default/there"]},
            id="too few victims",
        ),
        pytest.param(
            2,
            {"outcome": "bound", "node": "big", "nominated": "big"},
            "preemption",
            {"node": None, "victims": []},
            {"node": "big", "victims": []},
            id="preemption that does not help",
        ),
    ],
)
def test_what_differs_is_told_with_both_sides(
    small: dict[str, Any], play: Play, step: int, change: dict[str, Any], aspect: str, ours: object, theirs: object
) -> None:
    small["steps"][step] |= change
    agreement = play(small)
    found = [one for one in agreement.disagreements if one["aspect"] == aspect and one["step"] == step]
    assert [(one["trace"], one["theirs"]) for one in found] == [("t.json", theirs)]
    assert found[0]["pod"].startswith("default/")
    assert ours is None or found[0]["ours"] == ours
    assert not agreement.complete


def test_each_score_is_compared_on_each_node_and_told_with_both(small: dict[str, Any], play: Play) -> None:
    scores = small["steps"][0]["scores"]
    scores["NodeResourcesFit"]["big"] -= 1
    scores["Imaginary"] = {"little": 3}
    del scores["ImageLocality"]
    found = {(one["plugin"], one["node"]): (one["ours"], one["theirs"]) for one in play(small).disagreements}
    fit = scores["NodeResourcesFit"]["big"]
    assert found == {
        ("NodeResourcesFit", "big"): (fit + 1, fit),
        ("Imaginary", "little"): (None, 3),
        ("ImageLocality", "big"): (0, None),
        ("ImageLocality", "little"): (0, None),
    }


def test_of_equals_any_may_have_been_drawn(small: dict[str, Any], play: Play) -> None:
    """Two nodes of one size: kube-scheduler takes either, and the next pod finds it taken."""
    twins = [{**small["objects"][0], "metadata": {"name": name}} for name in ("one", "two")]
    pod = small["steps"][1]["create"]
    for first in ("one", "two"):
        step = {"create": pod, "outcome": "bound", "node": first, "totals": {"one": 0, "two": 0}}
        agreement = play({"objects": twins, "steps": [step]})
        assert agreement.counts["choice"].agree == 1


def test_a_volume_that_comes_is_found_available_like_those_that_were_there(small: dict[str, Any]) -> None:
    volume = {"kind": "PersistentVolume", "metadata": {"name": "late"}, "spec": {}, "status": {"phase": "Pending"}}
    small["steps"].insert(0, {"update": volume})
    replay = Replay(parse_trace(json.dumps(small).encode(), "t.json"))

    assert [(note.kind, note.name) for note in replay.notes] == [("PersistentVolume", "late")]
    replay.step(0, replay.trace.steps[0])
    [found] = replay.cache.cluster.volumes
    assert found.status.phase == "Available"


def test_what_was_recorded_is_followed_and_not_what_we_would_have_done(small: dict[str, Any], play: Play) -> None:
    """A wrong choice costs one comparison: the next pods are decided where kube-scheduler had put this one."""
    small["steps"][0]["node"] = "little"
    agreement = play(small)
    # `light` is on `little` now, so that `urgent` need not evict it.
    assert {one["step"] for one in agreement.disagreements} == {0, 4}


def test_a_pod_that_is_gone_or_was_evicted_takes_no_room(small: dict[str, Any], play: Play) -> None:
    deleted = small["steps"].pop(5)
    assert deleted == {"delete": "default/urgent"}
    assert {one["step"] for one in play(small).disagreements} == {7}


def test_something_may_go_that_was_never_there(small: dict[str, Any], play: Play) -> None:
    small["steps"][5:5] = [
        {"delete": gone} for gone in ("default/no", "Node/no", "Service/default/no", "PersistentVolume/no")
    ]
    assert play(small).complete


def test_a_released_pod_is_decided(small: dict[str, Any], play: Play) -> None:
    waits = small["steps"][3]["create"]
    released = {**waits, "spec": {**waits["spec"], "schedulingGates": []}}
    small["steps"].insert(4, {"update": released, "outcome": "bound", "node": "big"})
    small["steps"][5]["victims"].append("default/waits")
    small["steps"][5]["victims"].remove("default/light")
    small["steps"][0]["node"] = "little"
    found = [one for one in play(small).disagreements if one["step"] > 0]
    assert found == []


def test_pods_are_decided_by_the_profile_that_they_name(small: dict[str, Any], play: Play) -> None:
    """One profile ignores taints, and one does not."""
    lax = {"schedulerName": "lax", "plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}}
    small["meta"]["config"] = configured({"schedulerName": "default-scheduler"}, lax)
    tainted = {**small["objects"][0], "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    pod = small["steps"][1]["create"]
    other = {"metadata": {"name": "other", "namespace": "default"}, "kind": "Pod"}
    steps = [
        {"create": pod, "outcome": "unschedulable"},
        {"create": {**other, "spec": {**pod["spec"], "schedulerName": "lax"}}, "outcome": "bound", "node": "big"},
    ]
    agreement = play({"meta": small["meta"], "objects": [tainted], "steps": steps})
    assert [one["aspect"] for one in agreement.disagreements] == ["message"]


def test_a_scheduler_that_is_not_configured_is_told_before_anything_is_played(
    small: dict[str, Any], play: Play
) -> None:
    small["steps"][-1]["create"]["spec"]["schedulerName"] = "nobody"
    with pytest.raises(UsageError, match=r"t\.json: steps\[8\]: pod default/last asks for the scheduler 'nobody'"):
        play(small)


def test_a_plugin_that_fails_is_a_disagreement_with_its_name(small: dict[str, Any], play: Play) -> None:
    wish = {"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "Near", "values": ["ssd"]}]}}
    wishes = {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}
    small["steps"][0]["create"]["spec"]["affinity"] = {"nodeAffinity": wishes}
    agreement = play(small)
    assert [(one["step"], one["theirs"]) for one in agreement.disagreements] == [(0, "big")]
    assert agreement.disagreements[0]["ours"].startswith("plugin NodeAffinity failed while preparing its score")


def test_among_more_candidates_than_are_looked_at_the_best_of_so_many_will_do(play: Play) -> None:
    """By its arguments kube-scheduler looks at two of these three nodes, and nobody knows which."""
    two = preempting(absolute=2)
    assert play(cheap_and_dear(two, "cheap")).complete
    assert play(cheap_and_dear(two, "dear")).complete
    assert not play(cheap_and_dear(two, "dearest")).complete
    assert not play(cheap_and_dear(preempting(absolute=100), "dear")).complete


@pytest.mark.parametrize("victim", ["one", "low", "both"])
@pytest.mark.parametrize("order", [1, -1])
def test_budgets_that_share_a_pod_may_be_gone_through_in_any_order(play: Play, order: int, victim: str) -> None:
    """Whether `both` is charged to the lenient budget too depends on whether the strict one comes first.

    If it does, `one` may go, and does. Else all three are protected, and the least important goes.
    """
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "3", "pods": "10"}}}
    labels = {"both": {"app": "a", "tier": "x"}, "one": {"app": "a"}, "low": {"tier": "y"}}
    pods = [pod(name, 3 - index, nodeName="n") for index, name in enumerate(labels)]
    for one in pods:
        one["metadata"]["labels"] = labels[one["metadata"]["name"]]
    budgets = [budget("strict", 0, tier="x"), budget("lenient", 1, app="a"), budget("none", 0, tier="y")][::order]
    step = {"create": pod("comes", 10), "outcome": "bound", "node": "n", "nominated": "n"}
    agreement = play({"objects": [node, *pods, *budgets], "steps": [step | {"victims": [f"default/{victim}"]}]})
    assert agreement.complete == (victim != "both")


def budget(name: str, allowed: int, **labels: str) -> dict[str, Any]:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


def preempting(absolute: int) -> dict[str, Any]:
    arguments = {"minCandidateNodesPercentage": 1, "minCandidateNodesAbsolute": absolute}
    return configured({"pluginConfig": [{"name": "DefaultPreemption", "args": arguments}]})


def configured(*profiles: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return head | {"profiles": list(profiles)}


def cheap_and_dear(config: dict[str, Any], taken: str) -> dict[str, Any]:
    """Three nodes, each with a pod that is more important than the last one's; and who comes, and whom it evicts."""
    names = ("cheap", "dear", "dearest")
    room = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    nodes = [{"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room}} for name in names]
    pods = [pod(f"on-{name}", priority, nodeName=name) for priority, name in enumerate(names)]
    step = {"create": pod("comes", 10), "outcome": "bound", "node": taken, "nominated": taken}
    return {"meta": {"config": config}, "objects": nodes + pods, "steps": [step | {"victims": [f"default/on-{taken}"]}]}


def pod(name: str, priority: int, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    spec = {"priority": priority, "containers": [container], **spec}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}
