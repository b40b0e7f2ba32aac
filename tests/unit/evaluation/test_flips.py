"""Tossed signs: against enumeration, the plain sum, scipy and the tests of pairs alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.errors import UsageError
from groundwire.evaluation.flips import SMALLEST, exact_sums, tossed
from groundwire.evaluation.permutation import holm, two_system

SAKAI = np.array([[7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
                  [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
                  [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]]).T / 10  # fmt: skip
PAIRS = np.column_stack([SAKAI[:, one] - SAKAI[:, other] for one, other in itertools.combinations(range(3), 2)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=9), st.sampled_from([1, 7]))
@pytest.mark.parametrize("way", ["plain", "transform"])
def test_the_distribution_is_that_of_every_toss(way: str, differences: list[int], scale: int) -> None:
    whole = np.array(differences, dtype=np.int64) * scale
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundwire.evaluation.flips._PLAIN", 10**9 if way == "plain" else -1)
        found = exact_sums(whole)
    assert found is not None
    known: dict[int, float] = {}
    for signs in itertools.product([-1, 1], repeat=len(whole)):
        size = abs(int(whole @ np.array(signs, dtype=np.int64)))
        known[size] = known.get(size, 0) + 2.0 ** -len(whole)
    got = {size: chance for size, chance in zip(*(column.tolist() for column in found), strict=True) if chance > 1e-13}
    assert got == pytest.approx(known, abs=1e-12)


def test_the_transform_is_the_plain_sum_on_thousands_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.random.default_rng(3).integers(0, 12, 3000)
    fast = exact_sums(whole)
    monkeypatch.setattr("groundwire.evaluation.flips._PLAIN", 10**12)
    plain = exact_sums(whole)
    assert fast is not None
    assert plain is not None
    assert (fast[0] == plain[0]).all()
    assert np.abs(fast[1] - plain[1]).max() < 1e-14


def test_what_lies_on_no_small_grid_has_no_cheap_distribution() -> None:
    assert exact_sums(np.full(4000, 1_000_003) - np.arange(4000)) is None


def test_the_exact_p_of_sakais_example() -> None:
    assert tossed(PAIRS) == pytest.approx([0.065918, 0.144608, 0.623535], abs=5e-7)


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_draws_lie_within_three_standard_errors_of_the_exact_p(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second scale takes double precision."""
    rng = np.random.default_rng(8)
    table = np.round(rng.normal(0.3, 2, (150, 40))) * scale
    exact = tossed(table)
    monkeypatch.setattr("groundwire.evaluation.flips.exact_sums", lambda _: None)
    monkeypatch.setattr("groundwire.evaluation.flips._CHUNK", 150 * 777)
    drawn = tossed(table, permutations=4000, seed=5)
    share = (drawn * 4001 - 1) / 4000
    error = np.sqrt(exact * (1 - exact) / 4000)
    far = np.abs(share - exact) / error
    assert far.max() < 4.5
    assert (far > 3).sum() <= 2
    assert (tossed(table, permutations=4000, seed=5) == drawn).all()
    assert (tossed(table, permutations=4000, seed=6) != drawn).any()


def test_values_on_no_grid_are_those_of_scipy() -> None:
    table = np.random.default_rng(2).normal(0.2, 1, (12, 3))
    for column, p in zip(table.T, tossed(table, permutations=40_000), strict=True):
        known = stats.permutation_test(
            (column, np.zeros(12)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
        ).pvalue
        assert p == pytest.approx(known, abs=3 * np.sqrt(known * (1 - known) / 40_000) + 1e-4)


def test_every_pair_has_the_p_that_it_has_alone() -> None:
    table = np.random.default_rng(4).integers(0, 11, (60, 2)).astype(float)
    alone = two_system(table[:, 0].tolist(), table[:, 1].tolist())
    assert alone.how == "exact"
    assert tossed(table[:, :1] - table[:, 1:])[0] == pytest.approx(alone.p, abs=1e-12)


def test_items_of_a_cluster_change_their_signs_together() -> None:
    four = np.repeat(PAIRS, 4, axis=0)
    labels = [number // 4 for number in range(80)]
    assert tossed(four, clusters=labels) == pytest.approx(tossed(PAIRS))
    assert tossed(four)[0] < tossed(PAIRS)[0] / 5


def test_a_tie_everywhere_is_no_difference_and_p_is_never_0() -> None:
    table = np.column_stack([np.zeros(500), np.ones(500)])
    assert tossed(table).tolist() == [1, SMALLEST]
    assert two_system([1.0] * 500, [0.0] * 500).p == SMALLEST


@pytest.mark.parametrize(
    ("values", "more"),
    [
        (np.zeros(3), {}),
        (np.zeros((0, 2)), {}),
        (np.array([[np.nan]]), {}),
        (np.zeros((2, 1)), {"permutations": 0}),
        (np.zeros((2, 1)), {"clusters": ["a"]}),
    ],
)
def test_what_cannot_be_tossed_is_refused(values: np.ndarray, more: dict) -> None:
    with pytest.raises(UsageError):
        tossed(values, **more)


@pytest.mark.parametrize("systems", [3, 5])
def test_shared_tosses_give_what_pairs_give_one_by_one(systems: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact p to the last digits; drawn p with the same tosses to the last bit, and near those of pairs alone."""
    table = np.round(np.random.default_rng(7).normal(50, 12, (120, systems)) + np.arange(systems))
    pairs = list(itertools.combinations(range(systems), 2))
    gaps = np.column_stack([table[:, one] - table[:, other] for one, other in pairs])
    slow = [two_system(table[:, one].tolist(), table[:, other].tolist()).p for one, other in pairs]
    assert tossed(gaps) == pytest.approx(slow, abs=1e-12)
    monkeypatch.setattr("groundwire.evaluation.flips.exact_sums", lambda _: None)
    drawn = tossed(gaps, permutations=5000, seed=3)
    assert drawn.tolist() == [tossed(gaps[:, [place]], permutations=5000, seed=3)[0] for place in range(len(pairs))]
    errors = np.sqrt(np.maximum(np.array(slow) * (1 - np.array(slow)), 1e-4) / 5000)
    assert (np.abs(drawn - slow) < 3.5 * errors + 1 / 5001).all()


def test_false_alarms_of_a_family_by_holm_come_as_often_as_the_level_says() -> None:
    """Five independent pairs that are alike, 30 % of the items tied; 1,500 families, three standard errors."""
    rng = np.random.default_rng(12)
    alarms, ties, runs = 0, 0.0, 1500
    for _ in range(runs):
        gaps = np.round(rng.normal(0, 12, (40, 5)))
        gaps[rng.random((40, 5)) < 0.28] = 0
        ties += float((gaps == 0).mean()) / runs
        alarms += min(holm(tossed(gaps).tolist())) < 0.05
    assert 0.28 < ties < 0.33
    assert abs(alarms / runs - 0.05) < 3 * np.sqrt(0.05 * 0.95 / runs)
