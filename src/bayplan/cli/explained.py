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
    """Print a pod's story. Where others made room for it, the nodes are told of as they were before."""
    print_facts(dict(_facts(explanation)))
    if explanation.attempts:
        first = explanation.attempts[0]
        if len(first.ranked) > 1:
            _print_ranking(first.ranked, explanation.node, everything=everything)
        if first.rejections:
            _print_rejections(first, everything=everything)
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
    yield "outcome", f"bound to {explanation.node}" if explanation.node else "unschedulable"
    if explanation.node != step.node:
        yield "recorded", f"kube-scheduler bound it to {step.node}" if step.node else step.outcome
    if explanation.lead is not None:
        yield from _why(explanation.lead, nominated=step.nominated is not None)
    first = explanation.attempts[0]
    if first.decision.node is None:
        yield "message", first.message
        yield from _preemption(explanation, first)
    yield "nodes", _counted(first)


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
        return f"{lead.winner.total} points; {lead.equals} nodes have as many, and one of them is drawn"
    return f"{lead.winner.total} points, {lead.points} more than {lead.runner_up.node}, the runner-up"


def _list(lead: Lead, sign: int) -> str:
    return ", ".join(f"{plugin} {points:+d}" for plugin, points in lead.differences if points * sign > 0)


def _preemption(explanation: Explanation, attempt: Attempt) -> Iterator[tuple[str, str]]:
    step, ours = explanation.step, attempt.decision.preemption
    if ours is None:
        if attempt.said:
            yield "preemption", attempt.said.removeprefix("preemption: ")
        return
    victims = ", ".join(f"{pod.metadata.key} (priority {pod.priority})" for pod in ours.victims)
    broken = f"; {ours.violations} of them against their disruption budgets" if ours.violations else ""
    yield "preemption", f"{ours.node} is freed of {victims}{broken}"
    if step.nominated is not None and step.nominated != ours.node:
        yield "recorded", f"kube-scheduler freed {step.nominated} of {', '.join(step.victims)}"


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
