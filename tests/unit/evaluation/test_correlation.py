"""Correlations and their intervals against scipy."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.correlation import Kind, correlation, correlation_matrix

KNOWN: dict[Kind, Callable[..., object]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)


def columns(n: int = 60) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(2)
    one = np.round(rng.normal(60, 20, n) / 5) * 5
    return one.tolist(), np.round(one + rng.normal(0, 25, n)).tolist()


@pytest.mark.parametrize("kind", KNOWN)
@settings(max_examples=60, deadline=None)
@given(pairs)
def test_the_value_is_that_of_scipy(kind: Kind, rows: list[tuple[int, int]]) -> None:
    one, other = zip(*rows, strict=True)
    found = correlation(one, other, kind=kind, clusters=["all"] * len(rows))
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(found.value)
    else:
        assert found.value == pytest.approx(KNOWN[kind](one, other).statistic, abs=1e-12)
    assert math.isnan(found.low)


@pytest.mark.parametrize(("kind", "value"), [("kendall", 0.737865), ("spearman", 0.872082)])
def test_the_known_value_with_ties(kind: Kind, value: float) -> None:
    assert correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 5], kind=kind).value == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("kind", KNOWN)
def test_the_interval_is_that_of_drawing_rows(kind: Kind) -> None:
    one, other = columns()
    found = correlation(one, other, kind=kind, level=0.9, seed=3)
    rng = np.random.default_rng(8)
    drawn = []
    for _ in range(800):
        rows = rng.integers(0, 60, 60)
        drawn.append(KNOWN[kind](np.array(one)[rows], np.array(other)[rows]).statistic)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.05, 0.95])), abs=0.03)
    assert (found.n, found.clusters, found.seed, found.undrawn) == (60, 60, 3, 0)


def test_clusters_are_drawn_whole() -> None:
    one, other = columns(20)
    alone = correlation(one, other)
    repeated = correlation(one * 5, other * 5, clusters=list(range(20)) * 5)
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert correlation(one * 5, other * 5).low > alone.low


@settings(max_examples=30, deadline=None)
@given(pairs, st.sampled_from(sorted(KNOWN)), st.sampled_from([0.01, 30.0]))
def test_correlation_is_symmetric_and_knows_no_scale(rows: list[tuple[int, int]], kind: Kind, scale: float) -> None:
    one, other = zip(*rows, strict=True)
    label = ["all"] * len(rows)
    found = correlation(one, other, kind=kind, clusters=label).value
    turned = correlation([value * scale + 7 for value in other], one, kind=kind, clusters=label).value
    falling = correlation([-value for value in one], other, kind=kind, clusters=label).value
    assert turned == pytest.approx(found, nan_ok=True, abs=1e-9)
    assert falling == pytest.approx(-found, nan_ok=True, abs=1e-9)


def test_a_pair_counts_where_both_are_scored() -> None:
    found = correlation([1, None, 3, 4, 5], [2, 2, 4, 1, None])
    assert (found.n, found.unscored) == (3, 2)
    assert found.value == pytest.approx(stats.spearmanr([1, 3, 4], [2, 4, 1]).statistic)


def test_resamples_that_do_not_vary_are_counted() -> None:
    found = correlation([0, 0, 0, 1], [0, 0, 0, 1])
    assert found.value == 1
    assert 200 < found.undrawn < 500


def test_one_pair_and_none_have_no_correlation() -> None:
    for found in (correlation([1], [2]), correlation([], []), correlation([None], [2])):
        assert math.isnan(found.value)
        assert math.isnan(found.low)


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        ([1, 2], [1], {}),
        ([1, math.inf], [1, 2], {}),
        ([1, 2], [1, 2], {"level": 1}),
        ([1, 2], [1, 2], {"clusters": [1]}),
    ],
)
def test_what_cannot_be_correlated_is_refused(one: list[float], other: list[float], more: dict) -> None:
    with pytest.raises(UsageError):
        correlation(one, other, **more)


def test_a_matrix_parts_what_should_agree_from_what_should_not() -> None:
    one, other = columns()
    away = np.random.default_rng(1).permutation(one).tolist()
    found = correlation_matrix(
        {"correct": one, "recall": other, "density": away, "flat": [3.0] * 60},
        groups={"correct": "content", "recall": "content", "density": "form"},
        kind="kendall",
    )
    assert found.names == ("correct", "recall", "density", "flat")
    assert found.values[0, 1] == found.values[1, 0] == pytest.approx(stats.kendalltau(one, other).statistic)
    assert found.low[0, 1] < found.values[0, 1] < found.high[0, 1]
    assert found.convergent == pytest.approx(found.values[0, 1])
    assert found.discriminant == pytest.approx((abs(found.values[0, 2]) + abs(found.values[1, 2])) / 2)
    assert math.isnan(found.values[0, 3])
    assert found.n[0, 0] == found.n[0, 1] == 60


def test_without_groups_nothing_converges() -> None:
    one, other = columns(10)
    assert math.isnan(correlation_matrix({"a": one, "b": other}).convergent)
    with pytest.raises(UsageError, match="no column c"):
        correlation_matrix({"a": one, "b": other}, groups={"c": "x"})
