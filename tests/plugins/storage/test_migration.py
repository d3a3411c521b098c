"""In-tree volumes as their drivers see them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.errors import ValidationError
from bayplan.objects.pod import Volume
from bayplan.objects.storage import PersistentVolume
from bayplan.plugins.storage.migration import Handle, handle_of_inline, handle_of_volume, moved_affinity, moved_kind

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
EBS = "topology.ebs.csi.aws.com/zone"
AWS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


def volume(spec: Any, labels: Any = (), terms: Any = None) -> PersistentVolume:
    if terms is not None:
        spec = {**spec, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    return msgspec.convert({"metadata": {"name": "v", "labels": dict(labels)}, "spec": spec}, PersistentVolume)


def term(*asked: Any) -> Any:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)} for key, *values in asked]}


def moved(one: Any) -> Any:
    kind = moved_kind(one.spec)
    assert kind is not None
    return msgspec.json.decode(msgspec.json.encode(moved_affinity(one, kind)))


@pytest.mark.parametrize(
    ("spec", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, Handle("ebs.csi.aws.com", "vol-1")),
        ({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, Handle("ebs.csi.aws.com", "vol-1")),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1/"}}, Handle("ebs.csi.aws.com", "vol-1")),
        ({"cinder": {"volumeID": "x"}}, Handle("cinder.csi.openstack.org", "x")),
        ({"azureDisk": {"diskURI": "/a/b", "kind": "managed"}}, Handle("disk.csi.azure.com", "/a/b")),
        ({"portworxVolume": {"volumeID": "x"}}, Handle("pxd.portworx.com", "x")),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            Handle("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ),
    ],
)
def test_the_handle_is_the_same_inline_and_as_a_volume(spec: Any, handle: Any) -> None:
    assert handle_of_volume(volume(spec)) == handle
    assert handle_of_inline(msgspec.convert(spec, Volume)) == handle


@pytest.mark.parametrize("spec", [{"azureFile": {"shareName": "s"}}, {"vsphereVolume": {"volumePath": "p"}}, {}])
def test_other_kinds_are_left_alone(spec: Any) -> None:
    assert handle_of_volume(volume(spec)) is None
    assert handle_of_inline(msgspec.convert(spec, Volume)) is None


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        ({ZONE: "us-east1-a"}, "zones/us-east1-a"),
        ({ZONE: "us-east1-a", BETA_ZONE: "us-east1-b"}, "zones/us-east1-b"),
        ({ZONE: "us-east1-a__us-east1-b"}, "regions/us-east1"),
        ({ZONE: ""}, "zones/UNSPECIFIED"),
    ],
)
def test_a_disk_of_google_is_called_by_its_place(labels: Any, place: Any) -> None:
    handle = handle_of_volume(volume({"gcePersistentDisk": {"pdName": "d"}}, labels))
    assert handle is not None
    assert handle.name == f"projects/UNSPECIFIED/{place}/disks/d"


@pytest.mark.parametrize(
    ("spec", "labels", "problem"),
    [
        ({"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}}, {}, "Invalid format for AWS volume"),
        ({"awsElasticBlockStore": {"volumeID": "aws://[/vol-1"}}, {}, "Invalid disk name"),
        ({"azureDisk": {"diskURI": "u", "kind": "Shared"}}, {}, r"kind\(Shared\) is not supported"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "here__there"}, "zone in unexpected format"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "a-b-c__a-d-c"}, "multiple or no regions"),
    ],
)
def test_what_no_driver_can_serve_is_an_error(spec: Any, labels: Any, problem: Any) -> None:
    with pytest.raises(ValidationError, match=problem):
        handle_of_volume(volume(spec, labels))


def test_zones_in_the_affinity_take_the_drivers_label() -> None:
    one = volume(AWS, {ZONE: "ignored"}, [term((ZONE, "a"), ("disk", "ssd")), term((ZONE, "b"))])
    assert moved(one) == {"nodeSelectorTerms": [term((EBS, "a"), ("disk", "ssd")), term((EBS, "b"))]}


def test_zones_in_the_labels_are_added_to_every_term() -> None:
    labels = {ZONE: "b__ a __"}
    assert moved(volume(AWS, labels)) == {"nodeSelectorTerms": [term((EBS, "a", "b"))]}
    two = volume(AWS, labels, [term(("disk", "ssd")), term(("disk", "hdd"))])
    added = [term(("disk", "ssd"), (EBS, "a", "b")), term(("disk", "hdd"), (EBS, "a", "b"))]
    assert moved(two) == {"nodeSelectorTerms": added}
    assert moved(volume(AWS, {ZONE: " "})) is None


def test_beta_labels_are_read_where_there_are_no_newer_ones_and_the_region_becomes_new() -> None:
    beta = [term((BETA_ZONE, "a"), (BETA_REGION, "r"))]
    assert moved(volume(AWS, {}, beta)) == {"nodeSelectorTerms": [term((EBS, "a"), (REGION, "r"))]}
    mixed = [term((BETA_ZONE, "a"), (ZONE, "b"), (BETA_REGION, "r"))]
    kept = [term((BETA_ZONE, "a"), (EBS, "b"), (BETA_REGION, "r"))]
    assert moved(volume(AWS, {}, mixed)) == {"nodeSelectorTerms": kept}
    assert moved(volume(AWS, {BETA_ZONE: "a"})) == {"nodeSelectorTerms": [term((EBS, "a"))]}


def test_kinds_without_zones_of_their_own_keep_their_affinity() -> None:
    one = volume({"portworxVolume": {"volumeID": "x"}}, {ZONE: "a"}, [term((ZONE, "a"))])
    assert moved(one) == {"nodeSelectorTerms": [term((ZONE, "a"))]}
