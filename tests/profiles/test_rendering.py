"""What is printed reads back, and any document is either read or refused."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from bayplan.errors import ConfigurationError
from bayplan.plugins.registry import BUILT_IN
from bayplan.profiles import default_configuration, effective, read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable

_POINTS = ("multiPoint", "filter", "score", "preFilter", "preScore", "reserve", "preBind", "postFilter", "bind")

_PRINTED = effective(default_configuration())


@st.composite
def _plugin_sets(draw: st.DrawFn) -> dict[str, Any]:
    sets = {}
    for point in draw(st.lists(st.sampled_from(_POINTS), unique=True, max_size=4)):
        fit = [name for name, one in BUILT_IN.items() if point == "multiPoint" or point in one.points]
        enabled = draw(st.lists(st.sampled_from(fit), unique=True, max_size=4))
        disabled = draw(st.lists(st.sampled_from([*BUILT_IN, "*"]), unique=True, max_size=3))
        sets[point] = {
            "enabled": [{"name": name, "weight": draw(st.integers(0, 9))} for name in enabled],
            "disabled": [{"name": name} for name in disabled],
        }
    return sets


@given(_plugin_sets(), st.none() | st.integers(0, 100))
def test_what_is_printed_reads_back_the_same(sets: dict[str, Any], percentage: int | None) -> None:
    profile = {"schedulerName": "x", "plugins": sets, "percentageOfNodesToScore": percentage}
    document = {**_PRINTED, "profiles": [profile]}
    try:
        configuration = read_configuration(json.dumps(document))
    except ConfigurationError:
        reject()  # Nothing sorts the queue, or nothing binds.
    printed = effective(configuration)
    again = read_configuration(yaml.safe_dump(printed))

    assert again.profiles == configuration.profiles
    assert effective(again) == printed


def test_the_default_is_printed_as_ever(golden: Callable[[str, str], None]) -> None:
    golden("default.yaml", yaml.safe_dump(_PRINTED))


def test_extenders_are_printed_whole() -> None:
    extender = {
        "urlPrefix": "https://x",
        "filterVerb": "f",
        "httpTimeout": "1m0s",
        "enableHTTPS": True,
        "tlsConfig": {"caData": "eA==", "serverName": "x"},
        "managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}],
        "weight": 3,
        "prioritizeVerb": "p",
    }

    printed = effective(read_configuration(json.dumps({**_PRINTED, "extenders": [extender]})))

    assert printed["extenders"] == [extender]


_KEYS = st.sampled_from(
    [
        "profiles",
        "plugins",
        "score",
        "enabled",
        "disabled",
        "name",
        "weight",
        "pluginConfig",
        "args",
        "extenders",
        "leaderElection",
        "leaseDuration",
        "scoringStrategy",
        "shape",
        "resources",
        "addedAffinity",
        "schedulerName",
    ]
)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["*", "NodeAffinity", "VolumeBinding", "DynamicResources", "json:loads", "1s", "a:b"])
)
_TREES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=12
)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Each container in the tree with each of its keys."""
    own = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    return [(tree, key) for key, _ in own] + [place for _, inner in own for place in _places(inner)]


@given(st.data())
def test_any_document_is_read_or_refused(data: st.DataObject) -> None:
    document = json.loads(json.dumps(_PRINTED))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(_places(document)))
        container[key] = data.draw(_TREES)

    with contextlib.suppress(ConfigurationError):
        read_configuration(json.dumps(document))


@given(_TREES, st.sampled_from(sorted(BUILT_IN)))
def test_any_arguments_are_read_or_refused(arguments: Any, name: str) -> None:
    profile = {"schedulerName": "x", "pluginConfig": [{"name": name, "args": arguments}]}

    with contextlib.suppress(ConfigurationError):
        read_configuration(json.dumps({**_PRINTED, "profiles": [profile]}))


@pytest.mark.parametrize("name", sorted(name for name, one in BUILT_IN.items() if one.takes_arguments))
def test_no_field_of_arguments_is_open_to_strangers(name: str) -> None:
    profile = {"schedulerName": "x", "pluginConfig": [{"name": name, "args": {"colour": "red"}}]}

    with pytest.raises(ConfigurationError, match=r"pluginConfig\[0\].args.colour: there is no such field"):
        read_configuration(json.dumps({**_PRINTED, "profiles": [profile]}))
