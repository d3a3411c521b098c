"""The arguments that several plugins share, and what may be said in them.

A plugin's fields are its arguments. What a type cannot say of them its `problems` does: pairs of a path below the
arguments and a message. The reader of configurations asks for them, and so may who makes a plugin by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

from bayplan.errors import ValidationError
from bayplan.objects.labels import check_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Where below the arguments something is wrong, and what.
Problem: TypeAlias = tuple[str, str]

#: Integers of the width that kube-scheduler reads; a larger number in a file is refused.
Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

#: A time: seconds here, and text such as 1m30s in a file.
Seconds: TypeAlias = Annotated[float, "duration"]

#: For a field with a default in Python that a file must state all the same, as kube-scheduler has it.
MUST_BE_STATED: Mapping[str, Any] = {"must_be_stated": True}

#: The largest score of a shape's point. It is stretched to 100.
MOST_OF_SHAPE = 10

STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource, and how much it counts. Weight 0 stands for none given, which is 1."""

    name: str = ""
    weight: Int64 = 1

    def __post_init__(self) -> None:
        if self.weight == 0:
            object.__setattr__(self, "weight", 1)


#: What is looked at when nothing is named.
CPU_AND_MEMORY = (ResourceSpec("cpu"), ResourceSpec("memory"))


@dataclass(frozen=True, slots=True)
class UtilizationShapePoint:
    """A point of a piecewise linear function: at this percentage of use, this score from 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


@dataclass(frozen=True, slots=True)
class RequestedToCapacityRatio:
    """A function from use to score."""

    shape: tuple[UtilizationShapePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoringStrategy:
    """How NodeResourcesFit scores. Without resources, cpu and memory count alike."""

    type: str = field(default="LeastAllocated", metadata=MUST_BE_STATED)
    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None

    def __post_init__(self) -> None:
        if not self.resources:
            object.__setattr__(self, "resources", CPU_AND_MEMORY)

    def problems(self) -> Iterator[Problem]:
        """What kube-scheduler refuses of a strategy."""
        if self.type not in STRATEGIES:
            yield "type", f"{self.type!r} is none of {', '.join(STRATEGIES)}"
        yield from below("resources", weight_problems(self.resources))
        yield from below("requestedToCapacityRatio", self._ratio_problems())

    def _ratio_problems(self) -> Iterator[Problem]:
        ratio = self.requested_to_capacity_ratio
        if self.type == "RequestedToCapacityRatio":
            if ratio is None:
                yield "", "the type RequestedToCapacityRatio needs it"
            else:
                yield from below("shape", shape_problems(ratio.shape))
        elif ratio is not None:
            yield "", "belongs to the type RequestedToCapacityRatio alone"


def below(path: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """The same problems, seen from one level higher up."""
    for inner, message in problems:
        yield _joined(path, inner), message


def _joined(path: str, inner: str) -> str:
    return path + inner if not inner or inner.startswith("[") else f"{path}.{inner}"


def weight_problems(resources: Sequence[ResourceSpec]) -> Iterator[Problem]:
    """Weights from 1 to 100."""
    for index, resource in enumerate(resources):
        if not 0 < resource.weight <= 100:
            yield f"[{index}].weight", f"{resource.weight} is not from 1 to 100"


def balance_problems(resources: Sequence[ResourceSpec]) -> Iterator[Problem]:
    """For NodeResourcesBalancedAllocation: each resource once, none with more weight than another."""
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        if resource.name in seen:
            yield f"[{index}].name", f"{resource.name!r} is there already"
        seen.add(resource.name)
        if resource.weight != 1:
            yield f"[{index}].weight", f"{resource.weight} is not 1: balance knows no weights"


def shape_problems(shape: Sequence[UtilizationShapePoint]) -> Iterator[Problem]:
    """At least one point; use from 0 to 100, rising; scores from 0 to 10."""
    if not shape:
        yield "", "needs at least one point"
    for index, point in enumerate(shape):
        if index and point.utilization <= shape[index - 1].utilization:
            yield f"[{index}].utilization", f"{point.utilization} does not rise above the point before"
        if not 0 <= point.utilization <= 100:
            yield f"[{index}].utilization", f"{point.utilization} is not from 0 to 100"
        if not 0 <= point.score <= MOST_OF_SHAPE:
            yield f"[{index}].score", f"{point.score} is not from 0 to {MOST_OF_SHAPE}"


def range_problem(path: str, value: int, least: int, most: int | None = None) -> Iterator[Problem]:
    """A number outside its bounds."""
    if value < least or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        yield path, f"{value} is not {bounds}"


def name_problems(path: str, name: str) -> Iterator[Problem]:
    """A name as labels and resources have them: a word, with or without a domain and a slash before it."""
    try:
        check_key(name)
    except ValidationError as error:
        yield path, error.problem


def candidate_problems(percentage: int, absolute: int) -> Iterator[Problem]:
    """How many nodes preemption looks at, as a share and at least: not both nothing."""
    paths = ("minCandidateNodesPercentage", "minCandidateNodesAbsolute")
    yield from range_problem(paths[0], percentage, 0, 100)
    yield from range_problem(paths[1], absolute, 0)
    if percentage == 0 == absolute:
        yield paths[0], f"must not be 0 together with {paths[1]}"
        yield paths[1], f"must not be 0 together with {paths[0]}"
