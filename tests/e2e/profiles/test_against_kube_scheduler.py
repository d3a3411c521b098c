"""The same file means the same to kube-scheduler and to us: taken or refused, printed alike, plugins in one order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.errors import ConfigurationError
from bayplan.plugins.registry import BUILT_IN, load_plugin
from bayplan.profiles import SchedulerConfiguration, effective, read_configuration
from bayplan.profiles.points import METHODS, has_point
from bayplan.profiles.reading import camel

if TYPE_CHECKING:
    from tests.e2e.profiles.conftest import Answer, KubeScheduler

pytestmark = pytest.mark.e2e

Json = dict[str, Any]


def _args(name: str, **arguments: Any) -> Json:
    return {"profiles": [{"pluginConfig": [{"name": name, "args": arguments}]}]}


def _plugins(**sets: Any) -> Json:
    return {"profiles": [{"plugins": sets}]}


def _names(*names: str) -> list[Json]:
    return [{"name": name} for name in names]


def _strategy(**strategy: Any) -> Json:
    return _args("NodeResourcesFit", scoringStrategy=strategy)


def _affinity(**affinity: Any) -> Json:
    return _args("NodeAffinity", addedAffinity=affinity)


def _shape(*points: tuple[int, int]) -> list[Json]:
    return [{"utilization": utilization, "score": score} for utilization, score in points]


def _required(**term: Any) -> Json:
    return _affinity(requiredDuringSchedulingIgnoredDuringExecution={"nodeSelectorTerms": [term]})


def _constraints(*constraints: Json, defaulting: str | None = "List") -> Json:
    return _args("PodTopologySpread", defaultConstraints=list(constraints), defaultingType=defaulting)


_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
_HEAD = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "clientConnection: {kubeconfig: 'KUBECONFIG'}\n"
)

TAKEN: dict[str, Any] = {
    "nothing": {},
    "a percentage": {
        "percentageOfNodesToScore": 100,
        "profiles": [{"schedulerName": "x", "percentageOfNodesToScore": 0}],
    },
    "two profiles": {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"queueSort": {}}}]},
    "a default plugin anew": _plugins(multiPoint={"enabled": _names("NodeAffinity")}),
    "hardly any plugins": _plugins(
        multiPoint={"disabled": _names("*"), "enabled": _names("PrioritySort", "DefaultBinder", "NodeName")}
    ),
    "nothing scores": _plugins(score={"disabled": _names("*")}),
    "weights": _plugins(score={"enabled": [{"name": "ImageLocality", "weight": 9}, {"name": "NodeAffinity"}]}),
    "an order": _plugins(filter={"enabled": _names("NodePorts", "NodeName")}),
    "disabled strangers": _plugins(score={"disabled": _names("EBSLimits", "Nope")}),
    "gated plugins": _plugins(multiPoint={"enabled": _names("GangScheduling")}),
    "points of groups": _plugins(placementScore={"enabled": _names("NodeResourcesFit")}),
    "most allocated": _strategy(type="MostAllocated", resources=[{"name": "cpu", "weight": 0}, {"name": "memory"}]),
    "a ratio": _strategy(
        type="RequestedToCapacityRatio", requestedToCapacityRatio={"shape": _shape((0, 0), (70, 10), (100, 2))}
    ),
    "ignored resources": _args("NodeResourcesFit", ignoredResources=["a.com/b"], ignoredResourceGroups=["c.com"]),
    "balance": _args("NodeResourcesBalancedAllocation", resources=_names("cpu", "a.com/b")),
    "no resources": _args("NodeResourcesBalancedAllocation", resources=[]),
    "no hard weight": _args("InterPodAffinity", hardPodAffinityWeight=0, ignorePreferredTermsOfExistingPods=True),
    "null arguments": _args("InterPodAffinity", hardPodAffinityWeight=None),
    "a curve for volumes": _args("VolumeBinding", bindTimeoutSeconds=0, shape=_shape((50, 3))),
    "times for claims": _args("DynamicResources", bindingTimeout="90s", filterTimeout="0s"),
    "added affinity": _required(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["x"]}]),
    "constraints": _constraints(_SPREAD, {**_SPREAD, "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 5}),
    "candidates": _args("DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=7),
    "no arguments": {"profiles": [{"pluginConfig": [{"name": "NodeAffinity"}]}]},
    "an election": {"leaderElection": {"leaseDuration": "1h2m3.5s", "renewDeadline": "0s", "resourceName": ""}},
    "no election": {"leaderElection": {"leaderElect": False, "leaseDuration": "1s", "resourceLock": "x"}},
    "no profiling": {"enableProfiling": False},
    "an extender": {
        "extenders": [
            {
                "urlPrefix": "http://x",
                "filterVerb": "f",
                "managedResources": [{"name": "a.b/c", "ignoredByScheduler": True}, {"name": "a.b/d"}],
                "tlsConfig": {"insecure": True},
                "enableHTTPS": True,
            }
        ]
    },
    "numbers of many kinds": _HEAD + "parallelism: 0x1_0\npercentageOfNodesToScore: 1e1\n"
    "podInitialBackoffSeconds: 010\npodMaxBackoffSeconds: 8.0\nenableProfiling: off\n",
    "a date for a name": _HEAD + "profiles:\n- schedulerName: 2026-11-19\n",
    "aliases": _HEAD + "leaderElection: &a {leaseDuration: 1h30m}\nprofiles:\n- {<<: {schedulerName: z}}\n",
}

REFUSED: dict[str, Any] = {
    "another kind": {"kind": "Pod"},
    "an old version": {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"},
    "a strange field": {"paralelism": 1},
    "a strange field deep down": _affinity(requiredDuringSchedulingIgnoredDuringExecution={"nodeSelectorTerm": []}),
    "nobody at work": {"parallelism": 0},
    "a text for a number": {"parallelism": "3"},
    "too large a number": {"percentageOfNodesToScore": 2**32 + 1},
    "too large a percentage": {"percentageOfNodesToScore": 101},
    "no back-off": {"podInitialBackoffSeconds": 0},
    "a back-off beyond the most": {"podInitialBackoffSeconds": 20},
    "a number for a time": {"leaderElection": {"leaseDuration": 15}},
    "a deadline beyond the lease": {"leaderElection": {"leaseDuration": "10s"}},
    "no lease": {"leaderElection": {"resourceLock": "endpoints"}},
    "profiles without names": {"profiles": [{}, {}]},
    "profiles of one name": {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
    "an empty name": {"profiles": [{"schedulerName": ""}]},
    "two orders": {
        "profiles": [
            {"schedulerName": "a"},
            {"schedulerName": "b", "plugins": {"queueSort": {"enabled": _names("PrioritySort")}}},
        ]
    },
    "no order": _plugins(queueSort={"disabled": _names("PrioritySort")}),
    "no binding": _plugins(bind={"disabled": _names("*")}),
    "an unknown plugin": _plugins(multiPoint={"enabled": _names("Frobnicate")}),
    "a removed plugin": _plugins(score={"enabled": _names("EBSLimits")}),
    "a point that it lacks": _plugins(score={"enabled": _names("NodeName")}),
    "twice": _plugins(multiPoint={"enabled": _names("NodePorts", "NodePorts")}),
    "a weight below zero": _plugins(score={"enabled": [{"name": "ImageLocality", "weight": -1}]}),
    "arguments twice": {"profiles": [{"pluginConfig": _names("NodeAffinity", "NodeAffinity")}]},
    "arguments of another": _args("NodeAffinity", kind="VolumeBindingArgs"),
    "no type of strategy": _strategy(resources=[]),
    "a ratio without a shape": _strategy(type="RequestedToCapacityRatio"),
    "a falling shape": _strategy(
        type="RequestedToCapacityRatio", requestedToCapacityRatio={"shape": _shape((50, 0), (40, 10))}
    ),
    "a shape for another type": _strategy(type="LeastAllocated", requestedToCapacityRatio={}),
    "too much weight": _strategy(type="LeastAllocated", resources=[{"name": "cpu", "weight": 101}]),
    "a group with a slash": _args("NodeResourcesFit", ignoredResourceGroups=["a.com/b"]),
    "a resource that is none": _args("NodeResourcesFit", ignoredResources=["a.com/b/c"]),
    "balance with weights": _args("NodeResourcesBalancedAllocation", resources=[{"name": "cpu", "weight": 2}]),
    "too hard": _args("InterPodAffinity", hardPodAffinityWeight=101),
    "time running backwards": _args("VolumeBinding", bindTimeoutSeconds=-1),
    "too short a time": _args("DynamicResources", bindingTimeout="999ms"),
    "an operator that is none": _required(matchExpressions=[{"key": "a", "operator": "Near"}]),
    "a key that is none": _affinity(
        preferredDuringSchedulingIgnoredDuringExecution=[
            {"weight": 1, "preference": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]}}
        ]
    ),
    "constraints and the system's": _constraints(_SPREAD, defaulting=None),
    "a constraint with a selector": _constraints({**_SPREAD, "labelSelector": {}}),
    "constraints twice": _constraints(_SPREAD, {**_SPREAD, "maxSkew": 2}),
    "no candidates": _args("DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=0),
    "two that bind": {"extenders": [{"bindVerb": "b"}, {"bindVerb": "c"}]},
    "an extender without weight": {"extenders": [{"prioritizeVerb": "p"}]},
    "a resource of our own": {"extenders": [{"managedResources": _names("cpu")}]},
    "a key twice": _HEAD + "parallelism: 3\nparallelism: 4\n",
    "half a percent": _HEAD + "percentageOfNodesToScore: 0.5\n",
}


def _read(text: str) -> SchedulerConfiguration | None:
    try:
        return read_configuration(text)
    except ConfigurationError:
        return None


@pytest.mark.parametrize("name", TAKEN)
def test_what_kube_scheduler_takes_we_take_and_print_alike(kube_scheduler: KubeScheduler, name: str) -> None:
    text = kube_scheduler.text(TAKEN[name])
    answer = kube_scheduler.ask(text)
    assert answer.effective, answer.complaint

    configuration = read_configuration(text)

    assert effective(configuration) == answer.effective
    _assert_same_plugins(configuration, answer)


@pytest.mark.parametrize("name", REFUSED)
def test_what_kube_scheduler_refuses_we_refuse(kube_scheduler: KubeScheduler, name: str) -> None:
    text = kube_scheduler.text(REFUSED[name])

    assert kube_scheduler.ask(text).complaint
    assert _read(text) is None


@pytest.mark.parametrize("seed", range(40))
def test_plugins_are_asked_in_the_same_order(kube_scheduler: KubeScheduler, seed: int) -> None:
    text = kube_scheduler.text(_plugins(**_random_sets(random.Random(seed))))

    answer, configuration = kube_scheduler.ask(text), _read(text)

    assert (configuration is None) == (answer.effective is None), answer.complaint
    if configuration is not None:
        assert effective(configuration) == answer.effective
        _assert_same_plugins(configuration, answer)


def _random_sets(dice: random.Random) -> Json:
    sets = {}
    for point in dice.sample([*map(camel, METHODS), "multiPoint"], dice.randint(1, 4)):
        fit = [name for name, one in BUILT_IN.items() if point == "multiPoint" or point in one.points]
        enabled = dice.sample(fit, min(len(fit), dice.randint(0, 4)))
        disabled = dice.sample([*BUILT_IN, "*"], dice.randint(0, 3))
        sets[point] = {
            "enabled": [{"name": name, "weight": dice.randint(0, 5)} for name in enabled],
            "disabled": _names(*disabled),
        }
    return sets


def _assert_same_plugins(configuration: SchedulerConfiguration, answer: Answer) -> None:
    """Where ours does its part elsewhere, or has none yet, it is not in our list."""
    for profile, theirs in zip(configuration.profiles, answer.plugins, strict=True):
        for point in METHODS:
            ours = [(one.name, one.weight if point == "score" else 0) for one in getattr(profile, point)]
            assert ours == [one for one in theirs[camel(point)] if _is_ours(one[0], point)], point


def _is_ours(name: str, point: str) -> bool:
    return name in BUILT_IN and has_point(load_plugin(name), point)
