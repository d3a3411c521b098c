"""The oracle's Python side, against small programs that stand for the oracle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bayplan.errors import EnvironmentFault, UsageError
from bayplan.testing.controlplane.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Answers each line with what the line asks for.
ECHO = """
for line in sys.stdin:
    print(json.dumps(json.loads(line)["say"]), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path, write_program: Callable[[Path, str], None]) -> Callable[[str], Path]:
    def write(body: str) -> Path:
        file = tmp_path / "oracle"
        write_program(file, f"import json, os, sys\n{body}")
        return file

    return write


def test_answers_come_in_the_order_of_the_questions(program: Callable[[str], Path]) -> None:
    with Oracle.start(program(ECHO)) as oracle:
        answers = oracle.ask([{"say": {"answer": {"number": number}}} for number in range(5)])
        assert [answer.value["number"] for answer in answers] == [0, 1, 2, 3, 4]
        assert all(answer.error is None for answer in answers)
        assert oracle.ask([]) == []
        assert oracle.ask([{"say": {"answer": {"again": True}}}])[0].value == {"again": True}


def test_a_refusal_is_an_answer(program: Callable[[str], Path]) -> None:
    with Oracle.start(program(ECHO)) as oracle:
        (answer,) = oracle.ask([{"say": {"error": "must match"}}])
    assert (answer.value, answer.error) == ({}, "must match")


def test_a_fault_is_raised(program: Callable[[str], Path]) -> None:
    with Oracle.start(program(ECHO)) as oracle, pytest.raises(UsageError, match="no operation 'x'"):
        oracle.ask([{"say": {"fault": "there is no operation 'x'"}}])


def test_after_a_fault_no_late_answer_is_taken_for_another_question(program: Callable[[str], Path]) -> None:
    with Oracle.start(program(ECHO)) as oracle:
        with pytest.raises(UsageError):
            oracle.ask([{"say": {"fault": "no"}}, {"say": {"answer": {"left": "over"}}}])
        with pytest.raises(EnvironmentFault, match="ended"):
            oracle.ask([{"say": {"answer": {}}}])


@pytest.mark.timeout(30)
def test_a_fault_at_the_head_of_a_large_batch_is_told_at_once(program: Callable[[str], Path]) -> None:
    questions = [{"say": {"fault": "no"}}] + [{"say": {"answer": {"text": "x" * 1000}}}] * 5000
    with Oracle.start(program(ECHO), patience=1000) as oracle, pytest.raises(UsageError):
        oracle.ask(questions)


def test_more_than_fits_the_pipes_goes_through_both_ways(program: Callable[[str], Path]) -> None:
    text = "x" * 1000
    with Oracle.start(program(ECHO)) as oracle:
        answers = oracle.ask([{"say": {"answer": {"text": text}}}] * 1000)
    assert [answer.value["text"] for answer in answers] == [text] * 1000


def test_an_oracle_that_ends_is_noticed(program: Callable[[str], Path]) -> None:
    with Oracle.start(program("sys.exit(3)")) as oracle, pytest.raises(EnvironmentFault, match="ended before"):
        oracle.ask([{"say": {}}])


def test_an_oracle_that_keeps_silent_is_not_waited_for_longer_than_allowed(program: Callable[[str], Path]) -> None:
    silent = program("sys.stdin.read()")
    with (
        Oracle.start(silent, patience=0.01) as oracle,
        pytest.raises(EnvironmentFault, match=r"within 0.01 s.*make controlplane"),
    ):
        oracle.ask([{"say": {}}])


def test_an_answer_that_is_no_json_object_is_told(program: Callable[[str], Path]) -> None:
    for nonsense in ("[]", "panic:"):
        with (
            Oracle.start(program(f"print({nonsense!r})\nsys.stdout.flush()\nsys.stdin.read()")) as oracle,
            pytest.raises(EnvironmentFault, match="no JSON object"),
        ):
            oracle.ask([{"say": {}}])


def test_it_ends_with_its_block(program: Callable[[str], Path], tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with Oracle.start(program(f"open({str(note)!r}, 'w').write(str(os.getpid()))\n{ECHO}")) as oracle:
        oracle.ask([{"say": {"answer": {}}}])
        pid = int(note.read_text())
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="make controlplane"), Oracle.start(tmp_path / "missing"):
        pass


def test_without_a_build_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("BAYPLAN_CACHE", str(tmp_path))
    with pytest.raises(EnvironmentFault, match="make controlplane"), Oracle.start():
        pass
