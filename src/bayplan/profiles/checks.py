"""What kube-scheduler refuses of a configuration beside plugins and their arguments.

Each check gives paths and messages. All that can be told from the file alone is here; whether a certificate can be read
or a server answers is told when they are used.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from bayplan.errors import ValidationError
from bayplan.objects.labels import check_key
from bayplan.profiles.file import API_VERSION, KIND
from bayplan.profiles.problems import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.plugins.arguments import Problem
    from bayplan.profiles.file import ConfigurationFile, Extender, LeaderElection, ProfileEntry

_DEFAULT_NAME = "default-scheduler"


def check_file(file: ConfigurationFile) -> Iterator[Problem]:
    """Everything but the profiles' plugins."""
    return chain(
        _check_kind(file),
        _check_numbers(file),
        _check_leader_election(file.leader_election),
        _check_names(file.profiles),
        _check_extenders(file.extenders),
    )


def name_of(profile: ProfileEntry, alone: bool) -> str:
    """The scheduler name that a profile has; a single one may leave it out."""
    return _DEFAULT_NAME if profile.scheduler_name is None and alone else profile.scheduler_name or ""


def _check_kind(file: ConfigurationFile) -> Iterator[Problem]:
    for key, found, wanted in (("apiVersion", file.api_version, API_VERSION), ("kind", file.kind, KIND)):
        if not found:
            yield key, f"has to be given: {wanted}"
        elif found != wanted:
            yield key, f"{shortened(found)} is not {wanted}"


def _check_numbers(file: ConfigurationFile) -> Iterator[Problem]:
    if file.parallelism <= 0:
        yield "parallelism", f"{file.parallelism} is not 1 or more"
    if file.client_connection.burst < 0:
        yield "clientConnection.burst", f"{file.client_connection.burst} is below zero"
    if file.pod_initial_backoff_seconds <= 0:
        yield "podInitialBackoffSeconds", f"{file.pod_initial_backoff_seconds} is not 1 or more"
    if file.pod_max_backoff_seconds < file.pod_initial_backoff_seconds:
        yield "podMaxBackoffSeconds", f"{file.pod_max_backoff_seconds} is less than podInitialBackoffSeconds"
    yield from _check_percentage("percentageOfNodesToScore", file.percentage_of_nodes_to_score)
    for index, profile in enumerate(file.profiles):
        path = f"profiles[{index}].percentageOfNodesToScore"
        yield from _check_percentage(path, profile.percentage_of_nodes_to_score or 0)


def _check_percentage(path: str, value: int) -> Iterator[Problem]:
    if not 0 <= value <= 100:
        yield path, f"{value} is not from 0 to 100"


def _check_leader_election(election: LeaderElection) -> Iterator[Problem]:
    if not election.leader_elect:
        return
    times = {
        "leaseDuration": election.lease_duration,
        "renewDeadline": election.renew_deadline,
        "retryPeriod": election.retry_period,
    }
    for key, value in times.items():
        if value <= 0:
            yield f"leaderElection.{key}", "is not longer than nothing"
    if election.lease_duration <= election.renew_deadline:
        yield "leaderElection.leaseDuration", "is not longer than renewDeadline"
    if election.resource_lock != "leases":
        yield "leaderElection.resourceLock", f"{shortened(election.resource_lock)} is not leases"


def _check_names(profiles: tuple[ProfileEntry, ...]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, profile in enumerate(profiles):
        path = f"profiles[{index}].schedulerName"
        name = name_of(profile, len(profiles) == 1)
        if not name:
            yield path, "has to be given"
        elif name in first:
            yield path, f"{shortened(name)} is the name of profiles[{first[name]}] already"
        first.setdefault(name, index)


def _check_extenders(extenders: tuple[Extender, ...]) -> Iterator[Problem]:
    managed: set[str] = set()
    binders = [index for index, extender in enumerate(extenders) if extender.bind_verb]
    for index in binders[1:]:
        yield f"extenders[{index}].bindVerb", f"extenders[{binders[0]}] binds already, and only one can"
    for index, extender in enumerate(extenders):
        if extender.prioritize_verb and extender.weight <= 0:
            yield f"extenders[{index}].weight", f"{extender.weight} is not 1 or more, as one that prioritizes needs"
        for position, resource in enumerate(extender.managed_resources):
            path = f"extenders[{index}].managedResources[{position}].name"
            yield from _check_extended_resource(path, resource.name)
            if resource.name in managed:
                yield path, f"{shortened(resource.name)} is managed already"
            managed.add(resource.name)


def _check_extended_resource(path: str, name: str) -> Iterator[Problem]:
    try:
        check_key(name)
        check_key(f"requests.{name}")
        fine = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    except ValidationError:
        fine = False
    if not fine:
        yield path, f"{shortened(name)} is no name of an extended resource, such as example.com/device"
