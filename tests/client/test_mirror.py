"""The mirror: the changes it gives, in order, are always exactly the way from what was to what is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.codec import Unreadable
from bayplan.client.mirror import Mirror
from bayplan.objects.meta import ObjectMeta, ResourceVersion, Uid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayplan.client.changes import Change


class Thing(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


def meta(name: str, version: int, uid: str | None = None) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="ns", uid=Uid(uid or name), resource_version=ResourceVersion(str(version)))


def thing(name: str, version: int = 1, uid: str | None = None) -> Thing:
    return Thing(meta(name, version, uid))


def unreadable(name: str, version: int = 9, uid: str | None = None) -> Unreadable:
    return Unreadable(meta(name, version, uid), "Expected `int`")


def filled(*things: Thing) -> Mirror[Thing]:
    mirror: Mirror[Thing] = Mirror()
    list(mirror.replace(things, ()))
    return mirror


def told(changes: Iterable[Change[Thing]]) -> list[tuple[str, str, str]]:
    return [(change.kind, change.object.metadata.name, change.object.metadata.resource_version) for change in changes]


def test_a_first_list_is_all_additions() -> None:
    assert told(Mirror[Thing]().replace([thing("a"), thing("b")], ())) == [("added", "a", "1"), ("added", "b", "1")]


def test_a_later_list_is_told_as_its_difference_deletions_first() -> None:
    mirror = filled(thing("same"), thing("changed"), thing("gone"))
    changes = mirror.replace([thing("new"), thing("same"), thing("changed", 2)], ())
    assert told(changes) == [("deleted", "gone", "1"), ("added", "new", "1"), ("modified", "changed", "2")]


def test_an_object_made_anew_under_its_name_is_a_deletion_and_an_addition() -> None:
    mirror = filled(thing("a", uid="first"))
    assert told(mirror.replace([thing("a", 5, uid="second")], ())) == [("deleted", "a", "1"), ("added", "a", "5")]
    assert told(mirror.apply("MODIFIED", thing("a", 8, uid="third"))) == [("deleted", "a", "5"), ("added", "a", "8")]


def test_events_that_repeat_what_is_known_are_not_told() -> None:
    mirror = filled(thing("a", 3))
    assert mirror.apply("ADDED", thing("a", 3)) == ()
    assert mirror.apply("DELETED", thing("b")) == ()
    assert mirror.apply("DELETED", thing("a", 9, uid="another")) == ()
    assert "ns/a" in mirror.objects


def test_a_deletion_gives_the_object_as_it_was_last_told() -> None:
    mirror = filled(thing("a", 3))
    (change,) = mirror.apply("DELETED", thing("a", 7))
    assert (change.old, change.new) == (thing("a", 3), None)


def test_an_object_that_cannot_be_read_any_more_stays_as_it_was() -> None:
    mirror = filled(thing("a"))
    assert mirror.apply("MODIFIED", unreadable("a")) == ()
    assert list(mirror.replace([], [unreadable("a")])) == []
    assert mirror.objects == {"ns/a": thing("a")}
    assert list(mirror.unreadable) == ["ns/a"]


def test_an_object_that_can_be_read_again_is_a_change() -> None:
    mirror = filled(thing("a"))
    mirror.apply("MODIFIED", unreadable("a"))
    assert told(mirror.apply("MODIFIED", thing("a", 10))) == [("modified", "a", "10")]
    assert mirror.unreadable == {}


def test_an_unreadable_object_that_goes_is_forgotten() -> None:
    mirror = filled()
    mirror.apply("ADDED", unreadable("a"))
    mirror.apply("DELETED", unreadable("a"))
    assert mirror.unreadable == {}


def test_an_unreadable_successor_removes_its_predecessor() -> None:
    mirror = filled(thing("a", uid="first"), thing("b", uid="first"))
    assert told(mirror.apply("MODIFIED", unreadable("a", uid="second"))) == [("deleted", "a", "1")]
    assert told(mirror.replace([], [unreadable("b", uid="second"), unreadable("a", uid="second")])) == [
        ("deleted", "b", "1")
    ]


names = st.sampled_from("abcd")
uids = st.sampled_from(["u1", "u2"])
things = st.builds(thing, names, st.integers(1, 4), uids)
lists = st.lists(things, unique_by=lambda one: one.metadata.name).map(lambda items: ("LIST", items))
events = st.tuples(st.sampled_from(["ADDED", "MODIFIED", "DELETED"]), things | st.builds(unreadable, names))


@given(st.lists(lists | events, max_size=30))
def test_the_changes_in_order_always_lead_to_what_is_there(news: list[tuple[str, object]]) -> None:
    mirror: Mirror[Thing] = Mirror()
    followed: dict[str, Thing] = {}
    for kind, content in news:
        if kind == "LIST":
            assert isinstance(content, list)
            changes = list(mirror.replace(content, ()))
            assert mirror.objects.keys() == {one.metadata.key for one in content}
        else:
            assert isinstance(content, Thing | Unreadable)
            changes = list(mirror.apply(kind, content))
        for change in changes:
            follow(followed, change)
        assert followed == mirror.objects


def follow(followed: dict[str, Thing], change: Change[Thing]) -> None:
    """Apply one change to a plain dict, and see that it speaks of what is there."""
    key = change.object.metadata.key
    assert followed.get(key) == change.old
    assert change.old != change.new
    if change.new is None:
        del followed[key]
    else:
        followed[key] = change.new
