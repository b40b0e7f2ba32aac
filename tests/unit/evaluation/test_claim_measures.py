"""RAGChecker's definitions on tables of claims, their identities, and the reading without a model."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Item
from groundwire.evaluation.claim_measures import (
    BUILTIN,
    CLAIM_MEASURES,
    Claims,
    ClaimTable,
    Truth,
    any_of,
    both,
    claim_judgements,
    claims_without_model,
    denied,
    entails_without_model,
    share,
    table_without_model,
    values,
)

ITEM = Item("1", "What did the flood do?", ("c one", "c two", "c three"), "an answer", "a reference", "s")
TRUTHS = st.sampled_from([True, False])


def names(count: int) -> Claims:
    return Claims(tuple(f"claim {number}" for number in range(count)))


@st.composite
def tables(draw: st.DrawFn, truth: st.SearchStrategy[Truth] = TRUTHS) -> ClaimTable:
    said, wanted, k = draw(st.integers(1, 7)), draw(st.integers(1, 6)), draw(st.integers(1, 4))

    def row(count: int) -> tuple[Truth, ...]:
        return tuple(draw(truth) for _ in range(count))

    item = replace(ITEM, contexts=tuple(f"context {number}" for number in range(k)))
    return ClaimTable(
        item, names(said), names(wanted), row(said), tuple(row(said) for _ in range(k)), row(wanted),
        tuple(row(wanted) for _ in range(k)),
    )  # fmt: skip


@given(tables())
def test_faithfulness_hallucination_and_self_knowledge_add_to_1(table: ClaimTable) -> None:
    found = values(table)

    assert sum(found[name] or 0 for name in ("faithfulness", "hallucination", "self_knowledge")) == pytest.approx(1)


@given(tables())
def test_the_wrong_claims_are_noise_or_hallucination(table: ClaimTable) -> None:
    found = values(table)
    wrong = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination")

    assert sum(found[name] or 0 for name in wrong) == pytest.approx(1 - (found["precision"] or 0))


@given(tables(st.sampled_from([True, False, None])))
def test_an_open_verdict_never_moves_a_value_only_takes_it_away(table: ClaimTable) -> None:
    """Whatever the open verdicts turn out to be, a value that was told stays."""
    found = values(table)
    for guess in (True, False):

        def sure(row: tuple[Truth, ...], guess: bool = guess) -> tuple[Truth, ...]:
            return tuple(guess if truth is None else truth for truth in row)

        closed = ClaimTable(
            table.item, table.answer, table.reference, sure(table.answer_by_reference),
            tuple(map(sure, table.answer_by_context)), sure(table.reference_by_answer),
            tuple(map(sure, table.reference_by_context)),
        )  # fmt: skip
        known = values(closed)
        for name, value in found.items():
            assert value is None or value == pytest.approx(known[name])


def test_the_definitions_on_a_table_worked_out_by_hand() -> None:
    # answer claims: 0 right and in the relevant context, 1 wrong and there, 2 wrong in the irrelevant one only,
    # 3 wrong and nowhere, 4 right and nowhere; the contexts hold two of the reference's four, the answer one of them
    table = ClaimTable(
        replace(ITEM, contexts=("relevant", "irrelevant")),
        names(5),
        names(4),
        answer_by_reference=(True, False, False, False, True),
        answer_by_context=((True, True, False, False, False), (False, True, True, False, False)),
        reference_by_answer=(True, False, False, True),
        reference_by_context=((True, True, False, False), (False, False, False, False)),
    )

    assert values(table) == {
        "precision": pytest.approx(2 / 5),
        "recall": pytest.approx(2 / 4),
        "f1": pytest.approx(2 * 0.4 * 0.5 / 0.9),
        "claim_recall": pytest.approx(2 / 4),
        "context_precision": pytest.approx(1 / 2),
        "context_utilization": pytest.approx(1 / 2),
        "noise_sensitivity_in_relevant": pytest.approx(1 / 5),
        "noise_sensitivity_in_irrelevant": pytest.approx(1 / 5),
        "hallucination": pytest.approx(1 / 5),
        "self_knowledge": pytest.approx(1 / 5),
        "faithfulness": pytest.approx(3 / 5),
    }


def test_without_claims_there_is_no_value_and_never_three_zeros() -> None:
    rows = claim_judgements(ClaimTable(ITEM, Claims(), Claims()), judge="j")

    assert [row.value for row in rows] == [None] * len(CLAIM_MEASURES)
    assert {row.outcome for row in rows} == {"unreadable"}
    assert "the answer claims nothing" in {row.reason for row in rows}


def test_missing_verdicts_leave_the_value_open_and_are_counted() -> None:
    table = ClaimTable(replace(ITEM, contexts=()), names(4), Claims(), (True, None, None, None))
    rows = {row.rubric: row for row in claim_judgements(table, judge="j")}

    assert rows["precision"].value is None
    assert "3 verdicts are missing" in rows["precision"].reason
    assert dict(rows["precision"].parts)["missing"] == 3
    assert rows["faithfulness"].reason == "there are no contexts"


@pytest.mark.parametrize(
    ("item", "name", "outcome", "reason"),
    [
        (replace(ITEM, answer="The archive does not say."), "precision", "abstained", "refusal"),
        (replace(ITEM, answer=" "), "recall", "unreadable", "the answer is empty"),
        (replace(ITEM, reference=None, answer="The river rose."), "precision", "unreadable", "no reference"),
        (replace(ITEM, reference=None), "claim_recall", "unreadable", "the reference claims nothing"),
        (replace(ITEM, contexts=()), "claim_recall", "unreadable", "no contexts"),
        (ITEM, "context_utilization", "unreadable", "the contexts hold no claim"),
    ],
)
def test_a_value_that_is_not_there_says_why(item: Item, name: str, outcome: str, reason: str) -> None:
    (row,) = claim_judgements(table_without_model(item), judge=BUILTIN, names=(name,))

    assert (row.value, row.outcome) == (None, outcome)
    assert reason in row.reason


def test_a_refusal_says_whether_there_was_an_answer_and_leaves_the_contexts_measured() -> None:
    item = replace(ITEM, answer="The archive does not say.", contexts=("The dam broke on Monday.",),
                   reference="The dam broke.")  # fmt: skip
    rows = {row.rubric: row for row in claim_judgements(table_without_model(item), judge=BUILTIN)}

    assert dict(rows["faithfulness"].parts)["answerable"] == 1
    assert (rows["claim_recall"].value, rows["context_precision"].value) == (100, 100)


def test_claims_that_could_not_be_read_keep_their_outcome() -> None:
    table = ClaimTable(ITEM, Claims((), "truncated", "cut"), names(1))
    (row,) = claim_judgements(table, judge="j", names=("precision",))

    assert (row.outcome, row.reason) == ("truncated", "cut")


def test_faithfulness_needs_no_reference() -> None:
    item = replace(ITEM, reference=None, answer="The dam broke.", contexts=("The dam broke on Monday.",))
    found = values(table_without_model(item))

    assert {name: value for name, value in found.items() if value is not None} == {"faithfulness": 1}


def test_noise_is_open_where_the_reference_claims_nothing() -> None:
    table = ClaimTable(replace(ITEM, contexts=("one",)), names(1), Claims(), (False,), ((True,),), (), ((),))
    found = values(table)
    rows = {row.rubric: row for row in claim_judgements(table, judge="j")}

    assert (found["precision"], found["hallucination"], found["faithfulness"]) == (0, 0, 1)
    assert found["noise_sensitivity_in_relevant"] is None
    assert rows["noise_sensitivity_in_irrelevant"].reason == "the reference claims nothing"


def test_f1_is_0_where_nothing_meets() -> None:
    table = ClaimTable(ITEM, names(1), names(1), (False,), (), (False,), ())

    assert values(table)["f1"] == 0


def test_three_values_of_logic() -> None:
    assert [any_of(row) for row in ((), (False, None), (None, True), (False,))] == [False, None, True, False]
    assert [both(True, None), both(None, False), both(True, True)] == [None, False, True]
    assert [denied(True), denied(False), denied(None)] == [False, True, None]
    assert [share(()), share((True, None)), share((True, False))] == [None, None, 0.5]


@pytest.mark.parametrize(
    ("text", "claim", "held"),
    [
        ("The dam broke on Monday. Six people died.", "Six people died when the dam broke.", True),
        ("The dam broke on Monday.", "The dam held.", False),
        ("The river rose by 3.2 metres in Tainan.", "The river rose by 3.9 metres in Tainan.", False),
        ("河水上升三公尺，市長宣布停班。", "市長宣布停班", True),
        ("河水上升三公尺。", "The river rose.", False),
        ("Yes, the dam broke.", "No, the dam broke.", False),
        ("", "The dam broke.", False),
        ('The mayor said "we are ready".', 'The mayor said "we are not ready at all".', False),
        ("The dam broke.", "It is.", False),
    ],
)
def test_words_and_numbers_decide_without_a_model(text: str, claim: str, *, held: bool) -> None:
    assert entails_without_model(text, claim) is held


def test_sentences_are_the_claims_without_a_model() -> None:
    assert claims_without_model("The dam broke. It was. The dam broke. 河水上升。").found == (
        "The dam broke.", "河水上升。",
    )  # fmt: skip


def test_a_copied_answer_is_faithful_right_and_complete() -> None:
    text = "The dam broke on Monday. Six people died in Tainan."
    rows = claim_judgements(table_without_model(replace(ITEM, contexts=(text, "Cake."), answer=text, reference=text)),
                            judge=BUILTIN)  # fmt: skip
    found = {row.rubric: row.value for row in rows}

    assert [found[name] for name in ("precision", "recall", "f1", "faithfulness", "claim_recall")] == [100] * 5
    assert (found["context_precision"], found["hallucination"]) == (50, 0)
    assert rows[0].judge.startswith("RAGChecker, ")
