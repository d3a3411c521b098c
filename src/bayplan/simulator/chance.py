"""What kube-scheduler leaves to chance when it makes room, so that a recorded preemption is one of several possible.

* Among nodes that hurt the same it takes any.
* Where more nodes come into question than it looks at, it looks at some, from a random one on. Then its choice need
  only be the best of so many.
* It goes through the disruption budgets in no order. A pod whose budget does not allow it to go is not counted against
  the budgets after that one; so where two budgets are for the same pod, their order tells what they allow for others.
"""

from __future__ import annotations

from itertools import islice, permutations
from typing import TYPE_CHECKING, Any

from bayplan.contract.events import Gone, Seen
from bayplan.errors import ValidationError
from bayplan.objects.labels import NOTHING, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bayplan.cache.cache import Cache
    from bayplan.engine.engine import Decision, Engine
    from bayplan.engine.policy import Policy
    from bayplan.objects.labels import Selector
    from bayplan.objects.workloads import PodDisruptionBudget
    from bayplan.simulator.traces import Decided

#: Six budgets can stand in 720 orders: that many are tried.
_ORDERS = 720


def possible_preemption(engine: Engine, cache: Cache, step: Decided, decision: Decision) -> dict[str, Any]:
    """The recorded preemption where our rules allow it too, else ours."""
    ours = decision.preemption
    if ours is None or decision.rejection is None:
        return {"node": None, "victims": []}
    for _ in _orders_of_budgets(cache):
        if _is_possible(engine, step, decision):
            return {"node": step.nominated, "victims": sorted(step.victims)}
    return {"node": ours.node, "victims": sorted(pod.metadata.key for pod in ours.victims)}


def _is_possible(engine: Engine, step: Decided, decision: Decision) -> bool:
    assert decision.rejection is not None
    candidates = engine.preempting(step.pod).candidates(decision.rejection)
    theirs = next((one for one in candidates if engine.cluster.nodes.name(one.row) == step.nominated), None)
    if theirs is None or {victim.pod.metadata.key for victim in theirs.victims} != set(step.victims):
        return False
    potential = len(decision.rejection.resolvable)
    unseen = potential - _looked_at(potential, engine.policies[step.pod.spec.scheduler_name or "default-scheduler"])
    return sum(other.is_better_than(theirs) for other in candidates) <= unseen


def _looked_at(potential: int, policy: Policy) -> int:
    """How many of the nodes that come into question kube-scheduler looks at, by DefaultPreemption's arguments."""
    for plugin in policy.post_filters:
        candidates_among = getattr(plugin, "candidates_among", None)
        if candidates_among is not None:
            return int(candidates_among(potential))
    return potential


def _orders_of_budgets(cache: Cache) -> Iterator[None]:
    """Put the budgets in each order in turn that could make a difference, the first being as they are."""
    yield
    shared = _shared_budgets(cache)
    if not shared:
        return
    try:
        for order in islice(permutations(shared), 1, _ORDERS):
            _put_in_order(cache, order)
            yield
    finally:
        _put_in_order(cache, shared)


def _put_in_order(cache: Cache, budgets: Sequence[PodDisruptionBudget]) -> None:
    for budget in budgets:
        cache.apply(Gone(budget))
        cache.apply(Seen(budget))


def _shared_budgets(cache: Cache) -> list[PodDisruptionBudget]:
    """The budgets that some pod shares with another budget."""
    budgets = [(one, _selector_of(one)) for one in cache.cluster.budgets]
    shared: set[str] = set()
    for group in cache.cluster.pods.groups():
        names = [
            one.metadata.key
            for one, selector in budgets
            if one.metadata.namespace == group.namespace and not selector.empty and selector.matches(group.labels)
        ]
        if len(names) > 1:
            shared.update(names)
    return [one for one, _ in budgets if one.metadata.key in shared]


def _selector_of(budget: PodDisruptionBudget) -> Selector:
    try:
        return compile_label_selector(budget.spec.selector)
    except ValidationError:
        return NOTHING
