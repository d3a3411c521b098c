"""VolumeBinding's reservations: what is taken for granted between a decision and its confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.contract.effects import PatchObject
from bayplan.plugins.volumebinding import VolumeBinding

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage

SELECTED = "volume.kubernetes.io/selected-node"


def near(*nodes: Any) -> Any:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


@pytest.fixture
def two(storage: Storage) -> Storage:
    storage.node("n0"), storage.node("n1")
    storage.storage_class("waits")
    return storage


def seen(storage: Storage) -> Any:
    """All claims and volumes as readers see them."""
    return [*storage.cluster.claims], [*storage.cluster.volumes]


def test_a_volume_is_taken_and_the_next_pod_does_not_get_it(two: Storage) -> None:
    two.volume("v", **near("n0"))
    two.storage_class("waits", provisioner="kubernetes.io/no-provisioner")
    two.claim("c"), two.claim("d")
    plugin, pod, other = VolumeBinding(), two.pod("c"), two.pod("d", name="other")
    asked = two.ask(plugin, other)
    assert asked.said()["n0"] == ()
    assert plugin.reserve(pod, "n0", two.cluster)
    assert asked.said()["n0"] != ()
    plugin.unreserve(pod, "n0", two.cluster)
    assert asked.said()["n0"] == ()


def test_the_volume_is_told_whose_it_is(two: Storage) -> None:
    volume = two.volume("v", **near("n0"))
    claim = two.claim("c")
    plugin, pod = VolumeBinding(), two.pod("c")
    plugin.reserve(pod, "n0", two.cluster)
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": "ns",
        "name": "c",
        "uid": claim.metadata.uid,
        "resourceVersion": claim.metadata.resource_version,
    }
    patch = {
        "metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {"claimRef": reference},
    }
    effects = plugin.pre_bind(pod, "n0", two.cluster)
    assert list(effects) == [PatchObject("PersistentVolume", "v", volume.metadata.resource_version, patch)]


def test_a_volume_that_a_person_reserved_is_not_marked_as_ours(two: Storage) -> None:
    two.volume("v", claimRef={"namespace": "ns", "name": "c"})
    two.claim("c")
    plugin, pod = VolumeBinding(), two.pod("c")
    plugin.reserve(pod, "n0", two.cluster)
    (effect,) = plugin.pre_bind(pod, "n0", two.cluster)
    assert isinstance(effect, PatchObject)
    assert effect.patch["metadata"] == {"annotations": {}}
    assert effect.patch["spec"]["claimRef"]["uid"] == "uid of c"


def test_a_volume_that_is_the_claims_already_is_not_written_again(two: Storage) -> None:
    claim = two.claim("c")
    two.volume("v", claimRef={"namespace": "ns", "name": "c", "uid": claim.metadata.uid})
    plugin, pod = VolumeBinding(), two.pod("c")
    assert plugin.reserve(pod, "n0", two.cluster)
    assert list(plugin.pre_bind(pod, "n0", two.cluster)) == []


def test_a_node_is_selected_for_what_is_to_be_made(two: Storage) -> None:
    claim = two.claim("c", meta={"annotations": {"kept": "yes"}})
    plugin, pod, other = VolumeBinding(), two.pod("c"), two.pod("c", name="other")
    asked = two.ask(plugin, other)
    assert plugin.reserve(pod, "n1", two.cluster)
    (assumed,) = two.cluster.claims.assumed()
    assert assumed.metadata.annotations == {"kept": "yes", SELECTED: "n1"}
    assert [name for name, reasons in asked.said().items() if not reasons] == ["n1"]
    patch = {"metadata": {"annotations": {SELECTED: "n1"}}}
    effects = plugin.pre_bind(pod, "n1", two.cluster)
    assert list(effects) == [PatchObject("PersistentVolumeClaim", "ns/c", claim.metadata.resource_version, patch)]


def test_undoing_restores_what_was_seen_before(two: Storage) -> None:
    two.volume("v", **near("n0"))
    two.claim("c"), two.claim("d", size="5Gi")
    plugin, pod, before = VolumeBinding(), two.pod("c", "d"), seen(two)
    plugin.reserve(pod, "n0", two.cluster)
    assert seen(two) != before
    plugin.unreserve(pod, "n0", two.cluster)
    assert seen(two) == before
    plugin.unreserve(pod, "n0", two.cluster)
    assert seen(two) == before


def test_a_newer_version_ends_what_was_taken_for_granted(two: Storage) -> None:
    claim = two.claim("c")
    plugin, pod = VolumeBinding(), two.pod("c")
    plugin.reserve(pod, "n0", two.cluster)
    meta = msgspec.structs.replace(claim.metadata, resource_version="9999", annotations={SELECTED: "n0"})
    two.cluster.claims.put(msgspec.structs.replace(claim, metadata=meta))
    assert list(plugin.pre_bind(pod, "n0", two.cluster)) == []


def test_bound_claims_and_none_at_all_leave_nothing_to_do(two: Storage) -> None:
    two.volume("v")
    two.bound_claim("c", "v")
    plugin, before = VolumeBinding(), seen(two)
    for pod in (two.pod("c"), two.pod()):
        assert plugin.reserve(pod, "n0", two.cluster)
        assert list(plugin.pre_bind(pod, "n0", two.cluster)) == []
        assert seen(two) == before


def test_a_choice_that_does_not_hold_any_more_is_rejected_and_changes_nothing(two: Storage) -> None:
    two.claim("c", meta={"annotations": {SELECTED: "n1"}})
    plugin, pod, before = VolumeBinding(), two.pod("c"), seen(two)
    assert plugin.reserve(pod, "n0", two.cluster).reasons
    assert plugin.reserve(pod, "gone", two.cluster).reasons
    two.cluster.claims.remove("ns/c")
    assert plugin.reserve(pod, "n1", two.cluster).reasons == ('persistentvolumeclaim "c" not found',)
    assert seen(two) == ([], before[1])
