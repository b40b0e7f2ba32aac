"""Effect sizes and the paired t test on Sakai's example; the older paired tests against scipy and published values."""

import itertools
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.effects import (
    Tails,
    effect_sizes,
    paired_t,
    shifted_bootstrap,
    sign_test,
    signed_rank,
)

SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    ).T
    / 10
)


@pytest.mark.parametrize(
    ("pair", "difference", "d_z", "d_av", "tukey", "t", "p", "around"),
    [
        ((0, 1), 0.075, 0.4731, 0.3786, 0.5070, 2.1158, 0.047797, (0.0008, 0.1492)),
        ((0, 2), 0.100, 0.3607, 0.5409, 0.6760, 1.6133, 0.123165, (-0.0297, 0.2297)),
        ((1, 2), 0.025, 0.1459, 0.1597, 0.1690, 0.6527, 0.521773, (-0.0552, 0.1052)),
    ],
)
def test_the_effects_of_sakais_example(
    pair: tuple[int, int],
    difference: float,
    d_z: float,
    d_av: float,
    tukey: float,
    t: float,
    p: float,
    around: tuple[float, float],
) -> None:
    found = effect_sizes(SAKAI)
    test = paired_t(SAKAI[:, pair[0]].tolist(), SAKAI[:, pair[1]].tolist())
    assert found.difference[pair] == pytest.approx(difference, abs=1e-9)
    assert found.d_z[pair] == pytest.approx(d_z, abs=5e-5)
    assert found.d_av[pair] == pytest.approx(d_av, abs=5e-5)
    assert found.tukey[pair] == pytest.approx(tukey, abs=5e-5)
    assert found.residual**2 == pytest.approx(0.021886, abs=5e-7)
    assert (test.t, test.p) == pytest.approx((t, p), abs=5e-5)
    assert (test.low, test.high) == pytest.approx(around, abs=5e-5)
    assert test.freedom == 19


def test_the_t_test_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(0.4, 1, (2, 15))
    found = paired_t(one.tolist(), other.tolist(), level=0.9)
    known = stats.ttest_rel(one, other)
    interval = known.confidence_interval(0.9)
    assert (found.t, found.p) == pytest.approx((known.statistic, known.pvalue))
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int64, (6, 3), elements=st.integers(0, 20)),
    st.sampled_from([0.1, 3.0, 100.0]),
    st.permutations([0, 1, 2]),
)
def test_effects_are_antisymmetric_and_keep_under_scaling_and_renaming(
    table: np.ndarray, scale: float, order: list[int]
) -> None:
    found, scaled, renamed = effect_sizes(table), effect_sizes(table * scale), effect_sizes(table[:, order])
    for name in ("d_z", "d_av", "tukey"):
        matrix = getattr(found, name)
        assert matrix == pytest.approx(-matrix.T)
        assert getattr(scaled, name) == pytest.approx(matrix, rel=1e-6)
        assert getattr(renamed, name) == pytest.approx(matrix[np.ix_(order, order)], rel=1e-6)
    assert scaled.difference == pytest.approx(found.difference * scale)


def test_a_difference_that_never_varies_is_infinitely_large_and_none_is_none() -> None:
    found = effect_sizes(np.column_stack([np.arange(5.0), np.arange(5.0) + 0.1, np.arange(5.0)]))
    assert found.d_z[0].tolist() == [0, -math.inf, 0]
    assert found.tukey[1, 0] == math.inf
    assert paired_t([1.1, 2.1], [1.0, 2.0]).p < 1e-9
    assert paired_t([2.0, 3.0], [1.0, 2.0]).t == math.inf
    assert (paired_t([1.0, 2.0], [1.0, 2.0]).t, paired_t([1.0, 2.0], [1.0, 2.0]).p) == pytest.approx((0, 1))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((1, 2)), "shape"),
        (np.zeros((2, 1)), "shape"),
        (np.zeros(2), "shape"),
        (np.array([[1, math.nan], [1, 2]]), "not finite"),
    ],
)
def test_what_has_no_effect_size_is_refused(values: np.ndarray, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        effect_sizes(values)


@pytest.mark.parametrize("values", [([1.0], [2.0]), ([1.0, 2.0], [1.0])])
def test_what_cannot_be_paired_is_refused(values: tuple[list[float], list[float]]) -> None:
    with pytest.raises(UsageError, match="a paired test takes 2 pairs"):
        paired_t(*values)


# The older paired tests.

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))
TREC = SHARED / "data" / "sys-trec-scores"
WAYS = ("two-sided", "greater", "less")


def tails(found: Tails) -> tuple[float, float, float]:
    return found.two_sided, found.greater, found.less


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=60), st.sampled_from([0.0, 1.0]))
def test_the_sign_test_is_the_binomial_test_of_scipy(gaps: list[int], tolerance: float) -> None:
    found = sign_test([float(gap) for gap in gaps], [0.0] * len(gaps), tolerance=tolerance)
    above, below = (sum(side * gap > tolerance for gap in gaps) for side in (1, -1))
    if above + below == 0:
        assert tails(found) == (1, 1, 1)
    else:
        known = [stats.binomtest(above, above + below, alternative=way).pvalue for way in WAYS]
        assert tails(found) == pytest.approx(known)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 49), st.integers(0, 2**32 - 1))
def test_signed_ranks_without_ties_are_the_exact_test_of_scipy(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gaps = (rng.permutation(n) + 1.0) * rng.choice([-1, 1], n, p=[0.3, 0.7])
    known = [stats.wilcoxon(gaps, alternative=way, method="exact").pvalue for way in WAYS]
    assert tails(signed_rank(gaps.tolist(), [0.0] * n)) == pytest.approx(known)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_signed_ranks_with_ties_are_those_of_every_toss(gaps: list[int]) -> None:
    apart = [gap for gap in gaps if gap]
    ranks = stats.rankdata(np.abs(apart)) if apart else np.zeros(0)
    seen = float((np.sign(apart) * ranks).sum())
    sums = [float(np.dot(signs, ranks)) for signs in itertools.product((-1, 1), repeat=len(ranks))]
    known = [
        np.mean([test(one) for one in sums])
        for test in (lambda one: abs(one) >= abs(seen), lambda one: one >= seen, lambda one: one <= seen)
    ]
    found = signed_rank([float(gap) for gap in gaps], [0.0] * len(gaps))
    assert tails(found) == pytest.approx(known)


@pytest.mark.parametrize("lift", [-2, 0, 1])
def test_many_signed_ranks_are_the_normal_test_of_scipy(lift: int) -> None:
    for seed in range(10):
        gaps = np.random.default_rng(seed).integers(-9, 10, 120).astype(float) + lift
        known = [stats.wilcoxon(gaps, alternative=way, method="approx", correction=True).pvalue for way in WAYS]
        assert tails(signed_rank(gaps.tolist(), [0.0] * 120)) == pytest.approx(known, abs=1e-12)


def test_the_shifted_bootstrap_is_near_t_for_normal_values_and_1_where_nothing_differs() -> None:
    gaps = np.random.default_rng(5).normal(0.15, 1, 200)
    found = shifted_bootstrap(gaps.tolist(), [0.0] * 200, resamples=20_000, seed=2)
    known = [stats.ttest_1samp(gaps, 0, alternative=way).pvalue for way in WAYS]
    assert tails(found) == pytest.approx(known, abs=0.01)
    assert found.greater + found.less == pytest.approx(1, abs=1e-3)
    assert tails(shifted_bootstrap([1.0, 2.0], [1.0, 2.0], resamples=50)) == (1, 1, 1)


@pytest.mark.skipif(not TREC.is_dir(), reason="the public per-topic scores are not here")
def test_the_published_p_values_of_two_trec_systems() -> None:
    """Columns 125 and 126 of TREC-8, one- and two-tailed, as Urbano gives them; the sign test ties up to .01."""
    baseline, system = np.loadtxt(TREC / "adhoc8_ap.csv", delimiter=",", skiprows=1)[:, 124:126].T.tolist()
    by_t, by_sign = paired_t(system, baseline), sign_test(system, baseline, tolerance=0.01)
    by_rank, drawn = signed_rank(system, baseline), shifted_bootstrap(system, baseline, resamples=100_000, seed=3)
    assert (by_t.p / 2, by_t.p) == pytest.approx((0.0006596986, 0.0013193972), abs=5e-11)
    assert (by_rank.greater, by_rank.two_sided) == pytest.approx((0.001722594, 0.003445188), abs=5e-10)
    assert (by_sign.greater, by_sign.two_sided) == pytest.approx((0.004779939, 0.009559879), abs=1e-9)
    for found, published in ((drawn.greater, 0.000424), (drawn.two_sided, 0.000586)):  # of a million draws
        assert abs(found - published) < 3 * math.sqrt(published / 100_000 + published / 1_000_000)


@pytest.mark.skipif(not TREC.is_dir(), reason="the public per-topic scores are not here")
def test_pairs_of_all_trec_matrices_have_the_p_values_of_scipy() -> None:
    for number, file in enumerate(sorted(TREC.glob("*.csv"))):
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        one, other = table[:, number], table[:, number + 10]
        gaps = one - other
        above, below = int((gaps > 0).sum()), int((gaps < 0).sum())
        assert paired_t(one.tolist(), other.tolist()).p == pytest.approx(stats.ttest_rel(one, other).pvalue, rel=1e-7)
        by_sign = [stats.binomtest(above, above + below, alternative=way).pvalue for way in WAYS]
        assert tails(sign_test(one.tolist(), other.tolist())) == pytest.approx(by_sign)
        if above + below >= 50:
            known = [stats.wilcoxon(gaps, alternative=way, method="approx", correction=True).pvalue for way in WAYS]
            assert tails(signed_rank(one.tolist(), other.tolist())) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("test", [sign_test, signed_rank, shifted_bootstrap])
@pytest.mark.parametrize(
    ("one", "other", "words"),
    [([1.0], [1.0, 2.0], "1 and 2 values"), ([], [], "0 and 0 values"), ([math.nan], [1.0], "not finite")],
)
def test_what_is_not_paired_is_refused(test: Callable, one: list[float], other: list[float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        test(one, other)


def test_numbers_of_the_older_tests_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="the tolerance is -1"):
        sign_test([1.0], [2.0], tolerance=-1)
    with pytest.raises(UsageError, match="resamples is 0"):
        shifted_bootstrap([1.0], [2.0], resamples=0)
