"""How far we agree with kube-scheduler, for people: a line for each trace and, under it, where it differs first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.cli.output import print_table, say
from bayplan.simulator.agreement import ASPECTS, KEPT
from bayplan.simulator.batch import total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bayplan.simulator.agreement import Agreement, Count
    from bayplan.simulator.batch import Played
    from bayplan.simulator.missing import Note

#: So many disagreements of a kind are shown under a trace, and so many names in one.
_SHOWN, _NAMED = 3, 8


def print_played(played: Sequence[Played]) -> None:
    """Print what came of playing these traces."""
    rows = [_row(one.name, one.agreement) for one in played]
    under = {index: list(_under(one)) for index, one in enumerate(played)}
    together = total(played)
    if len(played) > 1:
        rows.append(_row(f"{len(played)} traces", together))
    print_table(("TRACE", "STEPS", *map(str.upper, ASPECTS)), rows, under=under)
    _say_verdict(together)


def _row(name: str, agreement: Agreement) -> tuple[object, ...]:
    return (name, agreement.steps, *(_cell(agreement.counts[aspect]) for aspect in ASPECTS))


def _cell(count: Count) -> str:
    """How often it was compared, and how often it was the same where that differs."""
    if count.agree == count.compared:
        return str(count.compared) if count.compared else ""
    return f"{count.agree} of {count.compared}"


def _say_verdict(together: Agreement) -> None:
    differ = together.compared - together.agreed
    if differ:
        say(f"\n{differ:,} of {together.compared:,} comparisons differ from kube-scheduler's decisions.")
    else:
        say(f"\nAll {together.compared:,} comparisons agree with kube-scheduler's decisions.")


def _under(played: Played) -> Iterator[str]:
    yield from _noted(played.notes)
    shown = 0
    for group in _by_kind(played.agreement.disagreements):
        for one in group[:_SHOWN]:
            yield from told(one)
            shown += 1
    left = played.agreement.compared - played.agreement.agreed - shown
    if left:
        yield f"and {left:,} more; --output json has the first {KEPT} of each aspect"


def _noted(notes: Sequence[Note]) -> Iterator[str]:
    names: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        names.setdefault((note.kind, note.said), []).append(note.name)
    for (kind, said), named in names.items():
        yield f"note: {kind} {_value(named)}: {said}"


def _by_kind(disagreements: Sequence[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    """By aspect and plugin; totals only where no plugin's score differs, since they follow from those."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in disagreements:
        groups.setdefault((one["aspect"], one.get("plugin", "")), []).append(one)
    if any(aspect == "scores" and plugin != "total" for aspect, plugin in groups):
        groups.pop(("scores", "total"), None)
    return groups.values()


def told(one: dict[str, Any]) -> Iterator[str]:
    """One disagreement: where it is and about what, then ours and theirs beneath each other."""
    where = f"step {one['step']}, {one['pod']}"
    if one["aspect"] == "scores":
        told = _points(one["ours"]), _points(one["theirs"])
        yield f"{where}: {one['plugin']} on {one['node']}: ours {told[0]}, kube-scheduler's {told[1]}"
        return
    ours, theirs = one["ours"], one["theirs"]
    if one["aspect"] == "feasible":
        ours, theirs = _beyond(ours, theirs), _beyond(theirs, ours)
    yield f"{where}: {_NAMES[one['aspect']]}"
    yield f"  ours            {_value(ours)}"
    yield f"  kube-scheduler  {_value(theirs)}"


_NAMES = {
    "feasible": "feasible for one and not for the other",
    "choice": "the node",
    "message": "the message",
    "preemption": "the node to be freed, and who goes",
}


def _points(value: int | None) -> str:
    return "none" if value is None else str(value)


def _beyond(some: list[str], others: list[str]) -> list[str]:
    return sorted(set(some) - set(others))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        victims = f": {_value(value['victims'])}" if "victims" in value else ""
        return f"{value['node'] or '-'}{victims}"
    if isinstance(value, list):
        return " ".join(value[:_NAMED]) + (f" and {len(value) - _NAMED} more" if len(value) > _NAMED else "") or "-"
    return value or "-"
