"""VolumeZone: volumes labelled with zones keep their pods there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bayplan.plugins.volumezone import VolumeZone

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
AWAY = ("node(s) had no available volume zone",)


def labelled(storage: Storage, **labels: Any) -> Any:
    """A bound claim whose volume has these labels."""
    storage.volume("v", meta={"labels": labels.pop("labels", labels)})
    storage.bound_claim("c", "v")
    return storage.pod("c")


def test_pods_without_named_claims_are_none_of_its_business(storage: Storage) -> None:
    assert not storage.has_say(VolumeZone(), storage.pod())
    assert not storage.has_say(VolumeZone(), storage.pod({"ephemeral": {}}))


def test_a_volume_is_used_in_its_zone(storage: Storage) -> None:
    storage.labelled_node("here", {ZONE: "a"})
    storage.labelled_node("there", {ZONE: "b"})
    storage.labelled_node("elsewhere", {REGION: "r"})
    storage.labelled_node("nowhere", {})
    pod = labelled(storage, labels={ZONE: "a"})
    assert storage.said(VolumeZone(), pod) == {"here": (), "there": AWAY, "elsewhere": AWAY, "nowhere": ()}


def test_a_label_may_list_zones(storage: Storage) -> None:
    for zone in "abc":
        storage.labelled_node(zone, {ZONE: zone})
    pod = labelled(storage, labels={ZONE: "a__ b "})
    assert storage.said(VolumeZone(), pod) == {"a": (), "b": (), "c": AWAY}


def test_a_list_with_a_gap_is_no_list(storage: Storage) -> None:
    storage.labelled_node("c", {ZONE: "c"})
    assert storage.said(VolumeZone(), labelled(storage, labels={ZONE: "a____b"})) == {"c": ()}


def test_zone_and_region_must_both_fit(storage: Storage) -> None:
    storage.labelled_node("both", {ZONE: "a", REGION: "r"})
    storage.labelled_node("zone", {ZONE: "a", REGION: "q"})
    storage.labelled_node("lacking", {ZONE: "a"})
    pod = labelled(storage, labels={ZONE: "a", REGION: "r"})
    assert storage.said(VolumeZone(), pod) == {"both": (), "zone": AWAY, "lacking": AWAY}


def test_beta_labels_of_volumes_are_found_on_newer_nodes_but_not_the_other_way_round(storage: Storage) -> None:
    storage.labelled_node("new", {ZONE: "a"})
    storage.labelled_node("old", {BETA_ZONE: "a"})
    storage.labelled_node("torn", {BETA_ZONE: "b", ZONE: "a"})
    pod = labelled(storage, labels={BETA_ZONE: "a"})
    assert storage.said(VolumeZone(), pod) == {"new": (), "old": (), "torn": AWAY}
    pod = labelled(storage, labels={ZONE: "a"})
    assert storage.said(VolumeZone(), pod) == {"new": (), "old": AWAY, "torn": ()}


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        ({"volumeName": "gone"}, 'persistentvolume "gone" not found'),
        ({"storageClassName": ""}, "PersistentVolumeClaim had no pv name and storageClass name"),
        ({"storageClassName": "gone"}, 'storageclass.storage.k8s.io "gone" not found'),
        ({"storageClassName": "modeless"}, 'VolumeBindingMode not set for StorageClass "modeless"'),
        ({"storageClassName": "immediate"}, "PersistentVolume had no name"),
        ({"storageClassName": "waits"}, None),
    ],
)
def test_a_claim_whose_zone_cannot_be_told_refuses_the_pod(storage: Storage, spec: Any, refusal: Any) -> None:
    storage.node("n0")
    storage.storage_class("waits")
    storage.storage_class("immediate", waits=False)
    storage.storage_class("modeless", volumeBindingMode=None)
    storage.claim("c", **spec)
    asked = storage.ask(VolumeZone(), storage.pod("c"))
    assert asked.refusal() == (() if refusal is None else (refusal,))


def test_a_claim_without_name_and_one_that_is_not_there(storage: Storage) -> None:
    storage.node("n0")
    assert storage.ask(VolumeZone(), storage.pod("")).refusal() == ("PersistentVolumeClaim had no name",)
    assert storage.ask(VolumeZone(), storage.pod("c")).refusal() == ('persistentvolumeclaim "c" not found',)


def test_it_keeps_up_with_nodes_and_volumes(storage: Storage) -> None:
    storage.labelled_node("n0", {ZONE: "a"})
    asked = storage.ask(VolumeZone(), labelled(storage, labels={ZONE: "a"}))
    assert asked.said() == {"n0": ()}
    storage.labelled_node("n1", {ZONE: "b"})
    assert asked.said() == {"n0": (), "n1": AWAY}
    storage.labelled_node("n0", {ZONE: "b"})
    assert asked.said() == {"n0": AWAY, "n1": AWAY}
    labelled(storage, labels={ZONE: "b"})
    assert asked.said() == {"n0": (), "n1": ()}
    storage.cluster.claims.remove("ns/c")
    assert asked.refusal() == ('persistentvolumeclaim "c" not found',)
