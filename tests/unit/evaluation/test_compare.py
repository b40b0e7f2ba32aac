"""The comparison of systems: verdicts, letters, joins, judges, lengths, and the cases E4 to E7, E10 and E11."""

import math
import random
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.permutation import holm, randomised_tukey_hsd, two_system
from groundwire.evaluation.stats import paired_difference

SAKAI = np.array(
    [
        [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
        [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
        [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ]
).T
QUICK = Options(permutations=500, resamples=500)


def judged(table: np.ndarray, measure: str = "correct", judge: str = "v1", names: str = "ABCDEF") -> list[Judgement]:
    return [
        Judgement(f"q{item:03}", names[system], measure, float(value), "read", judge)
        for item, row in enumerate(table)
        for system, value in enumerate(row)
    ]


def graded(items: int = 80, gains: tuple[float, ...] = (0, 0, 6), seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(60, 22, (items, 1)) + rng.normal(0, 8, (items, len(gains))) + gains
    return np.round(values / 5) * 5


def test_sakais_example_whole() -> None:
    found = compare(judged(SAKAI)).measures[0]
    assert [pair.p for pair in found.pairs] == pytest.approx([0.303764, 0.106587, 0.891600], abs=5e-7)
    first = found.pairs[0]
    assert (first.one, first.other, first.decision) == ("A", "B", "undecided")
    assert (first.d_z, first.d_av, first.tukey) == pytest.approx((0.4731, 0.3786, 0.5070), abs=5e-5)
    assert (first.difference.low, first.difference.high) == pytest.approx((0.1, 1.45), abs=0.051)
    assert (first.wins, first.ties, first.losses) == (10, 5, 5)
    assert (found.how, found.permutations, found.items, found.left_out) == ("exact", 0, 20, 0)
    assert [standing.letters for standing in found.standings] == ["a", "a", "a"]
    assert found.power == 0
    assert found.ties is not None
    assert found.ties.rate == pytest.approx(0.2)
    assert first.words == (
        f"undecided between A and B: +0.75 [{first.difference.low:.3g}, {first.difference.high:.3g}], p = .304, "
        f"20 items; about {first.more} more items would decide"
    )
    # (1.15 + 0.842 · 0.354)² / 0.75² · 20 = 75 items, where 1.15 is told apart with 20, and 0.354 is the error
    assert found.threshold == pytest.approx(1.15)
    assert first.more == 55


def test_a_strong_system_stands_apart_although_items_differ_more_than_systems() -> None:
    found = compare(judged(graded())).measures[0]
    best, *others = found.standings
    assert (best.system, best.letters) == ("C", "a")
    assert {standing.letters for standing in others} == {"b"}
    decisions = {(pair.one, pair.other): pair.decision for pair in found.pairs}
    assert decisions == {("A", "B"): "undecided", ("A", "C"): "worse", ("B", "C"): "worse"}
    assert found.power == pytest.approx(2 / 3)
    assert found.pairs[1].words.startswith("A is worse than C: -")
    assert found.pairs[1].more is None
    assert all(found.threshold <= abs(pair.difference.mean) for pair in found.pairs[1:])


def test_a_margin_makes_a_small_difference_equivalent() -> None:
    options = replace(QUICK, margins=(("", 4.0),))
    found = compare(judged(graded(items=300, gains=(0, 1, 9))), options=options).measures[0]
    assert [pair.decision for pair in found.pairs] == ["equivalent", "worse", "worse"]
    assert found.pairs[0].words.startswith("A and B are equivalent within 4: -")


def test_the_interval_is_that_of_the_paired_bootstrap() -> None:
    table = graded()
    pair = compare(judged(table)).measures[0].pairs[1]
    plain = paired_difference(table[:, 0].tolist(), table[:, 2].tolist(), seed=9)
    assert (pair.difference.low, pair.difference.high) == pytest.approx((plain.low, plain.high), abs=0.13)
    assert pair.difference.mean == pytest.approx(plain.mean)


def test_all_tied_is_undecided_with_nothing_to_wait_for() -> None:
    found = compare(judged(np.full((30, 4), 80.0)), options=QUICK).measures[0]
    assert {pair.p for pair in found.pairs} == {1}
    assert {(pair.decision, pair.more, pair.ties) for pair in found.pairs} == {("undecided", None, 30)}
    assert (found.power, found.threshold) == (0, math.inf)
    assert found.pairs[0].words == "undecided between A and B: +0 [0, 0], p = 1.000, 30 items"
    margin = replace(QUICK, margins=(("correct", 1.0),))
    assert compare(judged(np.full((30, 2), 80.0)), options=margin).measures[0].pairs[0].decision == "equivalent"


def test_less_is_better_where_said() -> None:
    table = graded(gains=(0, 6))
    more = compare(judged(table), options=QUICK).measures[0]
    less = compare(judged(table), options=replace(QUICK, lower_is_better=frozenset({"correct"}))).measures[0]
    assert (more.pairs[0].decision, less.pairs[0].decision) == ("worse", "better")
    assert (more.pairs[0].wins, more.pairs[0].losses) == (less.pairs[0].losses, less.pairs[0].wins)
    assert [standing.system for standing in less.standings] == ["A", "B"]
    assert less.pairs[0].difference == more.pairs[0].difference


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_makes_no_difference(seed: int) -> None:
    rows = judged(graded(items=12)) + judged(graded(items=12, seed=4), measure="recall")
    options = replace(QUICK, permutations=50, resamples=50)
    mixed = rows.copy()
    random.Random(seed).shuffle(mixed)  # noqa: S311 - no secret
    one, other = compare(rows, options=options), compare(mixed, options=options)
    assert {found.measure: found for found in one.measures}.keys() == {found.measure for found in other.measures}
    for found in one.measures:
        same = next(measure for measure in other.measures if measure.measure == found.measure)
        assert repr(found) == repr(same)


def test_measures_of_other_items_do_not_touch_each_other() -> None:
    rows, others = judged(graded()), judged(graded(items=50, seed=8), measure="recall")
    alone = compare(rows, options=QUICK).measures[0]
    together = compare(rows + others, options=QUICK)
    assert repr(together.measures[0]) == repr(alone)
    assert together.measures[1].items == 50


def test_a_missing_and_a_doubled_row_are_named() -> None:
    rows = judged(graded(items=10))
    lost, doubled = rows[3], rows[7]
    found = compare([*rows[:3], *rows[4:], replace(doubled, value=1.0)], options=QUICK)
    assert {(one.system, one.item_id, one.what) for one in found.mismatches} == {
        (lost.system, lost.item_id, "missing"),
        (doubled.system, doubled.item_id, "twice and different"),
    }
    assert (found.measures[0].items, found.measures[0].left_out) == (8, 2)
    assert found.measures[0].notes == ()


def test_unscored_rows_are_counted_and_said() -> None:
    rows = judged(graded(items=10))
    rows = [replace(row, value=None) if row.system == "B" and row.item_id > "q004" else row for row in rows]
    found = compare(rows, options=QUICK).measures[0]
    coverage = {standing.system: standing.coverage for standing in found.standings}
    assert (coverage["B"].scored, coverage["B"].unscored, coverage["B"].share) == (5, 5, 0.5)
    assert found.notes == ("only 5 of 10 items are scored for all systems; B has the fewest values, 5",)
    assert {pair.difference.n for pair in found.pairs} == {5}


def test_a_measure_that_leaves_nothing_to_compare_says_why() -> None:
    rows = judged(graded(items=10)) + judged(graded(items=1), measure="density")
    rows += [Judgement("q1", "A", "own", 5.0, "read", "v1")]
    found = compare(rows, options=QUICK)
    density, own = found.measures[1:]
    assert (density.how, density.pairs, density.ties) == ("none", (), None)
    assert density.notes == ("only 1 of 1 items are scored for all systems; a comparison takes 2",)
    assert math.isnan(density.standings[0].mean.mean)
    assert own.notes == ("only A has values",)
    assert found.notes == ("'own' has no values of B, C",)


def test_two_judges_are_refused() -> None:
    rows = judged(graded())
    rows = [replace(row, judge="v2") if row.system == "B" else row for row in rows]
    with pytest.raises(UsageError, match="'v1' judged A, C; 'v2' judged B"):
        compare(rows, options=QUICK)
    with pytest.raises(UsageError, match="not on one scale"):
        compare(rows, options=replace(QUICK, bridge="v3"))


def test_holm_is_over_all_pairs_of_all_measures() -> None:
    table, other = graded(items=30), graded(items=30, seed=5)
    options = replace(QUICK, adjust="holm")
    found = compare(judged(table) + judged(other, measure="recall"), options=options)
    alone = [
        two_system(values[:, one].tolist(), values[:, two].tolist(), permutations=500).p
        for values in (table, other)
        for one, two in ((0, 1), (0, 2), (1, 2))
    ]
    pairs = [pair for measure in found.measures for pair in measure.pairs]
    assert [pair.p for pair in pairs] == pytest.approx(holm(alone))
    assert all(math.isnan(pair.tail) for pair in pairs)
    assert {measure.how for measure in found.measures} == {"holm"}


def test_items_of_a_cluster_belong_together() -> None:
    table = np.repeat(graded(items=20, gains=(0, 0, 3)), 5, axis=0)
    blind = compare(judged(table), options=QUICK).measures[0]
    labels = {f"q{item:03}": item // 5 for item in range(100)}
    fair = compare(judged(table), clusters=labels, options=QUICK).measures[0]
    assert (blind.clusters, fair.clusters) == (100, 20)
    for one, other in zip(blind.pairs, fair.pairs, strict=True):
        assert one.p <= other.p
        assert one.difference.high - one.difference.low < other.difference.high - other.difference.low
    with pytest.raises(UsageError, match="1 items have no cluster: q099"):
        compare(judged(table), clusters={k: v for k, v in labels.items() if k != "q099"}, options=QUICK)


def test_padding_shows_beside_the_difference() -> None:
    """The second system is the first with filler, and the judge likes length."""
    rng = np.random.default_rng(6)
    lengths = np.round(rng.uniform(40, 160, (80, 1)) * [1, 2] * np.exp(rng.normal(0, 0.2, (80, 2))))
    values = rng.normal(40, 12, (80, 1)) + 6 * np.log2(1 + lengths) + rng.normal(0, 3, (80, 2))
    long = {("AB"[system], f"q{item:03}"): lengths[item, system] for item in range(80) for system in range(2)}
    found = compare(judged(values), lengths=long, options=QUICK).measures[0]
    pair = found.pairs[0]
    assert pair.decision == "worse"
    assert pair.at_equal_length is not None
    assert pair.at_equal_length.low < 0 < pair.at_equal_length.high
    assert found.length_slope is not None
    assert found.length_slope.low > 0
    long.pop(("B", "q007"))
    with pytest.raises(UsageError, match="1 answers have no length, as that of system 'B' to item 'q007'"):
        compare(judged(values), lengths=long, options=QUICK)


def test_a_tolerance_counts_ties_and_leaves_the_test_alone() -> None:
    rows = judged(graded())
    strict, loose = (compare(rows, options=replace(QUICK, tolerance=t)).measures[0] for t in (0.0, 5.0))
    assert loose.pairs[0].ties > strict.pairs[0].ties
    assert loose.pairs[0].p == strict.pairs[0].p
    assert loose.pairs[0].wins + loose.pairs[0].ties + loose.pairs[0].losses == 80


def test_false_alarms_of_a_family_come_as_often_as_the_level_says() -> None:
    alarms, runs = 0, 80
    options = Options(permutations=199, resamples=2)
    for seed in range(runs):
        pairs = compare(judged(graded(items=15, gains=(0,) * 6, seed=seed)), options=options).measures[0].pairs
        alarms += any(pair.decision != "undecided" for pair in pairs)
    assert abs(alarms / runs - 0.05) < 4 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(margins=(("density", 1.0),)), "no measure density"),
        (Options(lower_is_better=frozenset({"noise"})), "no measure noise"),
        (Options(margins=(("", 0.0),)), "margins are above 0"),
        (Options(level=0.4), "level between"),
        (Options(tolerance=-1.0), "tolerance 0 or more"),
        (Options(permutations=0), "permutations is 0"),
        (Options(resamples=0), "resamples 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: Options, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compare(judged(graded()), options=options)


@pytest.mark.parametrize("rows", [[], judged(graded(gains=(0,)))])
def test_one_system_cannot_be_compared(rows: list[Judgement]) -> None:
    with pytest.raises(UsageError, match="takes 2 or more"):
        compare(rows)


def test_few_items_are_not_called_equivalent_more_often_than_the_level_says() -> None:
    """Truly the margin apart, 30 items of which 30 % are tied; 600 comparisons, three standard errors."""
    rng, claims, runs = np.random.default_rng(21), 0, 600
    options = Options(margins=(("", 5.0),), permutations=1, resamples=1000)
    for _ in range(runs):
        gaps = np.where(rng.random(30) < 0.28, 0.0, np.round(rng.normal(5 / 0.72, 12, 30)))
        base = np.round(rng.normal(60, 15, 30))
        claims += compare(judged(np.column_stack([base + gaps, base])), options=options).measures[0].pairs[
            0
        ].decision == ("equivalent")
    assert claims / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


# How many more items.


def test_as_many_more_as_said_tell_a_pair_apart_about_as_often_as_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items drawn from Sakai's 20, as many as were said to give the chance of 0.8; 300 times."""
    more = compare(judged(SAKAI)).measures[0].pairs[0].more
    assert more is not None
    monkeypatch.setattr("groundwire.evaluation.permutation._MOST_WORK", 0)
    rng = np.random.default_rng(0)
    seen = sum(
        randomised_tukey_hsd(SAKAI[rng.integers(0, 20, 20 + more)], permutations=200, seed=seed, tail=False).p[0, 1]
        < 0.05
        for seed in range(300)
    )
    assert 0.72 < seen / 300 < 0.9


def test_a_steady_small_gap_among_wide_ones_is_not_one_item_away() -> None:
    """A leads B by about 1 on every item, and C to F lie anywhere: Tukey's p is large, and so is the number."""
    rng = np.random.default_rng(4)
    base = rng.normal(50, 5, (40, 1))
    table = np.hstack([base + 1 + rng.normal(0, 0.3, (40, 1)), base, base + rng.normal(0, 25, (40, 4))])
    pair = compare(judged(table), options=Options(permutations=500)).measures[0].pairs[0]
    assert (pair.one, pair.other, pair.decision) == ("A", "B", "undecided")
    assert pair.p > 0.5
    assert pair.d_z > 2
    assert pair.more is not None
    assert pair.more > 1000


@pytest.mark.parametrize(("adjust", "more"), [("tukey", 3), ("holm", 3)])
def test_three_items_that_all_go_one_way_are_three_short_of_the_fewest(
    adjust: Literal["tukey", "holm"], more: int
) -> None:
    pair = compare(judged(np.array([[2, 1], [3, 2], [4, 3]])), options=Options(adjust=adjust)).measures[0].pairs[0]
    assert (pair.decision, pair.p, pair.more) == ("undecided", 0.25, more)
    assert compare(judged(np.array([[n + 1, n] for n in range(6)]))).measures[0].pairs[0].decision == "better"


def test_by_holm_all_pairs_of_all_measures_share_the_false_alarms() -> None:
    rows = judged(SAKAI)
    both = [*rows, *(replace(row, rubric="other") for row in rows)]
    one, two = (compare(found, options=Options(adjust="holm")).measures[0].pairs[0].more for found in (rows, both))
    assert one is not None
    assert two is not None
    assert two > one


# Rounding.


@pytest.mark.parametrize("adjust", ["tukey", "holm"])
def test_a_difference_of_rounding_alone_is_none(adjust: Literal["tukey", "holm"]) -> None:
    """The same values in another order have the same mean, though their sums in floating point differ."""
    values = np.random.default_rng(8).normal(60, 20, 30)
    table = np.column_stack([values, values[::-1], values + 0.1 + 0.2 - 0.3])
    found = compare(judged(table), options=Options(adjust=adjust, permutations=200)).measures[0]
    shuffled, same = found.pairs[0], found.pairs[1]
    assert (shuffled.difference.mean, shuffled.d_z) == (0, 0)
    assert (same.difference.mean, same.difference.low, same.difference.high) == (0, 0, 0)
    assert same.words == "undecided between A and C: +0 [0, 0], p = 1.000, 30 items"
    assert "e-" not in shuffled.words


def test_the_comparison_holds_the_values_that_it_rests_on() -> None:
    rows = judged(SAKAI)
    found = compare([*rows, *(replace(row, rubric="other", value=None) for row in rows)])
    assert [table.measure for table in found.tables] == ["correct", "other"]
    assert np.array_equal(found.tables[0].values, SAKAI)
