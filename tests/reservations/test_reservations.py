"""Reservations: nothing is bound before all have permitted it, and what is undone is undone in reverse."""

from __future__ import annotations

from bayplan.reservations.reservations import LONGEST_WAIT, Reservation, Reservations, State
from bayplan.testing.builders import pod


def held(reservations: Reservations, name: str = "web", **waits: float) -> Reservation:
    reservation = Reservation(pod(name), "n1")
    reservations.hold(reservation, waits, now=100.0)
    return reservation


def state_of(reservation: Reservation) -> State:
    """What it is now: asked anew, since it changes under the eyes of the type checker."""
    return reservation.state


def test_without_anybody_to_wait_for_it_is_to_be_bound_at_once() -> None:
    reservations = Reservations()
    assert state_of(held(reservations)) is State.BINDING
    assert reservations.next_deadline() is None


def test_the_last_permit_makes_it_ready() -> None:
    reservations = Reservations()
    reservation = held(reservations, Gang=10.0, Quota=20.0)
    assert state_of(reservation) is State.WAITING
    assert reservations.permit("default/web", "Gang") is None
    assert reservations.permit("default/web", "Gang") is None
    assert reservations.permit("default/web", "Nobody") is None
    assert reservations.permit("default/web", "Quota") is reservation
    assert state_of(reservation) is State.BINDING


def test_who_waits_too_long_is_late_and_nobody_waits_for_ever() -> None:
    reservations = Reservations()
    early, late = held(reservations, "early", Gang=5.0), held(reservations, "late", Gang=10.0**9)
    assert reservations.next_deadline() == 105.0
    assert reservations.late(104.9) == []
    assert reservations.late(105.0) == [early]
    assert late.deadline == 100.0 + LONGEST_WAIT


def test_what_was_done_is_undone_in_reverse_and_once() -> None:
    reservations = Reservations()
    undone: list[str] = []
    reservation = held(reservations)
    reservation.undo += [lambda: undone.append("assumed"), lambda: undone.append("counted")]
    assert reservations.undo("default/web") is reservation
    assert reservations.undo("default/web") is None
    assert undone == ["counted", "assumed"]


def test_a_pod_that_is_bound_leaves_nothing_to_undo() -> None:
    reservations = Reservations()
    undone: list[str] = []
    held(reservations).undo.append(lambda: undone.append("assumed"))
    reservations.settle("default/web")
    assert reservations.undo("default/web") is None
    assert undone == []


def test_a_pod_of_the_same_name_is_another_pod() -> None:
    reservations = Reservations()
    reservation = held(reservations)
    assert reservations.get("default/web", reservation.pod.metadata.uid) is reservation
    assert reservations.get("default/web", "another") is None
    reservations.doubt("default/web", "another")
    assert state_of(reservation) is State.BINDING
    reservations.doubt("default/web", reservation.pod.metadata.uid)
    assert state_of(reservation) is State.DOUBTFUL
