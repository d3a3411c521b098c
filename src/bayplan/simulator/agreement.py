"""How far two schedulers agree, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

#: What is compared, in the order in which it is reported.
ASPECTS = ("feasible", "scores", "choice", "message", "preemption")
#: Disagreements beyond this many in one aspect are counted, not kept: a thousand scores must not hide one choice.
KEPT = 100


@dataclass(slots=True)
class Count:
    """How often something was compared, and how often it was the same."""

    compared: int = 0
    agree: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1; 1 where nothing was compared."""
        return self.agree / self.compared if self.compared else 1.0


@dataclass(slots=True)
class Agreement:
    """The counts for one trace or several."""

    steps: int = 0
    counts: dict[str, Count] = field(default_factory=lambda: {aspect: Count() for aspect in ASPECTS})
    disagreements: list[dict[str, Any]] = field(default_factory=list)
    _kept: Counter[str] = field(default_factory=Counter)

    def compare(self, aspect: str, ours: object, theirs: object, **where: Any) -> bool:
        """Count a comparison, and keep it where the two differ."""
        return self.judge(aspect, ours == theirs, ours=ours, theirs=theirs, **where)

    def judge(self, aspect: str, same: bool, **details: Any) -> bool:
        """Count a comparison that was made elsewhere."""
        count = self.counts[aspect]
        count.compared += 1
        count.agree += same
        if not same:
            self._keep({"aspect": aspect, **details})
        return same

    def add(self, other: Agreement) -> None:
        """Count another's in."""
        self.steps += other.steps
        for aspect, count in other.counts.items():
            self.counts[aspect].compared += count.compared
            self.counts[aspect].agree += count.agree
        for one in other.disagreements:
            self._keep(one)

    @property
    def complete(self) -> bool:
        """Whether nothing differs."""
        return self.agreed == self.compared

    @property
    def compared(self) -> int:
        """How many comparisons were made."""
        return sum(count.compared for count in self.counts.values())

    @property
    def agreed(self) -> int:
        """In how many of them the two were the same."""
        return sum(count.agree for count in self.counts.values())

    def data(self) -> dict[str, Any]:
        """For programs."""
        counts = {aspect: {"compared": count.compared, "agree": count.agree} for aspect, count in self.counts.items()}
        return {"steps": self.steps, **counts, "disagreements": self.disagreements}

    def _keep(self, disagreement: dict[str, Any]) -> None:
        aspect = disagreement["aspect"]
        self._kept[aspect] += 1
        if self._kept[aspect] <= KEPT:
            self.disagreements.append(disagreement)
