"""Disruption budgets: which victims would take more than is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.errors import ValidationError
from bayplan.objects.labels import NOTHING, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bayplan.objects.labels import Selector
    from bayplan.objects.pod import Pod
    from bayplan.objects.workloads import PodDisruptionBudget


class Budgets:
    """The budgets of a cluster at one moment."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._budgets = [(budget, _selector_of(budget)) for budget in budgets]

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def violated_by(self, pods: Sequence[Pod]) -> frozenset[str]:
        """The pods that would be one too many for some budget, if all of these went in this order."""
        if not self._budgets:
            return frozenset()
        allowed = [budget.status.disruptions_allowed for budget, _ in self._budgets]
        return frozenset(pod.metadata.key for pod in pods if self._is_too_many(pod, allowed))

    def matches(self, pod: Pod) -> bool:
        """Whether some budget counts the pod."""
        return any(self._counts(index, pod) for index in range(len(self._budgets)))

    def counts_the_same(self, other: Budgets) -> bool:
        """Whether the same pods count for the same budgets, whatever is allowed now."""
        return self._counted() == other._counted()

    def _counted(self) -> list[tuple[str, Selector]]:
        return [(budget.metadata.key, selector) for budget, selector in self._budgets]

    def _is_too_many(self, pod: Pod, allowed: list[int]) -> bool:
        for index in range(len(self._budgets)):
            if self._counts(index, pod):
                allowed[index] -= 1
                if allowed[index] < 0:
                    return True
        return False

    def _counts(self, index: int, pod: Pod) -> bool:
        budget, selector = self._budgets[index]
        meta = pod.metadata
        if not meta.labels or budget.metadata.namespace != meta.namespace or meta.name in budget.status.disrupted_pods:
            return False
        return not selector.empty and selector.matches(meta.labels)


def _selector_of(budget: PodDisruptionBudget) -> Selector:
    try:
        return compile_label_selector(budget.spec.selector)
    except ValidationError:
        return NOTHING
