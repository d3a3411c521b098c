"""A trace that cannot be meant is one sentence that names the file and the place; never a crash."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import UsageError
from bayplan.simulator.batch import play_all
from bayplan.simulator.traces import Decided, Deleted, Updated, parse_trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bayplan.simulator.agreement import Agreement

    Play = Callable[[dict[str, Any]], Agreement]


def test_a_trace_is_read_plain_and_gzipped(small: dict[str, Any], tmp_path: Path) -> None:
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    plain.write_text(json.dumps(small))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    one, other = read_trace(plain), read_trace(packed)
    assert (one.steps, one.objects) == (other.steps, other.objects)
    kinds = [type(step) for step in one.steps]
    assert kinds == [Decided] * 5 + [Deleted, Updated, Deleted, Decided]


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def corrupted(data: bytes) -> bytes:
    return data[:50] + b"\xff" * 50 + data[100:]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(lambda data: truncated(gzip.compress(data)), "cannot be read", id="gzip cut off"),
        pytest.param(lambda data: corrupted(gzip.compress(data)), "cannot be read", id="gzip corrupted"),
        pytest.param(lambda data: gzip.compress(truncated(data)), "JSON is malformed|truncated", id="JSON cut off"),
        pytest.param(lambda _: b"", "truncated", id="nothing"),
        pytest.param(lambda _: b"[]", "Expected `object`", id="a list"),
        pytest.param(lambda _: b"\xff\xfe{}", "cannot be read", id="no UTF-8"),
        pytest.param(lambda _: b"[" * 100_000, "cannot be read", id="nested without end"),
        pytest.param(lambda _: b"{}", "has no steps", id="no steps"),
    ],
)
def test_a_file_that_is_no_trace_is_named(data: Callable[[bytes], bytes], said: str, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_bytes(data(json.dumps({"meta": {"about": "x" * 1000}, "steps": [{"delete": "default/x"}]}).encode()))
    with pytest.raises(UsageError, match=said) as complaint:
        read_trace(file)
    assert str(file) in str(complaint.value)


def test_what_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayplan.simulator.traces._MOST_BYTES", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (2 << 20)))
    with pytest.raises(UsageError, match="unpacks to more than 1 MB"):
        read_trace(tmp_path / "bomb.gz")


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UsageError, match=f"{path} cannot be read"):
            read_trace(path)


def test_all_files_that_cannot_be_played_are_named_at_once(small: dict[str, Any], tmp_path: Path) -> None:
    good, bad, strange = (tmp_path / name for name in ("good.json", "bad.json", "strange.json"))
    good.write_text(json.dumps(small))
    bad.write_text("{")
    small["steps"][0]["create"]["spec"]["schedulerName"] = "nobody"
    strange.write_text(json.dumps(small))
    with pytest.raises(UsageError) as complaint:
        play_all([good, bad, strange, tmp_path / "none.json"])
    lines = str(complaint.value).splitlines()
    assert lines[0] == "3 of 4 traces cannot be played:"
    assert [name for name in ("bad.json", "strange.json", "none.json") if any(name in line for line in lines[1:])]
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({}, "neither create, update nor delete"),
        ([], "Expected `object`"),
        ({"create": {"kind": "Pod"}, "outcome": "bound"}, "has no name"),
        ({"create": {"kind": "Pod", "metadata": {"name": "x"}}}, "has the outcome None"),
        ({"create": {"kind": "Pod", "metadata": {"name": "x"}}, "outcome": "lost"}, "has the outcome 'lost'"),
        ({"create": {"kind": "Pod", "metadata": {"name": "x"}}, "outcome": "bound"}, "is bound and has no node"),
        ({"create": {"kind": "Node", "metadata": {"name": "x"}}, "outcome": "bound"}, "'bound' for a Node"),
        ({"update": {"kind": "Gadget", "metadata": {"name": "x"}}}, "is a Gadget"),
        ({"update": {"metadata": {"name": "x"}}}, "is a thing of no kind"),
        ({"update": {"kind": "Pod", "metadata": {"name": 7}}}, "Expected `str`"),
        ({"update": {"kind": "Pod", "metadata": {"name": "x"}, "spec": {"priority": 10**30}}}, "Expected `int`"),
        ({"update": {"kind": "Node", "metadata": {"name": "x", "labels": ["a"]}}}, "Expected `object`"),
        ({"delete": "Gadget/x"}, "deletes a Gadget"),
        ({"delete": 7}, "Expected `str"),
        ({"create": {"kind": "Pod", "metadata": {"name": "x"}}, "outcome": "bound", "node": 3}, "Expected `str"),
    ],
    ids=str,
)
def test_a_step_that_cannot_be_meant_is_named_with_its_place(step: object, said: str) -> None:
    data = json.dumps({"steps": [{"delete": "default/x"}, step]}).encode()
    with pytest.raises(UsageError, match=said) as complaint:
        parse_trace(data, "t.json")
    assert "t.json: steps[1]" in str(complaint.value)


@pytest.mark.parametrize("amount", ["much", "1_000", "", "1Zi", []], ids=str)
def test_an_amount_that_is_none_is_named_with_its_place(small: dict[str, Any], play: Play, amount: object) -> None:
    small["objects"][1]["status"]["allocatable"]["cpu"] = amount
    with pytest.raises(UsageError, match=r"t\.json: objects\[1\]"):
        play(small)


@pytest.mark.parametrize("amount", ["-4", "1e30", "9223372036854775807", "8Ei", "0", "1n", 10**18, 0.1], ids=str)
@pytest.mark.parametrize("resource", ["cpu", "memory", "pods", "example.com/odd"])
def test_absurd_amounts_are_counted_without_a_crash(
    small: dict[str, Any], play: Play, resource: str, amount: object
) -> None:
    small["objects"][0]["status"]["allocatable"][resource] = amount
    small["steps"][1]["create"]["spec"]["containers"][0]["resources"]["requests"][resource] = amount
    assert play(small).steps == len(small["steps"])


def test_a_name_that_comes_twice_means_the_last(small: dict[str, Any], play: Play) -> None:
    small["objects"].insert(0, {**small["objects"][0], "status": {"allocatable": {}}})
    assert play(small).complete


def test_twenty_thousand_labels_are_no_trouble(small: dict[str, Any], play: Play) -> None:
    small["objects"][0]["metadata"]["labels"] |= {f"key-{number}": "value" for number in range(20_000)}
    assert play(small).complete


def test_owners_that_own_each_other_are_no_trouble(small: dict[str, Any], play: Play) -> None:
    for name, owner in (("there", "one"), ("one", "other"), ("other", "there")):
        reference = {"kind": "Pod", "name": owner, "uid": owner, "controller": True, "apiVersion": "v1"}
        small["objects"].append({**small["objects"][2], "metadata": {"name": name, "ownerReferences": [reference]}})
    assert play(small).steps == len(small["steps"])


def test_a_claim_and_a_volume_that_point_past_each_other_are_no_trouble(small: dict[str, Any], play: Play) -> None:
    claims = [("a", "one"), ("b", "other")]
    small["objects"] += [
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"volumeName": volume},
        }
        for name, volume in claims
    ]
    small["objects"] += [
        {
            "kind": "PersistentVolume",
            "metadata": {"name": volume},
            "spec": {"claimRef": {"name": name, "namespace": "default"}},
        }
        for name, volume in (("a", "other"), ("b", "one"))
    ]
    small["steps"][0]["create"]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}]
    assert play(small).steps == len(small["steps"])
