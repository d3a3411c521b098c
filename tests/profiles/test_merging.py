"""A profile's plugin sets over the default ones, and the order at each point. End to end, kube-scheduler is asked."""

from __future__ import annotations

from bayplan.profiles.file import PluginEntry, PluginSet, PluginSets
from bayplan.profiles.merging import merge, needed, spread, weights


def _set(enabled: str = "", disabled: str = "") -> PluginSet:
    entries = [
        tuple(PluginEntry(name, int(weight or 0)) for name, _, weight in (one.partition("=") for one in text.split()))
        for text in (enabled, disabled)
    ]
    return PluginSet(*entries)


def _merged(enabled: str = "", disabled: str = "") -> str:
    defaults = PluginSets(multi_point=_set("a=1 b c=3"))
    merged = merge(PluginSets(multi_point=_set(enabled, disabled)), defaults).multi_point
    return " ".join(f"{one.name}={one.weight}" for one in merged.enabled)


def test_new_plugins_go_to_the_end() -> None:
    assert _merged("d=7") == "a=1 b=0 c=3 d=7"


def test_a_default_plugin_that_is_enabled_anew_keeps_its_place_and_takes_the_new_weight() -> None:
    assert _merged("b=5 a") == "a=0 b=5 c=3"


def test_disabled_ones_go_and_come_back_at_the_end_if_they_are_enabled_too() -> None:
    assert _merged("a=2", "a b") == "c=3 a=2"


def test_a_star_takes_all_defaults() -> None:
    assert _merged("x b=1", "*") == "x=0 b=1"


def test_what_is_disabled_at_a_point_stays_written_down() -> None:
    merged = merge(PluginSets(score=_set(disabled="a")), PluginSets(multi_point=_set("a b")))

    assert merged.score.disabled_names == {"a"}
    assert [one.name for one in merged.multi_point.enabled] == ["a", "b"]


def _spread(point: PluginSet, has: str = "abcdxyz") -> str:
    return "".join(spread(point, _set("a b c d"), lambda name: name in has))


def test_a_point_has_what_is_enabled_for_all_points_and_has_it() -> None:
    assert _spread(PluginSet(), has="bd") == "bd"


def test_what_a_point_names_and_all_points_too_comes_first_and_what_the_point_alone_names_last() -> None:
    assert _spread(_set("x d b")) == "dbacx"


def test_what_is_disabled_at_a_point_is_not_there_and_comes_last_if_the_point_names_it() -> None:
    assert _spread(_set("b", "b c")) == "adb"


def test_a_star_at_a_point_leaves_just_what_the_point_names() -> None:
    assert _spread(_set("x b", "*")) == "xb"


def test_the_weight_at_score_comes_before_that_for_all_points_and_none_is_one() -> None:
    sets = PluginSets(score=_set("a=5 b"), multi_point=_set("a=2 b=7 c=3 d"))

    assert weights(sets) == {"a": 5, "b": 1, "c": 3, "d": 1}


def test_needed_is_what_is_enabled_anywhere() -> None:
    sets = PluginSets(filter=_set("x a"), bind=_set("y", "z"), multi_point=_set("a b"))

    assert needed(sets) == ("a", "b", "x", "y")
