"""Discriminative power on the enumerated example, at the extremes, and over the number of items."""

import numpy as np
import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.discrimination import discriminative_power, doubled_sizes, power_curve

SIX = np.array([(80, 70, 70, 60, 50, 20), (90, 60, 65, 65, 40, 30), (75, 85, 55, 50, 45, 10)])


def judged(items: int, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(60, 20, (items, 1)) + rng.normal(0, 10, (items, 6)) + [0, 0, 1, 2, 3, 6]
    return np.clip(np.round(values / 5) * 5, 0, 100)


def test_one_pair_of_fifteen_is_told_apart_in_the_enumerated_example() -> None:
    found = discriminative_power(SIX)
    assert (found.told_apart, found.pairs, found.power) == (1, 15, pytest.approx(1 / 15))
    assert found.curve[0] == pytest.approx(0.999900, abs=5e-7)
    assert found.curve[-1] == pytest.approx(0.005556, abs=5e-7)
    assert sorted(found.curve, reverse=True) == list(found.curve)


def test_all_tied_tells_nothing_apart() -> None:
    found = discriminative_power(np.full((40, 6), 80.0))
    assert (found.power, found.told_apart, set(found.curve)) == (0, 0, {1.0})
    assert found.test.threshold == np.inf


def test_pairs_are_told_apart_exactly_beyond_the_threshold() -> None:
    found = discriminative_power(judged(150), permutations=1000)
    gaps = np.abs(found.test.differences[np.triu_indices(6, 1)])
    assert found.told_apart == (gaps >= found.test.threshold - 1e-9).sum() > 0


def test_items_that_share_a_cluster_tell_less() -> None:
    table = np.repeat(judged(30), 5, axis=0)
    blind = discriminative_power(table, permutations=500)
    fair = discriminative_power(table, permutations=500, clusters=np.repeat(np.arange(30), 5).tolist())
    assert fair.power < blind.power


def test_power_grows_with_items_and_the_threshold_falls() -> None:
    table = judged(400)
    curve = power_curve(table, samples=6, permutations=300, seed=1)
    assert [point.items for point in curve] == [25, 50, 100, 200, 400]
    assert curve[0].power < curve[-1].power
    assert all(point.low <= point.power <= point.high for point in curve)
    assert [point.samples for point in curve] == [6, 6, 6, 6, 1]
    thresholds = [point.threshold for point in curve]
    assert thresholds == sorted(thresholds, reverse=True)
    # The threshold falls as one over the root of the number of items.
    assert thresholds[1] / thresholds[3] == pytest.approx(2, rel=0.2)
    assert discriminative_power(table, permutations=2000).power == pytest.approx(curve[-1].power, abs=0.1)


def test_the_curve_has_its_seed() -> None:
    table = judged(60)
    one, same = (power_curve(table, sizes=[10, 30], samples=3, permutations=100, seed=5) for _ in range(2))
    assert one == same


def test_sizes() -> None:
    assert doubled_sizes(4719) == (25, 50, 100, 200, 400, 800, 1600, 3200, 4719)
    assert doubled_sizes(25) == (25,)
    assert doubled_sizes(7) == (7,)


@pytest.mark.parametrize("options", [{"sizes": [0]}, {"sizes": [61]}, {"samples": 0}])
def test_sizes_out_of_range_are_refused(options: dict) -> None:
    with pytest.raises(UsageError, match="1 to 60 items"):
        power_curve(judged(60), **options)
