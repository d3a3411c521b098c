"""Back-off: it grows, it is bounded, it never comes back in step, and it never undercuts the server's wish."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.backoff import Backoff


@given(st.integers(0, 2000), st.floats(0.01, 10), st.floats(10, 100), st.integers())
def test_each_wait_lies_in_the_upper_half_of_a_doubling_limit(
    failures: int, base: float, cap: float, seed: int
) -> None:
    backoff = Backoff(base, cap, random.Random(seed), failures=failures)
    limit = min(cap, base * 2 ** min(failures, 20)) if failures < 20 else cap
    assert limit / 2 <= backoff.next() <= cap
    if failures < 20:
        assert backoff.failures == failures + 1


@given(st.floats(0, 1000), st.integers())
def test_the_servers_wish_is_a_floor_that_is_spread_by_a_fifth(wish: float, seed: int) -> None:
    backoff = Backoff(0.001, 0.001, random.Random(seed))
    assert wish <= backoff.next(at_least=wish) <= max(0.001, wish * 1.2)


def test_success_makes_the_next_wait_a_first_one() -> None:
    backoff = Backoff(1, 64, random.Random(1))
    for _ in range(10):
        backoff.next()
    backoff.reset()
    assert backoff.next() <= 1


def test_two_clients_do_not_wait_alike() -> None:
    assert Backoff(1, 64).next() != Backoff(1, 64).next()
