"""A term ends by the clocks alone: nothing needs to run for it, and nothing brings it back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.term import Clocks, Term, elapsed_time

DURATION, MARGIN = 10.0, 1.25


@dataclass
class Hands:
    """Two clocks that are set by hand."""

    elapsed: float = 1000.0
    wall: float = 1_790_000_000.0

    def pass_(self, seconds: float) -> None:
        self.elapsed += seconds
        self.wall += seconds

    def term(self) -> Term:
        clocks = Clocks(lambda: self.elapsed, lambda: self.wall)
        return Term(clocks, clocks.read(), DURATION, MARGIN)


def test_it_holds_until_the_deadline_and_not_a_moment_longer() -> None:
    hands = Hands()
    term = hands.term()
    hands.pass_(9.999)
    assert term.valid()
    assert term.remaining == pytest.approx(0.001)
    hands.pass_(0.001)
    assert not term.valid()
    assert term.remaining == 0
    assert term.ending == "the lease was not renewed for 10.0 s"


def test_it_counts_from_when_the_renewal_was_sent() -> None:
    hands = Hands()
    clocks = Clocks(lambda: hands.elapsed, lambda: hands.wall)
    term = Term(clocks, clocks.read(), DURATION, MARGIN)
    hands.pass_(2)
    sent = clocks.read()
    hands.pass_(5)
    assert term.renew(sent)
    assert term.remaining == pytest.approx(5)


def test_a_renewal_that_came_too_late_does_not_bring_it_back() -> None:
    hands = Hands()
    term = hands.term()
    hands.pass_(11)
    assert not term.renew(Clocks(lambda: hands.elapsed, lambda: hands.wall).read())
    assert not term.valid()


@pytest.mark.parametrize("jump", [1.5, -1.5, 3600, -3600])
def test_a_jump_of_the_wall_clock_ends_it(jump: float) -> None:
    hands = Hands()
    term = hands.term()
    hands.wall += jump
    assert not term.valid()
    hands.wall -= jump
    assert not term.valid(), "what is over stays over, whatever the clock says later"
    assert f"jumped by {jump:+.1f} s" in term.ending


@pytest.mark.parametrize("slew", [1.2, -1.2])
def test_a_clock_that_is_put_right_a_little_does_not_end_it(slew: float) -> None:
    hands = Hands()
    term = hands.term()
    hands.wall += slew
    assert term.valid()


def test_a_machine_that_slept_finds_it_over() -> None:
    hands = Hands()
    term = hands.term()
    hands.pass_(8 * 3600)
    assert not term.valid()


def test_a_virtual_machine_that_was_paused_finds_it_over_once_its_wall_clock_is_right() -> None:
    hands = Hands()
    term = hands.term()
    hands.wall += 60
    assert not term.valid()


def test_being_kept_waiting_between_two_readings_is_no_jump() -> None:
    hands = Hands()

    def slow_wall() -> float:
        hands.pass_(3)
        return hands.wall

    term = Term(Clocks(lambda: hands.elapsed, slow_wall), hands.term()._since, DURATION, MARGIN)
    assert term.valid()


async def test_whoever_waits_for_the_end_hears_why() -> None:
    term = Hands().term()
    term.end("first")
    term.end("second")
    assert await term.over() == "first"


@given(steps=st.lists(st.tuples(st.floats(0, 3), st.floats(-1, 1), st.booleans()), max_size=30))
def test_it_never_holds_longer_than_its_duration_and_the_margin_after_the_last_renewal(
    steps: list[tuple[float, float, bool]],
) -> None:
    """True time is what the wall clock shows plus its steps; the elapsed clock stands still in pauses."""
    hands = Hands()
    clocks = Clocks(lambda: hands.elapsed, lambda: hands.wall)
    term = hands.term()
    since = 0.0
    for passed, paused, renews in steps:
        hands.pass_(passed)
        hands.wall += max(paused, 0)
        since += passed + max(paused, 0)
        if renews and term.renew(clocks.read()):
            since = 0.0
        assert not term.valid() or since < DURATION + MARGIN


def test_the_clock_of_this_machine_goes_on() -> None:
    first = elapsed_time()
    assert elapsed_time() >= first > 0
