"""Differences at equal length, against a least-squares fit with a constant for each item and system."""

import math

import numpy as np
import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.lengths import length_controlled, length_controlled_each


def written(items: int = 80, slope: float = 5.0, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The second system writes twice as much; values rise with length only; items differ."""
    rng = np.random.default_rng(seed)
    lengths = np.round(rng.uniform(40, 120, (items, 1)) * [1, 2, 1] * np.exp(rng.normal(0, 0.3, (items, 3))))
    values = rng.normal(50, 15, (items, 1)) + slope * np.log2(1 + lengths) + rng.normal(0, 3, (items, 3))
    return values, lengths


def test_a_lead_by_length_alone_vanishes_at_equal_length() -> None:
    values, lengths = written()
    found = length_controlled(values, lengths=lengths)
    assert values[:, 1].mean() - values[:, 0].mean() > 4
    gap = found.between(0, 1)
    assert gap.low < 0 < gap.high
    assert found.slope.low < 5 < found.slope.high
    assert found.log2_lengths[1] - found.log2_lengths[0] == pytest.approx(1, abs=0.15)


def test_the_fit_is_that_of_least_squares() -> None:
    values, lengths = written(items=25)
    rows = []
    for item in range(25):
        for system in range(3):
            row = np.zeros(25 + 2 + 1)
            row[item] = 1
            if system:
                row[24 + system] = 1
            row[-1] = np.log2(1 + lengths[item, system])
            rows.append(row)
    fitted = np.linalg.lstsq(np.array(rows), values.ravel(), rcond=None)[0]
    found = length_controlled(values, lengths=lengths)
    assert found.slope.mean == pytest.approx(fitted[-1])
    assert found.between(0, 1).mean == pytest.approx(-fitted[25])
    assert found.between(1, 2).mean == pytest.approx(fitted[25] - fitted[26])


def test_the_interval_holds_a_true_difference_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(120):
        values, lengths = written(items=40, seed=seed)
        gap = length_controlled(values + np.array([2, 0, 0]), lengths=lengths).between(0, 2)
        held += gap.low <= 2 <= gap.high
    assert 0.87 <= held / 120 <= 1


def test_order_of_items_and_systems_makes_no_difference() -> None:
    values, lengths = written()
    found = length_controlled(values, lengths=lengths)
    turned = length_controlled(values[::-1, ::-1], lengths=lengths[::-1, ::-1])
    assert turned.between(0, 1).mean == pytest.approx(-found.between(1, 2).mean)
    assert turned.slope.mean == pytest.approx(found.slope.mean)


def test_clusters_are_drawn_whole() -> None:
    values, lengths = written(items=20)
    alone = length_controlled(values, lengths=lengths)
    labels = list(range(20)) * 4
    four = length_controlled(np.tile(values, (4, 1)), lengths=np.tile(lengths, (4, 1)), clusters=labels)
    assert four.between(0, 1).low == pytest.approx(alone.between(0, 1).low)


@pytest.mark.parametrize("lengths", [np.full((10, 2), 50.0), np.tile([[50.0, 100.0]], (10, 1))])
def test_where_lengths_do_not_vary_apart_from_the_systems_nothing_can_be_told(lengths: np.ndarray) -> None:
    values = np.random.default_rng(0).normal(50, 5, (10, 2))
    found = length_controlled(values, lengths=lengths)
    for interval in (found.slope, found.between(0, 1)):
        assert all(map(math.isnan, (interval.mean, interval.low, interval.high)))


def test_one_cluster_has_no_interval() -> None:
    values, lengths = written(items=5)
    found = length_controlled(values, lengths=lengths, clusters=["a"] * 5)
    assert math.isfinite(found.slope.mean)
    assert math.isnan(found.slope.low)


@pytest.mark.parametrize(
    ("values", "lengths", "level"),
    [
        (np.zeros((3, 2)), np.zeros((3, 3)), 0.95),
        (np.zeros((1, 2)), np.zeros((1, 2)), 0.95),
        (np.zeros(3), np.zeros(3), 0.95),
        (np.full((3, 2), math.nan), np.zeros((3, 2)), 0.95),
        (np.zeros((3, 2)), np.full((3, 2), -1), 0.95),
        (np.zeros((3, 2)), np.zeros((3, 2)), 1.0),
    ],
)
def test_what_cannot_be_fitted_is_refused(values: np.ndarray, lengths: np.ndarray, level: float) -> None:
    with pytest.raises(UsageError):
        length_controlled(values, lengths=lengths, level=level)


def test_measures_of_the_same_answers_together_are_those_alone() -> None:
    rng = np.random.default_rng(9)
    lengths = rng.integers(5, 200, (50, 3)).astype(float)
    tables = [rng.normal(50, 10, (50, 3)) + 3 * np.log2(lengths) for _ in range(3)]
    groups = [n // 2 for n in range(50)]
    together = length_controlled_each(tables, lengths=lengths, clusters=groups, seed=4)
    assert together == tuple(length_controlled(one, lengths=lengths, clusters=groups, seed=4) for one in tables)


def test_what_twice_the_length_gives_is_told_only_where_somebody_wrote_twice_as_much() -> None:
    rng = np.random.default_rng(5)
    lengths = rng.integers(7, 10, (60, 2)).astype(float)
    values = 600 * np.log2(1 + lengths) + rng.normal(0, 1, (60, 2))

    near = length_controlled(values, lengths=lengths)
    lengths[:4, 1] = 30
    far = length_controlled(values, lengths=lengths)

    assert math.isnan(near.slope.mean)
    assert math.isnan(near.slope.low)
    assert math.isfinite(near.between(0, 1).mean)
    assert math.isfinite(far.slope.mean)
