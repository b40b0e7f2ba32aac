"""Blind sheets: what is drawn and in which order, and how answers are read back."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Item
from groundwire.evaluation.sheets import (
    Asked,
    Key,
    SheetPlan,
    draw_tasks,
    questions,
    read_answers,
    read_value,
)


def items(count: int, systems: tuple[str, ...] = ("plain", "best", "other")) -> tuple[Item, ...]:
    return tuple(
        Item(f"t{number:03d}", "Flood", ("source",), f"{system} text {number}", None, system)
        for number in range(count)
        for system in systems
    )


def key(count: int = 20, *, form: str = "scorerag", **plan: object) -> Key:
    return draw_tasks(items(count), form=form, plan=SheetPlan(**plan))  # type: ignore[arg-type]


def filled(made: Key, value: str) -> list[dict[str, str]]:
    names = [one.name for one in questions(made.form)]
    return [{"id": task.id, **dict.fromkeys(names, value)} for task in made.tasks]


def test_every_system_of_a_drawn_item_is_shown_once_and_some_texts_twice() -> None:
    made = key(20, n=10, repeated=0.2)

    shown = Counter((task.item_id, task.systems) for task in made.tasks if not task.repeat_of)
    assert len(shown) == 30
    assert set(shown.values()) == {1}
    repeats = [task for task in made.tasks if task.repeat_of]
    assert len(repeats) == 6
    by_id = {task.id: task for task in made.tasks}
    assert all(
        (by_id[one.repeat_of].item_id, by_id[one.repeat_of].systems) == (one.item_id, one.systems) for one in repeats
    )
    place = {task.id: number for number, task in enumerate(made.tasks)}
    assert all(place[one.repeat_of] < place[one.id] for one in repeats)


def test_the_draw_is_written_down() -> None:
    made = key(20, n=10, seed=7)

    assert (made.population, made.drawn, made.draw) == (20, 10, "at random: 10 of 20 items, seed 7")
    assert key(5, n=50).draw == "at random: 5 of 5 items, seed 0"


def test_every_item_is_as_likely_to_be_drawn() -> None:
    drawn = Counter(
        name
        for seed in range(400)
        for name in {
            task.item_id for task in draw_tasks(items(8, ("a",)), form="scorerag", plan=SheetPlan(2, seed)).tasks
        }
    )

    # 400 draws of 2 out of 8: 100 each, standard deviation 8.7
    assert len(drawn) == 8
    assert all(65 < times < 135 for times in drawn.values())


def test_the_order_of_the_items_given_does_not_matter_but_the_seed_does() -> None:
    plan = SheetPlan(5, 3)
    one, turned = (draw_tasks(given, form="scorerag", plan=plan) for given in (items(9), items(9)[::-1]))

    assert one == turned
    assert key(9, n=5, seed=3) == one
    assert [task.item_id for task in key(9, n=5, seed=4).tasks] != [task.item_id for task in one.tasks]


def test_each_annotator_gets_all_texts_in_an_order_and_under_codes_of_their_own() -> None:
    made = key(10, annotators=2, repeated=0)

    first, second = made.of(1), made.of(2)
    assert sorted((task.item_id, task.systems) for task in first) == sorted(
        (task.item_id, task.systems) for task in second
    )
    assert [task.item_id for task in first] != [task.item_id for task in second]
    assert len({task.id for task in made.tasks}) == len(made.tasks)
    assert not {task.id for task in made.tasks} & {task.id for task in key(10, seed=1).tasks}


def test_a_code_tells_nothing_of_the_system() -> None:
    assert not any(name in task.id for task in key(10).tasks for name in ("plain", "best", "other"))


def test_a_preference_shows_each_pair_and_both_sides_are_used() -> None:
    made = key(40, form="preference", repeated=0)

    pairs = Counter(tuple(sorted(task.systems)) for task in made.tasks)
    assert pairs == {("best", "other"): 40, ("best", "plain"): 40, ("other", "plain"): 40}
    left = Counter(task.systems[0] for task in made.tasks if set(task.systems) == {"best", "plain"})
    assert min(left["best"], left["plain"]) > 8


def test_a_repeated_pair_has_its_sides_turned() -> None:
    made = key(20, form="preference", repeated=0.5)
    by_id = {task.id: task for task in made.tasks}

    repeats = [task for task in made.tasks if task.repeat_of]
    assert repeats
    assert all(task.systems == by_id[task.repeat_of].systems[::-1] for task in repeats)


def test_one_text_can_be_repeated_and_none_needs_to_be() -> None:
    one = items(1, ("a",))

    assert [bool(task.repeat_of) for task in draw_tasks(one, form="scorerag", plan=SheetPlan()).tasks] == [False, True]
    assert len(draw_tasks(one, form="scorerag", plan=SheetPlan(repeated=0)).tasks) == 1


@pytest.mark.parametrize(
    ("given", "form", "match"),
    [
        ((), "scorerag", "none is with a text"),
        (items(3, ("a",)), "preference", "none is with texts of two systems"),
        (items(3), "nonsense", "no form 'nonsense'"),
        (items(3), "", "no form ''"),
        (items(3), "answer_correctness,answer_correctness", "no form"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: tuple[Item, ...], form: str, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        draw_tasks(given, form=form, plan=SheetPlan())


@pytest.mark.parametrize("plan", [{"n": 0}, {"annotators": 0}, {"annotators": 10}, {"repeated": 0.6}])
def test_plans_out_of_range_are_refused(plan: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="annotators"):
        SheetPlan(**plan)  # type: ignore[arg-type]


def test_the_forms_have_their_rubrics() -> None:
    assert [one.rubric for one in questions("scorerag")] == [
        "scorerag_coherence", "scorerag_accuracy", "scorerag_professionalism", "scorerag_informativeness",
    ]  # fmt: skip
    assert len(questions("ccrs")) == 5
    assert [one.name for one in questions("information_recall, question_relevance")] == [
        "information_recall", "question_relevance",
    ]  # fmt: skip


LEVELS = Asked("coherence", "scorerag_coherence", 1, 5, steps=True)
HUNDRED = Asked("information_recall", "information_recall", 0, 100, steps=False)
SIDES = Asked("preference", "preference", 0, 100, steps=True)


@pytest.mark.parametrize(
    ("given", "asked", "value", "outcome"),
    [
        ("1", LEVELS, 0, "read"),
        ("5", LEVELS, 100, "read"),
        (" ４ ", LEVELS, 75, "read"),
        ("3.0", LEVELS, 50, "read"),
        ("3,5", LEVELS, 62.5, "read"),
        ("", LEVELS, None, "abstained"),
        ("  ", LEVELS, None, "abstained"),
        ("0", LEVELS, None, "out_of_range"),
        ("6", LEVELS, None, "out_of_range"),
        ("good", LEVELS, None, "unreadable"),
        ("4?", LEVELS, None, "unreadable"),
        ("85", HUNDRED, 85, "read"),
        ("-1", HUNDRED, None, "out_of_range"),
        ("left", SIDES, 100, "read"),
        ("Right", SIDES, 0, "read"),
        ("tie", SIDES, 50, "read"),
        ("左", SIDES, 100, "read"),
        ("右邊", SIDES, 0, "read"),
        ("平手", SIDES, 50, "read"),
        ("both", SIDES, None, "unreadable"),
    ],
)
def test_an_answer_is_read_or_says_why_not(given: str, asked: Asked, value: float | None, outcome: str) -> None:
    assert read_value(given, asked) == (value, outcome)


@given(st.text(max_size=20))
def test_no_answer_is_ever_read_outside_the_scale(text: str) -> None:
    for asked in (LEVELS, HUNDRED, SIDES):
        value, outcome = read_value(text, asked)
        assert (value is None) == (outcome != "read")
        assert value is None or 0 <= value <= 100


def test_labels_name_what_was_judged_and_how_it_was_drawn() -> None:
    made = key(4, n=3, annotators=2)
    labels = read_answers(made, filled(made, "4"))

    assert len(labels) == 4 * len(made.tasks)
    assert {label.value for label in labels} == {75}
    assert {label.annotator for label in labels} == {1, 2}
    assert {label.draw for label in labels} == {"at random: 3 of 4 items, seed 0"}
    assert sum(label.repeat for label in labels) == 4 * sum(bool(task.repeat_of) for task in made.tasks)


def test_a_preference_counts_for_the_system_wherever_it_stood() -> None:
    made = draw_tasks(items(30, ("a", "b")), form="preference", plan=SheetPlan(30, repeated=0.3))
    rows = [{"id": task.id, "preference": "left" if task.systems[0] == "a" else "right"} for task in made.tasks]

    assert {(label.systems, label.value) for label in read_answers(made, rows)} == {(("a", "b"), 100)}


def test_a_missing_row_of_a_sheet_is_unscored_and_a_missing_sheet_is_nothing() -> None:
    made = key(4, annotators=2)
    of_first = [row for row in filled(made, "3") if row["id"] in {task.id for task in made.of(1)}]

    labels = read_answers(made, of_first[1:])
    assert {label.annotator for label in labels} == {1}
    assert [label.outcome for label in labels[:4]] == ["abstained"] * 4
    assert read_answers(made, []) == ()


def test_the_same_row_twice_counts_once() -> None:
    made = key(3)
    rows = filled(made, "3")

    assert read_answers(made, rows + rows) == read_answers(made, rows)


def test_unknown_ids_are_refused_and_named() -> None:
    made = key(3)
    rows = [*filled(made, "3"), {"id": "s1-nothere", "coherence": "3"}, {"coherence": "3"}]

    with pytest.raises(UsageError, match=r"2 of \d+ rows have an id that the key does not know: 's1-nothere', ''"):
        read_answers(made, rows)


def test_two_different_answers_for_one_id_are_refused() -> None:
    made = key(3)
    rows = filled(made, "3")

    with pytest.raises(UsageError, match="stands there twice with different answers"):
        read_answers(made, [*rows, rows[0] | {"accuracy": "5"}])


def test_a_missing_column_is_refused() -> None:
    made = key(3)

    with pytest.raises(UsageError, match="has no column accuracy, professionalism, informativeness"):
        read_answers(made, [{"id": made.tasks[0].id, "coherence": "3"}])


def test_the_sheet_of_other_texts_has_another_name() -> None:
    changed = (replace(items(3)[0], answer="other words"), *items(3)[1:])

    assert draw_tasks(changed, form="scorerag", plan=SheetPlan()).sheet != key(3).sheet
