"""Kappa against statsmodels 0.15, Krippendorff's coefficient against krippendorff 0.9.0; their values stand here."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.rater_agreement import Scale, Weights, cohen, fleiss, krippendorff

# Krippendorff's own example: four raters, twelve units, with gaps.
RATERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = list(zip(*RATERS, strict=True))
# The table of Fleiss 1971 with ten units, five categories, fourteen raters.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
TABLE = [[20, 5, 1], [3, 15, 6], [0, 4, 30]]


@pytest.mark.parametrize(
    ("scale", "value"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)]
)
def test_krippendorffs_example_on_every_scale(scale: Scale, value: float) -> None:
    found = krippendorff(UNITS, scale=scale, seed=2)
    assert found.value == pytest.approx(value, abs=5e-7)
    assert found.low < found.value < found.high <= 1
    assert (found.units, found.left_out, found.ratings, found.seed) == (11, 1, 40, 2)


def test_fleiss_own_table() -> None:
    rows = [[label for label, times in enumerate(row) for _ in range(times)] for row in FLEISS]
    assert fleiss(rows) == pytest.approx(0.209931, abs=5e-7)


@pytest.mark.parametrize(("weights", "value"), [("none", 0.654844), ("linear", 0.736181), ("quadratic", 0.8125)])
def test_cohens_kappa_of_a_table(weights: Weights, value: float) -> None:
    cells = [(a, b) for a, row in enumerate(TABLE) for b, times in enumerate(row) for _ in range(times)]
    one, other = zip(*cells, strict=True)
    assert cohen(one, other, weights=weights) == pytest.approx(value, abs=5e-7)
    assert cohen(other, one, weights=weights) == pytest.approx(value, abs=5e-7)


def test_cohens_kappa_of_two_raters_who_left_gaps() -> None:
    one, other = [1, 1, 0, 1, 0, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 1, 1, 1, 0, 0]
    assert cohen(one, other) == pytest.approx(0.4)
    assert cohen([*one, None, 1], [*other, 1, None]) == pytest.approx(0.4)
    names = ["no", "yes"]
    assert cohen([names[label] for label in one], [names[label] for label in other]) == pytest.approx(0.4)


def test_raters_who_say_one_thing_only_cannot_be_told_from_chance() -> None:
    assert math.isnan(cohen(["yes"] * 3, ["yes"] * 3))
    assert math.isnan(fleiss([[1, 1], [1, 1]]))
    same = krippendorff([[1, 1], [1, 1]])
    assert math.isnan(same.value)
    assert math.isnan(same.low)


def test_units_with_one_rating_say_nothing() -> None:
    found = krippendorff([[1, None], [None, None]])
    assert (found.units, found.left_out, found.ratings) == (0, 2, 0)
    assert math.isnan(found.value)
    assert math.isnan(krippendorff([[1, 2]]).low)


ratings = st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 5]), min_size=3, max_size=3), min_size=2, max_size=8)


@settings(max_examples=40, deadline=None)
@given(ratings, st.permutations([0, 1, 2]), st.randoms())
def test_order_of_units_and_raters_makes_no_difference(rows: list[list], order: list[int], random: object) -> None:
    mixed = [[row[place] for place in order] for row in rows]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundwire.evaluation.rater_agreement._RESAMPLES", 2)
        for scale in ("nominal", "ordinal", "interval", "ratio"):
            one, other = krippendorff(rows, scale=scale), krippendorff(mixed, scale=scale)
            assert one.value == pytest.approx(other.value, nan_ok=True, abs=1e-9)
        scaled = [[None if label is None else label * 7 for label in row] for row in rows]
        assert krippendorff(scaled, scale="ratio").value == pytest.approx(
            krippendorff(rows, scale="ratio").value, nan_ok=True, abs=1e-9
        )


def test_full_agreement_is_1_and_chance_about_0() -> None:
    assert krippendorff([[1, 1], [2, 2], [3, 3]], scale="interval").value == pytest.approx(1)
    rng = np.random.default_rng(4)
    assert krippendorff(rng.integers(0, 5, (400, 3)).tolist()).value == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cohen([1], [1, 2]), "cannot be paired"),
        (lambda: cohen([None], [1]), "no unit was rated by both"),
        (lambda: fleiss([]), "equally many"),
        (lambda: fleiss([[1]]), "equally many"),
        (lambda: fleiss([[1, 2], [1]]), "equally many"),
        (lambda: fleiss([[1, None]]), "equally many"),
        (lambda: krippendorff([["a", "b"]], scale="interval"), "takes finite numbers"),
        (lambda: krippendorff([[1.0, math.inf]], scale="ordinal"), "takes finite numbers"),
        (lambda: krippendorff([[-1, 2]], scale="ratio"), "starts at 0"),
        (lambda: krippendorff([[1, 2]], level=0), "level is 0"),
    ],
)
def test_what_is_no_rating_is_refused(call: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()  # type: ignore[operator]
