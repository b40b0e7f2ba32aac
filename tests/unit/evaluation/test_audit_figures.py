"""The figures of an audit on judges whose faults are known, and Wilson's interval against scipy."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundwire.core.text import count_tokens
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation.audit import AuditItem, AuditPlan, Probe, plain, variants
from groundwire.evaluation.audit_figures import Figure, Values, beware, figures, share
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, INFORMATION_DENSITY, QUESTION_RELEVANCE

ITEMS = tuple(
    AuditItem(
        Item(f"q{n}", f"When did the dam of town {n} break?", ("It broke.", f"Town {n}."), f"On {n} May.", f"{n} May"),
        f"On {n} June.",
        "The dam is known to many people in the town, and they speak of it.",
    )
    for n in range(1, 13)
)
Judging = Callable[[Item, int], float | None]


def judged(items: Sequence[Item], plan: AuditPlan, judge: Judging, number: int = 0) -> tuple[Judgement, ...]:
    rows = []
    for item in items:
        for rubric in plan.rubrics:
            value = judge(item, number)
            outcome: Outcome = "read"
            if value is None or math.isnan(value):
                outcome = "unreadable" if value is None else "abstained"
                value = None
            rows.append(Judgement(item.id, item.system, rubric.name, value, outcome, "fake"))
    return tuple(rows)


def found(judge: Judging, *probes: Probe, tries: int = 3, rubric: str = "answer_correctness") -> dict[str, Figure]:
    """Figures under a rubric, or under none, by what they say."""
    named = {"answer_correctness": ANSWER_CORRECTNESS, "information_density": INFORMATION_DENSITY,
             "question_relevance": QUESTION_RELEVANCE}[rubric]  # fmt: skip
    plan = AuditPlan(probes=probes, rubrics=(named,), resamples=300, repeats=max(2, tries))
    runs = [judged(plain(ITEMS), plan, judge, number) for number in range(tries)]
    values = Values(judged(variants(ITEMS, plan=plan), plan, judge), runs)
    return {one.what: one for one in figures(values, ITEMS, plan=plan)}


def words(figures_: dict[str, Figure]) -> tuple[str, ...]:
    return beware(tuple(figures_.values()))


def steady(item: Item, number: int) -> float:  # noqa: ARG001
    return 50.0 + 10 * (item.answer.find("May") > 0)


def test_a_judge_that_repeats_itself_has_no_deviation_and_no_flips() -> None:
    deviation, flipped = found(steady, "repeats").values()

    assert (deviation.value.mean, deviation.value.n, deviation.value.unscored) == (0, 12, 0)
    assert (flipped.value.mean, flipped.value.n) == (0, 12)
    assert flipped.value.high == pytest.approx(stats.binomtest(0, 12).proportion_ci(method="wilson").high)
    assert not words(found(steady, "repeats"))


def test_deviation_and_flips_are_those_of_the_tries() -> None:
    values = found(lambda _, number: (40.0, 60.0, 50.0)[number], "repeats")
    deviation, flipped = values.values()

    assert deviation.value.mean == pytest.approx(10)  # of 40, 60, 50
    assert flipped.value.mean == pytest.approx(2 / 3)  # 40 is below 50, the others are not
    assert len(words(values)) == 2


def test_an_item_with_one_try_left_is_unscored_where_tries_are_compared() -> None:
    deviation, flipped = found(lambda item, n: None if item.id == "q1" and n else 70.0, "repeats").values()

    assert (deviation.value.n, deviation.value.unscored) == (11, 1)
    assert (flipped.value.n, flipped.value.unscored) == (11, 1)


def test_right_beside_wrong_answers_ties_half() -> None:
    knows, gap = found(lambda item, _: 90.0 if "May" in item.answer else 30.0, "facts").values()
    blind, none = found(lambda *_: 50.0, "facts").values()

    assert (knows.value.mean, gap.value.mean) == (1, 60)
    assert (blind.value.mean, none.value.mean) == (0.5, 0)
    assert words({"": blind}) == ("answer_correctness: does not tell right answers from wrong ones (50%)",)
    assert not words({"": knows, "gap": gap})


def test_facts_are_not_asked_of_rubrics_that_hold_against_no_text() -> None:
    assert found(steady, "facts", rubric="information_density") == {}


def test_a_value_that_is_missing_on_one_side_is_unscored() -> None:
    told, gap = found(lambda item, _: None if item.id == "q3" and "June" in item.answer else 60.0, "facts").values()

    assert (told.value.n, told.value.unscored, gap.value.n, gap.value.unscored) == (11, 1, 11, 1)


def test_the_order_of_contexts_moves_a_judge_that_reads_the_first() -> None:
    values = found(lambda item, _: 80.0 if item.contexts[0] == "It broke." else 50.0, "contexts")
    move, size = values.values()

    assert (move.value.mean, size.value.mean, size.chance) == (-30, 30, 0)
    assert words(values) == ("answer_correctness: the order of the contexts moves values by 30.0 points",)


def test_a_move_like_that_between_two_tries_is_no_warning() -> None:
    noise = dict.fromkeys(["q1", "q2", "q3", "q4"], 8.0)
    values = found(lambda item, n: 50 + noise.get(item.id, 0) * (n > 0 or item.system == "reversed"), "contexts")
    _, size = values.values()

    assert size.value.mean == pytest.approx(8 * 4 / 12)
    assert size.chance == pytest.approx(8 * 4 / 12 * 2 / 3)  # of three pairs of tries, two differ
    assert not size.beyond_chance
    assert not words(values)


def test_one_try_tells_nothing_about_chance() -> None:
    _, size = found(steady, "contexts", tries=1).values()

    assert size.chance is None
    assert size.beyond_chance


@given(st.floats(-8, 8), st.floats(20, 60))
def test_the_slope_is_that_of_a_judge_that_likes_length(slope: float, base: float) -> None:
    values = found(lambda item, _: base + slope * math.log2(count_tokens(item.answer)), "length")

    assert next(iter(values.values())).value.mean == pytest.approx(slope, abs=1e-9)


def test_an_answer_with_a_version_unread_has_no_slope() -> None:
    slope, moved = found(
        lambda item, _: None if (item.id, item.system) == ("q2", "padded twice") else 50.0, "length"
    ).values()

    assert (slope.value.n, slope.value.unscored) == (11, 1)
    assert moved.value.n == 12


@pytest.mark.parametrize(
    ("rubric", "points", "warns"),
    [
        ("answer_correctness", 5.0, True),
        ("answer_correctness", -5.0, True),
        ("answer_correctness", 1.0, False),
        ("information_density", 0.0, True),
        ("information_density", -5.0, False),
    ],
)
def test_length_must_cost_density_and_nothing_else(rubric: str, points: float, *, warns: bool) -> None:
    values = found(lambda item, _: 50 + points * math.log2(count_tokens(item.answer)), "length", rubric=rubric)

    assert bool(words(values)) is warns


def test_a_judge_that_obeys_is_told_from_one_that_likes_long_texts() -> None:
    obeys = found(lambda item, _: 100.0 if "perfect" in item.answer else 30.0, "injection")
    long = found(lambda item, _: float(min(100, len(item.answer))), "injection")

    assert obeys["an order in the answer less a note there"].value.mean == 70
    assert obeys["raised by 5 or more by an order in the answer"].value.mean == 1
    assert obeys["an order in the contexts less a note there"].value.mean == 0
    assert words(obeys) == ("answer_correctness: an order in the answer less a note there: +70.0 points",)
    assert abs(long["an order in the answer less a note there"].value.mean) < 2
    assert not words(long)


def test_no_figure_is_made_of_orders_that_nobody_was_given() -> None:
    plan = AuditPlan(probes=("injection",), rubrics=(QUESTION_RELEVANCE,), resamples=50)
    bare = tuple(replace(one, item=replace(one.item, contexts=())) for one in ITEMS)
    values = Values(judged(variants(bare, plan=plan), plan, steady), [judged(plain(bare), plan, steady)])

    assert [one.what for one in figures(values, bare, plan=plan)] == [
        "an order in the answer less a note there",
        "raised by 5 or more by an order in the answer",
    ]


def test_a_refusal_that_is_not_seen_is_named() -> None:
    unseen = "I don't know."

    def judge(item: Item, _: int) -> float | None:
        return 20.0 if item.system == "partly" or item.answer == unseen else math.nan

    values = found(judge, "refusals")
    wrong, right, partly = values.values()

    assert (wrong.value.mean, wrong.value.n, wrong.missed) == (7 / 8, 8, (unseen,))
    assert right.missed == (unseen,)
    assert (partly.value.mean, partly.value.n, partly.value.unscored) == (1, 12, 0)
    assert words({"": wrong}) == ("refusals: only 88% of the refusals seen as such where there is an answer",)


def test_an_answer_behind_a_reservation_that_counts_as_a_refusal_is_a_fault_and_one_unread_is_unscored() -> None:
    def judge(item: Item, _: int) -> float | None:
        if item.system != "partly":
            return math.nan
        return {"q1": math.nan, "q2": None}.get(item.id, 50.0)

    partly = found(judge, "refusals")["answers behind a reservation that are judged"]

    assert (partly.value.mean, partly.value.n, partly.value.unscored) == (10 / 11, 11, 1)


def test_without_references_no_refusal_is_counted_where_there_is_an_answer() -> None:
    plan = AuditPlan(probes=("refusals",), rubrics=(QUESTION_RELEVANCE,), resamples=50)
    bare = tuple(replace(one, item=replace(one.item, reference=None)) for one in ITEMS)
    values = Values(judged(variants(bare, plan=plan), plan, steady), [judged(plain(bare), plan, steady)])

    assert [one.what for one in figures(values, bare, plan=plan)] == [
        "refusals seen as such where there is none",
        "answers behind a reservation that are judged",
    ]


def placed(value: Callable[[int, int], float], *, lost: int = 0) -> list[Figure]:
    """A judge whose values stand at place 1 or 2 of a reply, by item."""
    rows = []
    for n, one in enumerate(ITEMS):
        place = 1 + n % 2
        parts = () if n < lost else (("reading_1", value(n, place)), ("place_1", float(place)))
        rows.append(
            Judgement(one.item.id, "plain", "answer_correctness", None if n < lost else value(n, place),
                      "unreadable" if n < lost else "read", "fake", parts=parts)
        )  # fmt: skip
    plan = AuditPlan(probes=("places",), rubrics=(ANSWER_CORRECTNESS,), resamples=50)
    return list(figures(Values((), [rows]), ITEMS, plan=plan))


def test_a_place_in_the_reply_that_moves_values_is_beyond_chance() -> None:
    (moved,) = placed(lambda n, place: 40.0 * place + n % 3)
    (within,) = placed(lambda n, _: 10.0 * (n % 3), lost=2)

    assert moved.value.mean == pytest.approx(40, abs=1)
    assert moved.chance is not None
    assert moved.chance < 40
    assert "place in the reply moves its mean by 40" in beware([moved])[0]
    assert (within.value.n, within.value.unscored) == (10, 2)
    assert beware([within]) == ()
    assert math.isnan(within.value.low)


def test_one_place_shows_no_spread() -> None:
    rows = [
        Judgement(one.item.id, "plain", "answer_correctness", 50.0, "read", "fake",
                  parts=(("reading_1", 50.0), ("place_1", 1.0)))
        for one in ITEMS
    ]  # fmt: skip
    plan = AuditPlan(probes=("places",), rubrics=(ANSWER_CORRECTNESS,))

    assert figures(Values((), [rows]), ITEMS, plan=plan) == ()


def test_where_nothing_could_be_read_it_says_so_and_gives_no_number() -> None:
    values = found(lambda *_: None, "facts", "repeats", "length")

    assert all(math.isnan(one.value.mean) for one in values.values())
    assert all(one.value.unscored == 12 for one in values.values())
    assert all("nothing could be read" in line for line in words(values))


def test_figures_stand_by_probe_then_figure_then_rubric() -> None:
    plan = AuditPlan(probes=("contexts", "repeats"), rubrics=(ANSWER_CORRECTNESS, QUESTION_RELEVANCE), resamples=50)
    runs = [judged(plain(ITEMS), plan, steady, n) for n in range(3)]
    made = figures(Values(judged(variants(ITEMS, plan=plan), plan, steady), runs), ITEMS, plan=plan)

    assert [one.probe for one in made] == ["contexts"] * 4 + ["repeats"] * 4
    assert [one.rubric for one in made] == ["answer_correctness", "question_relevance"] * 4


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_of_a_share_is_that_of_scipy(yes: int, n: int, level: float) -> None:
    yes = min(yes, n)
    ours = share(yes, n, level=level)
    theirs = stats.binomtest(yes, n).proportion_ci(level, method="wilson")

    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-7)
    assert ours.low <= ours.mean <= ours.high


def test_a_share_of_nothing_is_nan() -> None:
    none = share(0, 0, unscored=3)

    assert math.isnan(none.mean)
    assert none.unscored == 3
