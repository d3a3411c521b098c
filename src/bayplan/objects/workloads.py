"""What pods belong to, as far as spreading and preemption read it."""

import msgspec

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.resource import Resource
from bayplan.objects.selection import LabelSelector
from bayplan.objects.wire import Int32, Int64, Wire


class LabelledSpec(Wire, frozen=True):
    """The selector of a Service or ReplicationController: labels that pods must have. Absent selects nothing."""

    selector: dict[str, str] | None = None


class SelectorSpec(Wire, frozen=True):
    """The selector of a ReplicaSet or StatefulSet."""

    selector: LabelSelector | None = None


class Service(Wire, frozen=True):
    """A Service, for the pods it selects."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LabelledSpec = LabelledSpec()


class ReplicationController(Wire, frozen=True):
    """A ReplicationController, for the pods it selects."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LabelledSpec = LabelledSpec()


class ReplicaSet(Wire, frozen=True):
    """A ReplicaSet, for the pods it selects."""

    metadata: ObjectMeta = ObjectMeta()
    spec: SelectorSpec = SelectorSpec()


class StatefulSet(Wire, frozen=True):
    """A StatefulSet, for the pods it selects."""

    metadata: ObjectMeta = ObjectMeta()
    spec: SelectorSpec = SelectorSpec()


class PodDisruptionBudgetSpec(Wire, frozen=True):
    """How many pods must stay, as a count or a percentage."""

    selector: LabelSelector | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None


class PodDisruptionBudgetStatus(Wire, frozen=True):
    """How many pods may go now, and which are going."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    observed_generation: Int64 = 0
    #: Pods that were evicted and are still seen, by name, with when.
    disrupted_pods: dict[str, str | None] = msgspec.field(default_factory=dict)


class PodDisruptionBudget(Wire, frozen=True):
    """Pods that preemption should rather not touch."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(Wire, frozen=True):
    """A priority with a name."""

    metadata: ObjectMeta = ObjectMeta()
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None
    description: str = ""


SERVICES = Resource("", "v1", "services", "Service", namespaced=True, type=Service)
REPLICATION_CONTROLLERS = Resource(
    "", "v1", "replicationcontrollers", "ReplicationController", namespaced=True, type=ReplicationController
)
REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet", namespaced=True, type=ReplicaSet)
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet", namespaced=True, type=StatefulSet)
POD_DISRUPTION_BUDGETS = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", namespaced=True, type=PodDisruptionBudget
)
PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False, type=PriorityClass
)
