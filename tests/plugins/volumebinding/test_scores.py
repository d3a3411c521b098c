"""VolumeBinding's points: how much of the storage would be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bayplan.columns.nodes import Nodes
from bayplan.plugins.arguments import UtilizationShapePoint as Point
from bayplan.plugins.volumebinding import VolumeBinding

if TYPE_CHECKING:
    from tests.plugins.conftest import Storage


def near(*nodes: Any) -> Any:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


def points(storage: Storage, *claims: Any, plugin: Any = None) -> Any:
    """The points of each node, with the filter read by somebody else."""
    plugin, pod = plugin or VolumeBinding(), storage.cluster.classes.class_of(storage.pod(*claims))
    filtering, scoring = plugin.pre_filter(pod, storage.cluster), plugin.pre_score(pod, storage.cluster)
    for reader in (filtering, scoring):
        if hasattr(reader, "catch_up"):
            reader.catch_up()
    scores = scoring.score_nodes(Nodes.every(storage.cluster))
    assert scoring.normalizer.apply(scores, scoring.normalizer.measure(scores)) is scores
    return dict(zip(storage.cluster.nodes.row_of, scores.tolist(), strict=True))


@pytest.fixture
def two(storage: Storage) -> Storage:
    storage.node("n0"), storage.node("n1")
    storage.storage_class("waits")
    return storage


def test_pods_without_claims_get_none_and_share_them(two: Storage) -> None:
    plugin = VolumeBinding()
    assert points(two, plugin=plugin) == {"n0": 0, "n1": 0}
    classes = [two.cluster.classes.class_of(two.pod(name=name)) for name in ("a", "b")]
    assert len({plugin.pre_score(each, two.cluster) for each in classes}) == 1


def test_the_less_of_a_volume_is_used_the_better(two: Storage) -> None:
    two.volume("small", size="4Gi", **near("n0"))
    two.volume("large", size="10Gi", **near("n1"))
    two.claim("c", size="3Gi")
    assert points(two, "c") == {"n0": 25, "n1": 70}


def test_the_shape_says_what_is_better(two: Storage) -> None:
    two.volume("small", size="4Gi", **near("n0"))
    two.volume("large", size="10Gi", **near("n1"))
    two.claim("c", size="3Gi")
    packed = VolumeBinding(shape=(Point(0, 0), Point(50, 8), Point(100, 10)))
    assert points(two, "c", plugin=packed) == {"n0": 90, "n1": 48}
    assert points(two, "c", plugin=VolumeBinding(shape=(Point(40, 3),))) == {"n0": 30, "n1": 30}
    assert points(two, "c", plugin=VolumeBinding(shape=())) == {"n0": 25, "n1": 70}


def test_classes_count_alike_and_half_points_are_rounded_up(two: Storage) -> None:
    two.storage_class("other")
    two.volume("v", size="4Gi", **near("n0"))
    two.volume("w", size="100Gi", storageClassName="other", **near("n0"))
    two.claim("c", size="3Gi"), two.claim("d", size="2Gi", storageClassName="other")
    assert points(two, "c", "d") == {"n0": 62, "n1": 0}  # (25 + 98) / 2


def test_volumes_of_a_class_are_added_up(two: Storage) -> None:
    two.volume("v", size="4Gi", **near("n0"))
    two.volume("w", size="6Gi", **near("n0"))
    two.claim("c", size="3Gi"), two.claim("d", size="2Gi")
    assert points(two, "c", "d") == {"n0": 50, "n1": 0}


def test_what_is_made_counts_against_the_room_there_is(two: Storage) -> None:
    two.driver("a.csi", storageCapacity=True)
    two.capacity("n0", "waits", "10Gi", nodeTopology={"matchLabels": {"kubernetes.io/hostname": "n0"}})
    two.capacity("n1", "waits", "40Gi", nodeTopology={"matchLabels": {"kubernetes.io/hostname": "n1"}})
    two.claim("c", size="3Gi"), two.claim("d", size="5Gi")
    assert points(two, "c") == {"n0": 70, "n1": 93}
    assert points(two, "c", "d") == {"n0": 20, "n1": 80}


def test_more_than_there_is_room_for_is_all_of_it(two: Storage) -> None:
    two.driver("a.csi", storageCapacity=True)
    two.capacity("all", "waits", "6Gi", nodeTopology={})
    two.claim("c", size="5Gi"), two.claim("d", size="5Gi")
    assert points(two, "c", "d") == {"n0": 0, "n1": 0}


def test_where_a_volume_is_taken_what_is_made_does_not_count(two: Storage) -> None:
    two.driver("a.csi", storageCapacity=True)
    two.capacity("all", "waits", "10Gi", nodeTopology={})
    two.volume("v", size="4Gi", **near("n0"))
    two.claim("c", size="3Gi"), two.claim("d", size="5Gi")
    assert points(two, "c", "d") == {"n0": 25, "n1": 20}


def test_where_nobody_keeps_track_there_are_no_points(two: Storage) -> None:
    two.claim("c")
    assert points(two, "c") == {"n0": 0, "n1": 0}


def test_filter_and_score_each_hear_of_every_change(two: Storage) -> None:
    plugin: Any = VolumeBinding()
    pod = two.cluster.classes.class_of(two.pod("c"))
    two.claim("c", size="1Gi")
    filtering, scoring = plugin.pre_filter(pod, two.cluster), plugin.pre_score(pod, two.cluster)
    everything = slice(0, 2)
    assert filtering.catch_up() == everything
    assert scoring.catch_up() == everything
    assert filtering.catch_up() is None
    two.node("n1", changed="yes")
    assert scoring.catch_up() == slice(1, 2)
    assert filtering.catch_up() == slice(1, 2)
    two.volume("v", size="2Gi")
    assert filtering.catch_up() == everything
    assert scoring.catch_up() == everything
    assert scoring.catch_up() is None
    assert scoring.score_nodes(Nodes.every(two.cluster)).tolist() == [50, 50]
    two.claim("unrelated")
    assert filtering.catch_up() is None


def test_absurd_sizes_are_neither_errors_nor_negative(two: Storage) -> None:
    two.volume("v", size="1e30", **near("n0"))
    two.volume("w", size="-5", **near("n1"))
    two.claim("c", size="1e25")
    assert set(points(two, "c")) == {"n0", "n1"}
    assert np.isfinite(list(points(two, "c").values())).all()


def test_what_the_arguments_may_be() -> None:
    assert list(VolumeBinding().problems()) == []
    assert [path for path, _ in VolumeBinding(bind_timeout_seconds=-1).problems()] == ["bindTimeoutSeconds"]
    assert [path for path, _ in VolumeBinding(shape=(Point(0, 11),)).problems()] == ["shape[0].score"]
