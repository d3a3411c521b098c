"""Where collections and objects are found on an API server."""

from __future__ import annotations

import pytest

from bayplan.errors import UsageError
from bayplan.objects.housekeeping import LEASES
from bayplan.objects.node import NODES
from bayplan.objects.pod import PODS


def test_core_and_groups_have_paths_of_their_own() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert LEASES.path() == "/apis/coordination.k8s.io/v1/leases"
    assert (PODS.api_version, LEASES.api_version) == ("v1", "coordination.k8s.io/v1")
    assert (PODS.qualified_name, LEASES.qualified_name) == ("pods", "leases.coordination.k8s.io")


def test_namespace_name_and_subresource_come_in_their_order() -> None:
    path = PODS.path(namespace="ns", name="p", subresource="binding")
    assert path == "/api/v1/namespaces/ns/pods/p/binding"


def test_what_has_no_namespace_is_not_given_one() -> None:
    assert NODES.path(namespace="ns", name="n1") == "/api/v1/nodes/n1"


def test_odd_names_are_quoted() -> None:
    assert PODS.path(namespace="a b", name="c d?") == "/api/v1/namespaces/a%20b/pods/c%20d%3F"


@pytest.mark.parametrize("part", ["name", "namespace", "subresource"])
@pytest.mark.parametrize("word", ["/", "a/", "/a", "x/y", "..", ".", "%2f", "%", "a%2e"])
def test_a_word_that_would_lead_to_another_place_has_no_path(part: str, word: str) -> None:
    with pytest.raises(UsageError, match="would lead to another place; give one") as refused:
        PODS.path(**{"namespace": "ns", "name": "p", part: word})
    assert repr(word) in str(refused.value)


@pytest.mark.parametrize("part", ["name", "subresource"])
def test_an_empty_name_is_not_the_collection(part: str) -> None:
    with pytest.raises(UsageError):
        PODS.path(**{"name": "p", part: ""})


def test_dots_inside_a_name_are_a_part_of_it() -> None:
    assert PODS.path(namespace="ns", name="...a..b") == "/api/v1/namespaces/ns/pods/...a..b"


def test_an_empty_namespace_means_all_of_them() -> None:
    assert PODS.path(namespace="") == PODS.path() == "/api/v1/pods"
