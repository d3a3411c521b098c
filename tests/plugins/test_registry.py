"""The table of our plugins, and finding others."""

from __future__ import annotations

from dataclasses import is_dataclass

import pytest

from bayplan.errors import UsageError
from bayplan.plugins.registry import BUILT_IN, is_dotted, load_plugin
from bayplan.profiles.merging import DEFAULTS
from bayplan.profiles.points import METHODS, has_point
from bayplan.profiles.reading import camel, fields_of

#: What kube-scheduler's plugins do there, ours do elsewhere, or not at all as long as claims to devices are not placed.
_ELSEWHERE = {
    ("DefaultPreemption", "preEnqueue"),
    ("DynamicResources", "preEnqueue"),
    ("DynamicResources", "postFilter"),
    ("DynamicResources", "reserve"),
    ("DynamicResources", "preBind"),
}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_each_of_ours_is_a_frozen_dataclass_of_its_name(name: str) -> None:
    plugin = load_plugin(name)

    assert plugin.__name__ == name
    assert is_dataclass(plugin)
    assert plugin() == plugin()
    assert hash(plugin()) == hash(plugin())


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_each_of_ours_has_the_points_of_its_namesake(name: str) -> None:
    ours = {camel(point) for point in METHODS if has_point(load_plugin(name), point)}
    theirs = BUILT_IN[name].points & {camel(point) for point in METHODS}

    assert {(name, point) for point in theirs - ours} <= _ELSEWHERE


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_each_of_ours_takes_arguments_if_its_namesake_does(name: str) -> None:
    assert bool(fields_of(load_plugin(name))) is BUILT_IN[name].takes_arguments


def test_all_defaults_are_ours() -> None:
    assert {one.name for one in DEFAULTS.multi_point.enabled} == BUILT_IN.keys()


@pytest.mark.parametrize("name", ["a:B", "a.b.c:D.E", "_x:Y1"])
def test_a_path_has_one_colon(name: str) -> None:
    assert is_dotted(name)


@pytest.mark.parametrize("name", ["a.b", "a:", ":B", "a..b:C", "a/b:C", "a:B:C", "1a:B", " a:B"])
def test_other_words_are_no_paths(name: str) -> None:
    assert not is_dotted(name)


def test_a_name_that_is_close_is_suggested() -> None:
    with pytest.raises(UsageError, match="'NodeAfinity' is not a plugin; NodeAffinity is one"):
        load_plugin("NodeAfinity")
