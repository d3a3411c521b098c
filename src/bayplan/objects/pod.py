"""Pods, as far as placement reads them: what they ask for, what they forbid, and how they are doing."""

import msgspec

from bayplan.objects.meta import Condition, ObjectMeta
from bayplan.objects.quantity_text import WireQuantity
from bayplan.objects.resource import Resource
from bayplan.objects.selection import LabelSelector, NodeSelector, NodeSelectorTerm
from bayplan.objects.storage import PersistentVolumeClaimSpec
from bayplan.objects.taints import Toleration
from bayplan.objects.volumes import AzureFile, Csi, VolumeSources
from bayplan.objects.wire import Int32, Int64, Wire


class ResourceRequirements(Wire, frozen=True):
    """What a container or pod asks for. Absent and empty differ in a status. Limits decide nothing here."""

    requests: dict[str, WireQuantity] | None = None


class ContainerPort(Wire, frozen=True):
    """A port; only one with a `host_port` takes room on the node."""

    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""
    container_port: Int32 = 0


class ContainerRestartRule(Wire, frozen=True):
    """What happens when a container exits; one of the actions needs a node that can do it."""

    action: str = ""


class VolumeMount(Wire, frozen=True):
    """A mount, of which only the options count that a node must know how to apply."""

    bind_mount_options: tuple[str, ...] = ()


class Container(Wire, frozen=True):
    """A container of any kind."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    #: `Always` makes a sidecar of an init container.
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """Whether, as an init container, it goes on running beside the others."""
        return self.restart_policy == "Always"


class PreferredSchedulingTerm(Wire, frozen=True):
    """A wish about nodes, with its weight."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Wire, frozen=True):
    """What a pod demands and wishes of its node."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Wire, frozen=True):
    """Pods to be near to, or far from, within one topology domain."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    #: Absent selects no namespaces, empty selects all.
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Wire, frozen=True):
    """A wish about pods, with its weight."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Wire, frozen=True):
    """The pods that a pod wants near; as anti-affinity, those that it wants far."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Wire, frozen=True):
    """What draws a pod to nodes and pods, or away from them."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Wire, frozen=True):
    """How evenly pods must lie over the domains of a topology."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PersistentVolumeClaimSource(Wire, frozen=True):
    """The claim that a volume of a pod stands for."""

    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeClaimTemplate(Wire, frozen=True):
    """The claim that is made for an ephemeral volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolume(Wire, frozen=True):
    """A volume with a claim of its own, named after the pod and the volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class ImageVolume(Wire, frozen=True):
    """An image mounted as a volume; nodes that have it are preferred."""

    reference: str = ""


class Volume(VolumeSources, frozen=True):
    """A volume of a pod."""

    name: str = ""
    csi: Csi | None = None
    azure_file: AzureFile | None = None
    persistent_volume_claim: PersistentVolumeClaimSource | None = None
    ephemeral: EphemeralVolume | None = None
    image: ImageVolume | None = None


class PodSchedulingGate(Wire, frozen=True):
    """A name that someone has yet to take away before the pod may be placed."""

    name: str = ""


class PodResourceClaim(Wire, frozen=True):
    """A claim to devices, by name or made from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(Wire, frozen=True):
    """The group that a pod is placed with."""

    pod_group_name: str | None = None


class PodSpec(Wire, frozen=True):
    """What a pod asks for."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()
    node_name: str = ""
    scheduler_name: str = ""
    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    overhead: dict[str, WireQuantity] = msgspec.field(default_factory=dict)
    resources: ResourceRequirements | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    host_network: bool = False
    host_users: bool | None = None
    termination_grace_period_seconds: Int64 | None = None


class ContainerStatus(Wire, frozen=True):
    """What a container really has, which lags behind its spec while a resize is under way."""

    name: str = ""
    allocated_resources: dict[str, WireQuantity] | None = None
    resources: ResourceRequirements | None = None


class PodResourceClaimStatus(Wire, frozen=True):
    """The claim that was made for a pod's `resourceClaims` entry."""

    name: str = ""
    resource_claim_name: str | None = None


class PodExtendedResourceClaimStatus(Wire, frozen=True):
    """The claim that was made for the extended resources a pod asks for."""

    resource_claim_name: str = ""


class PodStatus(Wire, frozen=True):
    """How a pod is doing."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: dict[str, WireQuantity] | None = None
    resources: ResourceRequirements | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(Wire, frozen=True):
    """A pod."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def priority(self) -> int:
        """Its priority; a pod without one was made before there was a default, and has 0."""
        return self.spec.priority or 0

    @property
    def is_finished(self) -> bool:
        """Whether it has ended and takes no room any more."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def is_terminating(self) -> bool:
        """Whether it has been told to end."""
        return self.metadata.deletion_timestamp is not None


PODS = Resource("", "v1", "pods", "Pod", namespaced=True, type=Pod)
