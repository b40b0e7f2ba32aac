"""CCRS by a model: what is asked, what is read, refused, repaired and reported."""

import json
import math
from dataclasses import replace

import pytest

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Reply, ReplyToken, TokenChoice, Usage
from groundwire.core.prompts import LANGUAGES
from groundwire.core.text import count_tokens
from groundwire.core.types import Item
from groundwire.evaluation.model_judge import (
    Call,
    JudgeSettings,
    ModelJudge,
    calls,
    correctness,
    judgements,
    model_judge,
    ordered,
    read,
    repair,
    repaired,
    without_value,
)
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, CCRS, CONTEXTUAL_COHERENCE, QUESTION_RELEVANCE

ABLE = Capabilities(schema=True, logprobs=20)
NAMES = [rubric.name for rubric in CCRS]
ITEM = Item("7", "How far did the river rise?", ("The river rose by two metres.", "It rained."), "By two metres.",
            "two metres", "a")  # fmt: skip


def judge(**how: object) -> ModelJudge:
    return model_judge("scripted:one", capabilities=ABLE, settings=JudgeSettings(**how))  # type: ignore[arg-type]


def answered(call: Call, text: str, finish: str = "stop", tokens: tuple[ReplyToken, ...] = ()) -> Answer:
    return Answer(call.request, Reply(text, finish, Usage(1, 1), tokens))  # type: ignore[arg-type]


def shared(value: object = 80, **others: object) -> str:
    return json.dumps({"evidence": "It holds.", **dict.fromkeys(NAMES, value), **others})


def judged(who: ModelJudge, item: Item, *texts: str) -> dict[str, object]:
    made = calls(who, item)
    given = [
        one for call, text in zip(made, texts, strict=True) for one in read(who, call, answer=answered(call, text))
    ]
    return {row.rubric: row for row in judgements(who, item, given=given)}


def test_paper_mode_makes_five_calls_and_shared_mode_one() -> None:
    paper, together = calls(judge(mode="paper"), ITEM), calls(judge(), ITEM)

    assert [call.rubrics for call in paper] == [(rubric,) for rubric in CCRS]
    assert len(together) == 1
    assert set(together[0].rubrics) == set(CCRS)
    assert all(call.request.stop == ('"reason"',) for call in paper)
    assert together[0].request.stop == ()


def test_each_paper_call_sees_only_what_its_rubric_compares() -> None:
    texts = {call.rubrics[0].name: call.request.messages[-1].text for call in calls(judge(mode="paper"), ITEM)}

    assert "It rained." in texts["contextual_coherence"]
    assert "It rained." not in texts["answer_correctness"]
    assert "How far" not in texts["information_recall"]
    assert "How far" in texts["question_relevance"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shared_call_needs_at_most_1300_tokens_on_a_sample_of_666(language: str) -> None:
    word, question = {"en": ("water ", "How far did it rise?")}.get(language, ("水位", "水位上升多少？"))

    def words(count: int) -> str:
        text = ""
        while count_tokens(text + word) <= count:
            text += word
        return text

    item = Item("1", question, tuple(words(108) for _ in range(5)), words(70), words(48), "a")
    sample = sum(map(count_tokens, (question, *item.contexts, item.answer, item.reference or "")))
    (call,) = calls(judge(), item)

    assert 640 <= sample <= 666
    assert sum(count_tokens(message.text) for message in call.request.messages) + (666 - sample) <= 1300


def test_correctness_is_published_in_paper_mode_and_graded_beside_it() -> None:
    item = replace(ITEM, answer="It rose by two metres.")
    rows = judged(judge(mode="paper"), item, *['{"score": 90, '] * 5)
    paper, graded = rows["answer_correctness"], rows["answer_correctness_graded"]
    parts = dict(paper.parts)  # type: ignore[attr-defined]

    assert paper.value == pytest.approx(0.7 * 100 * 0 + 0.3 * 90)  # type: ignore[attr-defined]
    assert parts["exact_match"] == 0
    assert parts["judge"] == 90
    assert graded.value == pytest.approx(70 * parts["match"] + 27, abs=1e-3)  # type: ignore[attr-defined]
    assert graded.value > paper.value  # type: ignore[attr-defined]


def test_an_exact_match_gives_the_paper_its_seventy_points() -> None:
    assert correctness(replace(ITEM, answer="two metres"), 50)["paper_value"] == pytest.approx(85)
    assert correctness(replace(ITEM, answer="two metres"), 50)["graded_value"] == pytest.approx(85)
    assert correctness(replace(ITEM, reference="…"), 50)["graded_value"] == pytest.approx(15)


def test_shared_mode_has_the_graded_value_and_no_further_column() -> None:
    rows = judged(judge(), ITEM, shared(80))

    assert list(rows) == NAMES
    assert rows["question_relevance"].value == 80  # type: ignore[attr-defined]
    assert rows["answer_correctness"].value == pytest.approx(94)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("item", "lacking"),
    [
        (replace(ITEM, contexts=(" ",)), {"contextual_coherence"}),
        (replace(ITEM, reference=None), {"answer_correctness", "information_recall"}),
    ],
)
def test_what_is_not_there_is_asked_for_as_null_and_never_taken(item: Item, lacking: set[str]) -> None:
    (call,) = calls(judge(), item)
    schema = json.loads(call.request.schema)
    rows = judged(judge(), item, shared(70))

    assert {name for name, what in schema["properties"].items() if what == {"type": "null"}} == lacking
    assert all(f'"{name}": null' in call.request.messages[-1].text for name in lacking)
    assert {name for name, row in rows.items() if row.value is None} == lacking  # type: ignore[attr-defined]
    assert len(calls(judge(mode="paper"), item)) == 5 - len(lacking)


def test_a_refusal_is_told_before_anybody_is_asked() -> None:
    refusing = replace(ITEM, answer="The archive does not say.")
    rows = judged(judge(), refusing)

    assert calls(judge(), refusing) == ()
    assert {row.outcome for row in rows.values()} == {"abstained"}  # type: ignore[attr-defined]
    assert dict(rows["question_relevance"].parts) == {"answerable": 1.0}  # type: ignore[attr-defined]
    unanswerable = judged(judge(), replace(refusing, reference=None))
    assert dict(unanswerable["question_relevance"].parts) == {"answerable": 0.0}  # type: ignore[attr-defined]
    assert without_value(replace(ITEM, answer=" "), QUESTION_RELEVANCE) == ("unreadable", "the answer is empty")


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("Nice.", "stop", "unreadable"),
        ("", "stop", "unreadable"),
        ('{"evidence": "It ho', "length", "truncated"),
        ("I cannot judge this.", "stop", "abstained"),
        ("", "refused", "abstained"),
        (shared(850), "stop", "out_of_range"),
        (shared(0.85), "stop", "out_of_range"),
        (shared(-5), "stop", "out_of_range"),
        (shared(None), "stop", "unreadable"),
    ],
)
def test_what_cannot_be_read_is_typed_and_never_a_number(text: str, finish: str, outcome: str) -> None:
    who = judge()
    (call,) = calls(who, ITEM)
    given = read(who, call, answer=answered(call, text, finish))
    rows = judgements(who, ITEM, given=given)

    assert {one.reading.outcome for one in given} == {outcome}
    assert [row.value for row in rows] == [None] * 5
    assert all(row.reason for row in rows)


def test_a_call_without_a_reply_is_unread_and_not_repaired() -> None:
    who = judge()
    (call,) = calls(who, ITEM)
    answer = Answer(call.request, failure=Failure(FailureKind.BUSY, "no line"))
    given = read(who, call, answer=answer)

    assert "no line" in given[0].reading.reason
    assert "none came" in read(who, call, answer=Answer(call.request))[0].reading.reason
    assert repair(who, call, answer=answer, given=given) is None


def test_one_bad_value_of_five_leaves_the_others_and_is_asked_for_once_more() -> None:
    who = judge()
    (call,) = calls(who, ITEM)
    answer = answered(call, shared(80, question_relevance=180))
    given = read(who, call, answer=answer)
    request = repair(who, call, answer=answer, given=given)
    mended = repaired(given, read(who, call, answer=answered(call, shared(60))))
    lost = repaired(given, read(who, call, answer=answered(call, "Nice.")))
    rows = {row.rubric: row for row in judgements(who, ITEM, given=mended)}

    assert request is not None
    assert "180 is outside" in request.messages[-1].text
    assert (rows["question_relevance"].value, rows["question_relevance"].outcome) == (60, "recovered")
    assert (rows["contextual_coherence"].value, rows["contextual_coherence"].outcome) == (80, "read")
    assert [one.reading.value for one in lost].count(None) == 1
    assert "asked once more" in next(one.reading.reason for one in lost if one.reading.value is None)
    assert repair(who, call, answer=answer, given=mended) is None


def test_repeats_are_seeded_and_every_reading_is_kept() -> None:
    who = judge(repeats=3, seed=5)
    made = calls(who, ITEM)
    rows = judged(who, ITEM, shared(60), shared(90), "Nice.")
    row = rows["question_relevance"]
    parts = dict(row.parts)  # type: ignore[attr-defined]

    assert [call.request.seed for call in made] == [5, 6, 7]
    assert {call.request.temperature for call in made} == {0.7}
    assert [parts["reading_1"], parts["reading_2"], parts["unread"]] == [60, 90, 1]
    assert parts["spread"] == pytest.approx(math.sqrt(450), abs=1e-5)
    assert (row.value, row.outcome) == (75, "recovered")  # type: ignore[attr-defined]
    assert "1 of 3 readings unread" in row.reason  # type: ignore[attr-defined]


def test_the_order_is_drawn_by_item_and_repeat_the_same_for_every_system() -> None:
    who = judge(repeats=2)
    orders = {ordered(who, replace(ITEM, id=str(n)), repeat=0) for n in range(60)}
    keys = list(json.loads(calls(who, ITEM)[0].request.schema)["properties"])

    assert len(orders) > 30
    assert ordered(who, ITEM, repeat=0) == ordered(who, replace(ITEM, system="b"), repeat=0)
    repeats = [ordered(who, each, repeat=0) == ordered(who, each, repeat=1) for each in (ITEM, replace(ITEM, id="8"))]
    assert False in repeats
    assert keys == ["evidence", *(rubric.name for rubric in ordered(who, ITEM, repeat=0))]
    assert ordered(judge(shuffled=False), ITEM, repeat=0) == CCRS


def test_values_are_read_by_name_whatever_their_order() -> None:
    text = json.dumps({"evidence": "x", **{name: 10 * place for place, name in enumerate(reversed(NAMES), 1)}})
    rows = judged(judge(), ITEM, text)

    assert rows["information_recall"].value == 10  # type: ignore[attr-defined]
    assert rows["contextual_coherence"].value == 50  # type: ignore[attr-defined]


def tokens_of(text: str, number: str, other: str) -> tuple[ReplyToken, ...]:
    before, after = text.split(number, 1)
    choices = (TokenChoice(number, math.log(0.5)), TokenChoice(other, math.log(0.5)))
    return (ReplyToken(before, 0.0), ReplyToken(number, math.log(0.5), choices), ReplyToken(after, 0.0))


def test_the_expectation_is_taken_where_tokens_are_told() -> None:
    who = judge(mode="paper", expected=True)
    call = calls(who, ITEM)[1]
    text = '{"score": 80, '
    (given,) = read(who, call, answer=answered(call, text, tokens=tokens_of(text, "80", "40")))

    assert call.request.top_logprobs == 20
    assert given.reading.value == pytest.approx(60)


def test_without_log_probabilities_nothing_is_expected_and_it_is_said() -> None:
    who = model_judge("m", capabilities=Capabilities(), settings=JudgeSettings(expected=True))

    assert not who.settings.expected
    assert "no log-probabilities" in who.note
    assert calls(who, ITEM)[0].request.schema == ""


def test_fingerprints_differ_with_mode_parameters_model_and_rubrics() -> None:
    some = model_judge("scripted:one", capabilities=ABLE, rubrics=CCRS[:2])
    other = model_judge("scripted:two", capabilities=ABLE)
    prints = [
        one.fingerprint for one in (judge(), judge(mode="paper"), judge(seed=1), judge(expected=True), some, other)
    ]

    assert len(set(prints)) == 6
    assert judge().fingerprint == judge().fingerprint
    assert "scripted:one/ccrs-shared/" in prints[0]


@pytest.mark.parametrize(
    "wrong", [{"repeats": 0}, {"temperature": -1}, {"temperature": math.inf},
              {"repeats": 2, "temperature": 0, "mode": "paper"}, {"repeats": 2, "temperature": 0, "shuffled": False}]
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        JudgeSettings(**wrong)  # type: ignore[arg-type]


def test_repeats_at_temperature_0_are_allowed_where_the_order_differs() -> None:
    assert JudgeSettings(repeats=2, temperature=0).heat == 0


def test_a_thinking_model_gets_room_to_think() -> None:
    thinking = model_judge("m", capabilities=Capabilities(thinking=True))

    assert calls(thinking, ITEM)[0].request.max_tokens > 2000


def test_nothing_given_is_no_value() -> None:
    who = model_judge("m", capabilities=ABLE, rubrics=(CONTEXTUAL_COHERENCE, ANSWER_CORRECTNESS))
    rows = judgements(who, ITEM, given=())

    assert [(row.value, row.outcome, row.reason) for row in rows] == [(None, "unreadable", "nothing was asked")] * 2


def test_a_reading_that_was_recovered_says_how() -> None:
    who = judge(mode="paper")
    rows = judged(who, ITEM, *['Score: {"score": "70", "reason": "x"}'] * 5)

    assert rows["question_relevance"].outcome == "recovered"  # type: ignore[attr-defined]
    assert rows["question_relevance"].reason  # type: ignore[attr-defined]
