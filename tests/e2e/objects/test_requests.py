"""What pods ask for and take, against kube-scheduler's sums: sidecars, overhead, pod-level resources, resizes."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bayplan.objects.pod import Pod
from bayplan.objects.quantity_text import read_quantity
from bayplan.objects.requests import Amounts, count_held, requests_held, requests_to_fit

if TYPE_CHECKING:
    from bayplan.testing.controlplane.oracle import Oracle

pytestmark = pytest.mark.e2e

COUNT = 2000
NAMES = (
    *(
        "cpu",
        "cpu",
        "cpu",
        "memory",
        "memory",
        "memory",
        "ephemeral-storage",
        "pods",
        "hugepages-2Mi",
        "nvidia.com/gpu",
    ),
    *("example.com/x", "attachable-volumes-csi", "kubernetes.io/odd", "requests.example.com/x", "plain", "storage"),
    *("a/b/c", "UPPER.com/x", "x.kubernetes.io/y", "hugepages-", "example.com/" + "n" * 64),
)
AMOUNTS = (
    "0",
    "1",
    "100m",
    "0.5m",
    "1.5",
    "1500u",
    "1Gi",
    "1.5Gi",
    "512Mi",
    "200Mi",
    "1e3",
    "3k",
    "7",
    "0.1",
    "8Ei",
    "1n",
    "-1",
    "2.000",
)


def make_amounts(chance: random.Random, most: int = 4) -> dict[str, str]:
    return {chance.choice(NAMES): chance.choice(AMOUNTS) for _ in range(chance.randrange(most))}


def make_resources(chance: random.Random) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    if chance.random() < 0.85:
        resources["requests"] = make_amounts(chance)
    if chance.random() < 0.3:
        resources["limits"] = make_amounts(chance)
    return resources


def make_container(chance: random.Random, name: str, *, init: bool = False) -> dict[str, Any]:
    container: dict[str, Any] = {"name": name}
    if chance.random() < 0.9:
        container["resources"] = make_resources(chance)
    if init and chance.random() < 0.5:
        container["restartPolicy"] = chance.choice(["Always", "Always", "Never"])
    return container


def make_status(chance: random.Random, names: list[str]) -> dict[str, Any]:
    status: dict[str, Any] = {}
    for field in ("containerStatuses", "initContainerStatuses"):
        if chance.random() < 0.7:
            status[field] = [make_container_status(chance, name) for name in names if chance.random() < 0.6]
    if chance.random() < 0.4:
        kinds, reasons = ["PodResizePending", "PodResizePending", "Ready"], ["Infeasible", "Deferred", ""]
        status["conditions"] = [
            {"type": chance.choice(kinds), "status": "True", "reason": chance.choice(reasons), "lastProbeTime": None}
            for _ in range(chance.choice([1, 1, 2]))
        ]
    if chance.random() < 0.25:
        status["allocatedResources"] = make_amounts(chance)
    if chance.random() < 0.25:
        status["resources"] = make_resources(chance)
    return status


def make_container_status(chance: random.Random, name: str) -> dict[str, Any]:
    status: dict[str, Any] = {"name": name, "ready": True, "restartCount": 0, "image": "", "imageID": ""}
    if chance.random() < 0.5:
        status["allocatedResources"] = make_amounts(chance)
    if chance.random() < 0.5:
        status["resources"] = make_resources(chance)
    return status


def make_pod(chance: random.Random) -> dict[str, Any]:
    containers = [make_container(chance, f"c{index}") for index in range(chance.choice([0, 1, 1, 2, 3]))]
    inits = [make_container(chance, f"i{index}", init=True) for index in range(chance.choice([0, 0, 1, 2, 3, 4]))]
    spec: dict[str, Any] = {"containers": containers, "initContainers": inits}
    if chance.random() < 0.3:
        spec["overhead"] = make_amounts(chance)
    if chance.random() < 0.3:
        spec["resources"] = make_resources(chance)
    pod: dict[str, Any] = {"metadata": {"name": "p", "creationTimestamp": None}, "spec": spec}
    if chance.random() < 0.6:
        pod["status"] = make_status(chance, [one["name"] for one in (*containers, *inits)])
    return pod


def describe(amounts: Amounts) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "value": amount.value(),
            "milli": amount.milli_value(),
            "canonical": str(amount),
            "format": amount.family,
            "sign": amount.sign,
            "exact": amount.as_decimal(),
        }
        for name, amount in amounts.items()
    }


def theirs(amounts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**amount, "exact": Decimal(amount["exact"])} for name, amount in amounts.items()}


def _grows_when_asked(pod: Pod) -> bool:
    """Whether Kubernetes 1.37 changes the pod by asking for its requests, so that only its first answer is right.

    It adds overhead to a pod-level request in place when the request is in the wide form, as 1.5Gi is.
    """
    asked = (pod.spec.resources.requests or {}) if pod.spec.resources else {}
    return any(name in pod.spec.overhead and read_quantity(amount).wide for name, amount in asked.items())


@pytest.mark.parametrize("seed", range(3))
def test_requests_are_counted_alike(oracle: Oracle, seed: int) -> None:
    chance = random.Random(seed)
    pods = [make_pod(chance) for _ in range(COUNT)]
    answers = oracle.ask([{"op": "pod-requests", "pod": pod} for pod in pods])
    for wire, answer in zip(pods, answers, strict=True):
        pod = msgspec.convert(wire, Pod)
        assert answer.error is None, wire
        assert describe(requests_to_fit(pod)) == theirs(answer.value["fit"]), wire
        assert describe(requests_held(pod)) == theirs(answer.value["held"]), wire
        if _grows_when_asked(pod):
            continue  # the scheduler asks several times for one count
        numbers = count_held(pod)
        assert {
            "milliCPU": numbers.milli_cpu,
            "memory": numbers.memory,
            "ephemeralStorage": numbers.ephemeral_storage,
            "pods": numbers.pods,
            "scalars": numbers.scalars,
            "nonzeroMilliCPU": numbers.nonzero_milli_cpu,
            "nonzeroMemory": numbers.nonzero_memory,
        } == answer.value["scheduler"], wire
