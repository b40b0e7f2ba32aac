"""Prediction-powered means against ppi-python 0.2.3, whose values stand here, and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.labels import corrected_share, powered_difference, powered_mean

PEOPLE = [80.0, 60, 70, 90, 50, 40, 85, 75, 65, 55]
SAME = [85.0, 70, 72, 95, 60, 55, 88, 80, 75, 60]
REST = [90.0, 65, 70, 80, 60, 75, 85, 55, 95, 70, 88, 62, 77, 81, 69, 73, 58, 92, 66, 84]


@pytest.mark.parametrize(
    ("weight", "mean", "low", "high"),
    [
        (0.0, 67.0, 57.579931, 76.420069),
        (0.5, 67.375, 61.162782, 73.587218),
        (1.0, 67.75, 62.142867, 73.357133),
        (None, 67.635771, 62.244589, 73.026952),
    ],
)
def test_the_mean_is_that_of_ppi_python(weight: float | None, mean: float, low: float, high: float) -> None:
    found = powered_mean(PEOPLE, SAME, unlabelled=REST, weight=weight)
    assert (found.mean, found.low, found.high) == pytest.approx((mean, low, high), abs=1e-6)
    assert found.people_only == pytest.approx((67.0, 57.579931, 76.420069), abs=1e-6)
    assert (found.labels, found.judged) == (10, 20)
    assert (found.saved > 1) == (weight != 0)


def test_a_judge_that_says_nothing_is_not_listened_to() -> None:
    flat = powered_mean(PEOPLE, [50.0] * 10, unlabelled=[50.0] * 20)
    against = powered_mean(PEOPLE, [-value for value in SAME], unlabelled=[-value for value in REST])
    assert flat.weight == against.weight == 0
    assert flat.saved == pytest.approx(0)
    assert (flat.mean, against.mean) == (67, 67)


def test_the_interval_holds_the_truth_as_often_as_it_says_and_is_shorter() -> None:
    rng = np.random.default_rng(7)
    held, shorter, runs = 0, 0, 400
    for _ in range(runs):
        truth = rng.normal(60, 15, 300)
        judge = truth + 8 + rng.normal(0, 6, 300)
        found = powered_mean(truth[:60].tolist(), judge[:60].tolist(), unlabelled=judge[60:].tolist())
        held += found.low <= 60 <= found.high
        shorter += found.high - found.low < found.people_only[2] - found.people_only[1]
    assert 0.91 < held / runs < 0.98
    assert shorter == runs


def test_a_difference_is_that_of_the_paired_items() -> None:
    others = [value - 5 + place % 3 for place, value in enumerate(PEOPLE)]
    same, rest = [value - 4 for value in SAME], [value - 4 - place % 2 for place, value in enumerate(REST)]
    found = powered_difference((PEOPLE, others), (SAME, same), unlabelled=(REST, rest))
    plain = powered_mean(
        [a - b for a, b in zip(PEOPLE, others, strict=True)],
        [4.0] * 10,
        unlabelled=[4.0 + place % 2 for place in range(20)],
    )
    assert found == plain
    assert found.p < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(10)), st.sampled_from([0.01, 20.0]), st.sampled_from([None, 0.0, 1.0]))
def test_order_scale_and_shift(order: list[int], scale: float, weight: float | None) -> None:
    found = powered_mean(PEOPLE, SAME, unlabelled=REST, weight=weight)
    moved = powered_mean(
        [PEOPLE[place] * scale for place in order],
        [SAME[place] * scale + 9 for place in order],  # what the judge is off by makes no difference
        unlabelled=[value * scale + 9 for value in REST],
        weight=weight,
    )
    assert (moved.mean, moved.error) == pytest.approx((found.mean * scale, found.error * scale))
    assert (moved.weight, moved.saved) == pytest.approx((found.weight, found.saved), abs=1e-6)


def test_labels_that_never_vary_are_certain() -> None:
    zero = powered_mean([0.0, 0.0], [1.0, 1.0], unlabelled=[1.0, 1.0])
    five = powered_mean([5.0, 5.0], [1.0, 1.0], unlabelled=[1.0, 1.0])
    assert (zero.error, zero.p, zero.saved) == (0, 1, math.inf)
    assert (five.mean, five.p) == (5, 0)


@pytest.mark.parametrize(
    ("labels", "judged", "rest", "more", "words"),
    [
        ([1.0], [1.0], [1.0, 2.0], {}, "1 labelled and 2 other"),
        ([1.0, 2.0], [1.0, 2.0], [1.0], {}, "2 labelled and 1 other"),
        ([1.0, 2.0], [1.0], [1.0, 2.0], {}, "2 labels have 1 values"),
        ([1.0, math.nan], [1.0, 2.0], [1.0, 2.0], {}, "not finite"),
        ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], {"weight": 1.5}, "weight 1.5"),
        ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], {"level": 0}, "level is 0"),
    ],
)
def test_what_cannot_be_powered_is_refused(
    labels: list[float], judged: list[float], rest: list[float], more: dict, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        powered_mean(labels, judged, unlabelled=rest, **more)


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be paired"):
        powered_difference((PEOPLE, PEOPLE[:9]), (SAME, SAME), unlabelled=(REST, REST))


def test_a_share_behind_a_judge_that_errs() -> None:
    found = corrected_share((700, 1000), found_yes=(90, 100), found_no=(85, 100))
    assert found.share == pytest.approx(0.733333, abs=5e-7)
    # sqrt(.7 · .3 / 1000 + .7333² · .9 · .1 / 100 + .2667² · .85 · .15 / 100) / .75
    error = math.sqrt(0.00021 + 0.7333333**2 * 0.0009 + 0.2666667**2 * 0.001275) / 0.75
    assert (found.low, found.high) == pytest.approx((found.share - 1.959964 * error, found.share + 1.959964 * error))
    certain = corrected_share((700, 1000), found_yes=(9000, 10_000), found_no=(8500, 10_000))
    assert certain.high - certain.low < found.high - found.low


def test_a_share_stays_a_share() -> None:
    found = corrected_share((1, 100), found_yes=(90, 100), found_no=(85, 100))
    assert (found.share, found.low) == (0, 0)
    assert corrected_share((99, 100), found_yes=(90, 100), found_no=(85, 100)).high == 1


@pytest.mark.parametrize(
    ("judged", "yes", "no", "words"),
    [
        ((5, 4), (1, 1), (1, 1), "parts of wholes"),
        ((0, 0), (1, 1), (1, 1), "parts of wholes"),
        ((1, 2), (1, 2), (1, 2), "no better than a coin"),
    ],
)
def test_what_cannot_be_corrected_is_refused(
    judged: tuple[int, int], yes: tuple[int, int], no: tuple[int, int], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        corrected_share(judged, found_yes=yes, found_no=no)


def test_clusters_of_one_item_are_items() -> None:
    plain = powered_mean(PEOPLE, SAME, unlabelled=REST)
    alone = powered_mean(PEOPLE, SAME, unlabelled=REST, clusters=(range(10), range(10, 30)))
    assert alone.mean == pytest.approx(plain.mean, abs=0.05)
    assert alone.error == pytest.approx(plain.error * math.sqrt(10 / 9), rel=0.02)
    assert (alone.clusters, plain.clusters) == (10, 10)


@pytest.mark.parametrize("weight", [None, 0.0, 1.0])
def test_the_same_items_four_times_say_no_more_than_once(weight: float | None) -> None:
    once = powered_mean(PEOPLE, SAME, unlabelled=REST, clusters=(range(10), range(10, 30)), weight=weight)
    labels = [number // 4 for number in range(40)], [10 + number // 4 for number in range(80)]
    four = powered_mean(
        np.repeat(PEOPLE, 4).tolist(),
        np.repeat(SAME, 4).tolist(),
        unlabelled=np.repeat(REST, 4).tolist(),
        clusters=labels,
        weight=weight,
    )
    assert (four.mean, four.low, four.high) == pytest.approx((once.mean, once.low, once.high))
    assert four.people_only == pytest.approx(once.people_only)
    assert (four.labels, four.clusters) == (40, 10)


def test_clusters_with_both_kinds_of_items_hold_the_truth_where_items_alone_do_not() -> None:
    """Ten items a document, three of them labelled; 300 draws of 50 documents."""
    rng = np.random.default_rng(3)
    held, blind, runs = 0, 0, 300
    documents = np.repeat(np.arange(50), 10)
    labelled = np.tile(np.arange(10) < 3, 50)
    for _ in range(runs):
        truth = 60 + rng.normal(0, 10, 50)[documents] + rng.normal(0, 5, 500)
        judge = truth + 5 + rng.normal(0, 8, 500)
        columns = truth[labelled].tolist(), judge[labelled].tolist()
        rest = judge[~labelled].tolist()
        groups = documents[labelled].tolist(), documents[~labelled].tolist()
        found = powered_mean(*columns, unlabelled=rest, clusters=groups)
        alone = powered_mean(*columns, unlabelled=rest)
        held += found.low <= 60 <= found.high
        blind += alone.low <= 60 <= alone.high
    assert 0.91 < held / runs < 0.98
    assert blind / runs < 0.8


def test_a_judge_without_spread_has_no_weight_in_clusters_either() -> None:
    found = powered_mean(PEOPLE, [50.0] * 10, unlabelled=[50.0] * 20, clusters=(range(10), range(10, 30)))
    assert (found.weight, found.mean) == (0, 67)


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        ((range(9), range(20)), "have 9 and 20 cluster labels"),
        (([1] * 10, range(20)), "1 clusters of labelled and 20 of other"),
        ((range(10), [1] * 20), "10 clusters of labelled and 1 of other"),
    ],
)
def test_clusters_that_do_not_fit_are_refused(clusters: tuple, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        powered_mean(PEOPLE, SAME, unlabelled=REST, clusters=clusters)
