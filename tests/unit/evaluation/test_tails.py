"""Tails against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from groundwire.evaluation.tails import (
    normal_beyond,
    normal_quantile,
    range_quantile,
    range_tail,
    student_beyond,
    student_quantile,
    widened,
)


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


@pytest.mark.parametrize(("size", "systems"), [(3.5, 6), (0.5, 3), (4.03, 6), (0, 4), (9, 2), (60, 6)])
def test_the_tail_of_the_range_is_that_of_the_studentised_range(size: float, systems: int) -> None:
    assert range_tail(size, systems=systems) == pytest.approx(
        stats.studentized_range.sf(size, systems, np.inf), abs=1e-8
    )


@pytest.mark.parametrize(("chance", "systems"), [(0.95, 6), (0.99, 3), (0.5, 10), (0.95, 2)])
def test_the_quantile_of_the_range_is_that_of_the_studentised_range(chance: float, systems: int) -> None:
    known = stats.studentized_range.ppf(chance, systems, np.inf)
    assert range_quantile(chance, systems=systems) == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize("clusters", [4, 10, 30, 1000])
def test_a_widened_level_has_the_reach_of_student(clusters: int) -> None:
    edge = stats.norm.ppf((1 + widened(0.9, clusters=clusters)) / 2)
    shrunk = math.sqrt((clusters - 1) / clusters)  # the deviation that a bootstrap sees
    assert edge * shrunk == pytest.approx(stats.t.ppf(0.95, clusters - 1), rel=1e-6)
    assert widened(0.9, clusters=clusters) > 0.9
