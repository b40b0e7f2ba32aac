"""Conditions on results: three outcomes, Holm over several, judges and data that differ."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp, ttest_rel

from groundwire.core.errors import UsageError
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.conditions import Condition, GateOptions, GateResult, Held, Side, same_data
from groundwire.evaluation.holding import hold

MEASURE = "accuracy"


def rows(values: list[float | None], *, measure: str = MEASURE, judge: str = "one") -> tuple[Judgement, ...]:
    return tuple(
        Judgement(f"q{n}", "any", measure, value, "unreadable" if value is None else "read", judge)
        for n, value in enumerate(values)
    )


def side(*runs: list[float | None], judge: str = "one", **more: object) -> Side:
    return Side(tuple(rows(run, judge=judge) for run in runs), **more)  # type: ignore[arg-type]


def only(found: GateResult) -> Held:
    (held,) = found.held
    assert held.outcome == found.outcome
    return held


AT_LEAST = Condition("at_least", MEASURE, 0.6)
BETTER = Condition("better", MEASURE)
NOT_WORSE = Condition("not_worse", MEASURE, 0.05)
SPREAD = np.random.default_rng(1).normal(0, 0.1, 60)


def test_e8_three_repeats_around_the_bar_are_undecided_and_say_how_many_more() -> None:
    repeats = side([0.62, 0.62], [0.58, 0.58], [0.61, 0.61])
    held = only(hold([AT_LEAST], new=repeats))

    assert held.outcome == "undecided"
    assert held.unit == "runs"
    assert held.value.n == 3
    assert held.value.mean == pytest.approx(0.6033333)
    expected = ttest_1samp([0.62, 0.58, 0.61], 0.6)
    assert held.p == pytest.approx(expected.pvalue)
    assert (held.value.low, held.value.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert held.more == 304  # (1.96 + 0.8416)² · s² / d² = 306.1 of the normal approximation, of which 3 are there
    assert held.words.startswith("undecided, 304 more runs needed: accuracy is at least 0.6: 0.6033 [")


def test_e8_the_same_three_values_as_items_are_undecided_too() -> None:
    assert only(hold([AT_LEAST], new=side([0.62, 0.58, 0.61]))).words.startswith("undecided, 304 more items needed")


@pytest.mark.parametrize(
    ("condition", "values", "outcome"),
    [
        (AT_LEAST, [0.7, 0.72, 0.71, 0.69], "passed"),
        (AT_LEAST, [0.5, 0.52, 0.51, 0.49], "failed"),
        (AT_LEAST, [0.6, 0.6, 0.6], "passed"),
        (AT_LEAST, [0.59, 0.59], "undecided"),
        (AT_LEAST, [0.0] * 4, "undecided"),
        (AT_LEAST, [0.0] * 5, "failed"),
        (Condition("at_least", MEASURE, -3), [-2.0, -2.0], "passed"),
        (Condition("at_least", MEASURE, 120), [110.0, 110.0], "failed"),
        (Condition("at_least", MEASURE, 60), [80.0] * 3, "undecided"),
        (Condition("at_most", MEASURE, 0.1), [0.0] * 35, "undecided"),
        (Condition("at_most", MEASURE, 0.1), [0.0] * 36, "passed"),
        (Condition("at_most", MEASURE, 0.6), [0.7, 0.72, 0.71, 0.69], "failed"),
        (Condition("at_most", MEASURE, 0.6), [0.5, 0.52, 0.51, 0.49], "passed"),
        (Condition("at_most", MEASURE, 0.6), [0.62, 0.58, 0.61], "undecided"),
        (AT_LEAST, [0.9], "undecided"),
        (AT_LEAST, [], "refused"),
    ],
)
def test_a_bar_is_kept_broken_or_undecided(condition: Condition, values: list[float | None], outcome: str) -> None:
    if outcome == "refused":
        with pytest.raises(UsageError, match="the new results have no 'accuracy'; they have: nothing"):
            hold([condition], new=side(values))
        return
    held = only(hold([condition], new=side(values)))
    assert held.outcome == outcome
    assert held.value.mean == pytest.approx(np.mean(values))
    assert math.isnan(held.value.low) or held.value.low <= held.value.mean <= held.value.high
    assert 0 <= held.p <= 1


@pytest.mark.parametrize(("right", "top"), [(3, 1.0), (36, 1.0), (36, 100.0)])
def test_items_that_are_all_right_leave_room_for_the_share_that_was_not_seen(right: int, top: float) -> None:
    held = only(hold([Condition("at_least", MEASURE, 0.9 * top)], new=side([top] * right)))
    share = binomtest(0, right).proportion_ci(0.95, method="exact").high

    assert (held.value.low, held.value.high) == pytest.approx((top * (1 - share), top))
    assert held.p == pytest.approx(min(1, 2 * 0.9**right))
    assert (held.outcome, held.more) == (("passed", None) if right == 36 else ("undecided", 33))
    groups = {f"q{n}": f"d{n // 2}" for n in range(right)}
    assert only(hold([Condition("at_least", MEASURE, 0.9)], new=side([1.0] * right, clusters=groups))).outcome == (
        "undecided"
    )


def test_a_few_right_answers_pass_no_bar_that_is_broken_in_truth() -> None:
    rng = np.random.default_rng(5)
    drawn = [(rng.uniform(size=n) < 0.85).astype(float).tolist() for n in (2, 3, 5, 8, 12, 20) for _ in range(60)]
    passed = sum(hold([Condition("at_least", MEASURE, 0.9)], new=side(one)).outcome == "passed" for one in drawn)
    assert passed == 0  # of 360, where Student's t passes the 130 that are right throughout


def test_one_value_shows_no_spread_and_that_is_said() -> None:
    held = only(hold([AT_LEAST], new=side([0.9])))
    assert held.reason == "it takes 2 items with a value to see how they spread"
    assert held.more is None
    assert "[" not in held.words


@pytest.mark.parametrize(
    ("gain", "condition", "outcome"),
    [
        (0.2, BETTER, "passed"), (-0.2, BETTER, "failed"), (0.0, BETTER, "undecided"),
        (0.0, NOT_WORSE, "passed"), (-0.2, NOT_WORSE, "failed"), (-0.05, NOT_WORSE, "undecided"),
    ],
)  # fmt: skip
def test_a_comparison_is_paired_by_item(gain: float, condition: Condition, outcome: str) -> None:
    hard = np.random.default_rng(0).uniform(0, 1, 60)  # an unpaired test sees nothing under these
    noise = SPREAD - SPREAD.mean()
    new, old = hard + gain + noise, hard
    held = only(hold([condition], new=side(new.tolist()), old=side(old.tolist())))

    assert held.outcome == outcome
    assert held.value.mean == pytest.approx(gain)
    shift = condition.bound
    assert held.p == pytest.approx(ttest_rel(new + shift, old).pvalue)
    expected = ttest_rel(new, old).confidence_interval(0.95)
    assert (held.value.low, held.value.high) == pytest.approx((expected.low, expected.high))


def test_equal_results_are_not_better_but_not_worse_either() -> None:
    same = side([80.0] * 5)
    better = only(hold([BETTER], new=same, old=same))
    assert (better.outcome, better.reason, better.p) == ("undecided", "no item tells the two apart", 1.0)
    exact = only(hold([Condition("at_least", MEASURE, 80)], new=same))
    assert (exact.outcome, exact.p) == ("passed", 0.0)
    assert only(hold([NOT_WORSE], new=same, old=same)).outcome == "passed"


@pytest.mark.parametrize(("judge", "lower"), [("RAGChecker, x", ()), ("one", ("hallucination",))])
def test_less_is_better_where_a_tool_defines_it_so_or_the_user_says_so(judge: str, lower: tuple[str, ...]) -> None:
    new = Side((rows([0.1, 0.2, 0.15, 0.12], measure="hallucination", judge=judge),))
    old = Side((rows([0.5, 0.61, 0.55, 0.49], measure="hallucination", judge=judge),))
    options = GateOptions(lower_is_better=frozenset(lower))
    held = only(hold([Condition("better", "hallucination")], new=new, old=old, options=options))

    assert held.outcome == "passed"
    assert held.value.high < 0


def test_several_conditions_share_their_false_alarms_and_the_worst_counts() -> None:
    values = (0.6 + 0.03 + SPREAD - SPREAD.mean()).tolist()
    alone = hold([AT_LEAST], new=side(values))
    p = alone.held[0].p
    assert 0.001 < p < 0.05
    bars = [AT_LEAST, *(Condition("at_least", MEASURE, 0.64 + n / 1000) for n in range(20))]
    crowded = hold(bars, new=side(values))

    assert alone.outcome == "passed"
    assert crowded.held[0].outcome == "undecided"  # 21 conditions leave each 0.24 %
    assert crowded.held[0].p == pytest.approx(min(1.0, 21 * p))
    assert crowded.outcome == "undecided"
    assert hold([*bars, Condition("at_least", MEASURE, 0.9)], new=side(values)).outcome == "failed"


def test_after_holms_first_step_the_next_has_more_of_the_level_left() -> None:
    values = (0.6 + 0.04 + SPREAD - SPREAD.mean()).tolist()
    sure = Condition("at_least", MEASURE, 0.3)
    first, second = hold([AT_LEAST, sure], new=side(values)).held
    assert second.value.level == pytest.approx(0.975)
    assert first.value.level == pytest.approx(0.95)
    assert (first.outcome, second.outcome) == ("passed", "passed")


@settings(deadline=None)
@given(st.lists(st.integers(0, 10), min_size=2, max_size=12), st.lists(st.integers(-12, 12), min_size=1, max_size=5))
def test_outcome_and_adjusted_p_agree_whatever_the_values(values: list[int], bounds: list[int]) -> None:
    conditions = [Condition("at_least", MEASURE, bound) for bound in dict.fromkeys(bounds)]
    found = hold(conditions, new=side([float(value) for value in values]))
    for held in found.held:
        assert (held.outcome == "undecided") == (held.p > 0.05 + 1e-9) or abs(held.p - 0.05) < 1e-6
        assert held.outcome != "passed" or held.value.mean >= held.condition.bound
        assert held.outcome != "failed" or held.value.mean < held.condition.bound


def test_false_alarms_stay_at_their_level() -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(400):
        new, old = rng.normal(50, 10, 25), rng.normal(50, 10, 25)
        alarms += hold([BETTER], new=side(new.tolist()), old=side(old.tolist())).outcome != "undecided"
    assert 0.02 < alarms / 400 < 0.085  # 5 %, within 3 standard errors


def test_items_of_a_group_count_as_one() -> None:
    values = [0.7, 0.7, 0.7, 0.5, 0.5, 0.5]
    groups = {f"q{n}": f"d{n // 3}" for n in range(6)}
    held = only(hold([Condition("at_least", MEASURE, 0.5)], new=side(values, clusters=groups)))
    assert held.outcome == "undecided"
    assert held.value.high - held.value.low > 1  # two groups only
    some = only(hold([Condition("at_least", MEASURE, 0.5)], new=side(values, clusters={"q0": "d"})))
    assert some.value.high - some.value.low < 1


def test_what_is_unscored_is_counted_and_too_little_coverage_passes_nothing() -> None:
    values: list[float | None] = [0.9, 0.91, 0.92, 0.9, None, None]
    held = only(hold([AT_LEAST], new=side(values)))
    assert (held.outcome, held.coverage, held.value.unscored) == ("undecided", pytest.approx(4 / 6), 2)
    assert held.reason == "fewer than 80% of the items have a value"
    assert "2 unscored, coverage 67%; fewer than 80%" in held.words
    assert only(hold([AT_LEAST], new=side(values), options=GateOptions(coverage=0.6))).outcome == "passed"
    bad: list[float | None] = [0.2, 0.21, None, None]
    assert only(hold([AT_LEAST], new=side(bad))).outcome == "failed"
    assert only(hold([AT_LEAST], new=side([0.9, 0.91, 0.92], rejected=3))).coverage == 0.5


def test_an_item_that_one_side_lacks_or_has_twice_is_left_out() -> None:
    new, old = rows([0.9, 0.8, 0.7, 0.9, 0.8]), rows([0.1, 0.2, 0.3, 0.1])
    differing = Side(((*new, replace(new[0], value=0.4)),))
    held = only(hold([BETTER], new=differing, old=Side((old,))))
    assert held.value.n == 3
    assert held.coverage == pytest.approx(3 / 5)


def test_of_repeated_runs_the_mean_of_each_item_is_compared() -> None:
    new, old = side([0.8, 0.9, 0.7], [0.6, 0.7, 0.5]), side([0.2, 0.25, 0.1], [0.4, 0.45, None])
    held = only(hold([BETTER], new=new, old=old, options=GateOptions(coverage=0.5)))
    assert held.unit == "items"
    assert held.value.n == 2
    assert held.value.mean == pytest.approx(((0.7 - 0.3) + (0.8 - 0.35)) / 2)


def test_runs_are_held_to_a_bar_on_the_items_that_all_have() -> None:
    held = only(hold([AT_LEAST], new=side([0.9, 0.1], [0.8, None])))
    assert held.coverage == 0.5
    assert held.value.mean == pytest.approx(0.85)


def test_runs_without_a_common_item_have_no_mean() -> None:
    held = only(hold([AT_LEAST], new=side([0.9, None], [None, 0.8])))
    assert held.outcome == "undecided"
    assert held.value.n == 0


def test_e7_two_judges_are_refused() -> None:
    with pytest.raises(UsageError, match="'accuracy' was judged by 2 judges"):
        hold([BETTER], new=side([1.0, 2.0]), old=side([1.0, 2.0], judge="two"))
    with pytest.raises(UsageError, match="judged by 2 judges"):
        hold([AT_LEAST], new=Side((rows([0.7, 0.8]) + rows([0.7], judge="two"),)))


def test_e7_two_judges_are_bridged_by_items_that_both_have_judged() -> None:
    rng = np.random.default_rng(5)
    true = rng.uniform(40, 60, 80)
    old = rows(true.tolist(), judge="v1")
    by_v2 = true + 10 + 15 + rng.normal(0, 2, 80)  # v2 gives 15 more than v1, and the new system is 10 better
    both = [true[n] + 10 + rng.normal(0, 2) if n % 2 else None for n in range(80)]
    judged_by_both = tuple(one for one in rows(both, judge="v1") if one.value is not None)
    new = Side((rows(by_v2.tolist(), judge="v2") + judged_by_both,))
    options = GateOptions(bridge="v1")
    found = hold([BETTER, Condition("at_least", MEASURE, 0.0)], new=new, old=Side((old,)), options=options)
    better, bar = found.held

    assert better.outcome == "passed"
    assert better.value.mean == pytest.approx(10, abs=1)
    assert better.value.low < 10 < better.value.high
    assert better.judge == bar.judge == "v1"
    assert better.more is None
    assert bar.value.n == 40
    assert "accuracy: on the scale of 'v1'" in found.notes
    wide = hold([Condition("not_worse", MEASURE, 1)], new=new, old=Side((old,)), options=options)
    assert wide.outcome == "passed"
    reverse = hold([BETTER], new=Side((old,)), old=new, options=options)
    assert reverse.outcome == "failed"
    level = float(better.value.mean)
    shifted = tuple(replace(one, value=one.value and one.value + level) for one in old)
    assert hold([BETTER], new=new, old=Side((shifted,)), options=options).outcome == "undecided"
    with pytest.raises(UsageError, match="repeated runs cannot be bridged"):
        hold([BETTER], new=Side((new.runs[0], new.runs[0])), old=Side((old,)), options=options)


def test_bridged_values_without_spread_are_sure() -> None:
    new = Side((rows([60.0] * 30, judge="v2") + rows([50.0] * 30, judge="v1"),))
    old = Side((rows([40.0] * 30, judge="v1"),))
    held = only(hold([BETTER], new=new, old=old, options=GateOptions(bridge="v1")))
    assert (held.outcome, held.p) == ("passed", 0.0)


@pytest.mark.parametrize(
    ("field", "other", "words"),
    [
        ("question", "What fell?", "1 items have another question in the new results than in the old ones, as 'q1'"),
        ("reference", "The sea.", "1 items have another reference"),
    ],
)
def test_results_on_other_data_are_refused(field: str, other: str, words: str) -> None:
    items = tuple(Item(f"q{n}", "What  rose?", (), "x", "The river.") for n in range(2))
    changed = (replace(items[0], question="What rose?"), replace(items[1], **{field: other}))
    new, old = side([1.0, 2.0], items=items), side([1.0, 2.0], items=changed)
    with pytest.raises(UsageError, match=words):
        hold([BETTER], new=new, old=old)


def test_data_that_cannot_be_compared_is_said_and_missing_references_are_not_differences() -> None:
    items = (Item("q0", "What rose?", (), "x", "The river."),)
    assert same_data(side([1.0], items=items), side([1.0])) == (
        "the questions are not in both results, so items are matched by their ids alone",
    )
    without = (replace(items[0], reference=None), replace(items[0], id="q9", question="Else?"))
    assert same_data(side([1.0], items=items), side([1.0], items=without)) == ()
    assert same_data(side([1.0]), None) == ()


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([], "0 conditions"),
        ([AT_LEAST, AT_LEAST], "each once"),
        ([BETTER], "need old results"),
        ([Condition("at_least", "f1", 1)], "the new results have no 'f1'; they have: accuracy"),
    ],
)
def test_what_makes_no_sense_is_refused(conditions: list[Condition], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hold(conditions, new=side([0.5, 0.6]))


@pytest.mark.parametrize(
    ("kind", "bound", "words"),
    [("not_worse", 0.0, "has 0; give a margin above 0"), ("at_least", math.nan, "has nan; give a finite number")],
)
def test_bounds_out_of_range_are_refused(kind: str, bound: float, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Condition(kind, MEASURE, bound)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"level": 0.5}, {"level": 1.0}, {"coverage": 1.1}, {"coverage": -0.1}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"between 0\.5 and 1, and 0 to 1"):
        GateOptions(**wrong)  # type: ignore[arg-type]


def test_every_condition_and_outcome_has_words() -> None:
    found = hold([Condition("at_most", MEASURE, 0.9), NOT_WORSE], new=side([0.5, 0.6, 0.55]), old=side([0.5, 0.6, 0.5]))
    assert found.words.splitlines()[0].startswith("passed: accuracy is at most 0.9: 0.55 [")
    assert "accuracy is not worse by more than 0.05: +0.01667 [" in found.words
    assert BETTER.words == "accuracy is better"


def test_sides_on_two_scales_are_refused_and_a_few_odd_values_are_said() -> None:
    share, percent = [0.5 + n / 100 for n in range(30)], [50.3 + n for n in range(30)]
    with pytest.raises(UsageError, match=r"the values of new run to 1, those of old to .*two scales.*one scale"):
        hold([BETTER], new=side(share), old=side(percent))
    bar = hold([AT_LEAST], new=side(share), old=side(percent))
    assert any("two scales" in note for note in bar.notes)
    odd = hold([BETTER], new=side([0.85, *percent[1:]]), old=side(percent))
    assert any("1 of 60 values (0.85)" in note for note in odd.notes)


def test_items_that_stand_twice_with_different_values_are_said() -> None:
    twice = Side((rows([0.7, 0.8, 0.9]) + rows([0.7, 0.6]),))
    found = hold([AT_LEAST], new=twice)
    assert found.held[0].value.unscored == 1
    (note,) = found.notes
    assert note.startswith(
        "accuracy: 1 items stand twice with different values, as 'q1', and count as without one; rep"
    )
