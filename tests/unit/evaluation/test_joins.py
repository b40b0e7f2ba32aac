"""Joining by id: nothing depends on order, and what does not fit is named."""

import math
import os
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Comparison, Options
from groundwire.evaluation.joins import Mismatch, join, judges_of, scales

CASES = int(os.environ.get("GROUNDWIRE_CASES", "60"))


def judged(system: str, item: str, value: float | None, measure: str = "em", judge: str = "v1") -> Judgement:
    return Judgement(item, system, measure, value, "read" if value is not None else "unreadable", judge)


def test_rows_in_any_order_are_joined_by_id() -> None:
    found = join(
        [
            judged("b", "q2", 4),
            judged("a", "q1", 1),
            judged("b", "q1", 2),
            judged("a", "q2", 3),
            judged("a", "q3", None),
        ]
    )[0]
    assert (found.systems, found.items, found.values.tolist()) == (("a", "b"), ("q1", "q2"), [[1, 2], [3, 4]])
    a, b = found.coverage
    assert (a.scored, a.unscored, a.missing, a.ambiguous) == (2, 1, 0, 0)
    assert (b.scored, b.unscored, b.missing, b.share) == (2, 0, 1, 2 / 3)
    assert found.mismatches == (Mismatch("em", "b", "q3", "missing"),)


def test_an_id_twice_counts_once_where_both_say_the_same_and_not_at_all_where_they_differ() -> None:
    rows = [judged(system, f"q{n}", n) for system in "ab" for n in range(4)]
    found = join([*rows, judged("a", "q1", 1), judged("b", "q2", 7), judged("b", "q3", None)])[0]
    assert found.items == ("q0", "q1")
    assert found.mismatches == (
        Mismatch("em", "a", "q1", "twice"),
        Mismatch("em", "b", "q2", "twice and different"),
        Mismatch("em", "b", "q3", "twice and different"),
    )
    assert found.coverage[1].ambiguous == 2


def test_measures_keep_the_order_in_which_they_came() -> None:
    rows = [judged("a", "q", 1, "z"), judged("b", "q", 1, "a"), judged("b", "q", 2, "z"), judged("a", "q", 0, "a")]
    assert [table.measure for table in join(rows)] == ["z", "a"]
    assert join([]) == ()


def test_two_judges_of_one_measure_are_refused_by_name() -> None:
    rows = [judged("a", "q", 1), judged("b", "q", 2, judge="v2")]
    assert judges_of(rows) == {"em": {"v1": ("a",), "v2": ("b",)}}
    with pytest.raises(UsageError, match="'v1' judged a; 'v2' judged b"):
        join(rows)


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="'em' has the value nan for item 'q' of system 'a'"):
        join([judged("a", "q", math.nan)])


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 7), st.sampled_from([None, 0.0, 1.0, 2.5])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=CASES, deadline=None)
@given(rows, st.integers(0, 2**32 - 1))
def test_the_join_knows_no_order_and_its_counts_add_up(found: list[tuple], seed: int) -> None:
    judgements = [judged(system, f"q{item}", value) for system, item, value in found]
    mixed = judgements.copy()
    random.Random(seed).shuffle(mixed)  # noqa: S311 - no secret
    one, other = join(judgements)[0], join(mixed)[0]
    assert (one.items, one.systems, one.coverage, one.mismatches) == (
        other.items,
        other.systems,
        other.coverage,
        other.mismatches,
    )
    assert np.array_equal(one.values, other.values)
    asked = len({item for _, item, _ in found})
    for coverage in one.coverage:
        assert coverage.scored + coverage.unscored + coverage.missing + coverage.ambiguous == asked
        assert len(one.items) <= coverage.scored
    by_hand: dict[tuple[str, str], set] = {}
    for system, item, value in found:
        by_hand.setdefault((system, f"q{item}"), set()).add(value)
    for row, item in enumerate(one.items):
        for column, system in enumerate(one.systems):
            assert by_hand[system, item] == {one.values[row, column]}


# Scales.


def on(system: str, values: list[float | None], measure: str = "m") -> list[Judgement]:
    return [judged(system, f"q{n}", value, measure) for n, value in enumerate(values)]


def test_three_of_200_values_on_another_scale_are_flagged_in_one_sentence() -> None:
    values = [40.0 + n % 55 for n in range(197)]
    found = scales(on("a", [*values, 0.85, 0.9, 4.0]))[0]

    assert (found.words, found.n, found.odd) == ("0 to 100", 200, (0.85, 0.9, 4.0))
    assert found.note == (
        "m: 3 of 200 values (0.85, 0.9, 4) look to be on another scale than the others (40 to 94); they were taken as "
        "they stand"
    )


def test_percentages_among_shares_are_flagged() -> None:
    found = scales(on("a", [n / 200 for n in range(197)] + [85.0, 90.0, 4.0]))[0]
    assert (found.words, found.odd) == ("0 to 1", (4.0, 85.0, 90.0))


def test_a_system_on_another_scale_than_the_others_is_flagged() -> None:
    found = scales([*on("a", [0.5, 0.9, 0.0]), *on("b", [50.0, 90.0, 0.0])])[0]
    assert found.odd == (0.0, 0.5, 0.9)
    assert "the values of a run to 1, those of b to 90" in found.note


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([float(n) for n in range(101)], "0 to 100"),
        ([0.0] * 90 + [100.0] * 10, "0 to 100"),
        ([0.0, 1.0] * 20, "0 to 1"),
        ([0.0] * 30, "0 to 1"),
        ([1.0] * 96 + [2.0] * 4, "1 to 2"),
        ([float(n % 5 + 1) for n in range(50)], "1 to 5"),
        ([0.4, 0.9, 1.3, 2.2, *(float(n) for n in range(3, 99))], "0 to 100"),
        ([-0.5] + [0.5] * 40, "-0.5 to 0.5"),
        ([250.0] * 30, "250 to 250"),
        ([80.0] * 10 + [0.8], "0 to 100"),
        ([10.0, *(30.0 + 10 * (n % 8) for n in range(50))], "0 to 100"),
    ],
)
def test_values_on_one_scale_are_not_flagged(values: list[float], words: str) -> None:
    found = scales(on("a", values))[0]
    assert (found.words, found.odd, found.note) == (words, (), "")


ORDINARY: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "anything from 0 to 100": lambda rng: rng.uniform(0, 100, 200),
    "mostly low": lambda rng: 100 * rng.beta(2, 5, 50),
    "steps of 5": lambda rng: np.clip(np.round(rng.normal(62, 22, 200) / 5) * 5, 0, 100),
    "a judge that fails some with 0, 1, 5 or 10": lambda rng: np.where(
        rng.random(200) < 0.03, rng.choice([0, 1, 5, 10], 200), rng.integers(70, 101, 200)
    ),
    "seconds": lambda rng: rng.lognormal(-2, 1, 50),
    "counts": lambda rng: rng.poisson(0.3, 100),
    "1 to 10": lambda rng: np.clip(np.round(rng.normal(8, 1.2, 100)), 1, 10),
}


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_values_raise_no_alarm(kind: str) -> None:
    """100 draws of each: none or one is flagged, where 20 to 100 once were."""
    rng = np.random.default_rng(5)
    assert sum(bool(scales(on("a", ORDINARY[kind](rng).tolist()))[0].note) for _ in range(100)) <= 1


@pytest.mark.parametrize(
    ("others", "odd"),
    [
        (lambda rng: rng.choice(np.arange(30, 101, 5), 198), (0.8, 0.9)),
        (lambda rng: rng.choice(np.arange(30, 101, 5), 199), (4.0,)),
        (lambda rng: rng.choice(np.arange(40, 101, 5), 198), (8.0, 9.0)),
        (lambda rng: np.round(100 * rng.beta(6, 2, 197)).clip(25), (0.7, 0.95, 3.0)),
        (lambda rng: rng.integers(2, 101, 199), (0.9,)),  # a fraction among whole numbers, however low these are
        (lambda rng: rng.beta(2, 2, 198), (85.0, 90.0)),
        (lambda rng: rng.beta(2, 2, 199), (4.0,)),
    ],
)
def test_values_of_another_scale_are_found(
    others: Callable[[np.random.Generator], np.ndarray], odd: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        found = scales(on("a", [*others(rng).tolist(), *odd]))[0].odd
        assert found[:1] == odd[:1]
        assert set(found) <= set(odd)


def test_counts_of_which_one_system_has_few_are_on_one_scale() -> None:
    assert scales([*on("a", [0.0, 1.0] * 20), *on("b", [2.0, 3.0, 7.0, 4.0] * 10)])[0].note == ""
    assert "on two scales" in scales([*on("a", [0.0, 1.0] * 20), *on("b", [0.0, 100.0, 50.0] * 10)])[0].note


def test_a_measure_without_values_has_no_scale() -> None:
    assert scales(on("a", [None, None])) == ()


# Comparisons of shuffled, missing and doubled rows.

ITEMS = st.dictionaries(st.integers(0, 8), st.sampled_from([0.0, 25.0, 50.0, 100.0]), min_size=3, max_size=6)
FEW = Options(permutations=1, resamples=1)


@settings(max_examples=max(1000, CASES), deadline=None)
@given(ITEMS, ITEMS, st.integers(0, 2**32 - 1))
def test_any_shuffle_gives_the_same_comparison_and_what_is_missing_is_named(
    one: dict[int, float], other: dict[int, float], seed: int
) -> None:
    rows = [judged(name, f"q{item}", value) for name, own in (("a", one), ("b", other)) for item, value in own.items()]
    mixed = rows.copy()
    random.Random(seed).shuffle(mixed)  # noqa: S311 - no secret

    found, again = compare(rows, options=FEW), compare(mixed, options=FEW)

    assert comparison_in_full(found) == comparison_in_full(again)
    both = one.keys() & other.keys()
    named = {(miss.system, miss.item_id) for miss in found.mismatches}
    assert named == {("a", f"q{item}") for item in other.keys() - both} | {
        ("b", f"q{item}") for item in one.keys() - both
    }
    measure = found.measures[0]
    assert measure.items == len(both)
    assert measure.items + measure.left_out == len(one.keys() | other.keys())
    if len(both) > 1:
        gap = sum(one[item] - other[item] for item in both) / len(both)
        assert measure.pairs[0].difference.mean == pytest.approx(gap, abs=1e-9)


@settings(max_examples=max(1000, CASES), deadline=None)
@given(ITEMS, st.data())
def test_an_id_that_is_there_twice_is_named_and_counts_only_where_both_say_the_same(
    values: dict[int, float], data: st.DataObject
) -> None:
    item = data.draw(st.sampled_from(sorted(values)))
    again = data.draw(st.sampled_from([0.0, 25.0, 50.0, 100.0]))
    rows = [judged(name, f"q{n}", value) for name in "ab" for n, value in values.items()]
    rows.insert(data.draw(st.integers(0, len(rows))), judged("a", f"q{item}", again))

    found = compare(rows, options=FEW)

    same = again == values[item]
    assert found.mismatches == (Mismatch("em", "a", f"q{item}", "twice" if same else "twice and different"),)
    assert found.measures[0].items == len(values) - (not same)


def comparison_in_full(found: Comparison) -> str:
    """Everything in it as text, so that nan equals nan."""
    return repr(found)
