"""Scenarios from files: what is read, and every problem at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.errors import ConfigurationError, UsageError
from bayplan.simulator.workloads import Create, Delete, Update, read_scenario
from bayplan.simulator.workloads.file import parse_reference, write_reference

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
steps:
- create: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {containers: []}}
- update: {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {disk: ssd}}}
- delete: default/a
- delete: Node/n1
"""

BAD = """
objekts: []
objects:
- {kind: Node, metadata: {name: n1}}
steps:
- create: {apiVersion: v1, kind: Node, metadata: {name: n2}}
- update: {apiVersion: v1, kind: Pod, metadata: {}}
- delete: 7
- {create: {}, delete: default/a}
"""

names = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.yaml"


def test_steps_become_actions_and_the_name_is_the_files(file: Path) -> None:
    file.write_text(GOOD)
    scenario = read_scenario(file)
    assert scenario.flavour == "mine"
    assert scenario.seed is None
    assert [type(action) for action in scenario.actions] == [Create, Update, Delete, Delete]
    assert scenario.actions[2:] == [Delete("Pod", "default", "a"), Delete("Node", "", "n1")]


def test_a_gated_pod_of_a_file_stays_to_be_released(file: Path) -> None:
    file.write_text(GOOD.replace("containers: []", "containers: [], schedulingGates: [{name: x}]"))
    created = read_scenario(file).actions[0]
    assert isinstance(created, Create)
    assert created.keep_gated


def test_every_problem_is_listed_with_its_place(file: Path) -> None:
    file.write_text(BAD)
    with pytest.raises(ConfigurationError) as caught:
        read_scenario(file)
    assert caught.value.problems == (
        "objekts: there is no such part",
        "objects[0]: apiVersion is missing",
        "steps[0].create: only pods are created; write an update for anything else",
        "steps[1].update: metadata.name is missing",
        "steps[1].update: spec is missing",
        "steps[2].delete: it must be text such as namespace/name",
        "steps[3]: it needs one of create, update and delete",
    )


@pytest.mark.parametrize("text", ["- a list", "{", ""])
def test_what_is_no_mapping_is_said_to_be_none(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError):
        read_scenario(file)


@given(st.sampled_from(["Node", "PersistentVolumeClaim", "CSINode", "Pod"]), names, names)
def test_references_are_read_as_they_were_written(kind: str, namespace: str, name: str) -> None:
    if kind not in ("PersistentVolumeClaim", "Pod"):
        namespace = ""
    assert parse_reference(write_reference(kind, namespace, name)) == (kind, namespace, name)


@pytest.mark.parametrize("text", ["", "a", "a/b/c", "Node", "Node/a/b/c", "Pod/a", "Node/"])
def test_a_reference_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write namespace/name, Kind/name or Kind/namespace/name"):
        parse_reference(text)
