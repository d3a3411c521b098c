"""Configurations of kube-scheduler that flavours are played with, each as what differs from the default."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.workloads.nodes import FPGA, GPU, RACK, ZONE

DEFAULT, PACKING, PLAIN = "default-scheduler", "packing", "plain"

Config = dict[str, Any]


def shaped_by_use() -> Config:
    """A curve that likes nodes half full, over uneven weights, blind to one device and to one group of resources."""
    shape = [{"utilization": 0, "score": 2}, {"utilization": 50, "score": 10}, {"utilization": 100, "score": 0}]
    weights = [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 5}]
    return one_profile(
        NodeResourcesFit={
            "ignoredResources": [FPGA],
            "ignoredResourceGroups": ["ignored.example.com"],
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "resources": weights,
                "requestedToCapacityRatio": {"shape": shape},
            },
        },
        NodeResourcesBalancedAllocation={"resources": [{"name": "memory", "weight": 1}, {"name": GPU, "weight": 1}]},
    )


def argued() -> Config:
    """An argument for each plugin that the other configurations leave alone."""
    names = {"cpu": 1, "memory": 5, "ephemeral-storage": 2}
    required = {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
    return one_profile(
        NodeResourcesFit={
            "ignoredResourceGroups": ["example.com"],
            "scoringStrategy": {
                "type": "LeastAllocated",
                "resources": [{"name": name, "weight": weight} for name, weight in names.items()],
            },
        },
        NodeResourcesBalancedAllocation={"resources": [{"name": name, "weight": 1} for name in ("cpu", GPU)]},
        NodeAffinity={
            "addedAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [required]},
                **_prefers_ssd(),
            }
        },
        InterPodAffinity={"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True},
    )


def packed() -> Config:
    """Full nodes first, storage on the node counted."""
    names = {"cpu": 1, "memory": 2, "ephemeral-storage": 4, GPU: 3}
    resources = [{"name": name, "weight": weight} for name, weight in names.items()]
    return one_profile(NodeResourcesFit={"scoringStrategy": {"type": "MostAllocated", "resources": resources}})


def spread_by_list() -> Config:
    """Default constraints of our own, one of them hard, for pods that something selects."""
    constraints = [
        {"maxSkew": 2, "topologyKey": RACK, "whenUnsatisfiable": "DoNotSchedule"},
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
    ]
    return one_profile(
        PodTopologySpread={"defaultingType": "List", "defaultConstraints": constraints},
        InterPodAffinity={"hardPodAffinityWeight": 55},
    )


def preempt_everywhere() -> Config:
    """Every node is a candidate. By default a hundred are, from a random first one on, and no choice can be told."""
    return one_profile(DefaultPreemption={"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 1})


def room_scored() -> Config:
    """Among nodes with room for a volume to be made, those that it fills best."""
    shape = [{"utilization": 0, "score": 0}, {"utilization": 40, "score": 7}, {"utilization": 100, "score": 10}]
    return one_profile(VolumeBinding={"bindTimeoutSeconds": 120, "shape": shape})


def three_profiles() -> Config:
    """The default one, one that packs and knows no images, and one with hardly anything in it."""
    packing = {
        "schedulerName": PACKING,
        "plugins": {
            "score": {
                "disabled": [{"name": "ImageLocality"}, {"name": "NodeResourcesFit"}, {"name": "PodTopologySpread"}],
                "enabled": [{"name": "NodeResourcesFit", "weight": 11}],
            },
            "filter": {"disabled": [{"name": "TaintToleration"}]},
        },
        "pluginConfig": [
            {"name": "NodeResourcesFit", "args": _most_allocated()},
            {"name": "NodeAffinity", "args": {"addedAffinity": _prefers_ssd()}},
        ],
    }
    plain = {
        "schedulerName": PLAIN,
        "plugins": {
            "multiPoint": {
                "enabled": [{"name": "TaintToleration", "weight": 1}],
                "disabled": [{"name": "InterPodAffinity"}, {"name": "NodeResourcesBalancedAllocation"}],
            },
            "postFilter": {"disabled": [{"name": "*"}]},
        },
    }
    return {"profiles": [{"schedulerName": DEFAULT}, packing, plain]}


def one_profile(**arguments: Config) -> Config:
    """The default profile with arguments for some of its plugins."""
    configs = [{"name": name, "args": args} for name, args in arguments.items()]
    return {"profiles": [{"schedulerName": DEFAULT, "pluginConfig": configs}]}


def _most_allocated() -> Config:
    return {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}


def _prefers_ssd() -> Config:
    preference = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 20, "preference": preference}]}
