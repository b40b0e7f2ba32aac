"""Effect sizes and the paired t test on Sakai's example, with values recomputed by scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.effects import effect_sizes, paired_t

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
