"""The configuration file, word for word: `kubescheduler.config.k8s.io/v1`, with kube-scheduler's defaults.

What kube-scheduler reads and Bayplan has no use for is here as well, so that a file can be checked and printed whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from bayplan.profiles.reading import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.plugins.arguments import Int32, Int64, Seconds

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"

#: Zero and the empty text are no values there: kube-scheduler puts its default in their place.
_ZERO_IS_DEFAULT: Mapping[str, Any] = {"zero_is_default": True}


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A plugin's name, and how much its scores count; 0 where nothing is said."""

    name: str = ""
    weight: Int32 = 0


@dataclass(frozen=True, slots=True)
class PluginSet:
    """What is added to a point's plugins, and what is taken away; `*` takes all defaults."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[PluginEntry, ...] = ()

    @property
    def disabled_names(self) -> frozenset[str]:
        """What is taken away."""
        return frozenset(one.name for one in self.disabled)


_NONE = PluginSet()


@dataclass(frozen=True, slots=True)
class PluginSets:
    """A set for each point, and one for all points that a plugin has."""

    pre_enqueue: PluginSet = _NONE
    queue_sort: PluginSet = _NONE
    pre_filter: PluginSet = _NONE
    filter: PluginSet = _NONE
    post_filter: PluginSet = _NONE
    pre_score: PluginSet = _NONE
    score: PluginSet = _NONE
    reserve: PluginSet = _NONE
    permit: PluginSet = _NONE
    pre_bind: PluginSet = _NONE
    bind: PluginSet = _NONE
    post_bind: PluginSet = _NONE
    multi_point: PluginSet = _NONE
    placement_generate: PluginSet = _NONE
    placement_score: PluginSet = _NONE
    pod_group_post_filter: PluginSet = _NONE


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """Arguments of a plugin, as they stand in the file."""

    name: str = ""
    args: Annotated[Any, AS_IT_IS] = None


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """A profile, as it stands in the file."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: PluginSets = PluginSets()
    plugin_config: tuple[PluginConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """The lease that one of several replicas holds, in seconds where it is about times."""

    leader_elect: bool = True
    lease_duration: Seconds = field(default=15.0, metadata=_ZERO_IS_DEFAULT)
    renew_deadline: Seconds = field(default=10.0, metadata=_ZERO_IS_DEFAULT)
    retry_period: Seconds = field(default=2.0, metadata=_ZERO_IS_DEFAULT)
    resource_lock: str = field(default="leases", metadata=_ZERO_IS_DEFAULT)
    resource_name: str = field(default="kube-scheduler", metadata=_ZERO_IS_DEFAULT)
    resource_namespace: str = field(default="kube-system", metadata=_ZERO_IS_DEFAULT)


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """How to talk to the API server. Only `kubeconfig` is of use: requests are neither slowed down nor in protobuf."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = field(default="application/vnd.kubernetes.protobuf", metadata=_ZERO_IS_DEFAULT)
    qps: float = field(default=50.0, metadata=_ZERO_IS_DEFAULT)
    burst: Int32 = field(default=100, metadata=_ZERO_IS_DEFAULT)


@dataclass(frozen=True, slots=True)
class ExtenderTLS:
    """Certificates for an extender; data comes before files."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


@dataclass(frozen=True, slots=True)
class ManagedResource:
    """A resource that an extender looks after; ignored by us, it is for the extender alone to count."""

    name: str = ""
    ignored_by_scheduler: bool = False


@dataclass(frozen=True, slots=True)
class Extender:
    """A webhook that has its say in each decision. A verb that is empty it does not have."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, metadata={"key": "enableHTTPS"})
    tls_config: ExtenderTLS | None = None
    http_timeout: Seconds = field(default=5.0, metadata=_ZERO_IS_DEFAULT)
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """The whole file."""

    api_version: str = ""
    kind: str = ""
    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[ProfileEntry, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
