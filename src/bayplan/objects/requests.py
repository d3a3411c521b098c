"""What a pod asks for, and what it takes on its node.

The two differ while a pod is resized in place: the node must have room for the largest of what the spec asks for, what
the kubelet has set aside, and what the containers run with. A pod that is yet to be placed has no status worth reading.

Gates are at the defaults of Kubernetes 1.37: pod-level resources and their resizing are on; what devices add to a
node's resources (DRANodeAllocatableResources) is off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from bayplan.objects.labels import is_label_key
from bayplan.objects.quantity import INT64_MAX, ZERO, Quantity
from bayplan.objects.quantity_text import WireQuantity, milli_value_of, read_quantity, value_of

if TYPE_CHECKING:
    from bayplan.objects.pod import Container, ContainerStatus, Pod

#: Amounts by the name of the resource.
Amounts: TypeAlias = dict[str, Quantity]
_WireAmounts: TypeAlias = Mapping[str, WireQuantity]
#: What one container counts for.
_Share: TypeAlias = Callable[["Container"], Amounts]

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
#: How many pods a node takes, whatever their size.
POD_COUNT = "pods"
_HUGE_PAGES = "hugepages-"
_COUNTED = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, POD_COUNT})
_MOST_COUNTED = Decimal(INT64_MAX)

#: What a container that requests nothing counts for where nodes are compared, so that not all of them go to one node.
STAND_INS: Mapping[str, Quantity] = {CPU: Quantity.of_milli(100), MEMORY: Quantity.of(200 * 1024 * 1024)}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Amounts in the integers that kube-scheduler counts with."""

    milli_cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    pods: int = 0
    #: Extended resources, huge pages and attachable volumes, by name.
    scalars: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PodNumbers(Numbers):
    """What a pod takes on its node."""

    #: With the stand-ins of containers that request nothing.
    nonzero_milli_cpu: int = 0
    nonzero_memory: int = 0


def requests_to_fit(pod: Pod) -> Amounts:
    """What a node must have free for the pod to be placed there."""
    return _with_pod_level(pod, _aggregate(pod, _requested), held=False)


def requests_held(pod: Pod) -> Amounts:
    """What the pod takes on its node, resizes under way included."""
    return _held(pod, {})


def count_to_fit(pod: Pod) -> Numbers:
    """`requests_to_fit`, as NodeResourcesFit counts it: nothing below zero, and the pod itself not counted."""
    asked = requests_to_fit(pod)
    return Numbers(
        milli_cpu=max(0, asked.get(CPU, ZERO).milli_value()),
        memory=max(0, asked.get(MEMORY, ZERO).value()),
        ephemeral_storage=max(0, asked.get(EPHEMERAL_STORAGE, ZERO).value()),
        scalars={name: max(0, amount.value()) for name, amount in asked.items() if is_scalar(name)},
    )


def count_held(pod: Pod) -> PodNumbers:
    """`requests_held`, as kube-scheduler counts what is taken on a node."""
    held = _held(pod, {})
    missing = {name: STAND_INS[name] for name in STAND_INS if not (_has_pod_level_requests(pod) and name in held)}
    nonzero = _held(pod, missing) if missing and _lacks(pod, missing) else held
    return PodNumbers(
        milli_cpu=held.get(CPU, ZERO).milli_value(),
        memory=held.get(MEMORY, ZERO).value(),
        ephemeral_storage=held.get(EPHEMERAL_STORAGE, ZERO).value(),
        pods=held.get(POD_COUNT, ZERO).value(),
        scalars={name: amount.value() for name, amount in held.items() if is_scalar(name)},
        nonzero_milli_cpu=nonzero.get(CPU, ZERO).milli_value(),
        nonzero_memory=nonzero.get(MEMORY, ZERO).value(),
    )


def count_to_compare(pod: Pod) -> Mapping[str, int]:
    """What nodes are balanced by when this pod is to go to one of them, by resource; cpu in thousandths."""
    return _counted(_held(pod, {}))


def count_to_rank(pod: Pod) -> Mapping[str, int]:
    """What nodes are ranked by, with the stand-ins of containers that request nothing.

    Requests of the pod as a whole are left out, and so are resizes under way: kube-scheduler 1.37 does not tell that
    part of NodeResourcesFit of either.
    """
    amounts = _aggregate(pod, _filled(_requested, STAND_INS))
    if pod.spec.overhead:
        _add(amounts, _read(pod.spec.overhead))
    return _counted(amounts)


def beyond_count(amounts: Amounts) -> frozenset[str]:
    """The resources of which there is more in these amounts than 64 bits count, cpu in thousandths.

    The other counts have what kube-scheduler makes of them, and of `1e30` that is nothing. Whoever must not take such a
    pod for one that asks for nothing has to ask here.
    """
    return frozenset(name for name, amount in amounts.items() if _is_beyond(amount, name == CPU))


def beyond_count_on_wire(amounts: Mapping[str, WireQuantity]) -> frozenset[str]:
    """The same for what a node has to give, of which unknown resources are not read."""
    counted = (name for name in amounts if name in _COUNTED or is_scalar(name))
    return frozenset(name for name in counted if _is_beyond_on_wire(amounts[name], name == CPU))


def _is_beyond(amount: Quantity, in_thousandths: bool) -> bool:
    return amount.as_decimal() > (_MOST_COUNTED / 1000 if in_thousandths else _MOST_COUNTED)


@lru_cache(4096)
def _is_beyond_on_wire(amount: WireQuantity, in_thousandths: bool) -> bool:
    return _is_beyond(read_quantity(amount), in_thousandths)


def _counted(amounts: Amounts) -> Mapping[str, int]:
    return {name: amount.milli_value() if name == CPU else amount.value() for name, amount in amounts.items()}


def count_allocatable(amounts: Mapping[str, WireQuantity]) -> Numbers:
    """What a node has to give, as kube-scheduler counts it."""
    return Numbers(
        milli_cpu=milli_value_of(amounts.get(CPU)),
        memory=value_of(amounts.get(MEMORY)),
        ephemeral_storage=value_of(amounts.get(EPHEMERAL_STORAGE)),
        pods=value_of(amounts.get(POD_COUNT)),
        scalars={name: value_of(amount) for name, amount in amounts.items() if is_scalar(name)},
    )


@lru_cache(4096)
def is_scalar(name: str) -> bool:
    """Whether kube-scheduler counts this resource by name: extended ones, huge pages, attachable volumes.

    Unknown names without a domain are not counted at all.
    """
    return "kubernetes.io/" in name or name.startswith((_HUGE_PAGES, "attachable-volumes-")) or is_extended(name)


def is_extended(name: str) -> bool:
    """Whether a resource is none of Kubernetes' own: it has a domain, and that is not Kubernetes'."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return is_label_key(f"requests.{name}")


def _held(pod: Pod, missing: Mapping[str, Quantity]) -> Amounts:
    """What the pod takes, where each container's missing requests are filled up with `missing`."""
    if not has_resize_status(pod):
        share = _requested if not missing else _filled(_requested, missing)
        return _with_pod_level(pod, _aggregate(pod, share), held=True)
    statuses = _statuses_by_name(pod)
    infeasible = _is_resize_infeasible(pod)
    status = pod.status
    if (
        status.allocated_resources is not None
        and status.resources is not None
        and status.resources.requests is not None
    ):
        allocated, actual = _read(status.allocated_resources), _read(status.resources.requests)
    else:
        allocated = _aggregate(pod, _filled(_allocated(statuses, infeasible), missing))
        actual = _aggregate(pod, _filled(_actual(statuses, infeasible), missing))
    held = {} if infeasible else _aggregate(pod, _filled(_requested, missing))
    _raise_to(held, actual)
    _raise_to(held, allocated)
    return _with_pod_level(pod, held, held=True)


def _with_pod_level(pod: Pod, amounts: Amounts, *, held: bool) -> Amounts:
    """Requests of the pod as a whole stand instead of the containers' sum; overhead comes on top."""
    resources = pod.spec.resources
    if resources is not None and resources.requests and _has_pod_level_requests(pod):
        asked = _read(resources.requests)
        status = pod.status
        if held and status.resources is not None:
            asked = {} if _is_resize_infeasible(pod) else asked
            _raise_to(asked, _read(status.resources.requests))
            _raise_to(asked, _read(status.allocated_resources))
        amounts.update((name, amount) for name, amount in asked.items() if _is_pod_level(name))
    if pod.spec.overhead:
        _add(amounts, _read(pod.spec.overhead))
    return amounts


def _aggregate(pod: Pod, share: _Share) -> Amounts:
    """Containers and sidecars together, or the most that is needed while init containers run one after the other."""
    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, share(container))
    if not pod.spec.init_containers:
        return total
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        amounts = share(container)
        if container.is_sidecar:
            _add(total, amounts)
            _add(sidecars, amounts)
            _raise_to(peak, sidecars)
        else:
            running = dict(amounts)
            _add(running, sidecars)
            _raise_to(peak, running)
    _raise_to(total, peak)
    return total


def _requested(container: Container) -> Amounts:
    return _read(container.resources.requests)


def _allocated(statuses: Mapping[str, ContainerStatus], infeasible: bool) -> _Share:
    """What the kubelet has set aside; until it says so, what is requested, unless that cannot be had."""

    def share(container: Container) -> Amounts:
        status = statuses.get(container.name)
        if status is not None and status.allocated_resources is not None:
            return _read(status.allocated_resources)
        return {} if infeasible else _requested(container)

    return share


def _actual(statuses: Mapping[str, ContainerStatus], infeasible: bool) -> _Share:
    """What the container runs with; until that is told, what is set aside for it."""
    allocated = _allocated(statuses, infeasible)

    def share(container: Container) -> Amounts:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.requests is not None:
            return _read(status.resources.requests)
        return allocated(container)

    return share


def _filled(share: _Share, missing: Mapping[str, Quantity]) -> _Share:
    """The same, with these amounts where a container has none of its own, even zero."""
    if not missing:
        return share
    return lambda container: {**missing, **share(container)}


def _lacks(pod: Pod, names: Mapping[str, Quantity]) -> bool:
    """Whether filling up could change anything."""
    if has_resize_status(pod):
        return True
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return any(name not in (container.resources.requests or {}) for container in containers for name in names)


def has_resize_status(pod: Pod) -> bool:
    """Whether the status says anything that could differ from the spec."""
    status = pod.status
    if status.allocated_resources is not None or status.resources is not None or _is_resize_infeasible(pod):
        return True
    return any(
        one.allocated_resources is not None or one.resources is not None
        for one in (*status.container_statuses, *status.init_container_statuses)
    )


def _statuses_by_name(pod: Pod) -> dict[str, ContainerStatus]:
    """The first of each name, containers before init containers."""
    statuses: dict[str, ContainerStatus] = {}
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        statuses.setdefault(status.name, status)
    return statuses


def _is_resize_infeasible(pod: Pod) -> bool:
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _has_pod_level_requests(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(_is_pod_level(name) for name in resources.requests or ())


def _is_pod_level(name: str) -> bool:
    return name in {CPU, MEMORY} or name.startswith(_HUGE_PAGES)


def _read(amounts: _WireAmounts | None) -> Amounts:
    return {name: read_quantity(amount) for name, amount in amounts.items()} if amounts else {}


def _add(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: Amounts, floor: Mapping[str, Quantity]) -> None:
    for name, amount in floor.items():
        if name not in total or amount > total[name]:
            total[name] = amount
