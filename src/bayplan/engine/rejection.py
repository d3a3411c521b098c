"""Why no node was feasible: who rejected how many nodes, and the words that kube-scheduler has for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.verdicts import Kind, Verdict, reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayplan.columns.arrays import Bools
    from bayplan.columns.table import NodeTable
    from bayplan.engine.plan import Plan

#: What preemption says of nodes where it cannot help.
NOT_HELPFUL = "Preemption is not helpful for scheduling"


@dataclass(frozen=True, slots=True)
class Rejection:
    """The verdicts that kept a pod from every node."""

    #: How many nodes there are.
    nodes: int
    #: The pod as such was refused, by this plugin; then no node was looked at.
    refusal: tuple[str, Verdict] | None = None
    #: How many nodes each plugin rejected with each verdict, the first plugin that did counting for a node.
    verdicts: Mapping[tuple[str, Verdict], int] = field(default_factory=dict)
    #: The verdict on the nodes that were not looked at, as other nodes alone could do.
    elsewhere: Verdict | None = None
    #: Rows that preemption could free for the pod, in order.
    resolvable: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    #: The plugins that had not even been told of the pod when another refused it.
    unreached: tuple[str, ...] = ()

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that rejected, by name."""
        if self.refusal is not None:
            return (self.refusal[0],)
        return tuple(sorted({plugin for plugin, _ in self.verdicts}))

    def message(self, ending: str = "") -> str:
        """As kube-scheduler puts it; the ending is what came of trying to help."""
        text = f"0/{self.nodes} nodes are available:"
        if self.refusal is not None:
            text += f" {', '.join(self.refusal[1].reasons)}."
        else:
            text += listed(self._reasons())
        return f"{text} {ending}" if ending else text

    def _reasons(self) -> Counter[str]:
        reasons: Counter[str] = Counter()
        for (_, verdict), count in self.verdicts.items():
            for reason in verdict.reasons:
                reasons[reason] += count
        if self.elsewhere is not None:
            left = self.nodes - sum(self.verdicts.values())
            for reason in self.elsewhere.reasons if left > 0 else ():
                reasons[reason] += left
        return reasons


def listed(reasons: Mapping[str, int]) -> str:
    """Reasons with their counts, as kube-scheduler lists them: by their text, so that 10 comes before 2."""
    texts = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f" {', '.join(texts)}." if texts else ""


def collect(plan: Plan, table: NodeTable, overridden: Mapping[int, tuple[str, Verdict]]) -> Rejection:
    """Why a plan has no feasible node. `overridden` has verdicts of rows that differ from the plan's own."""
    refusal = plan.refusal()
    if refusal is not None:
        return Rejection(table.count, refusal=refusal)
    asked = table.live.copy()
    elsewhere = None
    narrowed = plan.narrowed()
    if narrowed is not None:
        names, plugins = narrowed
        if not names:
            return Rejection(table.count, refusal=(plugins[-1], _nowhere(plugins)))
        asked &= _rows_named(names, table)
        elsewhere = reject(f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}]", resolvable=False)
    verdicts: Counter[tuple[str, Verdict]] = Counter()
    resolvable: Bools = np.zeros(table.size, dtype=np.bool_)
    for row, verdict in overridden.items():
        asked[row] = False
        verdicts[verdict] += 1
        if verdict[1].kind is Kind.UNSCHEDULABLE:
            resolvable[row] = True
    for slot in plan.filters:
        rejected = asked & (slot.codes != 0)
        if not rejected.any():
            continue
        codes, counts = np.unique(slot.codes[rejected], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            verdict_ = slot.verdict(code)
            verdicts[slot.name, verdict_] += count
            if verdict_.kind is Kind.UNSCHEDULABLE:
                resolvable |= rejected & (slot.codes == code)
        asked &= ~rejected
    return Rejection(table.count, verdicts=verdicts, elsewhere=elsewhere, resolvable=np.flatnonzero(resolvable))


def _nowhere(plugins: tuple[str, ...]) -> Verdict:
    if len(plugins) == 1:
        return reject(f"node(s) didn't satisfy plugin {plugins[0]}", resolvable=False)
    return reject(f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously", resolvable=False)


def _rows_named(names: Iterable[str], table: NodeTable) -> Bools:
    named: Bools = np.zeros(table.size, dtype=np.bool_)
    for name in names:
        row = table.row_of.get(name)
        if row is not None:
            named[row] = True
    return named
