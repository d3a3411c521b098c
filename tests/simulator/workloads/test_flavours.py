"""Flavours: the same seed is the same scenario, and what arrives can be told to a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import UsageError
from bayplan.simulator.workloads import FLAVOURS, Create, Delete, Update, make_scenario
from bayplan.simulator.workloads.scenario import identity

if TYPE_CHECKING:
    from bayplan.simulator.workloads import Scenario

DIGEST = """
import hashlib
from bayplan.simulator.workloads import FLAVOURS, make_scenario
told = "".join(repr(make_scenario(name, seed=3, nodes=9, pods=25)) for name in FLAVOURS)
print(hashlib.sha256(told.encode()).hexdigest())
"""


def small(flavour: str, seed: int = 1) -> Scenario:
    return make_scenario(flavour, seed=seed, nodes=9, pods=40)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_seed_is_one_scenario_and_another_seed_another(flavour: str) -> None:
    assert small(flavour) == small(flavour)
    assert small(flavour) != small(flavour, seed=2)


def test_a_scenario_does_not_depend_on_the_process_that_makes_it() -> None:
    """Hashes of text differ from process to process, and with them the order of sets."""

    def digest(hash_seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", DIGEST]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert digest("1") == digest("2")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_scenario_has_the_size_that_was_asked_for(flavour: str) -> None:
    scenario = small(flavour)
    assert (scenario.count("Node"), scenario.pods) == (9, 40)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_scenarios_are_json_and_their_parts_share_nothing(flavour: str) -> None:
    """An action that changed when a later one was made up would tell of the future."""
    scenario = small(flavour)
    assert json.loads(json.dumps(scenario.objects)) == scenario.objects
    assert json.loads(json.dumps(scenario.config)) == scenario.config
    contents = [each.pod if isinstance(each, Create) else each.object for each in _told(scenario)]
    assert len({id(content["metadata"]) for content in contents}) == len(contents)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_nothing_is_there_twice_and_only_what_is_there_goes_away(flavour: str) -> None:
    scenario = small(flavour)
    counts = Counter(identity(content) for content in scenario.objects)
    assert max(counts.values()) == 1
    there = set(counts)
    for action in scenario.actions:
        if isinstance(action, Create):
            assert identity(action.pod) not in there
            there.add(identity(action.pod))
        elif isinstance(action, Update):
            there.add(identity(action.object))
        else:
            there.discard((action.kind, action.namespace, action.name))


def test_gates_are_opened_one_after_the_other() -> None:
    gates: dict[str, int] = {}
    for action in _told(small("gates")):
        content = action.pod if isinstance(action, Create) else action.object
        if content["kind"] != "Pod":
            continue
        left, name = len(content["spec"].get("schedulingGates", [])), content["metadata"]["name"]
        if isinstance(action, Update):
            assert left == gates[name] - 1
        gates[name] = left
    assert 0 in gates.values()


def test_nodes_come_and_go_under_names_of_their_own() -> None:
    scenario = make_scenario("churn", pods=200)
    made = [action.object["metadata"]["name"] for action in scenario.actions if isinstance(action, Update)]
    gone = [action.name for action in scenario.actions if isinstance(action, Delete) and action.kind == "Node"]
    assert gone
    assert len(gone) == len(set(gone))
    assert any(name not in {node["metadata"]["name"] for node in scenario.objects} for name in made)


def test_an_unknown_flavour_is_wrong_use_and_the_error_lists_them() -> None:
    with pytest.raises(UsageError, match="no flavour sweet; take one of basic, "):
        make_scenario("sweet")


def _told(scenario: Scenario) -> list[Create | Update]:
    return [action for action in scenario.actions if not isinstance(action, Delete)]
