"""Pace, breaker and waits, as tables of what happened and when."""

import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.flow.pace import Breaker, Limits, Pace, ThreadWorkers, wait_seconds


@pytest.mark.parametrize(("successes", "at_once"), [(0, 1), (1, 2), (2, 2), (3, 3), (5, 3), (6, 4), (9, 4), (99, 4)])
def test_a_window_of_successes_allows_one_more(successes: int, at_once: int) -> None:
    pace = Pace(Limits(at_first=1, at_once=4))
    for _ in range(successes):
        pace.succeeded()
    assert pace.at_once == at_once


@pytest.mark.parametrize(
    ("busy", "at_once"),
    [
        ([(0, 10)], 4),  # (sent, failed)
        ([(0, 10), (1, 11), (9, 12)], 4),  # sent before the halving: one burst, one halving
        ([(0, 10), (10, 13)], 2),
        ([(0, 10), (11, 13), (14, 15)], 1),
        ([(0, 10), (11, 13), (14, 15), (16, 17)], 1),
    ],
)
def test_a_busy_model_halves_what_may_be_in_flight_once_a_burst(busy: list[tuple[int, int]], at_once: int) -> None:
    pace = Pace(Limits(at_first=8, at_once=8))
    for sent, now in busy:
        pace.was_busy(sent=sent, now=now, retry_after=None)
    assert pace.at_once == at_once
    assert pace.held_until == float("-inf")


def test_a_failure_starts_the_window_anew_and_the_longest_wait_holds() -> None:
    pace = Pace(Limits(at_first=4, at_once=8))
    for _ in range(3):
        pace.succeeded()
    pace.was_busy(sent=0, now=1, retry_after=30)
    pace.was_busy(sent=0, now=2, retry_after=5)
    assert (pace.at_once, pace.held_until) == (2, 31)
    pace.succeeded()
    assert pace.at_once == 2
    pace.succeeded()
    assert pace.at_once == 3


def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_call_decide() -> None:
    breaker = Breaker(Limits(failures_in_a_row=3, pause_seconds=30))
    breaker.failed(now=1)
    breaker.failed(now=2)
    breaker.succeeded()
    for now in (3, 4, 5):
        assert breaker.allows(now=now, in_flight=9)
        breaker.failed(now=now)
    assert breaker.open_until == 35
    breaker.failed(now=6)  # was under way
    assert not breaker.allows(now=34, in_flight=0)
    assert not breaker.allows(now=36, in_flight=1)
    assert breaker.allows(now=36, in_flight=0)
    assert not breaker.given_up
    breaker.failed(now=37)
    assert (breaker.given_up, breaker.in_a_row) == (True, 5)


def test_a_success_closes_a_breaker() -> None:
    breaker = Breaker(Limits(failures_in_a_row=1, pause_seconds=30))
    breaker.failed(now=0)
    assert breaker.allows(now=30, in_flight=0)
    breaker.succeeded()
    assert breaker.allows(now=31, in_flight=5)
    breaker.failed(now=31)
    assert not breaker.given_up


@given(seed=st.integers(0, 99), key=st.integers(0, 2**256 - 1).map("{:064x}".format), attempt=st.integers(1, 200))
def test_a_wait_is_drawn_from_the_doubled_wait_and_is_the_same_every_time(seed: int, key: str, attempt: int) -> None:
    limits = Limits(first_wait_seconds=0.5, longest_wait_seconds=40, seed=seed)
    waited = wait_seconds(limits, key=key, attempt=attempt)
    assert 0 <= waited <= min(Fraction(40), Fraction(1, 2) * 2 ** (attempt - 1))
    assert waited == wait_seconds(limits, key=key, attempt=attempt)


def test_waits_are_spread_over_the_whole_range() -> None:
    drawn = [wait_seconds(Limits(), key=f"{number:064x}", attempt=4) for number in range(0, 2**224 * 400, 2**224)]
    assert min(drawn) < 1 < 7 < max(drawn)
    assert 3.5 < sum(drawn) / len(drawn) < 4.5


@pytest.mark.parametrize(
    "wrong",
    [{"at_once": 0}, {"at_first": 0}, {"attempts": 0}, {"failures_in_a_row": 0}, {"timeout_seconds": 0},
     {"deadline_seconds": -1}, {"timeout_seconds": float("nan")}],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Limits(**wrong)  # type: ignore[arg-type]


def test_threads_give_back_what_is_done_and_never_more_than_was_asked() -> None:
    workers: ThreadWorkers[int] = ThreadWorkers()
    go = threading.Event()
    workers.start(lambda: 1)
    workers.start(lambda: 2 if go.wait(5) else 0)
    assert workers.wait(5) == 1
    assert workers.wait(0.01) is None
    go.set()
    assert workers.wait(5) == 2
    assert workers.wait(-1) is None
    assert workers.now() <= workers.now()
