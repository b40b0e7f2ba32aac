"""Shared draws and standard errors, against scipy, plain formulas and the bootstrap of the package."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.resampling import (
    cluster_numbers,
    drawn_weights,
    edges,
    mean_error,
    product,
    resampled_means,
)
from groundwire.evaluation.stats import bootstrap_interval


def test_clusters_are_numbered_as_they_come() -> None:
    assert cluster_numbers(["b", "a", "b"], rows=3).tolist() == [0, 1, 0]
    assert cluster_numbers(None, rows=3).tolist() == [0, 1, 2]
    with pytest.raises(UsageError, match="2 rows have 1 cluster labels"):
        cluster_numbers(["a"], rows=2)


def test_each_resample_draws_as_many_clusters_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire.evaluation.resampling._CHUNK", 35)
    pieces = list(drawn_weights(7, resamples=12, seed=3))
    assert [piece.shape for piece in pieces] == [(5, 7), (5, 7), (2, 7)]
    assert all((piece.sum(axis=1) == 7).all() for piece in pieces)


def test_the_interval_is_that_of_the_plain_bootstrap() -> None:
    table = np.random.default_rng(1).exponential(10, (60, 2))
    clusters = [number // 3 for number in range(60)]
    for labels in (None, clusters):
        low, high = edges(resampled_means(table, clusters=labels, resamples=20_000), level=0.9)
        for column in range(2):
            plain = bootstrap_interval(table[:, column].tolist(), clusters=labels, level=0.9, resamples=20_000, seed=5)
            assert (low[column], high[column]) == pytest.approx((plain.low, plain.high), rel=0.012)


def test_columns_share_their_draws() -> None:
    column = np.arange(20.0)
    draws = resampled_means(np.column_stack([column, column + 5]), resamples=50)
    assert draws[:, 1] - draws[:, 0] == pytest.approx(np.full(50, 5.0))


def test_the_error_is_the_deviation_over_the_root_of_n() -> None:
    found = mean_error([1.0, None, 4.0, 7.0, 9.0])
    values = np.array([1.0, 4, 7, 9])
    assert (found.mean, found.n, found.clusters) == (5.25, 4, 4)
    assert found.error == pytest.approx(values.std(ddof=1) / 2)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_the_same_values_three_times_say_no_more_than_once(values: list[float]) -> None:
    once = mean_error(values)
    three = mean_error(values * 3, clusters=list(range(len(values))) * 3)
    assert three.mean == pytest.approx(once.mean, abs=1e-9)
    assert three.error == pytest.approx(once.error, abs=1e-9)


def test_one_cluster_has_no_error_and_no_value_no_mean() -> None:
    assert math.isnan(mean_error([1.0, 2.0], clusters=["a", "a"]).error)
    nothing = mean_error([None, None])
    assert (nothing.n, nothing.clusters) == (0, 0)
    assert math.isnan(nothing.mean)
    with pytest.raises(UsageError, match="not finite"):
        mean_error([math.inf])


@pytest.mark.parametrize("size", [1, 7, 10**9])
def test_a_product_in_parts_is_the_product(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    weights, columns = rng.integers(0, 4, (6, 20)).astype(float), rng.normal(0, 1, (20, 9))
    monkeypatch.setattr("groundwire.evaluation.resampling._PRODUCT", size)
    assert product(weights, columns) == pytest.approx(weights @ columns)


def test_how_many_weights_are_held_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).normal(0, 1, (40, 3))
    at_once = resampled_means(table, resamples=200, seed=5)
    monkeypatch.setattr("groundwire.evaluation.resampling._CHUNK", 100)
    assert resampled_means(table, resamples=200, seed=5) == pytest.approx(at_once, abs=1e-12)
