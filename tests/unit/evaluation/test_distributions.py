"""Distributions and ties against numpy and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groundwire.core.errors import UsageError
from groundwire.evaluation.distributions import describe, tie_rates, tied

SAKAI = np.array(
    [
        [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
        [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
        [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ]
).T


def test_the_ties_of_sakais_example_hold_on_the_tenths_too() -> None:
    for table in (SAKAI, SAKAI / 10, SAKAI * 0.1 + 1000):
        found = tie_rates(table)
        assert (found.rates[0, 1], found.rates[0, 2], found.rates[1, 2]) == (0.25, 0.15, 0.20)
        assert found.rate == pytest.approx(0.2)
        assert found.rates.diagonal().tolist() == [1, 1, 1]
        assert found.all_tied == pytest.approx(np.mean(np.ptp(SAKAI, axis=1) == 0))


def test_a_tolerance_makes_more_ties() -> None:
    found = tie_rates(SAKAI / 10, tolerance=0.1)
    assert found.rates[0, 1] == np.mean(np.abs(SAKAI[:, 0] - SAKAI[:, 1]) <= 1)
    assert tie_rates(SAKAI, tolerance=10).all_tied == 1


def test_all_tied() -> None:
    found = tie_rates(np.full((7, 3), 80.0))
    assert (found.rate, found.all_tied) == (1, 1)


@given(arrays(np.int64, (5, 4), elements=st.integers(0, 3)), st.permutations(range(5)))
def test_ties_are_symmetric_and_know_no_order(table: np.ndarray, order: list[int]) -> None:
    found, mixed = tie_rates(table), tie_rates(table[order])
    assert (found.rates == found.rates.T).all()
    assert (found.rates == mixed.rates).all()
    assert found.all_tied <= found.rates.min()


def test_a_distribution() -> None:
    found = describe([0, 100, None, 100, 50, 80.0])
    assert (found.n, found.unscored, found.mean, found.distinct) == (5, 1, 66, 4)
    assert found.deviation == pytest.approx(np.std([0, 100, 100, 50, 80], ddof=1))
    assert dict(found.quantiles)[0.5] == 80
    assert (found.at_lowest, found.at_highest) == (0.2, 0.4)


def test_a_distribution_of_one_value_and_of_none() -> None:
    one, none = describe([0.4], highest=1.0), describe([None])
    assert one.mean == 0.4
    assert math.isnan(one.deviation)
    assert (none.n, none.unscored) == (0, 1)
    assert all(map(math.isnan, (none.mean, none.at_highest, none.quantiles[3][1])))


@pytest.mark.parametrize(("values", "lowest", "highest"), [([101.0], 0, 100), ([-1.0], 0, 100), ([math.nan], 0, 1)])
def test_values_outside_their_bounds_are_refused(values: list[float], lowest: float, highest: float) -> None:
    with pytest.raises(UsageError, match="but the bounds are"):
        describe(values, lowest=lowest, highest=highest)


def test_bounds_are_given_the_lower_one_first() -> None:
    with pytest.raises(UsageError, match="give the lower one first"):
        describe([], lowest=1, highest=1)


@pytest.mark.parametrize(
    ("values", "tolerance"),
    [(np.zeros((0, 2)), 0), (np.zeros((2, 1)), 0), (np.zeros(2), 0), (np.full((1, 2), math.inf), 0), (SAKAI, -1)],
)
def test_what_has_no_ties_is_refused(values: np.ndarray, tolerance: float) -> None:
    with pytest.raises(UsageError):
        tie_rates(values, tolerance=tolerance)


def test_nothing_is_tied_with_nothing() -> None:
    assert tied(np.zeros(0), np.zeros(0)).tolist() == []


def test_tiny_values_that_differ_are_no_tie() -> None:
    found = tie_rates(np.array([[1e-12, 2e-12], [3e-12, 3e-12]]))
    assert found.rate == 0.5
