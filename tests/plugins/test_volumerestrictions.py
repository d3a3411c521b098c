"""VolumeRestrictions: disks that a node has already, and claims that another pod has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bayplan.plugins.volumerestrictions import VolumeRestrictions

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

TAKEN = ("node(s) had no available disk",)
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


def gce(*, read_only: bool = False) -> Any:
    return {"gcePersistentDisk": {"pdName": "d", "readOnly": read_only}}


def aws(*, read_only: bool = False) -> Any:
    return {"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": read_only}}


def iscsi(*, read_only: bool = False) -> Any:
    return {"iscsi": {"iqn": "iqn.2001-04.com.example:d", "lun": 0, "readOnly": read_only}}


def rbd(*monitors: str, read_only: bool = False, image: str = "i") -> Any:
    return {"rbd": {"monitors": list(monitors or ("m",)), "image": image, "pool": "p", "readOnly": read_only}}


def test_pods_without_claims_and_such_disks_are_none_of_its_business(storage: Storage) -> None:
    assert not storage.has_say(VolumeRestrictions(), storage.pod())
    assert not storage.has_say(VolumeRestrictions(), storage.pod({"azureDisk": {"diskName": "d", "diskURI": "u"}}))


@pytest.mark.parametrize("disk", [gce, aws, iscsi, rbd])
def test_a_disk_is_taken_on_the_node_where_another_pod_has_it(storage: Storage, disk: Any) -> None:
    storage.node("n0"), storage.node("n1")
    storage.pod(disk(), name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod(disk())) == {"n0": TAKEN, "n1": ()}


@pytest.mark.parametrize(("disk", "shared"), [(gce, True), (iscsi, True), (rbd, True), (aws, False)])
def test_two_readers_may_share_a_disk_but_for_aws(storage: Storage, disk: Any, shared: Any) -> None:
    storage.node("n0")
    storage.pod(disk(read_only=True), name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod(disk(read_only=True))) == {"n0": () if shared else TAKEN}
    assert storage.said(VolumeRestrictions(), storage.pod(disk())) == {"n0": TAKEN}


def test_images_are_the_same_when_a_monitor_is_common_to_both(storage: Storage) -> None:
    storage.node("n0")
    storage.pod(rbd("m1", "m2"), name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod(rbd("m2", "m3"))) == {"n0": TAKEN}
    assert storage.said(VolumeRestrictions(), storage.pod(rbd("m3"))) == {"n0": ()}
    assert storage.said(VolumeRestrictions(), storage.pod(rbd("m1", image="other"))) == {"n0": ()}


def test_a_disk_is_free_again_when_its_pod_goes(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1")
    asked = storage.ask(VolumeRestrictions(), storage.pod(gce()))
    assert asked.said() == {"n0": (), "n1": ()}
    storage.pod(gce(), name="other", on="n1")
    assert asked.said() == {"n0": (), "n1": TAKEN}
    storage.cluster.remove_pod("ns/other")
    assert asked.said() == {"n0": (), "n1": ()}


def test_a_claim_for_one_pod_is_nobody_elses_on_any_node(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1")
    storage.claim("c", accessModes=["ReadWriteOncePod"])
    asked = storage.ask(VolumeRestrictions(), storage.pod("c"))
    assert asked.said() == {"n0": (), "n1": ()}
    storage.pod("c", name="other", on="n0")
    assert asked.said() == {"n0": IN_USE, "n1": IN_USE}
    storage.cluster.remove_pod("ns/other")
    assert asked.said() == {"n0": (), "n1": ()}


def test_other_access_modes_are_shared(storage: Storage) -> None:
    storage.node("n0")
    storage.claim("c", accessModes=["ReadWriteOnce"])
    storage.pod("c", name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod("c")) == {"n0": ()}


def test_a_claim_in_use_through_an_ephemeral_volume_is_not_seen_as_kube_scheduler_does_not_see_it(
    storage: Storage,
) -> None:
    storage.node("n0")
    storage.claim("other-v0", accessModes=["ReadWriteOncePod"])
    storage.pod({"ephemeral": {}}, name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod("other-v0")) == {"n0": ()}


def test_the_disk_is_named_before_the_claim(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1")
    storage.claim("c", accessModes=["ReadWriteOncePod"])
    storage.pod("c", gce(), name="other", on="n0")
    assert storage.said(VolumeRestrictions(), storage.pod("c", gce())) == {"n0": TAKEN, "n1": IN_USE}


def test_a_claim_that_is_not_there_refuses_the_pod_until_it_is(storage: Storage) -> None:
    storage.node("n0")
    asked = storage.ask(VolumeRestrictions(), storage.pod("c"))
    assert asked.refusal() == ('persistentvolumeclaim "c" not found',)
    storage.claim("c")
    assert asked.refusal() == ()
    assert asked.said() == {"n0": ()}
