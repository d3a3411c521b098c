"""What pods ask for and take, against the rules told in fractions and milliseconds of an init sequence."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.objects.meta import Condition
from bayplan.objects.pod import Container, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements
from bayplan.objects.quantity import Quantity
from bayplan.objects.quantity_text import WireQuantity, parse_quantity, read_quantity
from bayplan.objects.requests import (
    Amounts,
    Numbers,
    PodNumbers,
    count_allocatable,
    count_held,
    count_to_fit,
    is_scalar,
    requests_held,
    requests_to_fit,
)

Wanted = dict[str, WireQuantity]

names = st.sampled_from(["cpu", "memory", "example.com/gpu"])
amounts = st.sampled_from(["0", "1", "100m", "0.5", "1.5", "7", "2Gi", "1n"])
wanted = st.dictionaries(names, amounts, max_size=3)


def container(requests: Wanted | None, name: str = "c", restart: str | None = None) -> Container:
    return Container(name=name, resources=ResourceRequirements(requests), restart_policy=restart)


def exact(found: Amounts) -> dict[str, Fraction]:
    return {name: Fraction(amount.as_decimal()) for name, amount in found.items()}


def fraction(requests: Wanted | None, name: str) -> Fraction:
    return Fraction(read_quantity((requests or {}).get(name, "0")).as_decimal())


def written(found: Amounts) -> dict[str, str]:
    return {name: str(amount) for name, amount in found.items()}


@settings(deadline=None)
@given(st.lists(wanted, max_size=3), st.lists(st.tuples(wanted, st.booleans()), max_size=4), wanted)
def test_a_pod_needs_the_most_that_it_ever_uses_at_once(
    apps: list[Wanted], inits: list[tuple[Wanted, bool]], overhead: Wanted
) -> None:
    pod = Pod(
        spec=PodSpec(
            containers=tuple(container(one) for one in apps),
            init_containers=tuple(container(one, restart="Always" if sidecar else None) for one, sidecar in inits),
            overhead=overhead,
        )
    )
    for name in ("cpu", "memory", "example.com/gpu"):
        # Play the start of the pod: each init container beside the sidecars that were started before it.
        sidecars, peak = Fraction(0), Fraction(0)
        for one, sidecar in inits:
            peak = max(peak, sidecars + fraction(one, name))
            sidecars += fraction(one, name) if sidecar else 0
        running = sidecars + sum((fraction(one, name) for one in apps), Fraction(0))
        expected = max(peak, running) + fraction(overhead, name)
        assert exact(requests_to_fit(pod)).get(name, 0) == expected
        assert exact(requests_held(pod)).get(name, 0) == expected


def resized(spec: str, allocated: str | None, actual: str | None, reason: str = "Deferred") -> Pod:
    status = ContainerStatus(
        "c",
        None if allocated is None else {"cpu": allocated},
        None if actual is None else ResourceRequirements({"cpu": actual}),
    )
    return Pod(
        spec=PodSpec(containers=(container({"cpu": spec}),)),
        status=PodStatus(container_statuses=(status,), conditions=(Condition("PodResizePending", "True", reason),)),
    )


@pytest.mark.parametrize(
    ("pod", "held"),
    [
        (resized("2", "1", "1"), "2"),
        (resized("1", "2", "1"), "2"),
        (resized("1", "1", "2"), "2"),
        (resized("1", None, None), "1"),
        (resized("4", "1", "2", "Infeasible"), "2"),
        (resized("4", "3", None, "Infeasible"), "3"),
    ],
)
def test_under_way_a_resize_holds_the_largest_that_can_still_be_had(pod: Pod, held: str) -> None:
    assert written(requests_held(pod)) == {"cpu": held}
    assert written(requests_to_fit(pod)) == {"cpu": str(pod.spec.containers[0].resources.requests["cpu"])}  # type: ignore[index]


def test_an_infeasible_resize_that_tells_nothing_holds_nothing() -> None:
    assert requests_held(resized("4", None, None, "Infeasible")) == {}


def test_a_sidecars_status_is_found_among_the_init_containers() -> None:
    pod = Pod(
        spec=PodSpec(init_containers=(container({"cpu": "1"}, "side", "Always"),)),
        status=PodStatus(init_container_statuses=(ContainerStatus("side", {"cpu": "3"}),)),
    )
    assert written(requests_held(pod)) == {"cpu": "3"}


def test_pod_level_requests_stand_instead_of_the_containers_sum() -> None:
    resources = ResourceRequirements({"cpu": "5", "hugepages-2Mi": "4Mi", "ephemeral-storage": "9Gi"})
    spec = PodSpec(
        containers=(container({"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}),),
        resources=resources,
        overhead={"cpu": "100m"},
    )
    assert written(requests_to_fit(Pod(spec=spec))) == {
        "cpu": "5100m",
        "memory": "1Gi",
        "ephemeral-storage": "1Gi",
        "hugepages-2Mi": "4Mi",
    }


def test_pod_level_requests_without_a_supported_resource_are_ignored() -> None:
    spec = PodSpec(containers=(container({"cpu": "1"}),), resources=ResourceRequirements({"storage": "1"}))
    assert written(requests_to_fit(Pod(spec=spec))) == {"cpu": "1"}


def test_pod_level_statuses_count_while_a_pod_is_resized() -> None:
    spec = PodSpec(containers=(container({"cpu": "1"}),), resources=ResourceRequirements({"cpu": "4"}))
    status = PodStatus(allocated_resources={"cpu": "6"}, resources=ResourceRequirements({"cpu": "5"}))
    assert written(requests_held(Pod(spec=spec, status=status))) == {"cpu": "6"}
    assert written(requests_to_fit(Pod(spec=spec, status=status))) == {"cpu": "4"}
    infeasible = PodStatus(
        resources=ResourceRequirements({"cpu": "2"}),
        conditions=(Condition("PodResizePending", "True", "Infeasible"),),
    )
    assert written(requests_held(Pod(spec=spec, status=infeasible))) == {"cpu": "2"}


def test_asking_changes_nothing() -> None:
    spec = PodSpec(resources=ResourceRequirements({"cpu": "1.5Gi"}), overhead={"cpu": "1"})
    pod = Pod(spec=spec)
    assert written(requests_held(pod)) == written(requests_held(pod)) == {"cpu": "1610612737"}


def test_numbers_are_those_that_kube_scheduler_counts_with() -> None:
    requests: Wanted = {
        "cpu": "1500u",
        "memory": "1.5",
        "ephemeral-storage": "1Gi",
        "pods": "1",
        "example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "storage": "5Gi",
    }
    assert count_held(Pod(spec=PodSpec(containers=(container(requests),)))) == PodNumbers(
        milli_cpu=2,
        memory=2,
        ephemeral_storage=2**30,
        pods=1,
        scalars={"example.com/gpu": 2, "hugepages-2Mi": 4 * 2**20},
        nonzero_milli_cpu=2,
        nonzero_memory=2,
    )


def test_what_must_fit_is_never_below_zero() -> None:
    requests: Wanted = {"cpu": "-1", "memory": "1Ki", "pods": "1", "example.com/gpu": "-2"}
    pod = Pod(spec=PodSpec(containers=(container(requests),)))
    assert count_to_fit(pod) == Numbers(memory=1024, scalars={"example.com/gpu": 0})
    assert count_held(pod).milli_cpu == -1000


def test_what_a_node_has_is_counted_likewise() -> None:
    allocatable: Wanted = {"cpu": "3920m", "memory": "16Gi", "pods": "110", "example.com/gpu": 4, "odd": "9"}
    assert count_allocatable(allocatable) == Numbers(3920, 16 * 2**30, 0, 110, {"example.com/gpu": 4})


def test_each_container_that_requests_nothing_counts_for_a_little_where_nodes_are_compared() -> None:
    pod = Pod(spec=PodSpec(containers=(container(None), container({"cpu": "0"}), container({"memory": "1Mi"}))))
    numbers = count_held(pod)
    assert (numbers.milli_cpu, numbers.memory) == (0, 2**20)
    assert (numbers.nonzero_milli_cpu, numbers.nonzero_memory) == (200, (200 + 200 + 1) * 2**20)


def test_stand_ins_fill_only_what_the_pod_level_leaves_open() -> None:
    spec = PodSpec(containers=(container(None), container(None)), resources=ResourceRequirements({"cpu": "1"}))
    numbers = count_held(Pod(spec=spec))
    assert (numbers.nonzero_milli_cpu, numbers.nonzero_memory) == (1000, 2 * 200 * 2**20)


def test_stand_ins_count_beside_a_resize_status() -> None:
    spec = PodSpec(containers=(container({"cpu": "1"}), container(None, "d")))
    status = PodStatus(container_statuses=(ContainerStatus("c", {"cpu": "2"}),))
    numbers = count_held(Pod(spec=spec, status=status))
    assert (numbers.milli_cpu, numbers.nonzero_milli_cpu, numbers.nonzero_memory) == (2000, 2100, 400 * 2**20)


def test_fractions_are_summed_before_they_are_rounded() -> None:
    pod = Pod(spec=PodSpec(containers=(container({"cpu": "0.5m"}), container({"cpu": "0.5m"}))))
    assert count_held(pod).milli_cpu == 1


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        ("example.com/gpu", True),
        ("hugepages-1Gi", True),
        ("attachable-volumes-csi-x", True),
        ("x.kubernetes.io/y", True),
        ("cpu", False),
        ("storage", False),
        ("requests.example.com/x", False),
        ("Upper.com/x", False),
        ("a/b/c", False),
        ("example.com/" + "n" * 64, False),
    ],
)
def test_only_resources_of_a_known_kind_are_counted_by_name(name: str, scalar: bool) -> None:
    assert is_scalar(name) is scalar


def test_a_request_keeps_its_spelling_until_something_is_added() -> None:
    pod = Pod(spec=PodSpec(containers=(container({"memory": "1024Mi"}),)))
    (found,) = requests_to_fit(pod).values()
    assert found == parse_quantity("1Gi") == Quantity.of(2**30)
