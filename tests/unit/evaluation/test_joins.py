"""Joining by id: nothing depends on order, and what does not fit is named."""

import math
import os
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.joins import Mismatch, join, judges_of

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
