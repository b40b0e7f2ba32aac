"""What a whole run of a judge shows: another scale, and places that move values."""

import pytest

from groundwire.core.types import Judgement
from groundwire.evaluation.judge_replies import places, scale_note


def row(number: int, value: float | None, *, place: int = 1, reason: str = "", rubric: str = "r") -> Judgement:
    parts: tuple[tuple[str, float], ...] = (("unread", 1.0),)
    if value is not None:
        parts = (("reading_1", value), ("place_1", float(place)), ("unread", 0.0))
    return Judgement(str(number), "s", rubric, value, "unreadable" if value is None else "read", "j", reason, parts)


def test_three_values_of_200_on_another_scale_are_one_sentence() -> None:
    rows = [row(number, 70 + number % 20) for number in range(197)]
    share = "'r': 0.85 looks like a share of 1, and the scale runs from 0 to 100"
    rows += [row(197, None, reason=share), row(198, None, reason=share), row(199, 4)]
    note = scale_note(rows)

    assert note.startswith("3 of 200 values look as if they were meant on another scale")
    assert "197 (r)" in note
    assert "199 (r)" in note
    assert note.count(". ") == 0


def test_a_run_on_one_scale_has_no_note() -> None:
    assert scale_note([row(number, 70 + number % 20) for number in range(50)]) == ""
    assert scale_note([row(number, value) for number, value in enumerate((0, 3, 5, 90, 4, 1))]) == ""


def test_the_graded_column_is_not_counted_twice() -> None:
    rows = [row(number, 80) for number in range(20)] + [row(20, 4)]
    double = rows + [row(one.item_id, one.value, rubric="answer_correctness_graded") for one in rows]  # type: ignore[arg-type]

    assert scale_note(double).startswith("1 of 21 values")
    assert len(places(double)) == 1


def test_the_spread_by_place_is_the_largest_mean_less_the_smallest() -> None:
    (found,) = places([row(1, 80, place=1), row(2, 60, place=1), row(3, 50, place=5), row(4, None)])

    assert found.means == ((1, 70, 2), (5, 50, 1))
    assert found.spread == pytest.approx(20)
