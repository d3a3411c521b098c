"""Comparisons, counted."""

from __future__ import annotations

import json

from bayplan.simulator.agreement import ASPECTS, KEPT, Agreement


def test_what_is_the_same_is_counted_and_what_is_not_is_kept_too() -> None:
    agreement = Agreement()
    assert agreement.compare("choice", "a", "a", step=1)
    assert not agreement.compare("choice", "a", "b", step=2)
    count = agreement.counts["choice"]
    assert (count.compared, count.agree, count.share) == (2, 1, 0.5)
    assert agreement.disagreements == [{"aspect": "choice", "ours": "a", "theirs": "b", "step": 2}]
    assert not agreement.complete


def test_where_nothing_was_compared_nothing_differs() -> None:
    agreement = Agreement()
    assert agreement.complete
    assert agreement.counts["scores"].share == 1.0


def test_a_thousand_scores_do_not_hide_one_choice() -> None:
    agreement = Agreement()
    for step in range(KEPT * 3):
        agreement.compare("scores", 1, 2, step=step)
    agreement.compare("choice", "a", "b", step=KEPT * 3)
    assert [one["aspect"] for one in agreement.disagreements] == ["scores"] * KEPT + ["choice"]
    assert agreement.compared - agreement.agreed == KEPT * 3 + 1


def test_two_are_added_up_and_what_is_kept_stays_bounded() -> None:
    together = Agreement()
    for _ in range(3):
        one = Agreement(steps=7)
        for step in range(KEPT - 1):
            one.compare("message", "x", "y", step=step)
        together.add(one)
    assert together.steps == 21
    assert together.counts["message"].compared == 3 * (KEPT - 1)
    assert len(together.disagreements) == KEPT


def test_the_data_has_every_aspect() -> None:
    data = Agreement(steps=3).data()
    assert json.loads(json.dumps(data)) == data
    assert list(data) == ["steps", *ASPECTS, "disagreements"]
    assert data["feasible"] == {"compared": 0, "agree": 0}
