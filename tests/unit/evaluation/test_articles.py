"""ScoreRAG's four criteria on articles: what is asked, what is read, and what stays unscored."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Reply, ReplyToken, TokenChoice, Usage
from groundwire.core.replies import Reading
from groundwire.core.text import count_tokens
from groundwire.core.types import Item
from groundwire.evaluation import articles
from groundwire.evaluation.articles import CRITERIA, ArticleJudge, ScoreSettings, article_judge
from groundwire.testing.models import EVERYTHING

TEXT = "Tainan opens six relief centres\n\nThe river rose 3.2 metres on Friday [1]. Repairs cost NT$340 million [2]."
ITEM = Item("flood", "Flood relief in Tainan", ("The river rose 3.2 metres.", "Repairs cost NT$340 million."), TEXT)
USAGE = Usage(10, 10)


def judge(**settings: object) -> ArticleJudge:
    return article_judge("http:judge", capabilities=EVERYTHING, settings=ScoreSettings(**settings))  # type: ignore[arg-type]


def reply(text: str, finish: str = "stop") -> Answer:
    (request, *_) = articles.requests(judge(), ITEM)
    return Answer(request, Reply(text, finish, USAGE))  # type: ignore[arg-type]


def four(*values: float) -> str:
    return json.dumps(dict(zip((one.name for one in CRITERIA), values, strict=True)))


def reading(*values: float) -> Reading[tuple[float, ...]]:
    return Reading(values, "read")


UNREAD: Reading[tuple[float, ...]] = Reading(None, "unreadable", "no numbers")


def test_the_weights_are_the_papers_and_add_to_one() -> None:
    assert [one.weight for one in CRITERIA] == [0.20, 0.35, 0.10, 0.35]
    assert sum(one.weight for one in CRITERIA) == pytest.approx(1)


def test_an_article_is_asked_for_as_often_as_wanted_with_seeds_of_their_own() -> None:
    asked = articles.requests(judge(readings=3, seed=5, temperature=0.4), ITEM)

    assert [(one.seed, one.reading, one.temperature) for one in asked] == [(5, 0, 0.4), (6, 1, 0.4), (7, 2, 0.4)]
    said = asked[0].messages[-1].text
    assert "Flood relief in Tainan" in said
    assert "The river rose 3.2 metres." in said
    assert "3.2 metres on Friday [1]." in said
    assert asked[0].schema
    assert asked[0].stop == ('"reason"',)


def test_the_prompt_is_in_the_language_of_the_article() -> None:
    chinese = replace(ITEM, answer="臺南開設六處收容中心。河水週五上漲3.2公尺。")

    assert "主題：" in articles.requests(judge(), chinese)[0].messages[-1].text


def test_blind_takes_marks_and_the_list_of_sources_out() -> None:
    text = f"{TEXT}\n\nSources\n[1] River, Tainan Post\n[2] Repairs\n"
    item = replace(ITEM, answer=text)

    open_, blind = (articles.requests(judge(blind=flag), item)[0].messages[-1].text for flag in (False, True))
    assert "[1] River, Tainan Post" in open_
    assert "[1]" not in blind
    assert "Tainan Post" not in blind
    assert "NT$340 million." in blind


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("One [1]. Two 【2】.", "One. Two."),
        ("水位上漲[1]。\n\n## 資料來源\n\n[1] 報導\n[2] 另一則", "水位上漲。"),
        ("A.\n\nSources:\n- [1] x\n- [2] y\n", "A."),
        ("A.\n\nReferences\n1. x\n2. y", "A."),
        ("A.\n\nSources\nsaid so on Friday.", "A.\n\nSources\nsaid so on Friday."),
        ("In [2019] it rained.", "In [2019] it rained."),
        ("No marks.", "No marks."),
    ],
)
def test_only_marks_and_a_list_at_the_end_are_taken_out(given: str, expected: str) -> None:
    assert articles.unmarked(given) == expected


def test_the_sources_share_a_budget_and_short_ones_leave_room() -> None:
    long = "The river rose again. " * 200
    item = replace(ITEM, contexts=("Short one.", long, long))

    shown, cut = articles.shown_sources(judge(source_tokens=400), item)

    assert shown[0] == "Short one."
    assert cut == 2
    assert all(text.endswith("[…]") for text in shown[1:])
    assert sum(map(count_tokens, shown)) <= 410


def test_a_small_window_of_the_model_cuts_the_sources_further() -> None:
    able = replace(EVERYTHING, context_tokens=1200)
    narrow = article_judge("http:judge", capabilities=able)
    item = replace(ITEM, contexts=("The river rose again. " * 200,))

    assert count_tokens(articles.shown_sources(narrow, item)[0][0]) < 300


def test_what_is_whole_is_not_marked_as_cut() -> None:
    assert articles.shown_sources(judge(source_tokens=1), replace(ITEM, contexts=("One sentence only.",))) == (
        ("One sentence only.",),
        0,
    )


@pytest.mark.parametrize(
    ("text", "finish", "outcome", "value"),
    [
        (four(4, 3, 5, 2), "stop", "read", (4, 3, 5, 2)),
        ('{"coherence": 4, "accuracy": 3, "professionalism": 5, "informativeness": 2, ', "stop", "read", (4, 3, 5, 2)),
        (f"Here: {four(4, 3, 5, 2)}", "stop", "recovered", (4, 3, 5, 2)),
        (four(4, 3, 5, 80), "stop", "out_of_range", None),
        (four(0.85, 3, 5, 4), "stop", "out_of_range", None),
        ('{"coherence": 4}', "stop", "unreadable", None),
        (four(4, 3, 5, 2), "length", "truncated", None),
        ("I cannot rate this article.", "stop", "abstained", None),
    ],
)
def test_four_numbers_are_read_or_none(text: str, finish: str, outcome: str, value: object) -> None:
    found = articles.read(judge(), reply(text, finish))

    assert (found.outcome, found.value) == (outcome, value)


def test_a_call_without_a_reply_is_unreadable_with_its_reason() -> None:
    request = articles.requests(judge(), ITEM)[0]

    found = articles.read(judge(), Answer(request, None, Failure(FailureKind.BUSY, "503 three times")))
    assert (found.outcome, found.reason) == ("unreadable", "no reply: 503 three times")
    assert articles.read(judge(), Answer(request)).reason == "no reply: none came"
    assert articles.repair(judge(), ITEM, Answer(request), reading=found) is None


def test_an_unread_reply_is_asked_for_once_more_and_keeps_both_reasons() -> None:
    answer = reply('{"coherence": 4}')
    first = articles.read(judge(), answer)

    again = articles.repair(judge(), ITEM, answer, reading=first)
    assert again is not None
    assert '{"coherence": 4}' in again.messages[-1].text
    assert articles.repair(judge(), ITEM, answer, reading=reading(1, 2, 3, 4)) is None
    assert articles.read_again(judge(), reply(four(4, 3, 5, 2)), before=first).value == (4, 3, 5, 2)
    failed = articles.read_again(judge(), reply("Well."), before=first)
    assert failed.value is None
    assert "asked once more" in failed.reason


def test_a_score_is_the_mean_of_readings_and_the_total_their_weighted_sum() -> None:
    score = articles.scored(judge(), ITEM, [reading(4, 3, 5, 2), reading(5, 3, 5, 4), reading(3, 3, 5, 3)])

    assert [one.value for one in score.criteria] == [4, 3, 5, 3]
    assert score.criteria[0].spread == pytest.approx(1)  # statistics.stdev of 4, 5, 3
    assert score.total == pytest.approx(0.2 * 4 + 0.35 * 3 + 0.1 * 5 + 0.35 * 3)
    assert score.spread is not None
    assert (score.asked, score.unread, score.sources, score.outcome) == (3, 0, 2, "read")


def test_an_unread_reading_is_counted_and_never_a_low_value() -> None:
    score = articles.scored(judge(), ITEM, [reading(4, 4, 4, 4), UNREAD, reading(4, 4, 4, 4)])

    assert score.total == pytest.approx(4)
    assert (score.unread, score.outcome) == (1, "recovered")
    assert "1 of 3 readings unread: no numbers" in score.reason


def test_what_was_recovered_is_said() -> None:
    mended: Reading[tuple[float, ...]] = Reading((4, 4, 4, 4), "recovered", "text around the JSON")

    score = articles.scored(judge(), ITEM, [reading(4, 4, 4, 4), mended])
    assert (score.outcome, score.reason) == ("recovered", "text around the JSON")


def test_no_reading_at_all_leaves_everything_unscored() -> None:
    score = articles.scored(judge(), ITEM, [UNREAD, UNREAD])

    assert score.total is None
    assert all(one.value is None for one in score.criteria)
    assert all(row.value is None and row.outcome == "unreadable" for row in articles.judgements(judge(), score))
    assert articles.scored(judge(), ITEM, []).reason == "no reading was asked for"


def test_without_sources_accuracy_and_total_stay_unscored() -> None:
    bare = replace(ITEM, contexts=("  ",))
    score = articles.scored(judge(), bare, [reading(4, 5, 4, 4)])

    assert [one.value for one in score.criteria] == [4, None, 4, 4]
    assert score.total is None
    assert "no sources were given" in score.reason
    rows = {row.rubric: row for row in articles.judgements(judge(), score)}
    assert rows["scorerag_accuracy"].outcome == "unreadable"
    assert rows["scorerag_coherence"].outcome == "read"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("   ", "unreadable"),
        ("The archive does not say.", "abstained"),
        ("I cannot answer.", "abstained"),
    ],
)
def test_an_empty_article_or_a_refusal_is_not_asked_about(text: str, outcome: str) -> None:
    item = replace(ITEM, answer=text)

    assert articles.requests(judge(), item) == ()
    score = articles.scored(judge(), item, [])
    assert (score.outcome, score.total) == (outcome, None)


def test_judgements_run_from_0_to_100_and_keep_the_level() -> None:
    score = articles.scored(judge(), ITEM, [reading(1, 5, 3, 2), reading(1, 5, 3, 2)])
    rows = articles.judgements(judge(), score)

    assert [row.rubric for row in rows] == list(articles.RUBRICS)
    assert [row.value for row in rows][:4] == [0, 100, 50, 25]
    assert dict(rows[2].parts) == {"level": 3, "spread": 0, "readings": 2, "unread": 0, "words": score.words}
    assert rows[0].judge == judge().fingerprint


@given(st.floats(1, 5))
def test_levels_come_back_from_the_scale_of_judgements(value: float) -> None:
    assert articles.from_hundred(articles.to_hundred(value)) == pytest.approx(value, abs=1e-6)


def test_judges_that_differ_in_anything_have_other_fingerprints() -> None:
    prints = {judge(**how).fingerprint for how in ({}, {"readings": 5}, {"blind": True}, {"seed": 1})}

    assert len(prints) == 4


def test_padding_shows_in_the_words() -> None:
    padded = replace(ITEM, answer=TEXT + " The river is a river of many waters." * 20)

    short, long = (articles.scored(judge(), one, [reading(4, 4, 4, 4)]) for one in (ITEM, padded))
    assert long.words > 4 * short.words
    assert long.total == short.total


def tokens(*numbers: tuple[int, float, int]) -> tuple[ReplyToken, ...]:
    """A reply of four keys; each number with its probability and the number that has the rest."""
    import math

    made: list[ReplyToken] = []
    for place, (one, (value, share, other)) in enumerate(zip(CRITERIA, numbers, strict=True)):
        lead = ("{" if not place else ", ") + f'"{one.name}": '
        made.append(ReplyToken(lead, 0.0, (TokenChoice(lead, 0.0),)))
        choices = (TokenChoice(str(value), math.log(share)), TokenChoice(str(other), math.log(1 - share)))
        made.append(ReplyToken(str(value), math.log(share), choices))
    made.append(ReplyToken("}", 0.0, (TokenChoice("}", 0.0),)))
    return tuple(made)


def test_the_expectation_over_tokens_is_one_call_and_lies_between_levels() -> None:
    expecting = judge(how="expected")
    (request,) = articles.requests(expecting, ITEM)
    assert (request.temperature, request.top_logprobs) == (0, 20)
    made = tokens((4, 0.75, 5), (3, 0.5, 4), (5, 0.9, 4), (2, 0.5, 3))
    answer = Answer(request, Reply("".join(one.text for one in made), "stop", USAGE, made))

    found = articles.read(expecting, answer)
    assert found.value == pytest.approx((4.25, 3.5, 4.9, 2.5))
    assert articles.scored(expecting, ITEM, [found]).spread is None


def test_an_expectation_that_cannot_be_taken_is_unread() -> None:
    expecting = judge(how="expected")
    (request,) = articles.requests(expecting, ITEM)

    bare = articles.read(expecting, Answer(request, Reply(four(4, 3, 5, 2), "stop", USAGE)))
    declined = articles.read(expecting, Answer(request, Reply("I cannot rate this.", "stop", USAGE)))
    assert (bare.value, bare.outcome) == (None, "unreadable")
    assert declined.outcome == "abstained"


def test_without_log_probabilities_expected_becomes_readings_aloud() -> None:
    made = article_judge("m", capabilities=Capabilities(), settings=ScoreSettings(how="expected", readings=2))

    assert made.settings.how == "readings"
    assert made.note == "'m' gives no log-probabilities: 2 readings an article in place of 'expected'"
    assert articles.requests(made, ITEM)[0].schema == ""


def test_an_article_without_sources_is_asked_about_all_the_same() -> None:
    said = articles.requests(judge(), replace(ITEM, contexts=()))[0].messages[-1].text

    assert said.count("<<<") == 1


def test_a_model_that_thinks_gets_room_for_it() -> None:
    thinking = article_judge("m", capabilities=replace(EVERYTHING, thinking=True))

    assert articles.requests(thinking, ITEM)[0].max_tokens > articles.requests(judge(), ITEM)[0].max_tokens + 1000


@pytest.mark.parametrize("wrong", [{"readings": 0}, {"temperature": 0.0}, {"source_tokens": 0}])
def test_settings_out_of_range_are_refused_with_their_numbers(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="must be 1 or more"):
        ScoreSettings(**wrong)  # type: ignore[arg-type]
