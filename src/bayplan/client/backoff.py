"""How long to wait before the next try."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Waits that double up to a cap, each drawn from the upper half, so that clients do not come back in step."""

    base: float = 0.1
    cap: float = 30.0
    #: Tests give a seeded one.
    random: random.Random = field(default_factory=random.Random, repr=False)
    #: Failures since the last success.
    failures: int = 0

    def next(self, at_least: float | None = None) -> float:
        """Count one more failure and say how long to wait; at least as long as the server asked for.

        What the server asked for is spread upwards by a fifth: it told everybody the same number.
        """
        limit = min(self.cap, self.base * 2.0 ** min(self.failures, 60))
        self.failures += 1
        wait = limit * self.random.uniform(0.5, 1.0)
        if at_least is not None:
            wait = max(wait, at_least * self.random.uniform(1.0, 1.2))
        return wait

    def reset(self) -> None:
        """Something worked: the next failure is a first one again."""
        self.failures = 0
