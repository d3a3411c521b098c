"""The plugins of a few lines: who is refused, and in which words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.columns.cluster import Cluster
from bayplan.columns.nodes import Nodes
from bayplan.contract.effects import Bind
from bayplan.contract.plugins import Narrowing, Reads
from bayplan.contract.verdicts import YES, Kind, Verdict
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.defaultbinder import DefaultBinder
from bayplan.plugins.dynamicresources import DynamicResources
from bayplan.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from bayplan.plugins.nodename import NodeName
from bayplan.plugins.nodeunschedulable import NodeUnschedulable
from bayplan.plugins.prioritysort import PrioritySort
from bayplan.plugins.schedulinggates import SchedulingGates


def _pod(name: str = "pod", **spec: Any) -> Pod:
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns"}, "spec": spec}, Pod)


def _cluster(**nodes: dict[str, Any]) -> Cluster:
    cluster = Cluster()
    for name, node in nodes.items():
        cluster.put_node(msgspec.convert({"metadata": {"name": name}, **node}, Node))
    return cluster


def _refusals(plugin: Any, pod: Pod, cluster: Cluster) -> dict[str, str] | None:
    """Why each node is refused; None where the plugin has nothing to say. The same for all rows and one by one."""
    filtering = plugin.pre_filter(cluster.classes.class_of(pod), cluster)
    if filtering is None:
        return None
    assert filtering == plugin.pre_filter(cluster.classes.class_of(pod), cluster)
    assert filtering.reads is Reads.NODE
    every = filtering.filter_nodes(Nodes.every(cluster))
    verdicts = {cluster.nodes.name(row): every[row] for row in range(cluster.nodes.size)}
    for row, verdict in enumerate(verdicts.values()):
        assert filtering.filter_nodes(Nodes(cluster, slice(row, row + 1)))[0] == verdict
    assert all(verdict or verdict.kind is Kind.UNRESOLVABLE for verdict in verdicts.values())
    return {name: " ".join(verdict.reasons) for name, verdict in verdicts.items() if not verdict}


def test_a_pod_that_names_its_node_goes_to_no_other() -> None:
    cluster = _cluster(a={}, b={}, c={})
    pod = _pod(nodeName="b")

    reason = "node(s) didn't match the requested node name"
    assert _refusals(NodeName(), pod, cluster) == {"a": reason, "c": reason}
    filtering = NodeName().pre_filter(cluster.classes.class_of(pod), cluster)
    assert isinstance(filtering, Narrowing)
    assert filtering.only() == {"b"}


def test_a_pod_that_names_a_node_that_is_not_there_goes_nowhere() -> None:
    assert (_refusals(NodeName(), _pod(nodeName="x"), _cluster(a={})) or {}).keys() == {"a"}


def test_most_pods_name_no_node() -> None:
    assert _refusals(NodeName(), _pod(), _cluster(a={})) is None


def test_where_one_of_a_class_went_the_others_need_not_go() -> None:
    cluster = _cluster(a={}, b={})
    cluster.put_pod(_pod("first", nodeName="a"), "a")

    assert _refusals(NodeName(), _pod("second"), cluster) is None


def test_cordoned_nodes_take_no_pods() -> None:
    cluster = _cluster(open={}, cordoned={"spec": {"unschedulable": True}})

    assert _refusals(NodeUnschedulable(), _pod(), cluster) == {"cordoned": "node(s) were unschedulable"}


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "value": ""},
    ],
)
def test_a_pod_that_tolerates_the_cordon_goes_there(toleration: dict[str, str]) -> None:
    assert _refusals(NodeUnschedulable(), _pod(tolerations=[toleration]), _cluster(a={})) is None


def test_a_toleration_of_something_else_does_not_help() -> None:
    cluster = _cluster(cordoned={"spec": {"unschedulable": True}})
    other = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}

    assert _refusals(NodeUnschedulable(), _pod(tolerations=[other]), cluster)


_RESTARTING = {"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}
_MOUNTING = {"name": "c", "volumeMounts": [{"bindMountOptions": ["noexec"]}]}


@pytest.mark.parametrize(
    ("spec", "feature"),
    [
        ({"containers": [_RESTARTING]}, "RestartAllContainersOnContainerExits"),
        ({"initContainers": [_RESTARTING]}, "RestartAllContainersOnContainerExits"),
        ({"hostNetwork": True, "hostUsers": False}, "UserNamespacesHostNetworkSupport"),
        ({"containers": [_MOUNTING]}, "VolumeBindMountOptions"),
    ],
)
def test_a_pod_goes_where_what_it_needs_is_declared(spec: dict[str, Any], feature: str) -> None:
    cluster = _cluster(
        able={"status": {"declaredFeatures": ["Other", feature]}},
        other={"status": {"declaredFeatures": ["Other"]}},
        plain={},
    )

    reason = "node(s) didn't match Pod's required features"
    assert _refusals(NodeDeclaredFeatures(), _pod(**spec), cluster) == {"other": reason, "plain": reason}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"hostNetwork": True},
        {"hostUsers": False},
        {"containers": [{"name": "c", "restartPolicyRules": [{"action": "Restart"}]}]},
    ],
)
def test_most_pods_need_no_feature(spec: dict[str, Any]) -> None:
    assert _refusals(NodeDeclaredFeatures(), _pod(**spec), _cluster(a={})) is None


def test_gates_keep_a_pod_out_of_the_queue() -> None:
    gated = _pod(schedulingGates=[{"name": "a"}, {"name": "example.com/b"}])

    verdict = SchedulingGates().pre_enqueue(gated)
    assert verdict.kind is Kind.UNRESOLVABLE
    assert verdict.reasons == ("waiting for scheduling gates: [a example.com/b]",)
    assert SchedulingGates().pre_enqueue(_pod()) is YES


def test_higher_priority_comes_first_and_none_is_zero() -> None:
    pods = [_pod("none"), _pod("high", priority=9), _pod("low", priority=-3), _pod("zero", priority=0)]

    assert [pod.metadata.name for pod in sorted(pods, key=PrioritySort().queue_sort)] == ["high", "none", "zero", "low"]


def test_binding_is_asked_for() -> None:
    pod = _pod()

    assert DefaultBinder().bind(pod, "a") == Bind(pod, "a")


def test_a_pod_with_claims_to_devices_is_left_alone() -> None:
    cluster = _cluster(a={})
    pod = _pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu-1"}])

    verdict = DynamicResources().pre_filter(cluster.classes.class_of(pod), cluster)

    assert isinstance(verdict, Verdict)
    assert verdict.kind is Kind.UNRESOLVABLE
    assert "does not place claims to devices yet" in verdict.reasons[0]
    assert DynamicResources().pre_filter(cluster.classes.class_of(_pod("other")), cluster) is None


def test_where_one_of_a_class_was_the_others_need_not_go() -> None:
    """Not even if its node was never there, and it was the first of them that was seen."""
    cluster = _cluster(a={}, b={})
    cluster.put_pod(_pod("first", nodeName="elsewhere"), "elsewhere")
    cluster.remove_pod("ns/first")

    assert _refusals(NodeName(), _pod("second"), cluster) is None
    assert (_refusals(NodeName(), _pod("third", nodeName="a"), cluster) or {}).keys() == {"b"}
    assert _refusals(NodeName(), _pod("fourth"), cluster) is None
