"""What is public is listed here once more, so that nothing becomes public, or ceases to be, by accident."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bayplan
import bayplan.testing
import bayplan.testing.fixtures

FOR_PLUGINS = {
    "the pod and the nodes": {"Pod", "PodClass", "Node", "Nodes", "Cluster"},
    "columns of one's own": {"NodeField", "annotation", "label"},
    "verdicts": {"YES", "Verdict", "Verdicts", "reject", "reject_if", "reject_where", "reject_first", "yes_to_all"},
    "scores": {"AsTheyAre", "ByLargest", "BetweenExtremes"},
    "what is read": {"Reads", "ROW"},
    "arrays": {"Bools", "Floats", "Ints"},
    "errors": {"BayplanError", "PluginFailure"},
}
FOR_TESTS = {
    "objects": {"pod", "node", "on", "namespace", "service", "replica_set", "budget", "HOSTNAME", "ZONE"},
    "terms": {"among", "where", "wish", "evenly", "taint", "toleration"},
    "tests": {"PluginTests", "Scene"},
}


@pytest.mark.parametrize(
    ("module", "groups"),
    [(bayplan, FOR_PLUGINS), (bayplan.testing, FOR_TESTS)],
    ids=["bayplan", "bayplan.testing"],
)
def test_these_are_public_and_no_others(module: object, groups: dict[str, set[str]]) -> None:
    expected = set().union(*groups.values())
    assert set(module.__all__) - {"__version__"} == expected  # type: ignore[attr-defined]
    assert all(getattr(module, name) is not None for name in expected)
    assert expected <= set(dir(module))


def test_the_fixtures_are_public_too() -> None:
    assert set(bayplan.testing.fixtures.__all__) == {"scene", "scene_plugins", "cluster", "engine"}


@pytest.mark.parametrize("module", ["bayplan", "bayplan.testing"])
def test_what_is_not_there_is_missed_as_usual(module: str) -> None:
    with pytest.raises(AttributeError, match=rf"module '{module}' has no attribute 'nothing'"):
        sys.modules[module].nothing  # noqa: B018


def test_a_program_that_needs_none_of_it_does_not_load_it() -> None:
    code = "import sys, bayplan, bayplan.testing; print('numpy' in sys.modules, 'msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
