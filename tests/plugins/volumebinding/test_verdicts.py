"""VolumeBinding: on which nodes a pod's claims work out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import ValidationError
from bayplan.plugins.volumebinding import VolumeBinding

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

AWAY = ("node(s) didn't match PersistentVolume's node affinity",)
NO_MATCH = ("node(s) didn't find available persistent volumes to bind",)
NO_ROOM = ("node(s) did not have enough free storage",)
NO_VOLUME = ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",)
ZONE = "topology.kubernetes.io/zone"


def near(*nodes: Any, key: Any = "kubernetes.io/hostname") -> Any:
    """The node affinity of a volume of these nodes."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(nodes)}]}]
    return {"required": {"nodeSelectorTerms": terms}}


@pytest.fixture
def three(storage: Storage) -> Storage:
    """Three nodes, and a class whose claims wait and that makes no volumes."""
    for name in ("n0", "n1", "n2"):
        storage.node(name)
    storage.storage_class("waits", provisioner="kubernetes.io/no-provisioner")
    return storage


def said(storage: Storage, *volumes: Any) -> Any:
    return storage.said(VolumeBinding(), storage.pod(*volumes))


def feasible(storage: Storage, *volumes: Any) -> Any:
    return {name for name, reasons in said(storage, *volumes).items() if not reasons}


def test_pods_without_claims_are_none_of_its_business(storage: Storage) -> None:
    assert not storage.has_say(VolumeBinding(), storage.pod())
    assert not storage.has_say(VolumeBinding(), storage.pod({"azureDisk": {"diskURI": "u"}}))


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (None, 'persistentvolumeclaim "c" not found'),
        ({"storageClassName": "immediate"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storageClassName": ""}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storageClassName": "gone"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"volumeName": "v"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, 'persistentvolumeclaim "c" is being deleted'),
        ({}, None),
    ],
)
def test_what_refuses_a_pod_whatever_the_node(three: Storage, content: Any, refusal: Any) -> None:
    three.storage_class("immediate", waits=False)
    if content is not None:
        three.claim("c", **content)
    assert three.ask(VolumeBinding(), three.pod("c")).refusal() == (() if refusal is None else (refusal,))


def test_a_lost_claim_refuses_the_pod(three: Storage) -> None:
    import msgspec

    claim = three.bound_claim("c", "v")
    three.cluster.claims.put(msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, phase="Lost")))
    asked = three.ask(VolumeBinding(), three.pod("c"))
    assert asked.refusal() == ('persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',)


def test_ephemeral_claims_are_waited_for_and_must_be_the_pods_own(three: Storage) -> None:
    asked = three.ask(VolumeBinding(), three.pod({"ephemeral": {}}))
    waiting = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-v0"'
    assert asked.refusal() == (waiting,)
    three.claim("pod-v0")
    assert asked.refusal() == ("PVC ns/pod-v0 was not created for pod ns/pod (pod is not owner)",)
    three.claim("pod-v0", meta={"ownerReferences": [{"uid": "uid of pod", "controller": True}]})
    assert asked.refusal() == ()


def test_a_class_without_mode_is_an_error(three: Storage) -> None:
    three.storage_class("modeless", volumeBindingMode=None)
    three.claim("c", storageClassName="modeless")
    with pytest.raises(ValidationError, match='VolumeBindingMode not set for StorageClass "modeless"'):
        three.ask(VolumeBinding(), three.pod("c")).refusal()


def test_a_bound_claim_is_used_where_its_volume_can_be_reached(three: Storage) -> None:
    three.volume("v", nodeAffinity=near("n0", "n2"))
    three.bound_claim("c", "v")
    asked = three.ask(VolumeBinding(), three.pod("c"))
    assert asked.said() == {"n0": (), "n1": AWAY, "n2": ()}
    three.node("n3")
    assert asked.said() == {"n0": (), "n1": AWAY, "n2": (), "n3": AWAY}
    three.cluster.volumes.remove("v")
    assert set(asked.said().values()) == {NO_VOLUME}


def test_the_first_bound_claim_that_does_not_work_is_named(three: Storage) -> None:
    three.volume("v", nodeAffinity=near("n0"))
    three.bound_claim("c", "v"), three.bound_claim("d", "gone")
    assert said(three, "c", "d") == {"n0": NO_VOLUME, "n1": AWAY, "n2": AWAY}
    assert said(three, "d", "c") == {"n0": NO_VOLUME, "n1": NO_VOLUME, "n2": NO_VOLUME}


def test_match_fields_of_a_volume_demand_nothing(three: Storage) -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}]
    three.volume("v", nodeAffinity={"required": {"nodeSelectorTerms": terms}})
    three.bound_claim("c", "v")
    assert feasible(three, "c") == {"n0", "n1", "n2"}


def test_an_in_tree_volume_is_looked_for_in_its_drivers_zones_where_that_has_taken_over(storage: Storage) -> None:
    storage.labelled_node("old", {ZONE: "a"})
    storage.labelled_node("new", {"topology.ebs.csi.aws.com/zone": "a"})
    storage.labelled_node("both", {"topology.ebs.csi.aws.com/zone": "b", ZONE: "a"})
    for name in ("new", "both"):
        storage.csi_node(name, migrated="kubernetes.io/gce-pd,kubernetes.io/aws-ebs")
    storage.volume("v", awsElasticBlockStore={"volumeID": "vol-1"}, nodeAffinity=near("a", key=ZONE))
    storage.bound_claim("c", "v")
    asked = storage.ask(VolumeBinding(), storage.pod("c"))
    assert asked.said() == {"old": (), "new": (), "both": AWAY}
    storage.csi_node("both", migrated="kubernetes.io/gce-pd")
    assert asked.said() == {"old": (), "new": (), "both": ()}


def test_a_waiting_claim_needs_a_free_volume_within_reach(three: Storage) -> None:
    three.claim("c")
    asked = three.ask(VolumeBinding(), three.pod("c"))
    assert set(asked.said().values()) == {NO_MATCH}
    three.volume("v", nodeAffinity=near("n1"))
    assert asked.said() == {"n0": NO_MATCH, "n1": (), "n2": NO_MATCH}
    three.cluster.volumes.remove("v")
    assert set(asked.said().values()) == {NO_MATCH}


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ({"size": "2Gi"}, {"size": "1Gi"}),
        ({}, {"storageClassName": "other"}),
        ({}, {"volumeMode": "Block"}),
        ({"volumeMode": "Block"}, {}),
        ({"volumeAttributesClassName": "gold"}, {}),
        ({}, {"volumeAttributesClassName": "gold"}),
        ({"accessModes": ["ReadWriteMany"]}, {"accessModes": ["ReadWriteOnce"]}),
        ({"selector": {"matchLabels": {"tier": "fast"}}}, {}),
        ({}, {"claimRef": {"namespace": "ns", "name": "other"}}),
        ({}, {"claimRef": {"namespace": "ns", "name": "c", "uid": "of an older one"}}),
        ({}, {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    ],
)
def test_volumes_that_are_not_for_a_claim(three: Storage, asked: Any, there: Any) -> None:
    three.volume("v", **there)
    three.claim("c", **asked)
    assert feasible(three, "c") == set()


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ({"size": "1000Mi"}, {"size": "1Gi"}),
        ({"volumeMode": "Filesystem", "volumeAttributesClassName": ""}, {}),
        ({"accessModes": ["ReadWriteOnce"]}, {"accessModes": ["ReadWriteMany", "ReadWriteOnce"]}),
        ({"selector": {"matchLabels": {"tier": "fast"}}}, {"meta": {"labels": {"tier": "fast"}}}),
        ({}, {"meta": {"annotations": {"volume.beta.kubernetes.io/storage-class": "waits"}}, "storageClassName": "x"}),
        ({"accessModes": ["ReadWriteMany"]}, {"claimRef": {"namespace": "ns", "name": "c"}}),
    ],
)
def test_volumes_that_are_for_a_claim(three: Storage, asked: Any, there: Any) -> None:
    three.volume("v", **there)
    three.claim("c", **asked)
    assert feasible(three, "c") == {"n0", "n1", "n2"}


def test_only_available_volumes_are_free(three: Storage) -> None:
    import msgspec

    volume = three.volume("v")
    pending = msgspec.structs.replace(volume.status, phase="Pending")
    three.cluster.volumes.put(msgspec.structs.replace(volume, status=pending))
    three.claim("c")
    assert feasible(three, "c") == set()


def test_a_volume_reserved_for_the_claim_ties_it_to_its_nodes(three: Storage) -> None:
    three.volume("own", size="9Gi", nodeAffinity=near("n1"), claimRef={"namespace": "ns", "name": "c"})
    three.volume("any", nodeAffinity=near("n0"))
    three.claim("c")
    assert feasible(three, "c") == {"n1"}


def test_two_claims_do_not_get_the_same_volume(three: Storage) -> None:
    three.volume("v", nodeAffinity=near("n0", "n1"))
    three.volume("w", nodeAffinity=near("n1", "n2"))
    three.claim("c"), three.claim("d")
    assert feasible(three, "c", "d") == {"n1"}


def test_the_smallest_request_chooses_first_and_takes_the_smallest_volume(three: Storage) -> None:
    three.volume("small", size="2Gi", nodeAffinity=near("n0"))
    three.volume("large", size="8Gi", nodeAffinity=near("n0"))
    three.volume("only large", size="8Gi", nodeAffinity=near("n1"))
    three.claim("big", size="5Gi"), three.claim("little", size="1Gi")
    assert feasible(three, "big", "little") == {"n0"}


def test_what_is_not_there_is_made_where_the_class_allows_it(storage: Storage) -> None:
    for zone in "abc":
        storage.node(zone, **{ZONE: zone})
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}]
    storage.storage_class("waits", allowedTopologies=allowed)
    storage.volume("v", nodeAffinity=near("c"))
    storage.claim("c"), storage.claim("d")
    assert feasible(storage, "c") == {"a", "b", "c"}
    assert said(storage, "c", "d") == {"a": (), "b": (), "c": NO_MATCH}


@pytest.mark.parametrize("terms", [[{}], [{"matchLabelExpressions": [{"key": "no key!", "values": ["x"]}]}]])
def test_terms_that_are_empty_or_broken_allow_nothing(three: Storage, terms: Any) -> None:
    three.storage_class("waits", allowedTopologies=terms)
    three.claim("c")
    assert feasible(three, "c") == set()


def test_a_claim_that_a_volume_is_made_for_stays_with_its_node(three: Storage) -> None:
    three.storage_class("waits")
    three.claim("c", meta={"annotations": {"volume.kubernetes.io/selected-node": "n1"}})
    asked = three.ask(VolumeBinding(), three.pod("c"))
    assert asked.said() == {"n0": NO_MATCH, "n1": (), "n2": NO_MATCH}
    three.cluster.remove_node("n1")
    assert asked.said() == {"n0": NO_MATCH, "n2": NO_MATCH}


def test_room_is_looked_for_only_where_the_driver_keeps_track_of_it(three: Storage) -> None:
    three.storage_class("waits")
    three.claim("c", size="5Gi")
    asked = three.ask(VolumeBinding(), three.pod("c"))
    assert set(asked.said().values()) == {()}
    three.driver("a.csi", storageCapacity=True)
    assert set(asked.said().values()) == {NO_ROOM}
    three.capacity("n0", "waits", "5Gi", nodeTopology={"matchLabels": {"kubernetes.io/hostname": "n0"}})
    three.capacity("n1", "waits", "4Gi", nodeTopology={"matchLabels": {"kubernetes.io/hostname": "n1"}})
    three.capacity("other", "other", "9Gi", nodeTopology={})
    three.capacity("nowhere", "waits", "9Gi")
    assert asked.said() == {"n0": (), "n1": NO_ROOM, "n2": NO_ROOM}
    three.capacity("n1", "waits", "9Gi", maximumVolumeSize="4Gi", nodeTopology={})
    assert asked.said() == {"n0": (), "n1": NO_ROOM, "n2": NO_ROOM}
    three.capacity("n1", "waits", "1Gi", maximumVolumeSize="6Gi", nodeTopology={})
    assert set(asked.said().values()) == {()}


def test_a_node_can_have_several_things_against_it(three: Storage) -> None:
    three.volume("v", nodeAffinity=near("n0"), claimRef={"namespace": "ns", "name": "c"})
    three.bound_claim("c", "v"), three.claim("d")
    assert said(three, "c", "d") == {"n0": NO_MATCH, "n1": AWAY + NO_MATCH, "n2": AWAY + NO_MATCH}


def test_sizes_that_are_no_quantities_are_errors_until_they_are(three: Storage) -> None:
    three.storage_class("waits")
    three.driver("a.csi", storageCapacity=True)
    three.capacity("all", "waits", "lots", maximumVolumeSize="9Gi", nodeTopology={})
    three.claim("c")
    asked = three.ask(VolumeBinding(), three.pod("c"))
    for _ in range(2):
        with pytest.raises(ValidationError, match="lots"):
            asked.said()
    three.capacity("all", "waits", "9Gi", nodeTopology={})
    three.volume("v", size="much")
    for _ in range(2):
        with pytest.raises(ValidationError, match="much"):
            asked.said()
    three.cluster.volumes.remove("v")
    assert set(asked.said().values()) == {()}
