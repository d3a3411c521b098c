"""What a pod can ask for, each thing by a name: strategies for arguments of `builders.pod`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from bayplan.objects.pod import (
    Container,
    ContainerPort,
    ContainerRestartRule,
    ContainerStatus,
    EphemeralVolume,
    ImageVolume,
    PodResourceClaim,
    PodStatus,
    ResourceRequirements,
    Volume,
)
from bayplan.objects.selection import LabelSelector, LabelSelectorRequirement
from bayplan.objects.volumes import GcePersistentDisk
from bayplan.testing.builders import HOSTNAME, ZONE
from bayplan.testing.terms import among, evenly, where, wish

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NAMESPACES = ("one", "two")
PODS = tuple(f"p{number}" for number in range(6))
LABELS: tuple[dict[str, str], ...] = ({"app": "web"}, {"app": "db"}, {}, {"app": "web", "tier": "a"})
CLAIMS = ("c0", "c1")

_expression = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "NotIn", ("db",)),))
_broken = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Among", ("db",)),))
_selectors = st.sampled_from([{"app": "web"}, {"app": "db"}, {}, None, _expression])
_keys = st.sampled_from([ZONE, HOSTNAME, "disk"])
_elsewhere = st.sampled_from(
    [{}, {}, {"namespaces": ("one",)}, {"namespace_labels": {"team": "a"}}, {"namespace_labels": {}}]
)
_amongs = st.builds(lambda labels, by, more: among(labels, by=by, **more), _selectors, _keys, _elsewhere)
_wishes = st.builds(wish, st.sampled_from([1, 50, 100]), _amongs)
_wheres = st.sampled_from(
    [
        where(ZONE, "In", "a", "b"),
        where("disk", "NotIn", "hdd"),
        where("disk", "Exists"),
        where(ZONE, "DoesNotExist"),
        where("size", "Gt", "3"),
        where("size", "Lt", "3"),
        where("metadata.name", "In", "n1"),
        where("metadata.name", "NotIn", "n0"),
        where("disk", "Among", "ssd"),
    ]
)
_sidecar = Container(name="side", restart_policy="Always", resources=ResourceRequirements({"cpu": "200m"}))
_init = Container(name="init", resources=ResourceRequirements({"cpu": "2", "example.com/gpu": "1"}))
_fussy = Container(name="main", restart_policy_rules=(ContainerRestartRule("RestartAllContainers"),))
_resizing = PodStatus(
    container_statuses=(ContainerStatus("main", {"cpu": "1500m"}, ResourceRequirements({"cpu": "700m"})),)
)


def _lists(one: SearchStrategy[Any], name: str, most: int = 2) -> SearchStrategy[dict[str, Any]]:
    return st.lists(one, min_size=1, max_size=most).map(lambda listed: {name: tuple(listed)})


def _spreads(*, strict: bool) -> SearchStrategy[dict[str, Any]]:
    more = st.fixed_dictionaries(
        {},
        optional={
            "min_domains": st.just(2) if strict else st.none(),
            "node_taints_policy": st.sampled_from(["Honor", "Ignore"]),
            "node_affinity_policy": st.just("Ignore"),
            "match_label_keys": st.just(("tier",)),
        },
    )
    constraints = st.builds(
        lambda labels, by, skew, more: evenly(labels, by=by, skew=skew, strict=strict, **more),
        _selectors,
        _keys,
        st.integers(1, 2),
        more,
    )
    return _lists(constraints, "spread")


#: By name; a pod's features are merged, a later one's fields replacing an earlier one's.
FEATURES: dict[str, SearchStrategy[dict[str, Any]]] = {
    "requests": st.fixed_dictionaries(
        {}, optional={"cpu": st.sampled_from(["300m", "1", "5"]), "memory": st.sampled_from(["0", "900Mi", "2Gi"])}
    ),
    "devices": st.sampled_from([{"requests": {"example.com/gpu": "1"}}, {"requests": {"ephemeral-storage": "6Gi"}}]),
    "whole": st.sampled_from(
        [{"overhead": {"cpu": "250m"}}, {"resources": ResourceRequirements({"cpu": "1", "memory": "1Gi"})}]
    ),
    "init": st.sampled_from([{"init_containers": (_sidecar,)}, {"init_containers": (_sidecar, _init)}]),
    "resizing": st.sampled_from([{"status": _resizing, "cpu": "500m"}]),
    "ports": _lists(
        st.sampled_from([80, 443, ContainerPort(80, "10.0.0.1"), ContainerPort(80, protocol="UDP")]), "host_ports"
    ),
    "node_selector": st.sampled_from([{"node_selector": {"disk": "ssd"}}, {"node_selector": {ZONE: "a"}}]),
    "node_affinity": _lists(_wheres, "nodes"),
    "node_wishes": _lists(
        st.builds(wish, st.sampled_from([1, 100]), _wheres.filter(lambda t: "Among" not in repr(t))), "nodes"
    ),
    "tolerations": _lists(
        st.sampled_from(["*", "gpu", "gpu=yes:NoSchedule", "old:NoExecute", "old", "node.kubernetes.io/unschedulable"]),
        "tolerations",
    ),
    "near": _lists(_amongs, "near"),
    "near_wishes": _lists(_wishes, "near"),
    "far": _lists(_amongs, "far"),
    "far_wishes": _lists(_wishes, "far"),
    "broken": st.just({"far": (among(_broken, by=ZONE),)}),
    "spread": _spreads(strict=True),
    "spread_wishes": _spreads(strict=False),
    "owner": st.sampled_from([{"owner": "ReplicaSet/r0"}, {"owner": "StatefulSet/r1"}]),
    "image": st.sampled_from(
        [{"image": "web:1"}, {"image": "db"}, {"volumes": (Volume(name="i", image=ImageVolume("big:1")),)}]
    ),
    "priority": st.sampled_from([{"priority": 10}, {"priority": -1}, {"priority": 10, "preemption_policy": "Never"}]),
    "claims": _lists(st.sampled_from(CLAIMS), "claims"),
    "disk": st.sampled_from(
        [
            {"volumes": (Volume(name="d", gce_persistent_disk=GcePersistentDisk("d0")),)},
            {"volumes": (Volume(name="d", gce_persistent_disk=GcePersistentDisk("d0", True)),)},
            {"volumes": (Volume(name="e", ephemeral=EphemeralVolume()),)},
        ]
    ),
    "fussy": st.just({"containers": (_fussy,)}),
    "device_claims": st.just({"resource_claims": (PodResourceClaim("gpu", "claim"),)}),
    "ending": st.just({"deleted": True}),
    "finished": st.just({"phase": "Succeeded"}),
    "reborn": st.just({"uid": "another"}),
    "nominated": st.sampled_from([{"nominated": "n0", "priority": 10}, {"nominated": "n1"}]),
    "scheduler": st.just({"scheduler_name": "other"}),
    "started": st.sampled_from([{"started": "2026-01-01T00:00:00Z"}, {"started": "2026-01-02T00:00:00Z"}]),
}
