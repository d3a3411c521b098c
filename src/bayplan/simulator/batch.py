"""Several traces at once: all are read before the first is played, and one error names all that cannot be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from bayplan.errors import UsageError
from bayplan.simulator.agreement import Agreement
from bayplan.simulator.replay import Replay, playable
from bayplan.simulator.traces import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from bayplan.simulator.missing import Note
    from bayplan.simulator.traces import Trace

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Played:
    """What came of playing a trace."""

    name: str
    agreement: Agreement
    #: What was taken to be otherwise than the trace says.
    notes: tuple[Note, ...]

    def data(self) -> dict[str, Any]:
        """For programs."""
        notes = [{"trace": self.name, **asdict(note)} for note in self.notes]
        return {"name": self.name, **self.agreement.data(), "notes": notes}


def play_all(paths: Sequence[Path], on_progress: Callable[[int], None] | None = None) -> list[Played]:
    """Play the traces in these files. One UsageError names all that cannot be; all are read before one is played."""
    traces = _gather(paths, _read)
    done = count(1)

    def play_and_tell(trace: Trace) -> Played:
        played = play(trace)
        if on_progress is not None:
            on_progress(next(done))
        return played

    return _gather(traces, play_and_tell)


def play(trace: Trace) -> Played:
    """Play one trace to its end; of the cluster and the engine nothing is kept."""
    replay = Replay(trace)
    return Played(trace.name, replay.run(), replay.notes)


def total(played: Iterable[Played]) -> Agreement:
    """The counts of several together."""
    together = Agreement()
    for one in played:
        together.add(one.agreement)
    return together


def data_of(played: Sequence[Played]) -> dict[str, Any]:
    """For programs: one trace is one object; of several there are the totals, and each with its name."""
    if len(played) == 1:
        return played[0].data()
    each = [one.data() for one in played]
    notes = [note for one in each for note in one["notes"]]
    return {**total(played).data(), "notes": notes, "traces": each}


def _read(path: Path) -> Trace:
    trace = read_trace(path)
    playable(trace)
    return trace


def _gather(ones: Sequence[S], work: Callable[[S], T]) -> list[T]:
    """Do the same with each, and complain of all that it cannot be done with at once."""
    done: list[T] = []
    problems: list[UsageError] = []
    for one in ones:
        try:
            done.append(work(one))
        except UsageError as problem:
            problems.append(problem)
    if len(problems) > 1:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise UsageError(f"{len(problems)} of {len(ones)} traces cannot be played:{listed}")
    if problems:
        raise problems[0]
    return done
