"""Tails against scipy."""

import math

import pytest
from scipy import stats

from groundwire.evaluation.tails import normal_beyond, normal_quantile, student_beyond, student_quantile


@pytest.mark.parametrize(
    ("t", "freedom"), [(0, 3), (2.5, 2), (-1.2, 7), (1000, 1), (20, 4718), (1.96, 1_000_000), (3, 0.7)]
)
def test_the_tail_of_students_distribution_is_that_of_scipy(t: float, freedom: float) -> None:
    assert student_beyond(t, freedom=freedom) == pytest.approx(stats.t.sf(t, freedom), rel=1e-8)


@pytest.mark.parametrize(("t", "freedom", "shift"), [(2, 5, 1.3), (2, 2, 3), (2, 4718, 2.8), (-2.1, 40, 1)])
def test_the_shifted_tail_is_that_of_scipy(t: float, freedom: float, shift: float) -> None:
    assert student_beyond(t, freedom=freedom, shift=shift) == pytest.approx(stats.nct.sf(t, freedom, shift), rel=1e-8)


@pytest.mark.parametrize(("chance", "freedom"), [(0.975, 2), (0.01, 1), (0.5, 9), (0.9999, 3), (0.95, 4718)])
def test_the_quantile_is_that_of_scipy(chance: float, freedom: float) -> None:
    assert student_quantile(chance, freedom=freedom) == pytest.approx(stats.t.ppf(chance, freedom), rel=1e-8, abs=1e-9)


def test_nothing_lies_beyond_infinity() -> None:
    assert student_beyond(math.inf, freedom=3) == 0
    assert student_beyond(-math.inf, freedom=3) == pytest.approx(1)


def test_the_normal_distribution_is_that_of_scipy() -> None:
    assert normal_beyond(1.5) == pytest.approx(stats.norm.sf(1.5), rel=1e-12)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), rel=1e-12)
