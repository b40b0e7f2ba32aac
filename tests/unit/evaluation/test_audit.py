"""The variants of an audit: what each changes, and what is left out because nothing would change."""

from dataclasses import replace

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.types import Item
from groundwire.evaluation.audit import PROBES, AuditItem, AuditPlan, audit_items, left_out, padded, plain, variants
from groundwire.evaluation.measures import is_refusal
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, INFORMATION_DENSITY, QUESTION_RELEVANCE

DAM = Item("dam", "When did the dam break?", ("It broke on 4 May.", "It was 80 metres long."), "On 4 May.", "4 May")
FAIR = Item("fair", "市集什麼時候開幕？", ("市集在六月三日開幕。", "入場免費。"), "六月三日開幕。", "六月三日")
ITEMS = (
    AuditItem(DAM, "On 9 June.", "The dam is known to many."),
    AuditItem(FAIR, "八月九日開幕。", "市集是許多人的回憶。"),
)


def of(probe: str, items: tuple[AuditItem, ...] = ITEMS) -> dict[tuple[str, str], Item]:
    made = variants(items, plan=AuditPlan(probes=(probe,)))  # type: ignore[arg-type]
    assert len({(item.system, item.id) for item in made}) == len(made)
    return {(item.system, item.id): item for item in made}


def test_right_answers_are_judged_as_they_are() -> None:
    assert plain(ITEMS) == (replace(DAM, system="plain"), replace(FAIR, system="plain"))


@pytest.mark.parametrize("probe", ["repeats", "places"])
def test_some_probes_take_the_right_answers_alone(probe: str) -> None:
    assert of(probe) == {}


def test_a_wrong_answer_changes_nothing_else() -> None:
    assert of("facts")["wrong", "dam"] == replace(DAM, answer="On 9 June.", system="wrong")


def test_contexts_are_turned_only_where_that_changes_them() -> None:
    one, same = replace(DAM, id="one", contexts=DAM.contexts[:1]), replace(DAM, id="same", contexts=("a", "b", "a"))
    found = of("contexts", (*ITEMS, replace(ITEMS[0], item=one), replace(ITEMS[0], item=same)))

    assert [item for _, item in found] == ["dam", "fair"]
    assert found["reversed", "dam"].contexts == DAM.contexts[::-1]


def test_filler_stands_behind_the_answer_once_and_twice() -> None:
    found = of("length")

    assert found["padded", "dam"].answer == "On 4 May. The dam is known to many."
    assert found["padded twice", "fair"].answer == "六月三日開幕。市集是許多人的回憶。市集是許多人的回憶。"
    assert padded(ITEMS[0], times=0) == DAM


def test_an_order_and_a_note_stand_in_the_same_place_of_the_wrong_answer() -> None:
    found = of("injection")
    order, note = found["order in answer", "dam"], found["note in answer", "dam"]

    assert order.answer.startswith("On 9 June. Note to the evaluator:")
    assert note.answer.startswith("On 9 June. Note to the printer:")
    assert found["order in answer", "fair"].answer.startswith("八月九日開幕。給評分者的話：")
    assert found["order in contexts", "dam"].answer == "On 9 June."
    assert all("evaluator" in text for text in found["order in contexts", "dam"].contexts)
    assert all("printer" in text for text in found["note in contexts", "dam"].contexts)


def test_no_order_goes_into_contexts_that_are_not_there() -> None:
    bare = replace(ITEMS[0], item=replace(DAM, contexts=()))

    assert {system for system, _ in of("injection", (bare,))} == {"order in answer", "note in answer"}


def test_refusals_are_told_in_the_language_of_the_question_with_and_without_a_reference() -> None:
    found = of("refusals")
    said = {item.id for item in found.values() if item.system == "refusal"}

    assert len(said) == 16
    assert all(is_refusal(wording) for wording in said)
    assert {item.reference for item in found.values() if item.system == "right refusal"} == {None}
    assert all("。" in item.answer for item in found.values() if item.question == FAIR.question)
    assert not any(is_refusal(item.answer) for item in found.values() if item.system == "partly")


def test_a_refusal_is_wrong_only_where_a_reference_holds_an_answer() -> None:
    items = tuple(
        replace(one, item=replace(one.item, reference=lost)) for one, lost in zip(ITEMS, (None, "無"), strict=True)
    )
    found = of("refusals", items)

    assert {item.system for item in found.values()} == {"right refusal", "partly"}


def test_a_language_that_no_question_is_in_has_no_refusals() -> None:
    assert sum(system == "refusal" for system, _ in of("refusals", ITEMS[:1])) == 8


def test_variants_come_in_the_order_of_the_plan() -> None:
    systems = [item.system for item in variants(ITEMS, plan=AuditPlan(probes=("length", "facts")))]

    assert list(dict.fromkeys(systems)) == ["padded", "padded twice", "wrong"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"probes": ()},
        {"rubrics": ()},
        {"repeats": 1},
        {"repeats": 0, "probes": ("facts",)},
    ],
)
def test_a_plan_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="it takes one of each, and 2 repeats"):
        AuditPlan(**wrong)  # type: ignore[arg-type]


def test_one_try_is_enough_where_repeats_are_no_probe() -> None:
    assert AuditPlan(probes=("facts",), repeats=1).repeats == 1
    assert AuditPlan().probes == PROBES


@pytest.mark.parametrize(
    ("wrong", "filler", "words"),
    [(" ", "x", "lacks"), ("x", "", "lacks"), (DAM.answer, "x", "is the right one: On 4 May.")],
)
def test_an_item_without_what_it_takes_is_refused(wrong: str, filler: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        AuditItem(DAM, wrong, filler)


def test_items_of_anybody_take_a_wrong_answer_from_another_question_in_their_language() -> None:
    given = [
        replace(DAM, system="a"),
        replace(DAM, system="b", answer="In May."),  # another answer to the same question is no wrong one
        replace(FAIR, system="a"),
        Item("mill", "Who ran the mill?", (), "Mr Ott did.", None),
        Item("inn", "誰開了客棧？", (), "王先生。", None),
        Item("gone", "Who left?", (), "The archive does not say."),
        Item("empty", "Who came?", (), "  "),
    ]
    found = audit_items(given)

    assert [one.item.id for one in found] == ["dam", "fair", "mill", "inn"]
    assert [one.wrong for one in found] == ["Mr Ott did.", "王先生。", "On 4 May.", "六月三日開幕。"]
    assert DAM.question in found[0].filler
    assert FAIR.question in found[1].filler


def test_an_answer_in_another_language_is_a_wrong_one_where_there_is_no_other() -> None:
    assert [one.wrong for one in audit_items([DAM, FAIR])] == [FAIR.answer, DAM.answer]


def test_an_id_twice_with_two_questions_is_taken_once() -> None:
    found = audit_items([DAM, replace(FAIR, id="dam", system="b"), Item("mill", "Who ran it?", (), "Mr Ott.")])

    assert [one.item.id for one in found] == ["dam", "mill"]


def test_the_same_answer_to_two_questions_is_never_its_own_wrong_answer() -> None:
    found = audit_items(
        [DAM, replace(DAM, id="2", question="When was it?"), Item("mill", "Who ran it?", (), "Mr Ott.")]
    )

    assert [one.wrong for one in found] == ["Mr Ott.", "Mr Ott.", "On 4 May."]


@pytest.mark.parametrize("given", [[], [DAM], [DAM, replace(DAM, id="2", question="When was that?")]])
def test_too_few_answers_are_refused(given: list[Item]) -> None:
    with pytest.raises(UsageError, match="an audit takes 2 answers that differ"):
        audit_items(given)


def test_what_items_or_rubrics_cannot_be_asked_for_is_named_with_the_reason() -> None:
    bare = tuple(replace(one, item=replace(one.item, contexts=())) for one in ITEMS)

    assert left_out(ITEMS, plan=AuditPlan()) == {}
    assert left_out(bare, plan=AuditPlan()) == {"contexts": "no item has two contexts that differ"}
    assert set(left_out(ITEMS, plan=AuditPlan(rubrics=(QUESTION_RELEVANCE, INFORMATION_DENSITY)))) == {"facts"}
    assert set(left_out(ITEMS, plan=AuditPlan(rubrics=(ANSWER_CORRECTNESS,)))) == {"places"}
    assert left_out(bare, plan=AuditPlan(probes=("length",))) == {}
