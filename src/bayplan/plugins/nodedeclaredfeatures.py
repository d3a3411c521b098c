"""NodeDeclaredFeatures: a pod that needs what not every node can do goes where it is declared.

Kubernetes 1.37 knows more such features than are asked for here; the others matter to updates of a pod, or to claims,
and never to where it is placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.contract.plugins import Reads
from bayplan.contract.verdicts import reject_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.columns.cluster import Cluster
    from bayplan.columns.nodes import Nodes
    from bayplan.columns.podclass import PodClass
    from bayplan.contract.verdicts import Verdicts
    from bayplan.objects.pod import PodSpec

_REASON = "node(s) didn't match Pod's required features"

RESTART_ALL = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_ON_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
MOUNT_OPTIONS = "VolumeBindMountOptions"


@dataclass(frozen=True)
class NodeDeclaredFeatures:
    """Refuse nodes that do not declare every feature that the pod needs."""

    def pre_filter(self, pod: PodClass, cluster: Cluster) -> Declaring | None:
        """Nothing for pods that need nothing special."""
        needed = frozenset(needed_features(pod.spec))
        return Declaring(needed) if needed else None


def needed_features(spec: PodSpec) -> Iterator[str]:
    """The features without which a node cannot run such a pod."""
    containers = (*spec.containers, *spec.init_containers)
    if any(rule.action == "RestartAllContainers" for one in containers for rule in one.restart_policy_rules):
        yield RESTART_ALL
    if spec.host_network and spec.host_users is False:
        yield USER_NAMESPACES_ON_HOST_NETWORK
    if any(mount.bind_mount_options for one in containers for mount in one.volume_mounts):
        yield MOUNT_OPTIONS


@dataclass(frozen=True, slots=True)
class Declaring:
    """Nodes that declare all of these features."""

    features: frozenset[str]

    @property
    def reads(self) -> Reads:
        """It is written in the node's status."""
        return Reads.NODE

    def filter_nodes(self, nodes: Nodes) -> Verdicts:
        """Nodes of one kind declare the same, so each set is looked at once."""
        table = nodes.table
        lacking = np.array([not self.features <= declared for declared in table.feature_sets], dtype=np.bool_)
        return reject_where(lacking[table.feature_set[nodes.rows]], _REASON, resolvable=False)
