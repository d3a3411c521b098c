"""A real control plane on loopback: etcd, kube-apiserver, and when asked kube-scheduler and its controllers.

``ControlPlane`` starts and stops one; ``bayplan.testing.controlplane.fixtures`` is the pytest plugin that shares one
among tests; ``bayplan.testing.controlplane.oracle`` asks Kubernetes' own libraries what they would answer.
"""

from __future__ import annotations

from bayplan.testing.controlplane.binaries import Binaries, find_binaries
from bayplan.testing.controlplane.config import ControlPlaneConfig
from bayplan.testing.controlplane.plane import ControlPlane
from bayplan.testing.controlplane.requests import Answer
from bayplan.testing.controlplane.users import User

__all__ = ["Answer", "Binaries", "ControlPlane", "ControlPlaneConfig", "User", "find_binaries"]
