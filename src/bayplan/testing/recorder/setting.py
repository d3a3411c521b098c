"""The control plane that traces are recorded with: what of it is switched off, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.testing.controlplane import ControlPlaneConfig

if TYPE_CHECKING:
    from bayplan.simulator.workloads.scenario import Scenario

#: Admission that would write into nodes and pods what a scenario did not say: a volume with a token, the taint of a
#: node that is not ready yet, a priority from a class; or that refuses overhead without a RuntimeClass. Finalizers of
#: volumes would wait for controllers that do not run.
_NO_ADMISSION = "ServiceAccount,TaintNodesByCondition,Priority,RuntimeClass,StorageObjectInUseProtection"

#: Those that volumes need, and the one that makes the service account which the control plane waits for.
_CONTROLLERS = "persistentvolume-binder-controller,ephemeral-volume-controller,serviceaccount-controller"

#: All nodes are scored, so that a trace tells of every one. No pod waits longer for its next attempt than it must.
_CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 100,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 1,
}

_STORAGE_KINDS = {"PersistentVolume", "PersistentVolumeClaim"}


def scheduler_config(scenario: Scenario) -> dict[str, Any]:
    """The configuration that the scheduler runs with, and that a replay needs to know."""
    return _CONFIG | dict(scenario.config)


def control_plane_config(scenario: Scenario) -> ControlPlaneConfig:
    """A control plane for this scenario. Controllers run only where there are volumes for them to bind."""
    connection = {"clientConnection": {"qps": 1000, "burst": 1000}}
    return ControlPlaneConfig(
        scheduler=True,
        # Batching would decide a pod by the scores of the one before it.
        scheduler_flags=("-v=10", "--feature-gates=OpportunisticBatching=false"),
        scheduler_config=scheduler_config(scenario) | connection,
        apiserver_flags=(f"--disable-admission-plugins={_NO_ADMISSION}",),
        controller_manager=uses_volumes(scenario),
        controller_manager_flags=(f"--controllers={_CONTROLLERS}",),
    )


def uses_volumes(scenario: Scenario) -> bool:
    """Whether there is anything for the volume controllers to do."""
    return any(content["kind"] in _STORAGE_KINDS for content in scenario.objects)
