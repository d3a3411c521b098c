"""Pods as a real API server sends them: about 1.6 kB each, a third of it managedFields that nobody reads."""

from __future__ import annotations

import json
from typing import Any


def pod(number: int, version: int) -> dict[str, Any]:
    """One pod of a Deployment; the version stands in a label too, so that each event changes something."""
    app, name = f"app-{number % 50}", f"app-{number % 50}-7c9d8f6b54-{number:05x}"
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{app}-7c9d8f6b54",
        "uid": f"6f1a52d4-0000-4000-8000-{number % 50:012x}",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    fields = {
        "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}, "f:pod-template-hash": {}}},
        "f:spec": {
            'k:{"name":"main"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {"f:requests": {"f:cpu": {}}}},
            "f:enableServiceLinks": {},
            "f:restartPolicy": {},
        },
    }
    container = {
        "name": "main",
        "image": f"registry.example.com/team/{app}:1.{number % 7}",
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    toleration = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    return {
        "metadata": {
            "name": name,
            "generateName": f"{app}-7c9d8f6b54-",
            "namespace": f"team-{number % 20}",
            "uid": f"0d9c2a51-0000-4000-8000-{number:012x}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-19T00:00:00Z",
            "labels": {"app": app, "pod-template-hash": "7c9d8f6b54", "seen": str(version % 7)},
            "ownerReferences": [owner],
            "managedFields": [
                {
                    "manager": "kube-controller-manager",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2026-11-19T00:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": fields,
                }
            ],
        },
        "spec": {
            "containers": [container],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "nodeName": f"node-{number % 500:04d}",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", **toleration},
                {"key": "node.kubernetes.io/unreachable", **toleration},
            ],
            "priority": 0,
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-11-19T00:00:00Z"}
                for kind in ("PodScheduled", "Ready")
            ],
            "qosClass": "Burstable",
        },
    }


def page(first: int, last: int, more: str) -> bytes:
    """One page of the list."""
    head = {"resourceVersion": "100000"} | ({"continue": more} if more else {})
    items = [pod(number, number + 1) for number in range(first, last)]
    return _json({"kind": "PodList", "apiVersion": "v1", "metadata": head, "items": items})


def event(number: int, pods: int) -> bytes:
    """One line of the watch: the next change of one of the pods."""
    changed = {"kind": "Pod", "apiVersion": "v1", **pod(number % pods, 100_001 + number)}
    return _json({"type": "MODIFIED", "object": changed}) + b"\n"


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
