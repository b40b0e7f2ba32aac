"""Concordance and tau-b against brute force and scipy, and their intervals."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation import ordering
from groundwire.evaluation.correlation import correlation
from groundwire.evaluation.ordering import Drawing, rank_agreement, separation

stats = pytest.importorskip("scipy.stats", reason="the group 'dev' is not installed")  # slow to import: here, once

FEW = Drawing(resamples=200)
_items = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)).map(lambda row: tuple(map(float, row))),
    min_size=2,
    max_size=12,
)


@settings(deadline=None)
@given(_items)
def test_separation_is_the_share_of_pairs_in_the_right_order(rows: list[tuple[float, float, float]]) -> None:
    values, grades, clusters = zip(*rows, strict=True)
    for within in (False, True):
        compared = [
            1.0 if values[i] > values[j] else 0.5 if values[i] == values[j] else 0.0
            for i, j in product(range(len(rows)), repeat=2)
            if grades[i] > grades[j] and (not within or clusters[i] == clusters[j])
        ]
        found = separation(values, grades, clusters=clusters, drawing=FEW, within=within)

        assert found.n == len(rows)
        if compared:
            assert found.mean == pytest.approx(sum(compared) / len(compared))
        else:
            assert math.isnan(found.mean)
            assert math.isnan(found.low)


@settings(deadline=None)
@given(_items)
def test_rank_agreement_is_scipys_tau_b(rows: list[tuple[float, float, float]]) -> None:
    first, second, clusters = zip(*rows, strict=True)

    found = rank_agreement(first, second, clusters=clusters, drawing=FEW)

    expected = stats.kendalltau(first, second).statistic if len(set(first)) > 1 and len(set(second)) > 1 else math.nan
    assert found.mean == pytest.approx(expected, nan_ok=True)


@settings(deadline=None)
@given(_items)
def test_rank_agreement_and_correlation_are_one_tau_also_where_clusters_are_drawn(
    rows: list[tuple[float, float, float]],
) -> None:
    first, second, clusters = zip(*rows, strict=True)
    found = rank_agreement(first, second, clusters=clusters, drawing=FEW)
    one, other = (np.array(column) for column in (first, second))
    rng = np.random.default_rng(FEW.seed)
    places = {label: place for place, label in enumerate(dict.fromkeys(clusters))}
    drawn = []
    for counts in rng.multinomial(len(places), [1 / len(places)] * len(places), size=FEW.resamples):
        picked = np.repeat(np.arange(len(rows)), [counts[places[label]] for label in clusters])
        x, y = (np.sign(column[picked][:, None] - column[picked][None, :]) for column in (one, other))
        below = math.sqrt((x * x).sum() * (y * y).sum())
        drawn.append((x * y).sum() / below if below else math.nan)

    assert found.mean == pytest.approx(correlation(first, second, kind="kendall").value, nan_ok=True)
    if len(places) == 1 or math.isnan(found.mean) or np.isnan(drawn).all():
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    else:
        assert (found.low, found.high) == pytest.approx(tuple(np.nanquantile(drawn, [0.025, 0.975])))


def test_an_unscored_item_is_left_out_and_counted() -> None:
    found = separation([3, None, 1], [1, 1, 0], clusters="abc", drawing=FEW)
    tau = rank_agreement([1, 2, None, 4], [10, None, 30, 40], clusters="abcd", drawing=FEW)

    assert (found.mean, found.n, found.unscored) == (1, 2, 1)
    assert (tau.mean, tau.n, tau.unscored) == (1, 2, 2)


def test_one_cluster_has_no_interval() -> None:
    found = separation([3, 1], [1, 0], clusters="aa", drawing=FEW)

    assert found.mean == 1
    assert math.isnan(found.low)


def test_nothing_scored_is_nan() -> None:
    assert math.isnan(separation([None, None], [1, 0], clusters="ab", drawing=FEW).mean)
    assert math.isnan(rank_agreement([None, 1], [1, None], clusters="ab", drawing=FEW).mean)


def test_where_no_sample_has_a_value_there_is_no_interval() -> None:
    found = [separation([2, 1], [1, 0], clusters="ab", drawing=Drawing(resamples=1, seed=seed)) for seed in range(8)]

    assert all(one.mean == 1 for one in found)
    assert {math.isnan(one.low) for one in found} == {True, False}  # one article drawn twice, or both


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        topics = np.repeat(np.arange(30), 2)
        grades = np.tile([1.0, 0.0], 30)
        values = rng.normal(size=60) + np.repeat(rng.normal(size=30), 2) + grades  # a topic shifts both of its articles
        found = separation(list(values), list(grades), clusters=list(topics), drawing=Drawing(resamples=300))
        held += found.low <= 0.6915 <= found.high  # P(N(1, 2) > N(0, 2)) = Phi(1 / 2)

    assert 0.87 <= held / 200 <= 0.99


def test_inside_topics_of_two_the_interval_is_that_of_a_share() -> None:
    values = [1.0, 0.0] * 24 + [0.0, 1.0] * 8  # in order in 24 of 32 topics

    found = separation(values, [1.0, 0.0] * 32, clusters=[place // 2 for place in range(64)], within=True)

    assert found.mean == 0.75
    spread = 1.96 * math.sqrt(0.75 * 0.25 / 32)
    assert (found.low, found.high) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.03)


def test_the_same_seed_draws_the_same_and_the_level_counts() -> None:
    rng = np.random.default_rng(1)
    values, grades = list(rng.normal(size=40)), [1.0, 0.0] * 20
    topics = [place // 2 for place in range(40)]
    one, two = (separation(values, grades, clusters=topics, drawing=Drawing(seed=3)) for _ in range(2))
    narrow = separation(values, grades, clusters=topics, drawing=Drawing(level=0.5, seed=3))

    assert one == two
    assert one.low < narrow.low < narrow.high < one.high


def test_wrong_counts_and_too_many_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="2 values, 1 grades and 2 labels"):
        separation([1, 2], [1], clusters="ab")
    monkeypatch.setattr(ordering, "MOST_ITEMS", 2)
    with pytest.raises(UsageError, match="3 items are too many"):
        rank_agreement([1, 2, 3], [1, 2, 3], clusters="abc")
