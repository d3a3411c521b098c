"""What a trace leaves out, as far as it can be told from the trace itself.

**Volumes that nobody has looked at yet.** A volume is made `Pending`, and moments later the volume controller finds it
`Available`. In some traces the objects were read in between. kube-scheduler decided afterwards.

**Services.** A trace lists the cluster's objects. Some were recorded in a cluster that had Services left over from
before, and do not list them; yet by them pods without constraints of their own were spread. Which pods were, every step
shows: the score of PodTopologySpread is there or it is not. From that the Services' selectors are worked out, a label
at a time, the label that accounts for most pods first. Only that the score is there is read; what it is, is compared.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.storage import PersistentVolume, PersistentVolumeStatus
from bayplan.objects.workloads import LabelledSpec, Service
from bayplan.simulator.traces import Decided, Updated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.contract.events import ClusterObject
    from bayplan.objects.pod import Pod
    from bayplan.simulator.traces import Trace

_PLUGIN = "PodTopologySpread"


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a replay took to be otherwise than the trace says."""

    kind: str
    #: With its namespace, if it has one.
    name: str
    said: str


def notes_on(before: Iterable[ClusterObject], services: Iterable[Service]) -> Iterable[Note]:
    """What is told of the objects that were taken to be settled, and of the Services that must have been there."""
    for one in before:
        if settled(one) is not one:
            yield Note("PersistentVolume", one.metadata.name, "Pending in the trace, Available when it was decided")
    for service in services:
        labels = ", ".join(f"{key}={value}" for key, value in (service.spec.selector or {}).items())
        namespace = service.metadata.namespace
        yield Note("Service", f"{namespace}/{service.metadata.name}", f"not listed, yet pods with {labels} were spread")


def missing_services(trace: Trace) -> tuple[Service, ...]:
    """The Services that must have been there; none where the trace lists some, or has some come later."""
    later = (step.object for step in trace.steps if isinstance(step, Updated))
    if any(isinstance(one, Service) for one in (*trace.objects, *later)):
        return ()
    spread: dict[str, list[Pod]] = {}
    others: dict[str, list[Pod]] = {}
    for pod, was_spread in _pods_by_default(trace):
        (spread if was_spread else others).setdefault(pod.metadata.namespace, []).append(pod)
    return tuple(
        Service(ObjectMeta(name=f"missing-{index}", namespace=namespace), LabelledSpec({key: value}))
        for namespace, pods in spread.items()
        for index, (key, value) in enumerate(_labels_of(pods, others.get(namespace, ())))
    )


def settled(one: ClusterObject) -> ClusterObject:
    """The object as the controllers of a cluster leave it moments after it was made."""
    if isinstance(one, PersistentVolume) and one.status.phase in {"", "Pending"} and one.spec.claim_ref is None:
        return msgspec.structs.replace(one, status=PersistentVolumeStatus(phase="Available"))
    return one


def _pods_by_default(trace: Trace) -> Iterable[tuple[Pod, bool]]:
    """The pods that were compared without constraints or a controller of their own, and whether they were spread."""
    for step in trace.steps:
        if isinstance(step, Decided) and step.scores:
            pod = step.pod
            if not pod.spec.topology_spread_constraints and pod.metadata.controller is None:
                yield pod, _PLUGIN in step.scores


def _labels_of(spread: list[Pod], others: Iterable[Pod]) -> Iterable[tuple[str, str]]:
    """Labels that between them all of the ones have and none of the others."""
    impossible = {label for pod in others for label in pod.metadata.labels.items()}
    left = spread
    while left:
        counts = Counter(label for pod in left for label in pod.metadata.labels.items() if label not in impossible)
        if not counts:
            return
        label = max(counts, key=lambda label: (counts[label], label))
        yield label
        left = [pod for pod in left if label not in pod.metadata.labels.items()]
