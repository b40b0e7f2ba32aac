"""Choosing a setting: no question has a say in the setting that it is scored under."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from groundwire.evaluation.stats import bootstrap_interval, holds_zero
from groundwire.evaluation.tune import TuneSettings, best_setting, deal, standard_error, tune

FAST = TuneSettings(resamples=200)


def choice_by_hand(values: np.ndarray, costs: list[int], rows: Sequence[int]) -> int:
    """The setting with the largest mean over these rows, of equal ones the cheapest, then the first."""
    ranked = [
        (-round(math.fsum(values[row, place] for row in rows) / len(rows), 10), costs[place], place)
        for place in range(values.shape[1])
    ]
    return min(ranked)[2]


def by_hand(values: np.ndarray, costs: list[int], fold_of: Sequence[int]) -> tuple[list[int], list[float]]:
    """The picks and the held-out values, one fold, setting and question after the other."""
    others = [[row for row in range(len(values)) if fold_of[row] != fold] for fold in range(max(fold_of) + 1)]
    picks = [choice_by_hand(values, costs, rows) for rows in others]
    return picks, [float(values[row, picks[fold_of[row]]]) for row in range(len(values))]


tables = st.integers(1, 4).flatmap(
    lambda settings: st.tuples(
        hnp.arrays(np.int8, st.tuples(st.integers(2, 12), st.just(settings)), elements=st.integers(0, 3)),
        st.lists(st.integers(0, 2), min_size=settings, max_size=settings),
        st.integers(0, 5),
    )
)


@given(tables, st.data())
def test_picks_and_held_out_values_are_those_of_a_loop(
    table: tuple[np.ndarray, list[int], int], data: st.DataObject
) -> None:
    values, costs, seed = table
    names = st.sampled_from("abcde")
    clusters = data.draw(st.lists(names, min_size=len(values), max_size=len(values)).filter(lambda c: len(set(c)) > 1))

    tuned = tune(values / 4, clusters=clusters, costs=costs, baselines={}, how=TuneSettings(3, resamples=20, seed=seed))

    picks, held_out = by_hand(values / 4, costs, tuned.fold_of)
    assert tuned.picks == tuple(picks)
    assert tuned.held_out_values == pytest.approx(held_out)
    assert tuned.chosen == choice_by_hand(values / 4, costs, range(len(values)))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40), st.integers(2, 6), st.integers(0, 9))
def test_a_deal_keeps_clusters_together_fills_every_fold_and_does_not_see_the_order(
    clusters: list[str], folds: int, seed: int
) -> None:
    fold_of = deal(clusters, folds=folds, seed=seed)

    assert set(fold_of.tolist()) == set(range(min(folds, len(set(clusters)))))
    assert len(set(zip(clusters, fold_of.tolist(), strict=True))) == len(set(clusters))
    assert deal(clusters[::-1], folds=folds, seed=seed)[::-1].tolist() == fold_of.tolist()


def test_a_setting_that_is_right_on_one_fold_only_does_not_win_there() -> None:
    """Each decoy is perfect on one fold and slightly worse elsewhere; choosing on all questions would fall for one."""
    clusters = [str(place // 4) for place in range(40)]
    fold_of = deal(clusters, folds=5, seed=0)
    steady = np.full(40, 0.5)
    decoys = [np.where(fold_of == fold, 1.0, 0.49) for fold in range(5)]
    values = np.column_stack([steady, *decoys])

    tuned = tune(values, clusters=clusters, costs=range(6), baselines={"steady": steady}, how=FAST)

    assert best_setting(values, costs=range(6)) != 0
    for fold, pick in enumerate(tuned.picks):
        assert pick != fold + 1
    assert tuned.held_out.mean < 0.5
    assert max(mean.mean for mean in tuned.means) > 0.59


@given(st.integers(0, 4), hnp.arrays(float, (8, 3), elements=st.floats(0, 1)))
def test_what_a_fold_holds_does_not_change_the_setting_it_is_scored_under(fold: int, other: np.ndarray) -> None:
    clusters = [str(place // 4) for place in range(40)]
    values = np.random.default_rng(1).uniform(0, 1, (40, 3))
    before = tune(values, clusters=clusters, costs=range(3), baselines={}, how=FAST)
    changed = values.copy()
    changed[np.array(before.fold_of) == fold] = other

    after = tune(changed, clusters=clusters, costs=range(3), baselines={}, how=FAST)

    assert after.picks[fold] == before.picks[fold]


def test_without_a_difference_the_interval_holds_zero_about_95_times_in_a_hundred() -> None:
    trials, held = 300, 0
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        clusters = np.repeat(np.arange(40), 3)
        shared = rng.normal(0, 1, 40)[clusters]
        values = shared[:, None] + rng.normal(0, 0.5, (40, 6))[clusters] + rng.normal(0, 0.5, (120, 6))
        tuned = tune(
            values[:, 1:], clusters=clusters.tolist(), costs=range(5), baselines={"first": values[:, 0]},
            how=TuneSettings(resamples=400, seed=trial),
        )  # fmt: skip
        held += bool(holds_zero(tuned.differences[0][1]))

    # 0.95, give or take three standard errors of 300 trials; without drawing the choice anew it is 0.88
    assert 0.91 <= held / trials <= 0.985


def test_a_better_setting_is_found_and_its_gain_shown() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(50), 4).tolist()
    noise = rng.normal(0, 0.2, 200)
    values = np.column_stack([noise + rng.normal(0, 0.1, 200) + gain for gain in (0.0, 0.1, 0.02)])

    tuned = tune(values, clusters=clusters, costs=(0, 1, 2), baselines={"plain": values[:, 0]}, how=FAST)

    assert tuned.chosen == 1
    assert tuned.pick_counts() == ((1, 5),)
    assert tuned.differences[0][1].low > 0.05
    assert tuned.alternatives == ()
    assert tuned.held_out.mean == pytest.approx(values[:, 1].mean())


def test_with_one_setting_the_interval_is_the_usual_one_turned_around() -> None:
    values = np.random.default_rng(5).exponential(1, 60)

    tuned = tune(values[:, None], clusters=range(60), costs=[0], baselines={"half": values / 2}, how=TuneSettings())

    usual = bootstrap_interval(values.tolist(), clusters=range(60), seed=9)
    assert tuned.held_out.mean == pytest.approx(usual.mean)
    turned = (2 * usual.mean - usual.high, 2 * usual.mean - usual.low)
    assert (tuned.held_out.low, tuned.held_out.high) == pytest.approx(turned, abs=0.02)
    difference = tuned.differences[0][1]
    assert (difference.low, difference.high) == pytest.approx([edge / 2 for edge in turned], abs=0.01)


def test_a_clear_winner_costs_no_width_and_a_choice_by_chance_does() -> None:
    rng = np.random.default_rng(6)
    noise = rng.normal(0, 1, (80, 4))
    widths = []
    for gain in (5.0, 0.0):
        values = noise + np.array([gain, 0, 0, 0])
        tuned = tune(values, clusters=range(80), costs=range(4), baselines={}, how=TuneSettings())
        usual = bootstrap_interval(list(tuned.held_out_values), clusters=range(80))
        widths.append((tuned.held_out.high - tuned.held_out.low) / (usual.high - usual.low))

    assert widths[0] == pytest.approx(1, abs=0.03)
    assert widths[1] > 1.1


def test_of_settings_that_tie_the_cheapest_is_chosen_and_the_rest_are_alternatives() -> None:
    values = np.tile(np.array([[0.1], [0.7], [0.2], [0.4]]), (1, 3))

    tuned = tune(values, clusters=list("abcd"), costs=(2, 1, 1), baselines={"same": values[:, 0]}, how=FAST)

    assert tuned.chosen == 1
    assert tuned.alternatives == (2, 0)
    assert holds_zero(tuned.differences[0][1])


def test_a_setting_within_one_standard_error_is_an_alternative_and_one_beyond_is_not() -> None:
    best = np.full(100, 0.5)
    wobble = np.where(np.arange(100) % 2 == 0, 0.1, -0.1)
    error = standard_error(wobble, clusters=range(100))
    values = np.column_stack([best, best + wobble - 0.9 * error, best + wobble - 1.1 * error])

    tuned = tune(values, clusters=range(100), costs=(0, 1, 2), baselines={}, how=FAST)

    assert (tuned.chosen, tuned.alternatives) == (0, (1,))


def test_the_standard_error_is_the_usual_one_for_single_questions_and_larger_in_clusters() -> None:
    values = np.random.default_rng(3).normal(0, 1, 60)
    alone = standard_error(values, clusters=range(60))
    doubled = standard_error(np.repeat(values, 4), clusters=[str(place // 4) for place in range(240)])

    assert alone == pytest.approx(values.std(ddof=1) / math.sqrt(60))
    assert doubled == pytest.approx(alone)
    assert math.isnan(standard_error(values, clusters=["one"] * 60))


def test_the_clustered_standard_error_is_that_of_a_bootstrap_over_clusters() -> None:
    rng = np.random.default_rng(4)
    clusters = np.sort(rng.integers(0, 80, 400)).tolist()
    values = rng.normal(0, 1, 80)[clusters] + rng.normal(0, 1, 400)
    drawn = bootstrap_interval(values.tolist(), clusters=clusters, level=0.6827, resamples=4000)

    assert standard_error(values, clusters=clusters) == pytest.approx((drawn.high - drawn.low) / 2, rel=0.06)


def test_the_same_seed_gives_the_same_and_the_folds_are_even() -> None:
    values = np.random.default_rng(0).uniform(0, 1, (30, 2))
    one, same, other = (
        tune(values, clusters=range(30), costs=(0, 1), baselines={}, how=TuneSettings(seed=seed, resamples=50))
        for seed in (1, 1, 2)
    )

    assert one == same
    assert one.fold_of != other.fold_of
    assert [one.fold_of.count(fold) for fold in range(5)] == [6] * 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": np.zeros(3)}, "has the shape \\(3,\\)"),
        ({"values": np.zeros((3, 0))}, "has the shape \\(3, 0\\)"),
        ({"clusters": ["a"]}, "3 questions have 1 cluster labels"),
        ({"costs": [1]}, "2 settings have 1 costs"),
        ({"baselines": {"old": np.zeros(2)}}, "the baseline 'old' needs 3 finite values"),
        ({"baselines": {"old": np.array([0, 1, np.nan])}}, "the baseline 'old' needs 3 finite values"),
        ({"values": np.array([[0, 1], [2, np.inf], [0, 0]])}, "question 1 has no finite value under setting 1"),
        ({"clusters": ["a"] * 3}, "all questions are of one cluster"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(change: dict[str, object], said: str) -> None:
    fitting = {"values": np.zeros((3, 2)), "clusters": ["a", "b", "c"], "costs": [0, 1], "baselines": {}}
    with pytest.raises(ValueError, match=said):
        tune(**{**fitting, **change})  # type: ignore[arg-type]


def test_one_fold_cannot_both_choose_and_score() -> None:
    with pytest.raises(ValueError, match="folds is 1"):
        TuneSettings(folds=1)


def test_held_out_is_below_the_best_mean_where_settings_differ_by_chance_alone() -> None:
    """The mean of the winner flatters; the held-out mean does not."""
    gaps = []
    for seed in range(30):
        values = np.random.default_rng(seed).normal(0, 1, (60, 20))
        tuned = tune(
            values, clusters=range(60), costs=range(20), baselines={}, how=TuneSettings(resamples=2, seed=seed)
        )
        gaps.append(max(mean.mean for mean in tuned.means) - tuned.held_out.mean)

    assert np.mean(gaps) > 0.15
    assert all(first != second for first, second in pairwise(gaps))
