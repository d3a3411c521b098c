"""What the volume plugins keep is what they would find anew, whatever happens and in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bayplan.plugins.nodevolumelimits import NodeVolumeLimits
from bayplan.plugins.volumebinding import VolumeBinding
from bayplan.plugins.volumerestrictions import VolumeRestrictions
from bayplan.plugins.volumezone import VolumeZone
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

ZONE = "topology.kubernetes.io/zone"
NODES, CLAIMS, VOLUMES, PODS = ("n0", "n1", "n2"), ("c0", "c1", "c2"), ("v0", "v1", "v2"), ("p0", "p1")
DISK = {"awsElasticBlockStore": {"volumeID": "vol-1"}}

nodes, claims, volumes = st.sampled_from(NODES), st.sampled_from(CLAIMS), st.sampled_from(VOLUMES)
mounts: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(claims, st.just(DISK), st.just({"ephemeral": {}})), max_size=2
)
sources = st.sampled_from([DISK, *({"csi": {"driver": "a.csi", "volumeHandle": f"h{number}"}} for number in range(2))])
limits = st.dictionaries(st.sampled_from(["a_csi", "ebs_csi_aws_com"]), st.sampled_from([None, 0, 1]))


def near(names: list[str]) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


class KeepingUp(RuleBasedStateMachine):
    """Objects come, change and go; four plugins are asked about two kinds of pods after every step."""

    make: Any = None

    @initialize(first=mounts, second=st.lists(claims, min_size=1, max_size=2))
    def begin(self, first: list[Any], second: list[Any]) -> None:
        self.storage: Storage = type(self).make()
        self.storage.storage_class("waits")
        plugins = (VolumeRestrictions(), NodeVolumeLimits(), VolumeBinding(), VolumeZone())
        self.binding = plugins[2]
        self.waiting = self.storage.pod(*second, name="second")
        pods = (self.storage.pod(*first, name="first"), self.waiting)
        pairs = ((plugin, pod) for plugin in plugins for pod in pods if self.storage.has_say(plugin, pod))
        self.asked = [self.storage.ask(plugin, pod) for plugin, pod in pairs]

    @rule(name=nodes, zone=st.sampled_from("ab"))
    def node_comes(self, name: str, zone: str) -> None:
        self.storage.node(name, **{ZONE: zone})

    @rule(name=nodes)
    def node_goes(self, name: str) -> None:
        self.storage.cluster.remove_node(name)

    @rule(name=nodes, limits=limits, migrated=st.sampled_from(["", "kubernetes.io/aws-ebs"]))
    def csi_node_comes(self, name: str, limits: dict[str, int | None], migrated: str) -> None:
        self.storage.csi_node(name, migrated, **limits)

    @rule(name=nodes)
    def csi_node_goes(self, name: str) -> None:
        self.storage.cluster.csi_nodes.remove(name)

    @rule(prevents=st.booleans(), tracks=st.booleans())
    def driver_changes(self, prevents: bool, tracks: bool) -> None:
        self.storage.driver("a.csi", preventPodSchedulingIfMissing=prevents, storageCapacity=tracks)

    @rule(size=st.sampled_from(["1Gi", "3Gi"]), zone=st.sampled_from("ab"))
    def capacity_changes(self, size: str, zone: str) -> None:
        self.storage.capacity("room", "waits", size, nodeTopology={"matchLabels": {ZONE: zone}})

    @rule(name=claims, size=st.sampled_from(["1Gi", "2Gi"]), modes=st.sampled_from([[], ["ReadWriteOncePod"]]))
    def claim_comes(self, name: str, size: str, modes: list[str]) -> None:
        self.storage.claim(name, size=size, accessModes=modes)

    @rule(name=claims, volume=volumes)
    def claim_is_bound(self, name: str, volume: str) -> None:
        self.storage.bound_claim(name, volume)

    @rule(name=claims)
    def claim_goes(self, name: str) -> None:
        self.storage.cluster.claims.remove(f"ns/{name}")

    @rule(name=volumes, source=sources, names=st.lists(nodes, min_size=1), labels=st.sampled_from([{}, {ZONE: "a"}]))
    def volume_comes(self, name: str, source: dict[str, Any], names: list[str], labels: dict[str, str]) -> None:
        modes = ["ReadWriteOnce", "ReadWriteOncePod"]
        self.storage.volume(name, size="2Gi", meta={"labels": labels}, accessModes=modes, **source, **near(names))

    @rule(name=volumes)
    def volume_goes(self, name: str) -> None:
        self.storage.cluster.volumes.remove(name)

    @rule(name=st.sampled_from(["a0", "a1"]), volume=volumes, node=nodes)
    def attachment_comes(self, name: str, volume: str, node: str) -> None:
        self.storage.attachment(name, "a.csi", volume, node)

    @rule(name=st.sampled_from(["a0", "a1"]))
    def attachment_goes(self, name: str) -> None:
        self.storage.cluster.attachments.remove(name)

    @rule(name=st.sampled_from(PODS), mounts=mounts, node=nodes)
    def pod_comes(self, name: str, mounts: list[Any], node: str) -> None:
        self.storage.pod(*mounts, name=name, on=node)

    @rule(name=st.sampled_from(PODS))
    def pod_goes(self, name: str) -> None:
        self.storage.cluster.remove_pod(f"ns/{name}")

    @rule(node=nodes)
    def reserved(self, node: str) -> None:
        self.binding.reserve(self.waiting, node, self.storage.cluster)

    @rule()
    def unreserved(self) -> None:
        self.binding.unreserve(self.waiting, NODES[0], self.storage.cluster)
        assert not list(self.storage.cluster.volumes.assumed())

    @invariant()
    def kept_is_as_found_anew(self) -> None:
        for one in getattr(self, "asked", ()):
            one.said()


def test_what_is_kept_is_what_would_be_found_anew(storage: Storage) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    KeepingUp.make = type(storage)
    run_state_machine_as_test(
        KeepingUp, settings=settings(max_examples=examples(60), stateful_step_count=25, deadline=None)
    )
