"""What a control plane under test is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.testing.controlplane.binaries import Binaries


@dataclass(frozen=True, kw_only=True)
class ControlPlaneConfig:
    """The parts to start and the flags to start them with. The defaults are a stock API server with RBAC and etcd."""

    #: Where the programs are; None looks for them as ``find_binaries`` does.
    binaries: Binaries | None = None

    #: Run kube-controller-manager: namespaces get their service accounts, garbage is collected, jobs make pods.
    controller_manager: bool = False

    #: Run kube-scheduler.
    scheduler: bool = False

    #: A KubeSchedulerConfiguration to run it with. Where it leaves them out, the connection and "no leader election"
    #: are filled in.
    scheduler_config: Mapping[str, Any] = field(default_factory=dict)

    #: Further flags, each as ``--name=value``; they come last, so they win.
    etcd_flags: tuple[str, ...] = ()
    apiserver_flags: tuple[str, ...] = ()
    controller_manager_flags: tuple[str, ...] = ()
    scheduler_flags: tuple[str, ...] = ()

    #: How long one program may take to become ready. A bound for what hangs, never a measure of speed.
    start_timeout: float = 90.0
