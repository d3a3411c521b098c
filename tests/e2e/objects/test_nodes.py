"""Node selectors, node affinity and tolerations, against kube-scheduler's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.errors import ValidationError
from bayplan.objects.node import Node
from bayplan.objects.nodeaffinity import compile_node_selector, compile_preferred_affinity, compile_required_affinity
from bayplan.objects.pod import Pod
from bayplan.objects.selection import NodeSelector
from bayplan.objects.taints import Taint, Toleration, find_untolerated, is_tolerated

if TYPE_CHECKING:
    from bayplan.testing.controlplane.oracle import Oracle

pytestmark = pytest.mark.e2e

COUNT = 2000
KEYS = ("zone", "gen", "example.com/disk", "in", "metadata.name")
VALUES = (
    "",
    "a",
    "b",
    "1",
    "2",
    "10",
    "-3",
    "+4",
    "0x5",
    "9223372036854775807",
    "9223372036854775808",
    "00012",
    "1_0",
    "bad value",
)
NAMES = ("n1", "n2", "", "node-3")


def make_nodes(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "metadata": {
                "name": chance.choice(NAMES),
                "labels": {chance.choice(KEYS): chance.choice(VALUES) for _ in range(chance.randrange(5))},
            }
        }
        for _ in range(5)
    ]


def make_expression(chance: random.Random) -> dict[str, Any]:
    operator = chance.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "In", "NotIn", "Gt", "Lt", "gt", ""])
    fitting = {"Exists": 0, "DoesNotExist": 0, "Gt": 1, "Lt": 1}.get(operator, chance.choice([1, 2]))
    count = chance.randrange(3) if chance.random() < 0.1 else fitting
    return {
        "key": chance.choice([*KEYS, "bad key"]) if chance.random() < 0.1 else chance.choice(KEYS),
        "operator": operator,
        "values": [chance.choice(VALUES) for _ in range(count)],
    }


def make_field(chance: random.Random) -> dict[str, Any]:
    return {
        "key": chance.choice(["metadata.name", "metadata.name", "metadata.name", "spec.x", ""]),
        "operator": chance.choice(["In", "NotIn", "In", "NotIn", "Exists", "Gt"]),
        "values": [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 1, 0, 2]))],
    }


def make_term(chance: random.Random) -> dict[str, Any]:
    term: dict[str, Any] = {}
    if chance.random() < 0.8:
        term["matchExpressions"] = [make_expression(chance) for _ in range(chance.choice([0, 1, 1, 2]))]
    if chance.random() < 0.4:
        term["matchFields"] = [make_field(chance) for _ in range(chance.choice([0, 1, 1, 2]))]
    return term


def make_selector(chance: random.Random) -> dict[str, Any]:
    return {"nodeSelectorTerms": [make_term(chance) for _ in range(chance.choice([0, 1, 2, 3]))]}


def decode_nodes(question: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    nodes = [msgspec.convert(node, Node) for node in question["nodes"]]
    return [(node.metadata.name, node.metadata.labels) for node in nodes]


@pytest.mark.parametrize("seed", range(3))
def test_node_selectors_match_the_same_nodes(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    questions: list[dict[str, Any]] = [
        {"op": "node-selector", "selector": make_selector(chance), "nodes": make_nodes(chance)} for _ in range(COUNT)
    ]
    hits = 0
    for question, answer in zip(questions, oracle.ask(questions), strict=True):
        selector = compile_node_selector(msgspec.convert(question["selector"], NodeSelector))
        matches = [selector.matches(*node) for node in decode_nodes(question)]
        assert matches == answer.value["matches"], question
        assert bool(selector.problems) is bool(answer.value["strict"]), question
        lazy = [bool(selector.problems) and not matched for matched in matches]
        assert lazy == [bool(error) for error in answer.value["errors"]], question
        hits += sum(matches)
    assert hits > COUNT / 2, "hardly anything matches"


@pytest.mark.parametrize("seed", range(3))
def test_node_affinity_demands_and_prefers_the_same_nodes(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    questions = []
    for _ in range(COUNT):
        spec: dict[str, Any] = {}
        if chance.random() < 0.4:
            spec["nodeSelector"] = {chance.choice(KEYS): chance.choice(VALUES) for _ in range(chance.randrange(3))}
        affinity: dict[str, Any] = {}
        if chance.random() < 0.6:
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] = make_selector(chance)
        if chance.random() < 0.6:
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": chance.choice([0, 1, 10, 100]), "preference": make_term(chance)}
                for _ in range(chance.randrange(4))
            ]
        if chance.random() < 0.9:
            spec["affinity"] = {"nodeAffinity": affinity} if chance.random() < 0.9 else {}
        questions.append({"op": "node-affinity", "pod": {"spec": spec}, "nodes": make_nodes(chance)})
    for question, answer in zip(questions, oracle.ask(questions), strict=True):
        pod_spec = msgspec.convert(question["pod"], Pod).spec
        nodes = decode_nodes(question)
        required = compile_required_affinity(pod_spec)
        assert [required.matches(*node) for node in nodes] == answer.value["required"], question
        wishes = pod_spec.affinity and pod_spec.affinity.node_affinity
        try:
            preferred = compile_preferred_affinity(
                wishes.preferred_during_scheduling_ignored_during_execution if wishes else ()
            )
            scores, failed = [preferred.score(*node) for node in nodes], False
        except ValidationError:
            scores, failed = [], True
        assert failed is bool(answer.value["preferredError"]), question
        assert scores == answer.value["preferred"], question


TAINT_VALUES = (
    "",
    "a",
    "1",
    "2",
    "-2",
    "02",
    "+2",
    "-0",
    "0",
    "9223372036854775807",
    "9223372036854775808",
    "x",
    "\u0661",
)


@pytest.mark.parametrize("seed", range(3))
def test_tolerations_cover_the_same_taints(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)

    def effect() -> str:
        return chance.choice(["", "NoSchedule", "NoExecute", "PreferNoSchedule", "Odd"])

    questions: list[dict[str, Any]] = [
        {
            "op": "tolerations",
            "comparison": chance.random() < 0.5,
            "taints": [
                {"key": chance.choice(["", "a", "b"]), "value": chance.choice(TAINT_VALUES), "effect": effect()}
                for _ in range(chance.randrange(5))
            ],
            "tolerations": [
                {
                    "key": chance.choice(["", "a", "b"]),
                    "operator": chance.choice(["", "Equal", "Exists", "Lt", "Gt", "Lt", "Gt", "exists"]),
                    "value": chance.choice(TAINT_VALUES),
                    "effect": effect(),
                }
                for _ in range(chance.randrange(4))
            ],
        }
        for _ in range(COUNT)
    ]
    for question, answer in zip(questions, oracle.ask(questions), strict=True):
        taints = msgspec.convert(question["taints"], list[Taint])
        tolerations = msgspec.convert(question["tolerations"], list[Toleration])
        gate = question["comparison"]
        tolerated = [is_tolerated(taint, tolerations, comparison=gate) for taint in taints]
        assert tolerated == answer.value["tolerated"], question
        first = find_untolerated(taints, tolerations, comparison=gate)
        index = answer.value["untolerated"]
        assert first == (taints[index] if index >= 0 else None), question
