"""Better, worse, equivalent, undecided: against scipy, by simulation, and on the straddling gate of the cases."""

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.decisions import Decision, Passing, decide, hold_to, more_items
from groundwire.evaluation.permutation import two_system
from groundwire.evaluation.power import items_needed
from groundwire.evaluation.resampling import MeanError, mean_error


def spread(mean: float, n: int = 40, seed: int = 0) -> list[float]:
    values = np.random.default_rng(seed).normal(0, 2, n)
    return (values - values.mean() + mean).tolist()


@pytest.mark.parametrize("how", ["t", "bootstrap"])
@pytest.mark.parametrize(
    ("mean", "margin", "decision"),
    [
        (2.0, None, "better"),
        (-2.0, None, "worse"),
        (0.1, None, "undecided"),
        (0.1, 1.0, "equivalent"),
        (0.1, 0.2, "undecided"),
        (2.0, 1.0, "better"),
        (0.8, 5.0, "equivalent"),  # there, and smaller than what matters
    ],
)
def test_decisions(how: Literal["t", "bootstrap"], mean: float, margin: float | None, decision: Decision) -> None:
    found = decide(spread(mean), margin=margin, how=how)
    assert found.decision == decision
    assert found.difference.mean == pytest.approx(mean)
    assert found.difference.low < found.inner.low < found.inner.high < found.difference.high
    assert (found.more is None) == (decision != "undecided")
    assert math.isnan(found.p_equivalent) == (margin is None)
    assert (found.p < 0.05) == (found.difference.low > 0 or found.difference.high < 0)
    assert (found.p_equivalent < 0.05) == (decision == "equivalent")
    turned = decide([-value for value in spread(mean)], margin=margin, how=how)
    assert turned.decision == {"better": "worse", "worse": "better"}.get(decision, decision)


def test_the_t_tests_are_those_of_scipy() -> None:
    values = spread(0.4, 15)
    found = decide(values, margin=1.5)
    lower = stats.ttest_1samp(values, -1.5, alternative="greater").pvalue
    upper = stats.ttest_1samp(values, 1.5, alternative="less").pvalue
    assert found.p_equivalent == pytest.approx(max(lower, upper))
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(interval))


def test_both_ways_agree_on_many_values() -> None:
    values = spread(0.4, 400)
    by_t, by_draws = decide(values, margin=0.7), decide(values, margin=0.7, how="bootstrap", seed=4)
    assert (by_draws.difference.low, by_draws.inner.high) == pytest.approx(
        (by_t.difference.low, by_t.inner.high), abs=0.02
    )
    assert (by_draws.p_equivalent, by_draws.p) == pytest.approx((by_t.p_equivalent, by_t.p), rel=0.5, abs=5e-4)
    assert by_draws.difference.seed == 4


def test_three_repeats_that_straddle_a_bar_are_undecided() -> None:
    found = hold_to([0.62, 0.58, 0.61], at_least=0.6)
    assert found.outcome == "undecided"
    assert found.value.low < 0.6 < found.value.high
    assert found.value.mean == pytest.approx(0.603333, abs=1e-6)
    # 0.0208 of spread against 0.0033 above the bar: (1.96 + 0.84)² · 39 = 306 repeats would show it
    assert found.more == 304


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([0.71, 0.7, 0.72], "passed"),
        ([0.5, 0.49, 0.51], "failed"),
        ([0.6, 0.6, 0.6], "passed"),
        ([0.7], "undecided"),
        ([0.7, None, None], "undecided"),
        ([], "undecided"),
    ],
)
def test_a_bar_is_kept_failed_or_undecided(values: list[float | None], outcome: Passing) -> None:
    found = hold_to(values, at_least=0.6)
    assert found.outcome == outcome
    assert found.more is None
    assert found.value.unscored == values.count(None)


def test_clusters_are_the_units() -> None:
    values = spread(0.9, 16)
    alone, repeated = decide(values), decide(values * 6, clusters=list(range(16)) * 6)
    blind = decide(values * 6)
    assert repeated.p == pytest.approx(alone.p)
    assert blind.p < alone.p / 10
    drawn = decide(values * 6, clusters=list(range(16)) * 6, how="bootstrap")
    assert drawn.difference.low == pytest.approx(decide(values, how="bootstrap").difference.low, abs=0.02)


def test_unscored_differences_are_left_out_with_their_labels() -> None:
    found = decide([1.0, None, 2.0, 1.5], clusters=["a", "b", "c", "d"], how="bootstrap")
    assert (found.difference.n, found.difference.unscored) == (3, 1)
    assert found.decision == "better"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=3, max_size=12), st.sampled_from([0.01, 7.0]), st.randoms())
def test_order_and_scale_make_no_difference(values: list[int], scale: float, random: object) -> None:
    mixed = list(values)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    found, scaled = decide([float(v) for v in values], margin=2.0), decide([v * scale for v in mixed], margin=2 * scale)
    assert found.p == pytest.approx(scaled.p, rel=1e-6)
    assert found.p_equivalent == pytest.approx(scaled.p_equivalent, rel=1e-6, abs=1e-12)


def test_as_many_more_as_said_decide_about_as_often_as_said() -> None:
    first = MeanError(mean=0.5, error=2 / math.sqrt(20), n=20, clusters=20)
    n = 20 + (more_items(first) or 0)
    rng = np.random.default_rng(1)
    seen = sum(decide(rng.normal(0.5, 2, n).tolist()).decision == "better" for _ in range(300))
    assert abs(seen / 300 - 0.8) < 4 * math.sqrt(0.16 / 300)


def test_how_many_more_is_unknown_where_nothing_differs_or_spreads() -> None:
    assert more_items(mean_error([0.0, 0.0, 0.0])) is None
    assert more_items(mean_error([1.0, -1.0])) is None
    assert more_items(mean_error([1.0, -1.0]), margin=0.5) == 67  # (1.645 + 1.282)² · 2 / 0.25, less 2
    assert more_items(mean_error([1.0])) is None
    assert more_items(mean_error([2.0, 2.0])) is None  # their number is not what stands in the way


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.5], [1.0, 2.0], [0.5, 1.0, 1.0, 2.4]])
def test_few_values_that_do_not_decide_are_told_how_many_more_by_the_t_distribution(values: list[float]) -> None:
    found = decide(values, level=0.999)
    assert found.decision == "undecided"
    d_z = np.mean(values) / np.std(values, ddof=1)
    needed = items_needed(float(d_z), level=0.999)
    assert needed is not None
    assert found.more == needed - len(values) > 0


def test_a_test_that_cannot_tell_so_few_apart_needs_its_fewest() -> None:
    """Three pairs of which all are won: p is 1/4 at best, and 1/32 with six."""
    found = mean_error([1.0, 1.0, 1.0])
    assert more_items(found, fewest=6) == 3
    assert more_items(mean_error([1.0] * 6), fewest=6) is None
    in_pairs = mean_error([1.0] * 6, clusters=[0, 0, 1, 1, 2, 2])
    assert more_items(in_pairs, fewest=6) == 6


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=25),
    st.sampled_from([None, 0.5, 4.0]),
    st.sampled_from([0.9, 0.95, 0.999]),
)
def test_what_is_undecided_is_never_told_that_it_has_enough(
    values: list[int], margin: float | None, level: float
) -> None:
    found = decide([float(value) for value in values], margin=margin, level=level)
    assert found.more is None or found.more >= 1
    assert found.decision == "undecided" or found.more is None
    spreads = len(set(values)) > 1 and abs(sum(values)) > 0
    if found.decision == "undecided" and spreads:
        assert found.more is not None


def test_false_alarms_come_as_often_as_the_level_says() -> None:
    """No difference, 30 % of the pairs tied; 700 tables of 30 items, four standard errors. Every way of testing."""
    rng = np.random.default_rng(17)
    alarms = np.zeros(3)
    claims = np.zeros(2)
    runs, ties = 700, 0.0
    for _ in range(runs):
        gaps = np.round(rng.normal(0, 2.6, 30)) * 5
        gaps[rng.random(30) < 0.18] = 0
        ties += (gaps == 0).mean() / runs
        values, beyond = gaps.tolist(), (gaps + 15).tolist()
        alarms += [
            two_system(values, [0.0] * 30).p < 0.05,
            decide(values).p < 0.05,
            decide(values, how="t").decision != "undecided",
        ]
        claims += [decide(beyond, margin=15).decision == "equivalent", decide(beyond, margin=15).p_equivalent < 0.05]
    assert 0.25 < ties < 0.4
    assert np.abs(alarms / runs - 0.05).max() < 4 * math.sqrt(0.05 * 0.95 / runs)
    assert np.abs(claims / runs - 0.05).max() < 4 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    "options", [{"margin": 0.0}, {"margin": -1.0}, {"margin": math.inf}, {"level": 0.5}, {"level": 1.0}]
)
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="margin is"):
        decide([1.0, 2.0], **options)


def test_a_bar_is_a_number() -> None:
    with pytest.raises(UsageError, match="the bar is nan"):
        hold_to([1.0, 2.0], at_least=math.nan)
