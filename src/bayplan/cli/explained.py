"""A pod's story for people: the outcome first, then the nodes that would do, then those that would not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from bayplan.cli.agreed import told
from bayplan.cli.output import print_facts, print_table
from bayplan.contract.verdicts import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bayplan.engine.account import Lead
    from bayplan.engine.story import NodeStory
    from bayplan.simulator.explanation import Attempt, Explanation

#: So many nodes are shown, and so many examples of each kind of rejected ones.
_NODES, _EXAMPLES = 10, 4
_DISAGREEMENTS = 3
#: The names of plugins in a heading are broken into lines of this width.
_HEADING = 13


def print_explanation(explanation: Explanation, *, everything: bool) -> None:
    """Print a pod's story."""
    print_facts(dict(_facts(explanation)))
    for number, attempt in enumerate(explanation.attempts, 1):
        if len(explanation.attempts) > 1:
            click.echo(f"\n{'Before' if number == 1 else 'After'} the others made room")
        chosen = explanation.node if attempt is explanation.attempts[-1] else None
        if attempt.ranked:
            _print_ranking(attempt.ranked, chosen, everything=everything)
        if attempt.rejections:
            _print_rejections(attempt, everything=everything)
    if explanation.disagreements:
        click.echo("\nkube-scheduler decided otherwise")
        for one in explanation.disagreements[: None if everything else _DISAGREEMENTS]:
            for line in told(one):
                click.echo(f"  {line}")


def _facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    step = explanation.step
    yield "pod", f"{step.pod.metadata.key}, step {explanation.index} of {explanation.trace}"
    if not explanation.attempts:
        yield "outcome", step.outcome
        yield "message", step.message
        return
    last = explanation.attempts[-1]
    yield "outcome", f"bound to {explanation.node}" if explanation.node else "unschedulable"
    if explanation.node != step.node:
        yield "recorded", f"kube-scheduler bound it to {step.node}" if step.node else step.outcome
    if explanation.lead is not None:
        yield from _why(explanation.lead, nominated=step.nominated is not None)
    for attempt in explanation.attempts:
        yield from _without_node(attempt)
    yield "nodes", _counted(last)


def _why(lead: Lead, *, nominated: bool) -> Iterator[tuple[str, str]]:
    if nominated:
        yield "why", "others made room for it there, and no other node was compared"
    elif lead.runner_up is None:
        yield "why", "no other node would do"
    else:
        yield "why", _comparison(lead)
        for name, sign in (("for it", 1), ("against it", -1)) if lead.points else ():
            yield name, _list(lead, sign) or "nothing"


def _comparison(lead: Lead) -> str:
    assert lead.runner_up is not None
    if lead.equals > 1:
        return f"{lead.winner.total} points, as many as {lead.equals - 1} more: drawn among equals"
    return f"{lead.winner.total} points, {lead.points} more than {lead.runner_up.node}, the runner-up"


def _list(lead: Lead, sign: int) -> str:
    return ", ".join(f"{plugin} {points:+d}" for plugin, points in lead.differences if points * sign > 0)


def _without_node(attempt: Attempt) -> Iterator[tuple[str, str]]:
    decision = attempt.decision
    if decision.node is not None:
        return
    yield "message", attempt.message
    preemption = decision.preemption
    if preemption is not None:
        victims = ", ".join(f"{pod.metadata.key} (priority {pod.priority})" for pod in preemption.victims)
        broken = f"; budgets of {preemption.violations} are violated" if preemption.violations else ""
        yield "preemption", f"{preemption.node} is freed of {victims}{broken}"
    elif attempt.said:
        yield "preemption", attempt.said.removeprefix("preemption: ")


def _counted(attempt: Attempt) -> str:
    if attempt.refusal is not None:
        return f"none was looked at: {attempt.refusal[0]} refuses the pod itself"
    rejected = sum(len(one.nodes) for one in attempt.rejections)
    return f"{len(attempt.ranked)} would do, {rejected} would not"


def _print_ranking(ranked: Sequence[NodeStory], chosen: str | None, *, everything: bool) -> None:
    shown = list(ranked if everything else ranked[:_NODES])
    shown += [story for story in ranked if story.node == chosen and story not in shown]
    columns = _telling(ranked)
    heads = ["", "NODE", "TOTAL", *(_broken(f"{plugin}") for plugin in columns)]
    rows = []
    for story in shown:
        points = {one.plugin: one.weighted for one in story.points or ()}
        mark = "*" if story.node == chosen else " "
        rows.append((mark, story.node, story.total, *(points[plugin] for plugin in columns)))
    click.echo()
    print_table(heads, rows)
    same = [f"{one.plugin} {one.weighted}" for one in ranked[0].points or () if one.plugin not in columns]
    if same and len(ranked) > 1:
        click.echo(f"the same for all: {', '.join(same)}")
    if len(shown) < len(ranked):
        click.echo(f"and {len(ranked) - len(shown)} more: --all shows them")


def _telling(ranked: Sequence[NodeStory]) -> list[str]:
    """The plugins that did not give all nodes the same."""
    given: dict[str, set[int]] = {}
    for story in ranked:
        for one in story.points or ():
            given.setdefault(one.plugin, set()).add(one.weighted)
    return [plugin for plugin, points in given.items() if len(points) > 1]


def _broken(name: str) -> str:
    """A plugin's name, broken into lines between its words."""
    lines = [""]
    for word in re.findall(r"[A-Z]+[a-z0-9]*|[^A-Z]+", name):
        if lines[-1] and len(lines[-1]) + len(word) > _HEADING:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _print_rejections(attempt: Attempt, *, everything: bool) -> None:
    rows = [
        (
            one.plugin,
            len(one.nodes),
            ", ".join(one.verdict.reasons),
            "may help" if one.verdict.kind is Kind.UNSCHEDULABLE else "no help",
            _examples(one.nodes, everything=everything),
        )
        for one in attempt.rejections
    ]
    click.echo()
    print_table(("REJECTED BY", "NODES", "BECAUSE", "PREEMPTION", "WHICH"), rows)


def _examples(nodes: Sequence[str], *, everything: bool) -> str:
    shown = nodes if everything else nodes[:_EXAMPLES]
    return " ".join(shown) + (" …" if len(shown) < len(nodes) else "")
