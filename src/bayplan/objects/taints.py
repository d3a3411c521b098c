"""Taints of nodes, and the tolerations that let pods pass them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bayplan.objects.labels import read_int64
from bayplan.objects.wire import Int64, Wire

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

#: The effects that keep a pod from being placed; PreferNoSchedule only makes a node less welcome.
REPELLING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})

# Stricter than the reading of integers elsewhere: no plus sign and no leading zero.
_DECIMAL = re.compile(r"0|-?[1-9][0-9]*")


class Taint(Wire, frozen=True):
    """What a node holds against pods. When it was added is left out: no decision reads it."""

    key: str = ""
    value: str = ""
    effect: str = ""


class Toleration(Wire, frozen=True):
    """The taints that a pod does not mind."""

    #: Empty stands for every key.
    key: str = ""
    #: Empty stands for Equal.
    operator: str = ""
    value: str = ""
    #: Empty stands for every effect.
    effect: str = ""
    toleration_seconds: Int64 | None = None

    def tolerates(self, taint: Taint, *, comparison: bool = False) -> bool:
        """Whether it covers this taint.

        `comparison` is the gate TaintTolerationComparisonOperators, off in Kubernetes 1.37. Without it the operators Lt
        and Gt tolerate nothing; with it they ask for a taint whose value is below or above the toleration's.
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case "Lt" | "Gt":
                return comparison and _compares(taint.value, self.operator, self.value)
            case _:
                return False


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration], *, comparison: bool = False) -> bool:
    """Whether some toleration covers the taint."""
    return any(toleration.tolerates(taint, comparison=comparison) for toleration in tolerations)


def find_untolerated(
    taints: Iterable[Taint],
    tolerations: Collection[Toleration],
    *,
    effects: Collection[str] = REPELLING_EFFECTS,
    comparison: bool = False,
) -> Taint | None:
    """The first taint of these effects that no toleration covers, or None."""
    for taint in taints:
        if taint.effect in effects and not is_tolerated(taint, tolerations, comparison=comparison):
            return taint
    return None


def _compares(found: str, operator: str, bound: str) -> bool:
    left, right = _read_decimal(found), _read_decimal(bound)
    if left is None or right is None:
        return False
    return left < right if operator == "Lt" else left > right


def _read_decimal(text: str) -> int | None:
    return read_int64(text) if _DECIMAL.fullmatch(text) else None
