"""Ratings out of replies: read right, or refused with the reply kept; never 0 by mistake."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.language import Finish, Reply, Usage
from groundwire.core.ratings import off_scale, read_rating, read_ratings


def said(text: str, finish: Finish = "stop") -> Reply:
    return Reply(text, finish, Usage(10, 3))


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        # the rows of CASES B5
        ("85分", 85, "read"),
        ("分數：85", 85, "read"),
        ("８５", 85, "read"),
        ("85/100", 85, "read"),
        ("9/10", 90, "recovered"),
        ("0-100 → 85", 85, "recovered"),
        ("Relevance: high", None, "unreadable"),
        ("85.5", 85.5, "read"),
        ("1000", None, "out_of_range"),
        ("-5", None, "out_of_range"),
        ("<think>maybe 40</think>85", 85, "recovered"),
        ('{"score": 85,}', 85, "recovered"),
        ("{'score': 85}", 85, "recovered"),
        ('Draft: {"score": 60}\nFinal: {"score": 85}', 85, "recovered"),
        ("", None, "unreadable"),
        ("I'm sorry, but I can't rate this.", None, "abstained"),
        ("NaN", None, "unreadable"),
        ("null", None, "unreadable"),
        ("0.85", None, "out_of_range"),
        # units, labels and dress
        ("85", 85, "read"),
        ("0", 0, "read"),
        ("100", 100, "read"),
        ("1", 1, "read"),
        ("85 %", 85, "read"),
        ("85％", 85, "read"),
        ("85 points", 85, "read"),
        ("８５分。", 85, "read"),
        ("+85", 85, "read"),
        ("~85", 85, "read"),
        ("about 85", 85, "read"),
        ("大約85分", 85, "read"),
        ("**85**", 85, "read"),
        ("```\n85\n```", 85, "read"),
        ('"85"', 85, "read"),
        ("Relevance score: 85", 85, "read"),
        ("The rating is 85.", 85, "read"),
        ("評分為 85 分", 85, "read"),
        ("85/100分", 85, "read"),
        # wholes
        ("4/5", 80, "recovered"),
        ("8.5 out of 10", 85, "recovered"),
        ("百分之85", 85, "read"),
        ("百分之八十五", 85, "read"),
        ("百分之百", 100, "read"),
        ("10分之9", 90, "recovered"),
        ("百分之百百", None, "unreadable"),
        ("105/100", None, "out_of_range"),
        ("-5/100", None, "out_of_range"),
        ("7/3", None, "out_of_range"),
        ("11/10", None, "out_of_range"),
        # a scale restated
        ("Rating (0 to 100): 85", 85, "recovered"),
        ("On a scale of 0 to 100, 85", 85, "recovered"),
        ("滿分100分，得85分", 85, "recovered"),
        ("100分中的85分", 85, "recovered"),
        # the number that counts among others
        ("Score: 85\nThe article of 2024-05-06 names 3 people.", 85, "recovered"),
        ("85\nThe article of 2024 names 3 people.", 85, "recovered"),
        ("85, because it covers 3 towns.", 85, "recovered"),
        ("I would give it 85.", 85, "recovered"),
        ("I rate it 85 out of 100", 85, "recovered"),
        ("Draft rating: 60. Final rating: 85.", 85, "recovered"),
        ("最終評分：85\n初步評分：60", 85, "recovered"),
        ("It is a good source and gets 85/100 from me.", 85, "recovered"),
        # doubt
        ("80-90", None, "unreadable"),
        ("between 80 and 90", None, "unreadable"),
        ("85±5", None, "unreadable"),
        ("Relevance: 80\nConsistency: 90", None, "unreadable"),
        ("Relevance: high, as it names 3 towns", None, "unreadable"),
        ("About 30 minutes of footage", None, "unreadable"),
        ("3 people", None, "unreadable"),
        ("30分鐘", None, "unreadable"),
        ("GPT-4 says high", None, "unreadable"),
        ("S3.2", None, "unreadable"),
        ("one of the best articles", None, "unreadable"),
        ("N/A", None, "unreadable"),
        ("-inf", None, "unreadable"),
        ("A+", None, "unreadable"),
        ("👍", None, "unreadable"),
        ("Rating: 85-90", None, "unreadable"),
        ("Score: 85 → 90", None, "unreadable"),
        (">80", None, "unreadable"),
        ("Score: ≥ 80", None, "unreadable"),
        ("80+", None, "unreadable"),
        ("滿分10分，得8分", None, "unreadable"),
        ("Score (out of 10): 8", None, "unreadable"),
        ("Score (out of 100): 85", 85, "recovered"),
        ("Score: 8 (out of 10)", 80, "recovered"),
        ("<score>85</score>", 85, "recovered"),
        ("eighty five out of one hundred", 85, "recovered"),
        # another scale
        ("1.0", None, "out_of_range"),
        (".9", None, "out_of_range"),
        ("1,000", None, "out_of_range"),
        ("0.5%", 0.5, "read"),
        # in words
        ("eighty-five", 85, "recovered"),
        ("Score: eighty-five.", 85, "recovered"),
        ("one hundred", 100, "recovered"),
        ("minus five", None, "out_of_range"),
        ("八十五分", 85, "recovered"),
        ("分數：八十五", 85, "recovered"),
        ("一百二十", None, "out_of_range"),
        ("負五分", None, "out_of_range"),
        ("百百", None, "unreadable"),
        # JSON
        ('{"score": 85}', 85, "read"),
        ('```json\n{"score": 85}\n```', 85, "recovered"),
        ('{"relevanceScore": 85, "reason": "names 3 towns"}', 85, "read"),
        ('{"score": "85分"}', 85, "recovered"),
        ('{"score": "9/10"}', 90, "recovered"),
        ('{"relevance": "high", "score": 85}', 85, "read"),
        ('{"rating": {"value": 85}}', 85, "read"),
        ('{"result": {"score": 85, "reason": "x"}}', 85, "read"),
        ('{"draft": 60, "final": 85}', 85, "read"),
        ('{"draft": {"score": 60}, "final": {"score": 85}}', 85, "read"),
        ('{"score": 85} {"score": 85}', 85, "recovered"),
        ('{"score": 60}\n{"score": 85}', None, "unreadable"),
        ('{"relevance": 85, "consistency": 70}', None, "unreadable"),
        ('{"articles": 3}', None, "unreadable"),
        ('{"score": null}', None, "unreadable"),
        ('{"score": true}', None, "unreadable"),
        ('{"score": NaN}', None, "unreadable"),
        ('{"score": "high"}', None, "unreadable"),
        ('{"score": 85, "score": 60}', None, "unreadable"),
        ('{"score": 85, "reason": "cut', None, "unreadable"),
        ('{"score": 850}', None, "out_of_range"),
        ('{"score": 0.85}', None, "out_of_range"),
        ('{"評分": 85}', 85, "read"),
        # thoughts
        ("40</think>85", 85, "recovered"),
        ("<think>40", None, "unreadable"),
        ("<think>40</think>", None, "unreadable"),
        ("<thinking>40</thinking>\n{\"score\": 85,}", 85, "recovered"),
        # refusals
        ("I'm sorry, I cannot rate this article from 2024.", None, "abstained"),
        ("As an AI, I do not rate news.", None, "abstained"),
        ("抱歉，我無法為這篇文章評分。", None, "abstained"),
        ("对不起，资料不足，不能评分。", None, "abstained"),
        ("資訊不足，無法判斷", None, "abstained"),
    ],
)  # fmt: skip
def test_a_rating_is_read_right_or_unscored_with_the_reply_kept(text: str, value: float | None, outcome: str) -> None:
    reading = read_rating(said(text))

    assert (reading.value, reading.outcome) == (value, outcome)
    assert reading.text == text
    assert bool(reading.reason) == (outcome != "read")


@pytest.mark.parametrize("text", ["85", '{"score": 85}', "Sorry", ""])
def test_a_reply_that_was_cut_or_declined_is_not_read(text: str) -> None:
    assert (read_rating(said(text, "length")).value, read_rating(said(text, "length")).outcome) == (None, "truncated")
    assert (read_rating(said(text, "refused")).value, read_rating(said(text, "refused")).outcome) == (None, "abstained")


@settings(deadline=None)  # the first call loads the table of characters
@given(
    st.integers(0, 100), st.sampled_from(["{}", "{}分", "{}/100", "Score: {}", "**{}**", '{{"score": {}}}', "分數：{}"])
)
def test_every_whole_rating_is_read_in_every_usual_dress(value: int, dress: str) -> None:
    reading = read_rating(said(dress.format(value)))

    assert (reading.value, reading.outcome) == (value, "read")


@settings(deadline=None)  # the first call loads the table of characters
@given(st.text(max_size=80))
def test_whatever_a_model_says_a_value_lies_on_the_scale_and_was_in_the_reply(text: str) -> None:
    reading = read_rating(said(text))

    assert (reading.value is not None) == (reading.outcome in ("read", "recovered"))
    assert reading.value is None or 0 <= reading.value <= 100
    assert reading.text == text


@settings(deadline=None)  # the first call loads the table of characters
@given(st.text(alphabet='0123456789.-/% 分high:\n{}"score,', max_size=30))
def test_a_text_without_a_zero_is_never_read_as_zero(text: str) -> None:
    if "0" not in text:
        assert read_rating(said(text)).value != 0


@pytest.mark.parametrize(
    ("text", "low", "high", "value", "outcome"),
    [
        ("4", 1, 5, 4, "read"),
        ("4/5", 1, 5, 4, "read"),
        ("0", 1, 5, None, "out_of_range"),
        ("8/10", 1, 5, None, "out_of_range"),
        ("1-5: 4", 1, 5, 4, "recovered"),
        ("0.85", 0, 1, 0.85, "read"),
        ("85%", 0, 1, None, "out_of_range"),
        ("85/100", 0, 10, 8.5, "recovered"),
        ("-2", -5, 5, -2, "read"),
    ],
)
def test_other_scales_are_read_as_they_are(
    text: str, low: float, high: float, value: float | None, outcome: str
) -> None:
    reading = read_rating(said(text), low=low, high=high)

    assert (reading.value, reading.outcome) == (value, outcome)


@pytest.mark.parametrize(("low", "high"), [(100, 0), (0, 0), (math.nan, 1), (0, math.inf)])
def test_a_scale_that_is_none_is_refused(low: float, high: float) -> None:
    with pytest.raises(UsageError, match="a scale runs from"):
        read_rating(said("1"), low=low, high=high)


@pytest.mark.parametrize(
    "piece", ["0-", "0 ", "score: ", "1,", "85/", "百分之", "一", " ", "1.1.", "x\n", "minus ", "{"]
)
def test_a_very_long_reply_takes_no_time(piece: str) -> None:
    assert read_rating(said(piece * 3000)).value is None


AXES = ("relevance", "consistency")


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ('{"relevance": 85, "consistency": 70, "reason": "x"}', (85, 70), "read"),
        ('{"Consistency": 70, "Relevance": 85}', (85, 70), "read"),
        ('Here: {"relevance": 85, "consistency": "70分",}', (85, 70), "recovered"),
        ("Relevance: 85\n**Consistency:** 70/100 (good)", (85, 70), "recovered"),
        ("1. Relevance: 85\n2. Consistency: 70", (85, 70), "recovered"),
        ("<think>no</think>{\"relevance\": 85, \"consistency\": 70}", (85, 70), "recovered"),
        ('{"relevance": 1, "consistency": 2} final: {"relevance": 85, "consistency": 70}', (85, 70), "recovered"),
        ('{"relevance": 1, "consistency": 2} {"relevance": 85, "consistency": 70}', None, "unreadable"),
        ('{"relevance": 85}', None, "unreadable"),
        ('{"relevance": 85, "consistency": null}', None, "unreadable"),
        ('{"relevance": 85, "consistency": true}', None, "unreadable"),
        ('{"relevance": 85, "consistency": 0.7}', None, "out_of_range"),
        ('{"relevance": 850, "consistency": 70}', None, "out_of_range"),
        ("Relevance: 85\nRelevance: 60\nConsistency: 70", None, "unreadable"),
        ('{"relevance": 85, "consis', None, "unreadable"),
        ("I can't rate this.", None, "abstained"),
        ("Both are fine", None, "unreadable"),
        ("", None, "unreadable"),
    ],
)  # fmt: skip
def test_several_ratings_are_read_by_name_all_or_none(text: str, value: tuple[float, ...] | None, outcome: str) -> None:
    reading = read_ratings(said(text), names=AXES)

    assert (reading.value, reading.outcome) == (value, outcome)
    assert reading.text == text
    assert bool(reading.reason) == (outcome != "read")


def test_ratings_that_look_like_another_scale_are_pointed_out_and_left_alone() -> None:
    usual = [60 + place % 40 for place in range(198)]

    assert off_scale([*usual, 4, 9]) == (198, 199)
    assert off_scale(usual) == ()
    assert off_scale([3, 4, 5, 2, 80]) == ()  # an archive of which most has nothing to do with the topic
    assert off_scale([80, 70, 4, 3, 2]) == ()  # too many to be slips
    assert off_scale([80, 90, 0]) == ()
    assert off_scale([]) == ()
