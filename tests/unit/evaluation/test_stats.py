from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement, Outcome
from groundwire.evaluation.stats import bootstrap_interval, holds_zero, in_words, paired_difference, summarise

# Sakai's 20 x 3 example, times ten (CASES E5): the differences A - B on the grid of tenths.
A = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]
B = [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]
A_LESS_B = [(a - b) / 10 for a, b in zip(A, B, strict=True)]


def exact_percentiles(differences: list[int], level: float) -> tuple[float, float]:
    """The ideal bootstrap, by convolution: the distribution of the sum of n draws, without drawing."""
    n, lowest = len(differences), min(differences)
    one = np.bincount([value - lowest for value in differences]) / n
    total = np.array([1.0])
    for _ in range(n):
        total = np.convolve(total, one)
    below = np.cumsum(total)
    low, high = (int(np.searchsorted(below, edge)) + n * lowest for edge in ((1 - level) / 2, (1 + level) / 2))
    return low / n, high / n


def test_finds_the_interval_of_the_ideal_bootstrap() -> None:
    found = bootstrap_interval(A_LESS_B, seed=1)

    low, high = exact_percentiles([a - b for a, b in zip(A, B, strict=True)], 0.95)
    assert (low / 10, high / 10) == pytest.approx((0.010, 0.145))
    assert found.mean == pytest.approx(0.075)
    assert (found.low, found.high) == pytest.approx((0.010, 0.145), abs=1e-9)
    assert (found.n, found.unscored, found.level, found.seed) == (20, 0, 0.95, 1)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_agrees_with_scipy_on_skewed_values(level: float) -> None:
    values = np.random.default_rng(3).exponential(10, 80)

    found = bootstrap_interval(list(values), level=level, resamples=20_000)

    theirs = bootstrap(
        (values,),
        np.mean,
        confidence_level=level,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(9),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=0.01)


def test_covers_the_true_mean_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(11).normal(40, 12, (600, 50))

    held = 0
    for seed, values in enumerate(draws):
        found = bootstrap_interval(list(values), resamples=1_000, seed=seed)
        held += found.low <= 40 <= found.high

    assert 0.92 <= held / len(draws) <= 0.97


def test_clusters_widen_the_interval_when_rows_repeat() -> None:
    once = list(np.random.default_rng(5).normal(50, 10, 30))
    repeated = once * 4

    alone = bootstrap_interval(once)
    blind = bootstrap_interval(repeated)
    clustered = bootstrap_interval(repeated, clusters=list(range(30)) * 4)

    assert clustered.mean == pytest.approx(alone.mean)
    assert (clustered.low, clustered.high) == pytest.approx((alone.low, alone.high))
    assert blind.high - blind.low < 0.6 * (clustered.high - clustered.low)
    assert clustered.n == 120


def test_clusters_cover_the_true_mean_where_rows_alone_do_not() -> None:
    rng = np.random.default_rng(17)
    labels = np.repeat(np.arange(40), 5)
    held = blind = 0
    for seed in range(200):
        values = list(np.repeat(rng.normal(0, 10, 40), 5) + rng.normal(0, 2, 200))
        clustered = bootstrap_interval(values, clusters=list(labels), resamples=500, seed=seed)
        alone = bootstrap_interval(values, resamples=500, seed=seed)
        held += clustered.low <= 0 <= clustered.high
        blind += alone.low <= 0 <= alone.high

    assert held / 200 >= 0.90
    assert blind / 200 <= 0.75


def test_clusters_of_different_sizes_weigh_by_their_rows() -> None:
    found = bootstrap_interval([0.0, 0.0, 0.0, 100.0], clusters=["a", "a", "a", "b"], resamples=200)

    assert found.mean == 25.0
    assert (found.low, found.high) == (0.0, 100.0)


def test_counts_the_unscored_and_leaves_them_out_of_the_mean() -> None:
    found = bootstrap_interval([None, 10.0, None, 30.0])

    assert (found.mean, found.n, found.unscored) == (20.0, 2, 2)
    assert 10 <= found.low <= found.high <= 30


@pytest.mark.parametrize(
    ("values", "clusters", "mean"),
    [([], None, math.nan), ([None, None], None, math.nan), ([7.0], None, 7.0), ([7.0, 9.0], ["a", "a"], 8.0)],
)
def test_has_no_interval_where_nothing_shows_spread(
    values: list[float | None], clusters: list[str] | None, mean: float
) -> None:
    found = bootstrap_interval(values, clusters=clusters)

    assert found.mean == pytest.approx(mean, nan_ok=True)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.unscored == values.count(None)


def test_equal_values_give_an_interval_without_width() -> None:
    found = bootstrap_interval([80.0] * 12)

    assert (found.mean, found.low, found.high) == (80.0, 80.0, 80.0)


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    values = list(np.random.default_rng(0).normal(size=3_000))

    assert bootstrap_interval(values, resamples=150, seed=4) == bootstrap_interval(values, resamples=150, seed=4)
    assert bootstrap_interval(values, resamples=150, seed=4).low != bootstrap_interval(values, resamples=150).low


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0, math.nan], {}, "value 1 is nan; give None"),
        ([math.inf], {}, "value 0 is inf"),
        ([1.0, 2.0], {"clusters": ["a"]}, "2 values have 1 cluster labels"),
        ([1.0, 2.0], {"level": 1.0}, "level is 1.0"),
        ([1.0, 2.0], {"resamples": 0}, "resamples is 0"),
    ],
)
def test_refuses_what_makes_no_sense(values: list[float], options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, **options)  # type: ignore[arg-type]  # the table holds several kinds of option


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=2, max_size=20).filter(
        lambda values: sum(value is not None for value in values) > 1
    )
)
def test_the_interval_lies_within_the_values(values: list[float | None]) -> None:
    found = bootstrap_interval(values, resamples=50)

    scored = [value for value in values if value is not None]
    assert min(scored) - 1e-9 <= found.low <= found.high <= max(scored) + 1e-9
    assert found.n + found.unscored == len(values)


def judgement(item: str, value: float | None, outcome: Outcome = "read", **changes: object) -> Judgement:
    base = Judgement(item_id=item, system="a", rubric="density", value=value, outcome=outcome, judge="j")
    return replace(base, **changes)  # type: ignore[arg-type]  # each test changes other fields


def test_summarises_each_rubric_and_system_in_order_of_appearance() -> None:
    found = summarise(
        [
            judgement("1", 10.0, rubric="recall", system="b"),
            judgement("1", 20.0, rubric="density", system="b"),
            judgement("1", 30.0, rubric="recall"),
            judgement("2", 50.0, rubric="recall"),
        ]
    )

    assert [(one.rubric, one.system, one.interval.mean) for one in found] == [
        ("recall", "b", 10.0),
        ("recall", "a", 40.0),
        ("density", "b", 20.0),
    ]


def test_shows_coverage_outcomes_and_reasons_beside_the_mean() -> None:
    refused, empty = "the answer is a refusal", "the answer is empty"
    (found,) = summarise(
        [
            judgement("1", 60.0),
            judgement("2", 80.0),
            judgement("3", None, "abstained", reason=refused, parts=(("answerable", 1.0),)),
            judgement("4", None, "abstained", reason=refused, parts=(("answerable", 0.0),)),
            judgement("5", None, "unreadable", reason=empty),
        ]
    )

    assert found.interval.mean == 70.0
    assert found.coverage == 0.4
    assert found.outcomes == (("abstained", 2), ("read", 2), ("unreadable", 1))
    assert found.reasons == ((refused, 2), (empty, 1))
    assert found.wrong_refusals == 1
    assert found.mean_counting_refusals == pytest.approx(140 / 3)
    assert found.judge == "j"


def test_a_system_that_always_refuses_wrongly_has_no_mean_but_a_zero_when_refusals_count() -> None:
    (found,) = summarise([judgement("1", None, "abstained", parts=(("answerable", 1.0),))])

    assert math.isnan(found.interval.mean)
    assert found.mean_counting_refusals == 0.0


def test_a_system_without_any_value_has_no_mean_at_all() -> None:
    (found,) = summarise([judgement("1", None, "unreadable")])

    assert found.coverage == 0.0
    assert math.isnan(found.mean_counting_refusals)


def test_nothing_gives_nothing() -> None:
    assert summarise([]) == ()


def test_clusters_come_by_item_id() -> None:
    rows = [judgement(str(number), float(number % 5)) for number in range(40)]

    (clustered,) = summarise(rows, clusters={str(number): number % 5 for number in range(40)}, seed=3)
    (alone,) = summarise(rows, seed=3)

    assert clustered.interval.high - clustered.interval.low > 2 * (alone.interval.high - alone.interval.low)


def test_refuses_values_of_two_judges_under_one_rubric() -> None:
    with pytest.raises(UsageError, match=r"'density' was judged by 2 judges \(j, k\)"):
        summarise([judgement("1", 10.0), judgement("1", 10.0, system="b", judge="k")])


def test_refuses_two_values_of_one_item() -> None:
    with pytest.raises(UsageError, match="'density' has two values of system 'a' for: 1"):
        summarise([judgement("1", 10.0), judgement("1", 20.0)])


def test_refuses_an_item_without_a_cluster() -> None:
    with pytest.raises(UsageError, match="1 items have no cluster: 2"):
        summarise([judgement("1", 10.0), judgement("2", 20.0)], clusters={"1": "c"})


def test_a_paired_difference_has_the_interval_of_scipy() -> None:
    rng = np.random.default_rng(0)
    values, others = rng.uniform(0, 1, 60), rng.uniform(0, 1, 60)

    found = paired_difference(values.tolist(), others.tolist(), seed=1)

    wanted = bootstrap(
        (values, others), lambda a, b, axis: (a - b).mean(axis=axis), paired=True, method="percentile", rng=rng
    ).confidence_interval
    assert found.mean == pytest.approx((values - others).mean())
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=0.006)


def test_a_paired_difference_draws_whole_clusters() -> None:
    values, others = [1.0, 1.0, 0.0, 0.0] * 10, [0.0] * 40
    clusters = [place // 2 for place in range(40)]

    clustered = paired_difference(values, others, clusters=clusters)

    assert clustered == bootstrap_interval(values, clusters=clusters)
    alone = paired_difference(values, others)
    assert clustered.high - clustered.low > 1.2 * (alone.high - alone.low)


def test_a_pair_counts_where_both_are_scored() -> None:
    found = paired_difference([1, None, 3, 4], [1, 1, None, 2])

    assert (found.mean, found.n, found.unscored) == (1, 2, 2)


@pytest.mark.parametrize(
    ("values", "others", "said"),
    [
        ([1], [1, 2], "1 values cannot be paired with 2 others"),
        ([math.nan], [1], "value 0 is nan"),
        ([1, 2], [1, math.inf], "value 1 is inf"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(values: list[float], others: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        paired_difference(values, others)


@pytest.mark.parametrize(
    ("values", "zero", "words"),
    [
        ([1, 2, 3], False, "above the old one"),
        ([-1, -2, -3], False, "below the old one"),
        ([-1, 0, 1], True, "no difference from the old one"),
        ([0, 0, 0], True, "no difference from the old one"),
        ([1], None, "undecided against the old one: too few clusters"),
    ],
)
def test_words_say_what_the_interval_allows(values: list[float], zero: bool | None, words: str) -> None:
    found = paired_difference(values, [0] * len(values))

    assert holds_zero(found) is zero
    assert in_words(found, "the old one") == words


def test_an_interval_misses_the_truth_about_as_often_as_its_level_says() -> None:
    """Paired differences of 200 items, 30 % of them tied; 1,000 intervals, three standard errors."""
    rng = np.random.default_rng(2)
    missed, runs = 0, 1000
    for seed in range(runs):
        gaps = np.round(rng.normal(0, 12, 200))
        gaps[rng.random(200) < 0.28] = 0
        found = bootstrap_interval(gaps.tolist(), resamples=500, seed=seed)
        missed += not found.low <= 0 <= found.high
    assert abs(missed / runs - 0.05) < 3 * math.sqrt(0.05 * 0.95 / runs)
