"""The scheduler's log: which lines count, and for which attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.testing.recorder.attempts import SchedulerLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POD = "default/web"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "kube-scheduler.log"
    file.touch()
    return file


@pytest.fixture
def log(file: Path) -> Iterator[SchedulerLog]:
    log = SchedulerLog(file)
    yield log
    log.close()


def line(message: str, **fields: object) -> str:
    pairs = "".join(f" {name}={value}" for name, value in fields.items())
    return f'I1119 20:53:47.000001   29984 schedule_one.go:985] "{message}"{pairs}\n'


def begin(pod: str = POD) -> str:
    return line("Attempting to schedule pod", pod=f'"{pod}"')


def score(plugin: str, node: str, points: int, pod: str = POD) -> str:
    return line("Plugin scored node for pod", pod=f'"{pod}"', plugin=f'"{plugin}"', node=f'"{node}"', score=points)


def total(node: str, points: int) -> str:
    return line("Calculated node's final score for pod", pod=f'"{POD}"', node=f'"{node}"', score=points)


def append(file: Path, *lines: str) -> None:
    with file.open("a") as end:
        end.writelines(lines)


def test_scores_and_totals_are_those_of_the_pod(file: Path, log: SchedulerLog) -> None:
    append(file, begin(), score("Fit", "b", 7), score("Fit", "a", 5), score("Fit", "a", 99, "other/web"))
    append(file, total("b", 7), total("a", 5))
    log.read()
    assert log.attempt(POD).sorted_scores() == {"Fit": {"a": 5, "b": 7}}
    assert list(log.attempt(POD).sorted_scores()["Fit"]) == ["a", "b"]
    assert log.attempt(POD).totals == {"a": 5, "b": 7}


def test_a_new_attempt_has_none_of_the_scores_of_the_one_before(file: Path, log: SchedulerLog) -> None:
    append(file, begin(), score("Fit", "a", 5), begin())
    log.read()
    assert log.attempt(POD).scores == {}


def test_where_room_was_made_is_remembered_by_the_next_attempt(file: Path, log: SchedulerLog) -> None:
    append(file, begin(), line("the target node for the preemption is determined", node='"a"', pod=f'"{POD}"'), begin())
    log.read()
    assert log.attempt(POD).nominated == "a"


def test_half_a_line_waits_for_its_other_half(file: Path, log: SchedulerLog) -> None:
    whole = begin() + score("Fit", "a", 12)
    append(file, whole[:-2])
    log.read()
    assert log.attempt(POD).scores == {}
    append(file, whole[-2:])
    log.read()
    assert log.attempt(POD).scores == {"Fit": {"a": 12}}


def test_what_is_not_a_line_of_the_scheduler_is_passed_over(file: Path, log: SchedulerLog) -> None:
    append(
        file, "\n", "panic: no\n", '\t"Plugin scored node for pod" pod="x"\n', line("Something else", pod="=<"), begin()
    )
    log.read()
    assert log.attempt("x").scores == {}


def test_a_message_with_quotes_in_it_ends_where_it_ends(file: Path, log: SchedulerLog) -> None:
    append(file, line(r"a \"quoted\" word", pod=f'"{POD}"'), line("Add event for node", node='"a"'))
    log.read()
    assert log.count("Add event for node", "a") == 1


def test_notices_are_counted_from_the_beginning_of_a_step(file: Path, log: SchedulerLog) -> None:
    append(file, line("Update event for node", node='"a"'))
    log.forget()
    append(file, line("Update event for node", node='"a"'), line("Update event for node", node='"b"'))
    log.read()
    assert log.count("Update event for node", "a") == 1


def test_attempts_of_an_earlier_step_are_forgotten(file: Path, log: SchedulerLog) -> None:
    append(file, begin(), score("Fit", "a", 5))
    log.forget()
    assert log.attempt(POD).scores == {}
