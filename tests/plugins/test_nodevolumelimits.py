"""NodeVolumeLimits: as many volumes of a driver as its node can take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import ValidationError
from bayplan.plugins.nodevolumelimits import NodeVolumeLimits

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

FULL = ("node(s) exceed max volume count",)


def disk(storage: Storage, name: Any, driver: Any = "a.csi", handle: Any = None) -> Any:
    """A bound claim of a CSI volume."""
    storage.volume(f"v-{name}", csi={"driver": driver, "volumeHandle": handle or name})
    storage.bound_claim(name, f"v-{name}")
    return name


def test_pods_without_volumes_that_are_attached_are_none_of_its_business(storage: Storage) -> None:
    assert not storage.has_say(NodeVolumeLimits(), storage.pod())
    assert not storage.has_say(NodeVolumeLimits(), storage.pod({"rbd": {"image": "i", "monitors": ["m"]}}))


def test_a_node_is_full_when_its_limit_is_reached(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1"), storage.node("n2")
    storage.csi_node("n0", a_csi=1)
    storage.csi_node("n1", a_csi=None)
    asked = storage.ask(NodeVolumeLimits(), storage.pod(disk(storage, "new")))
    assert asked.said() == {"n0": (), "n1": (), "n2": ()}
    for node in ("n0", "n1", "n2"):
        storage.pod(disk(storage, f"old-{node}"), name=f"other-{node}", on=node)
    assert asked.said() == {"n0": FULL, "n1": (), "n2": ()}
    storage.csi_node("n0", a_csi=2)
    assert asked.said() == {"n0": (), "n1": (), "n2": ()}
    storage.csi_node("n1", a_csi=0)
    assert asked.said() == {"n0": (), "n1": FULL, "n2": ()}
    storage.cluster.csi_nodes.remove("n1")
    assert asked.said() == {"n0": (), "n1": (), "n2": ()}


def test_drivers_have_limits_of_their_own(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=1, b_csi=1)
    storage.pod(disk(storage, "old"), name="other", on="n0")
    assert storage.said(NodeVolumeLimits(), storage.pod(disk(storage, "b", "b.csi"))) == {"n0": ()}
    assert storage.said(NodeVolumeLimits(), storage.pod("b", disk(storage, "a"))) == {"n0": FULL}


def test_a_volume_that_is_on_the_node_already_takes_no_more_room(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1")
    storage.csi_node("n0", a_csi=1)
    storage.csi_node("n1", a_csi=1)
    storage.pod(disk(storage, "shared"), name="other", on="n0")
    storage.pod(disk(storage, "else"), name="another", on="n1")
    assert storage.said(NodeVolumeLimits(), storage.pod("shared")) == {"n0": (), "n1": FULL}
    disk(storage, "same", handle="shared")
    assert storage.said(NodeVolumeLimits(), storage.pod("same", "shared")) == {"n0": (), "n1": FULL}


def test_what_is_attached_besides_counts_but_not_twice(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=2)
    storage.pod(disk(storage, "old"), name="other", on="n0")
    disk(storage, "leftover")
    storage.attachment("va0", "a.csi", "v-old", "n0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod(disk(storage, "new")))
    assert asked.said() == {"n0": ()}
    storage.attachment("va1", "a.csi", "v-leftover", "n0")
    assert asked.said() == {"n0": FULL}
    storage.cluster.attachments.remove("va1")
    assert asked.said() == {"n0": ()}


def test_a_volume_that_is_only_attached_is_counted_again_with_its_pod_as_kube_scheduler_does(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=1)
    storage.attachment("va0", "a.csi", f"v-{disk(storage, 'c')}", "n0")
    assert storage.said(NodeVolumeLimits(), storage.pod("c")) == {"n0": FULL}


def test_claims_that_are_not_bound_count_by_their_class(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=1, ebs_csi_aws_com=0)
    storage.storage_class("waits")
    storage.storage_class("aws", provisioner="kubernetes.io/aws-ebs")
    storage.storage_class("files", provisioner="kubernetes.io/azure-file")
    storage.claim("c"), storage.claim("d"), storage.claim("e", storageClassName="aws")
    storage.claim("f", storageClassName="files"), storage.claim("g", storageClassName="gone")
    assert storage.said(NodeVolumeLimits(), storage.pod("c", "c")) == {"n0": ()}
    assert storage.said(NodeVolumeLimits(), storage.pod("c", "d")) == {"n0": FULL}
    assert storage.said(NodeVolumeLimits(), storage.pod("e")) == {"n0": FULL}
    assert storage.said(NodeVolumeLimits(), storage.pod("f", "g")) == {"n0": ()}


def test_in_tree_disks_count_as_their_drivers_where_there_is_a_csi_node(storage: Storage) -> None:
    storage.node("n0"), storage.node("n1")
    storage.csi_node("n0", ebs_csi_aws_com=1)
    inline = {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}
    storage.volume("v", awsElasticBlockStore={"volumeID": "vol-1"})
    storage.bound_claim("c", "v")
    storage.pod("c", name="other", on="n0")
    assert storage.said(NodeVolumeLimits(), storage.pod(inline)) == {"n0": (), "n1": ()}
    other = {"awsElasticBlockStore": {"volumeID": "vol-2"}}
    assert storage.said(NodeVolumeLimits(), storage.pod(inline, other)) == {"n0": FULL, "n1": ()}


def test_a_driver_that_must_be_there_is_missed_where_it_is_not(storage: Storage) -> None:
    for name in ("has", "lacks", "silent"):
        storage.node(name)
    storage.csi_node("has", a_csi=0)
    storage.csi_node("lacks", b_csi=1)
    missing = ("a.csi CSI driver is not installed on the node",)
    asked = storage.ask(NodeVolumeLimits(), storage.pod(disk(storage, "c")))
    assert asked.said() == {"has": FULL, "lacks": (), "silent": ()}
    storage.driver("a.csi", preventPodSchedulingIfMissing=True)
    assert asked.said() == {"has": FULL, "lacks": missing, "silent": missing}
    storage.driver("a.csi", preventPodSchedulingIfMissing=False)
    assert asked.said() == {"has": FULL, "lacks": (), "silent": ()}


def test_an_in_tree_disk_does_not_miss_its_driver_without_a_csi_node(storage: Storage) -> None:
    storage.node("lacks"), storage.node("silent")
    storage.csi_node("lacks", b_csi=1)
    storage.driver("cinder.csi.openstack.org", preventPodSchedulingIfMissing=True)
    missing = ("cinder.csi.openstack.org CSI driver is not installed on the node",)
    pod = storage.pod({"cinder": {"volumeID": "x"}})
    assert storage.said(NodeVolumeLimits(), pod) == {"lacks": missing, "silent": ()}


def test_a_claim_that_is_not_there_keeps_the_pod_from_all_nodes(storage: Storage) -> None:
    storage.node("n0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod("c"))
    assert asked.said() == {"n0": ('looking up PVC ns/c: persistentvolumeclaim "c" not found',)}
    storage.claim("c")
    assert asked.said() == {"n0": ()}


def test_a_foreign_claim_of_an_ephemeral_volume_is_an_error_until_it_is_gone(storage: Storage) -> None:
    storage.node("n0")
    storage.claim("pod-v0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod({"ephemeral": {}}))
    with pytest.raises(ValidationError, match=r"PVC ns/pod-v0 was not created for pod ns/pod \(pod is not owner\)"):
        asked.refusal()
    storage.claim("pod-v0", meta={"ownerReferences": [{"uid": "uid of pod", "controller": True}]})
    assert asked.refusal() == ()


def test_a_disk_that_its_driver_cannot_serve_is_an_error(storage: Storage) -> None:
    storage.node("n0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod({"azureDisk": {"diskURI": "u", "kind": "Shared"}}))
    with pytest.raises(ValidationError, match=r"converting volume\(v0\) from inline to csi: kind\(Shared\)"):
        asked.refusal()


def test_it_notices_what_claims_and_volumes_of_others_turn_into(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=1)
    storage.storage_class("waits", provisioner="b.csi")
    storage.claim("old")
    storage.pod("old", name="other", on="n0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod(disk(storage, "new")))
    assert asked.said() == {"n0": ()}
    storage.bound_claim("old", "later")
    assert asked.said() == {"n0": ()}
    storage.volume("later", csi={"driver": "a.csi", "volumeHandle": "h"})
    assert asked.said() == {"n0": FULL}
    storage.volume("later", csi={"driver": "a.csi", "volumeHandle": "new"})
    assert asked.said() == {"n0": ()}
    storage.cluster.claims.remove("ns/old")
    assert asked.said() == {"n0": ()}


def test_a_row_that_is_used_again_has_nothing_of_the_node_before(storage: Storage) -> None:
    storage.node("n0")
    storage.csi_node("n0", a_csi=1)
    storage.pod(disk(storage, "old"), name="other", on="n0")
    asked = storage.ask(NodeVolumeLimits(), storage.pod(disk(storage, "new")))
    assert asked.said() == {"n0": FULL}
    storage.cluster.remove_node("n0")
    storage.node("n1")
    assert asked.said() == {"n1": ()}
    storage.csi_node("n1", a_csi=1)
    assert asked.said() == {"n1": ()}
    storage.node("n0")
    assert asked.said() == {"n0": FULL, "n1": ()}
