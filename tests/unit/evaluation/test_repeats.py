"""Variance parts against known components and an analysis of variance by hand; flips by counting."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.repeats import flips, variance_parts


def judged(items: int, judges: int, repeats: int, seed: int = 1) -> np.ndarray:
    """Deviations of 5 for items, 2 for judges, 1 for how they go together, 3 for repeats."""
    rng = np.random.default_rng(seed)
    return (
        60
        + rng.normal(0, 5, (items, 1, 1))
        + rng.normal(0, 2, (1, judges, 1))
        + rng.normal(0, 1, (items, judges, 1))
        + rng.normal(0, 3, (items, judges, repeats))
    )


def test_known_parts_are_found_again() -> None:
    found = variance_parts(judged(400, 60, 3))
    known = {"item": 25, "judge": 4, "item x judge": 1, "repeat": 9}
    assert dict(found.parts) == pytest.approx(known, rel=0.25)
    assert sum(dict(found.shares).values()) == pytest.approx(1)
    assert (found.items, found.judges, found.repeats, found.left_out) == (400, 60, 3, 0)
    assert (found.below_zero, found.note) == ((), "")
    parts = dict(found.parts)
    noise = parts["item x judge"] / 60 + parts["repeat"] / 180
    assert found.reliability == pytest.approx(parts["item"] / (parts["item"] + noise))


def test_the_mean_squares_of_a_small_table_by_hand() -> None:
    """Two items, two judges, two repeats; sums of squares 32, 8, 0 and 4 on 1, 1, 1 and 4 degrees of freedom."""
    table = np.array([[[9.0, 10.414213562], [11, 12.414213562]], [[5, 6.414213562], [7, 8.414213562]]])
    found = dict(variance_parts(table).parts)
    assert found["repeat"] == pytest.approx(1)
    assert found["item"] == pytest.approx(32 / 4)
    assert found["judge"] == pytest.approx(8 / 4)
    assert found["item x judge"] == 0


def test_one_judge_leaves_items_and_repeats() -> None:
    table = judged(500, 1, 4)
    found = variance_parts(table)
    within = table[:, 0].var(axis=1, ddof=1).mean()
    assert dict(found.parts)["repeat"] == pytest.approx(within)
    assert dict(found.parts)["item"] == pytest.approx(table.mean(axis=2).var(ddof=1) - within / 4)


def test_without_repeats_two_parts_stand_together() -> None:
    found = variance_parts(judged(400, 40, 1))
    assert [name for name, _ in found.parts] == ["item", "judge", "item x judge and repeat"]
    assert dict(found.parts)["item x judge and repeat"] == pytest.approx(10, rel=0.1)


def test_an_estimate_below_zero_stands_as_zero_and_is_named() -> None:
    table = np.array([[[50.0, 60.0]], [[60.0, 50.0]], [[55.0, 55.0]]])
    found = variance_parts(table)
    assert dict(found.parts)["item"] == 0
    assert found.below_zero == ("item",)
    assert found.note == "estimated below 0 and set to 0: item"
    assert found.reliability == 0


def test_where_nothing_varies_there_are_no_shares() -> None:
    found = variance_parts(np.full((4, 2, 3), 0.3))
    assert set(dict(found.parts).values()) == {0}
    assert all(math.isnan(share) for _, share in found.shares)
    assert math.isnan(found.reliability)


def test_an_item_with_a_gap_is_left_out_and_counted() -> None:
    table = judged(30, 2, 2)
    table[4, 1, 0] = math.nan
    found = variance_parts(table)
    assert (found.items, found.left_out) == (29, 1)
    assert found.parts == variance_parts(np.delete(table, 4, axis=0)).parts


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((5, 1, 1)), "two values an item"),
        (np.zeros((5, 2)), "shape"),
        (np.full((5, 2, 2), math.inf), "infinite"),
        (np.array([[[1.0, 2.0]], [[math.nan, 1.0]]]), "1 of 2 items are complete"),
    ],
)
def test_what_cannot_be_split_is_refused(values: np.ndarray, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        variance_parts(values)


@given(st.lists(st.lists(st.sampled_from([0.2, 0.8, None]), min_size=4, max_size=4), min_size=2, max_size=5))
def test_the_rate_is_that_of_counting_pairs(runs: list[list[float | None]]) -> None:
    found = flips(runs, at_least=0.5)
    rates = []
    for item in zip(*runs, strict=True):
        pairs = list(combinations([value > 0.5 for value in item if value is not None], 2))
        if pairs:
            rates.append(sum(one != other for one, other in pairs) / len(pairs))
    assert found.items + found.left_out == 4
    assert found.items == len(rates)
    if rates:
        assert found.rate == pytest.approx(np.mean(rates))
        assert found.unstable == np.mean([rate > 0 for rate in rates])


def test_runs_flip_where_their_means_change_sides() -> None:
    found = flips([[0.62, 0.62], [0.58, 0.58], [0.61, 0.60]], at_least=0.6)
    assert (found.decided, found.pairs) == (2, 3)
    assert (found.unstable, found.rate) == (1, pytest.approx(2 / 3))


def test_a_run_without_a_value_decides_nothing() -> None:
    found = flips([[None, None], [0.7, 0.7]], at_least=0.6)
    assert (found.pairs, found.items, found.left_out) == (0, 0, 2)
    assert math.isnan(found.rate)
    assert math.isnan(found.unstable)


@pytest.mark.parametrize("runs", [[[1.0]], [[1.0], [1.0, 2.0]], []])
def test_repeats_are_of_the_same_items(runs: list[list[float]]) -> None:
    with pytest.raises(UsageError, match="of the same items"):
        flips(runs, at_least=0)


def test_the_parts_of_one_judge_are_those_of_scipys_analysis_of_variance() -> None:
    table = judged(40, 1, 4, seed=6)
    parts = dict(variance_parts(table).parts)
    rows = table[:, 0, :]
    within = float(np.mean(rows.var(axis=1, ddof=1)))
    ratio = float(stats.f_oneway(*rows).statistic)  # of the mean squares of items and of repeats
    assert parts["repeat"] == pytest.approx(within)
    assert parts["item"] == pytest.approx((ratio - 1) * within / 4)
