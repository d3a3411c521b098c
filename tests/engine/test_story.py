"""Stories: what is read later is what was decided then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayplan.engine.engine import Engine
from bayplan.engine.journal import Journal
from bayplan.testing import Scene, node, pod

if TYPE_CHECKING:
    from bayplan.engine.story import Page, Story


def read(story: Story) -> Page:
    page = story.read()
    assert page is not None
    return page


def test_nodes_that_have_gone_since_are_in_it_and_those_that_came_are_not() -> None:
    scene = Scene()
    scene.add(node("a"), node("b", unschedulable=True))
    story = scene.decide(pod()).story
    then = read(story)

    scene.remove(node("a"), node("b"))
    scene.add(node("c", cpu="1"), node("d"), node("e"))  # two of them in the rows of those that went
    scene.decide(pod(cpu="2"))

    assert read(story) == then
    assert [one.node for one in then.nodes] == ["a", "b"]
    assert read(scene.decide(pod()).story).of("a") is None


def test_a_row_that_had_no_node_has_none_when_another_has_moved_in() -> None:
    scene = Scene()
    scene.add(node("a"), node("b"))
    scene.remove(node("a"))
    story = scene.decide(pod()).story
    then = read(story)
    scene.add(node("c"))
    scene.decide(pod())
    assert read(story) == then


def test_points_are_those_of_then() -> None:
    scene = Scene()
    scene.add(node("a", cpu="8"), node("b"))
    wants = pod("wants", cpu="1", memory="1Gi")
    story = scene.decide(wants).story
    then = read(story)
    for number in range(20):
        scene.place(pod(f"p{number}", cpu="100m"))
        scene.decide(wants)
    assert read(story) == then
    assert read(scene.decide(wants).story) != then


def test_beyond_its_budget_the_journal_lets_the_oldest_go_and_the_outcome_stays() -> None:
    scene = Scene()
    scene.add(*(node(f"n{number}") for number in range(5)))
    engine = Engine(scene.cluster, tuple(scene.engine.policies.values()), journal=Journal(cells=300))
    told = []
    for number in range(40):
        decision = engine.decide(pod(f"p{number}", cpu="50m"))
        assert decision.node is not None
        told.append((decision.story, read(decision.story)))
        scene.cache.assume(decision.pod, decision.node)
    kept = [story.read() is not None for story, _ in told]
    assert not kept[0]
    assert kept[-1]
    assert kept == sorted(kept)
    assert all(story.read() in {None, page} for story, page in told)
    assert all(story.node is not None for story, _ in told)


def test_a_node_that_comes_when_all_is_known_is_ranked_with_the_others() -> None:
    scene = Scene()
    scene.add(node("a", images={"web:1": 500 << 20}), node("b"))
    wants = pod(image="web:1")
    assert scene.decide(wants).node == "a"
    for number in range(40):
        scene.add(node(f"n{number}"))
        page = read(scene.decide(wants).story)
        assert page.ranked[0].node == "a"
        assert len(page.ranked) == number + 3
