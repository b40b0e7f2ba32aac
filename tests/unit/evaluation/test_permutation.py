"""Randomisation tests against exact values, scipy and brute force."""

import os
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.permutation import (
    _packed_ranges,
    as_integers,
    critical_difference,
    exact_ranges,
    false_alarms,
    fewest_items,
    holm,
    randomised_tukey_hsd,
    two_system,
)

# Sakai's example of 20 items and 3 systems; p exact by convolution, recomputed independently.
SAKAI = np.array(
    [
        [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
        [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
        [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ]
).T
SIX = np.array([(80, 70, 70, 60, 50, 20), (90, 60, 65, 65, 40, 30), (75, 85, 55, 50, 45, 10)])
SIX_P = (
    0.997785, 0.957230, 0.881258, 0.436836, 0.005556, 0.999182, 0.990795, 0.795910, 0.052662, 0.999900, 0.957230,
    0.195216, 0.990795, 0.373912, 0.843318,
)  # fmt: skip


def upper(matrix: np.ndarray) -> list[float]:
    return matrix[np.triu_indices(len(matrix), 1)].tolist()


@pytest.mark.parametrize("scale", [1, 0.1, 0.01, 1 / 3, 1e6])
def test_the_exact_p_of_three_systems_holds_on_every_scale(scale: float) -> None:
    found = randomised_tukey_hsd(SAKAI * scale)
    assert found.how == "exact"
    assert upper(found.p) == pytest.approx([0.303764, 0.106587, 0.891600], abs=5e-7)
    assert found.differences[0].tolist() == pytest.approx([0, 0.75 * scale, 1.0 * scale], rel=1e-6)
    assert found.p.diagonal().tolist() == [1, 1, 1]
    assert np.isnan(found.tail).all()


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e-7])
def test_values_that_are_all_tiny_are_not_taken_for_0(scale: float) -> None:
    found = randomised_tukey_hsd(SAKAI * scale, permutations=4000, seed=5)
    assert upper(found.p) == pytest.approx([0.303764, 0.106587, 0.891600], abs=0.03)
    assert found.differences[0, 1] == pytest.approx(0.75 * scale)
    assert found.tied == randomised_tukey_hsd(SAKAI).tied


@pytest.mark.parametrize(("pair", "p"), [((0, 1), 0.065918), ((0, 2), 0.144608), ((1, 2), 0.623535)])
def test_the_exact_p_of_two_systems(pair: tuple[int, int], p: float) -> None:
    assert randomised_tukey_hsd(SAKAI[:, pair] / 10).p[0, 1] == pytest.approx(p, abs=5e-7)


def test_the_exact_p_of_six_systems_on_three_items() -> None:
    found = randomised_tukey_hsd(SIX)
    assert (found.how, found.items, found.tied) == ("exact", 3, 0)
    assert upper(found.p) == pytest.approx(SIX_P, abs=5e-7)
    assert sum(p < 0.05 for p in upper(found.p)) == 1


def test_a_naive_comparison_of_floats_would_miss_ties() -> None:
    """Ten times a tenth is not one; the p of the first pair would be .266."""
    drawn = randomised_tukey_hsd(np.vstack([SAKAI / 10] * 3), permutations=4000, seed=1)
    whole = randomised_tukey_hsd(np.vstack([SAKAI] * 3), permutations=4000, seed=1)
    assert upper(drawn.p) == upper(whole.p)


def brute_force(rows: np.ndarray) -> dict[int, float]:
    dealt = [list(permutations(row)) for row in rows.tolist()]
    ranges = [int(np.ptp(np.sum(choice, axis=0))) for choice in product(*dealt)]
    return {size: ranges.count(size) / len(ranges) for size in set(ranges)}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda systems: st.lists(
            st.lists(st.integers(0, 6), min_size=systems, max_size=systems),
            min_size=1,
            max_size=4 if systems < 4 else 2,
        )
    )
)
def test_the_exact_distribution_is_that_of_brute_force(rows: list[list[int]]) -> None:
    whole = np.array(rows) - np.array(rows).min(axis=1, keepdims=True)
    found = exact_ranges(whole)
    assert found is not None
    sizes, chances = found
    known = {size: chance for size, chance in zip(sizes.tolist(), chances.tolist(), strict=True) if chance > 0}
    assert known == pytest.approx(brute_force(whole))


@pytest.mark.parametrize("systems", [3, 6, 9])
def test_draws_agree_with_the_exact_p_or_with_each_other(systems: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within three standard errors; nine systems take the path without a table, where the truth is analytic."""
    rng = np.random.default_rng(5)
    table = rng.integers(0, 20, (80 if systems == 9 else 30, systems)).astype(float)
    exact = randomised_tukey_hsd(table[:, :3])
    monkeypatch.setattr("groundwire.evaluation.permutation._MOST_WORK", 0)
    drawn = randomised_tukey_hsd(table[:, :3] if systems == 3 else table, permutations=1000, seed=2)
    assert (drawn.how, drawn.permutations) == ("monte carlo", 1000)
    truth = exact.p if systems == 3 else drawn.tail
    slack = 0.0 if systems == 3 else 0.03  # the analytic form is for many items
    for p, known in zip(upper(drawn.p), upper(truth), strict=True):
        assert abs(p - known) <= 3 * np.sqrt(max(known * (1 - known), 1e-4) / 1000) + 1 / 1001 + slack


def test_packed_sums_equal_plain_ones() -> None:
    """Words of several sums against one sum a word: the same draws give the same p."""
    rng = np.random.default_rng(3)
    small = rng.integers(0, 3, (60, 5)).astype(float)
    with_large = small * 2.0**30  # every sum takes a word of its own
    one, other = (randomised_tukey_hsd(table, permutations=500, seed=4) for table in (small, with_large))
    assert upper(one.p) == upper(other.p)
    assert one.how == "monte carlo"


@pytest.mark.parametrize(("systems", "runs"), [(2, 2000), (3, 1500), (6, 500)])
def test_false_alarms_of_the_family_come_as_often_as_the_level_says(
    systems: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems that are alike, about 30 % of the pairs tied; three standard errors. Three systems are drawn too."""
    monkeypatch.setattr("groundwire.evaluation.permutation._MOST_WORK", 0)
    rng = np.random.default_rng(11)
    alarms, ties = 0, 0.0
    for number in range(runs):
        table = np.round(rng.normal(50, 10, (30, 1)) + rng.normal(0, 9, (30, systems)))
        same = rng.random(30) < 0.28
        table[same] = table[same][:, :1]
        ties += float((table[:, 0] == table[:, 1]).mean()) / runs
        alarms += randomised_tukey_hsd(table, permutations=199, seed=number, tail=False).p.min() <= 0.05
    assert 0.28 < ties < 0.33
    assert abs(alarms / runs - 0.05) < 3 * np.sqrt(0.05 * 0.95 / runs)


def test_two_systems_are_the_paired_randomisation_test_of_scipy() -> None:
    rng = np.random.default_rng(9)
    table = rng.normal(0, 1, (12, 2))
    known = stats.permutation_test(
        (table[:, 0], table[:, 1]), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert randomised_tukey_hsd(table).p[0, 1] == pytest.approx(known.pvalue, abs=1e-9)


def test_two_systems_on_many_items_are_drawn() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(0, 1, (500, 2))
    found = randomised_tukey_hsd(table, permutations=999)
    assert found.how == "monte carlo"
    assert found.p[0, 1] == pytest.approx(stats.ttest_rel(table[:, 0], table[:, 1]).pvalue, abs=0.06)


def test_items_of_a_cluster_are_dealt_together() -> None:
    """Each item four times says no more than once."""
    once = randomised_tukey_hsd(SAKAI)
    four = randomised_tukey_hsd(np.repeat(SAKAI, 4, axis=0), clusters=[number // 4 for number in range(80)])
    assert upper(four.p) == pytest.approx(upper(once.p))
    assert four.differences == pytest.approx(once.differences)
    assert upper(randomised_tukey_hsd(np.repeat(SAKAI, 4, axis=0)).p)[0] < 0.05


@pytest.mark.parametrize("systems", [2, 3, 6])
def test_all_tied_is_no_difference(systems: int) -> None:
    found = randomised_tukey_hsd(np.full((50, systems), 80.0))
    assert upper(found.p) == [1] * (systems * (systems - 1) // 2)
    assert (found.tied, found.threshold) == (50, np.inf)


def test_a_small_gain_under_large_item_effects_is_seen_and_p_is_never_0() -> None:
    item = np.random.default_rng(0).uniform(0, 1, 200)
    better = item + 0.02 + np.random.default_rng(1).normal(0, 0.02, 200)
    found = randomised_tukey_hsd(np.column_stack([item, better]), permutations=999, seed=1)
    assert found.p[0, 1] == 1 / 1000
    assert found.tail[0, 1] < 1e-6
    assert stats.ttest_rel(item, better).pvalue < 1e-6  # an unpaired test sees nothing here


def test_the_threshold_parts_what_is_told_apart_from_what_is_not() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(0, 1, (60, 6)) + np.linspace(0, 1, 6)
    found = randomised_tukey_hsd(table, permutations=2000)
    told_apart = np.abs(found.differences) >= found.threshold - 1e-12
    assert (told_apart == (found.p < 0.05)).all()


def test_the_smallest_difference_that_is_told_apart_is_that_of_the_draws_or_near_it() -> None:
    table = np.random.default_rng(2).normal(0, 1, (400, 5))
    drawn = randomised_tukey_hsd(table, permutations=4000)
    assert critical_difference(drawn, table) == drawn.threshold
    blind = replace(drawn, threshold=np.inf)
    assert critical_difference(blind, table) == pytest.approx(drawn.threshold, rel=0.02)
    fours = np.repeat(table[:100], 4, axis=0)
    groups = [row // 4 for row in range(400)]
    apart = critical_difference(blind, fours, clusters=groups)
    assert apart == pytest.approx(critical_difference(blind, table[:100]))
    assert critical_difference(blind, np.ones((400, 5))) == 0


@pytest.mark.parametrize(("systems", "fewest"), [(2, 6), (3, 3), (6, 2)])
def test_with_fewer_items_than_the_fewest_nothing_is_told_apart(systems: int, fewest: int) -> None:
    assert fewest_items(systems, level=0.95) == fewest
    widest = np.arange(systems) * 10.0  # on every item the same system has the most
    below, enough = (randomised_tukey_hsd(np.tile(widest, (items, 1))).p.min() for items in (fewest - 1, fewest))
    assert below >= 0.05 > enough


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.047797, 0.123165, 0.521773], [0.143391, 0.246330, 0.521773]),
        ([0.9, 0.8], [1.0, 1.0]),
        ([], []),
    ],
)
def test_holm_is_that_of_statsmodels(p: list[float], adjusted: list[float]) -> None:
    assert holm(p) == pytest.approx(adjusted)


@pytest.mark.parametrize(
    ("table", "step"),
    [
        ([[1.0, 3.0]], 1),
        ([[0.1, 0.3]], 0.1),
        ([[-5.0, 12.5]], 0.5),
        ([[0.000001, 1]], 1e-6),
        ([[80.0, 259 / 3]], 1 / 3),
        ([[2.0, 2.0]], 1),
    ],
)
def test_values_on_a_grid_become_whole_numbers_of_its_steps(table: list[list[float]], step: float) -> None:
    whole, found = as_integers(np.array(table))
    assert found == pytest.approx(step)
    assert whole.min() == 0
    assert (whole * found).tolist()[0][1] == pytest.approx(table[0][1] - table[0][0])


@pytest.mark.parametrize(
    ("values", "more", "words"),
    [
        (np.zeros((3, 1)), {}, "2 systems or more"),
        (np.zeros((0, 2)), {}, "1 item or more"),
        (np.zeros(3), {}, "shape"),
        (np.array([[1, np.nan]]), {}, "item 0 has no finite value for system 1"),
        (np.zeros((2, 2)), {"clusters": ["a"]}, "2 items have 1 cluster labels"),
        (np.zeros((2, 2)), {"permutations": 0}, "permutations is 0"),
        (np.zeros((2, 2)), {"level": 1}, "level 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(values: np.ndarray, more: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        randomised_tukey_hsd(values, **more)


@pytest.mark.parametrize(("pair", "p"), [((0, 1), 0.065918), ((0, 2), 0.144608), ((1, 2), 0.623535)])
def test_two_systems_alone(pair: tuple[int, int], p: float) -> None:
    one, other = (SAKAI[:, system].tolist() for system in pair)
    found, turned = two_system(one, other), two_system(other, one)
    assert found.p == turned.p == pytest.approx(p, abs=5e-7)
    assert found.difference == -turned.difference == pytest.approx(np.mean(one) - np.mean(other))
    assert (found.how, found.permutations, found.items) == ("exact", 0, 20)
    assert found.tied == (np.array(one) == np.array(other)).sum()


def test_two_systems_are_paired() -> None:
    with pytest.raises(UsageError, match="cannot be paired"):
        two_system([1.0], [1.0, 2.0])


def test_a_p_of_005_is_not_below_it() -> None:
    assert false_alarms(0.95) == 0.05
    assert false_alarms(0.99) == 0.01


def test_draws_lie_within_three_standard_errors_of_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """On random tables; of 1,000 (GROUNDWIRE_MATRICES) about three in a thousand p-values may lie outside by chance.

    Equal gaps of one table share their draws, so one gap a table is looked at.
    """
    tables = int(os.environ.get("GROUNDWIRE_MATRICES", "40"))
    rng = np.random.default_rng(23)
    outside, most, permutations = 0, 0.0, 2000
    for number in range(tables):
        systems, items = (2, 20) if number % 2 else (3, 12)
        table = rng.integers(0, 11, (items, systems)) + rng.integers(0, 2, systems)
        exact = randomised_tukey_hsd(table)
        with monkeypatch.context() as patch:
            patch.setattr("groundwire.evaluation.permutation._MOST_WORK", 0)
            patch.setattr("groundwire.evaluation.permutation.exact_sums", lambda _: None)
            drawn = randomised_tukey_hsd(table, permutations=permutations, seed=number)
        assert (exact.how, drawn.how) == ("exact", "monte carlo")
        known = exact.p[0, 1]
        share = (drawn.p[0, 1] * (permutations + 1) - 1) / permutations  # without the one that is added
        error = np.sqrt(known * (1 - known) / permutations)
        outside += abs(share - known) > 3 * error
        most = max(most, abs(share - known) / error if error else 0.0)
    assert outside <= 0.0027 * tables + 3 * np.sqrt(0.0027 * tables)
    assert most < 5


SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))
TREC = SHARED / "data" / "sys-trec-scores"


@pytest.mark.skipif(not TREC.is_dir(), reason="the public per-topic scores are not here")
def test_the_published_permutation_test_of_two_trec_systems() -> None:
    """Columns 125 and 126 of TREC-8 (Urbano's README), a million draws: .000603 one-tailed, .001188 two-tailed."""
    baseline, system = np.loadtxt(TREC / "adhoc8_ap.csv", delimiter=",", skiprows=1)[:, 124:126].T.tolist()
    found = two_system(system, baseline)
    assert (found.how, found.items) == ("exact", 50)
    assert found.p == pytest.approx(0.001191492, abs=5e-10)
    assert abs(found.p - 0.001188) < 3 * np.sqrt(0.001188 / 1_000_000)
    assert abs(found.p / 2 - 0.000603) < 3 * np.sqrt(0.000603 / 1_000_000)  # either sign of the sum is as likely


@pytest.mark.skipif(not TREC.is_dir(), reason="the public per-topic scores are not here")
def test_draws_on_trec_scores_lie_within_three_standard_errors_of_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair of neighbouring systems of each matrix whose grid allows an exact p; one may lie outside by chance."""
    exact, drawn = [], []
    for number, file in enumerate(sorted(TREC.glob("*.csv"))):
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        one, other = table[:, number].tolist(), table[:, number + 1].tolist()
        exact.append(two_system(one, other))
        with monkeypatch.context() as patch:
            patch.setattr("groundwire.evaluation.permutation._MOST_WORK", 0)
            patch.setattr("groundwire.evaluation.permutation.exact_sums", lambda _: None)
            drawn.append(two_system(one, other, permutations=5000, seed=number))
    assert {one.how for one in drawn} == {"monte carlo"}
    pairs = [(one.p, other.p) for one, other in zip(exact, drawn, strict=True) if one.how == "exact"]
    assert len(pairs) > 12
    known, found = np.array(pairs).T
    off = np.abs(found - known) - 1 / 5001
    assert (off > 3 * np.sqrt(known * (1 - known) / 5000)).sum() <= 1


def test_the_analytic_p_is_left_out_where_it_is_not_asked_for() -> None:
    table = np.random.default_rng(3).normal(0, 1, (60, 4))
    plain, short = (randomised_tukey_hsd(table, permutations=100, seed=1, tail=tail) for tail in (True, False))
    assert upper(plain.p) == upper(short.p)
    assert not np.isnan(upper(plain.tail)).any()
    assert np.isnan(short.tail).all()


@pytest.mark.parametrize("unit", [1.0, 5.0, 0.05])
def test_neither_the_order_of_items_and_systems_nor_the_unit_moves_a_drawn_p(unit: float) -> None:
    rng = np.random.default_rng(6)
    table = rng.integers(0, 21, (90, 5)).astype(float)
    items, systems = rng.permutation(90), rng.permutation(5)
    found = randomised_tukey_hsd(table, permutations=300, seed=2)
    moved = randomised_tukey_hsd(unit * table[items][:, systems], permutations=300, seed=2)
    assert found.how == moved.how == "monte carlo"
    assert moved.p.tolist() == found.p[np.ix_(systems, systems)].tolist()
    assert moved.threshold == pytest.approx(unit * found.threshold)


@pytest.mark.parametrize(("systems", "most"), [(2, 3), (4, 100), (6, 20), (6, 100), (6, 10**6), (7, 2**40)])
def test_every_draw_deals_each_item_anew(systems: int, most: int) -> None:
    """Mean and variance of a system's sum over the draws are those of dealing, however words are packed."""
    rows = np.random.default_rng(1).integers(0, most + 1, (150, systems))
    rows -= rows.min(axis=1, keepdims=True)
    ranges = _packed_ranges(rows, 4000, rng=np.random.default_rng(2))
    plain = np.array([np.ptp(np.random.default_rng([3, n]).permuted(rows, axis=1).sum(axis=0)) for n in range(1500)])
    assert stats.ks_2samp(ranges, plain).pvalue > 0.001
    assert ranges.min() >= 0
