"""Objects and verdicts out of replies, and the one call that asks again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.language import Finish, Message, Reply, Request, Usage
from groundwire.core.loose_json import Json
from groundwire.core.replies import Reading, declines, read_object, read_verdicts, repair_request


def said(text: str, finish: Finish = "stop") -> Reply:
    return Reply(text, finish, Usage(10, 3))


SCORE: dict[str, Json] = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}, "reason": {"type": "string"}},
    "required": ["score"],
    "additionalProperties": False,
}
LIST: dict[str, Json] = {"type": "array", "items": {"type": "number"}}


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ('{"score": 85, "reason": "x"}', {"score": 85, "reason": "x"}, "read"),
        ('  {"score": 85}\n', {"score": 85}, "read"),
        ('```json\n{"score": 85}\n```', {"score": 85}, "recovered"),
        ('Sure! {"score": 85} Anything else?', {"score": 85}, "recovered"),
        ("{'score': 85,}", {"score": 85}, "recovered"),
        ('{"score": "85"}', {"score": 85}, "recovered"),
        ('{"score": "８５"}', {"score": 85}, "recovered"),
        ('<think>{"score": 1}</think>{"score": 85}', {"score": 85}, "recovered"),
        ('{"score": 85}{"score": 85}', {"score": 85}, "recovered"),
        ('Draft: {"score": 60} Then: {"score": 85}', {"score": 85}, "recovered"),
        ('初稿：{"score": 60}\n最終：{"score": 85}', {"score": 85}, "recovered"),
        ('{"score": 60} or {"score": 85}', None, "unreadable"),
        ('Final: {"score": 60} Draft: {"score": 85}', None, "unreadable"),
        ('{"score": 101}', None, "out_of_range"),
        ('{"score": "high"}', None, "unreadable"),
        ('{"score": 85, "extra": 1}', None, "unreadable"),
        ('{"reason": "x"}', None, "unreadable"),
        ('{"score": 85, "reason": "cut', None, "unreadable"),
        ("no object", None, "unreadable"),
        ("I cannot help with that.", None, "abstained"),
        ("", None, "unreadable"),
        ("<think>hm", None, "unreadable"),
    ],
)  # fmt: skip
def test_an_object_is_read_or_refused(text: str, value: object, outcome: str) -> None:
    reading = read_object(said(text), SCORE)

    assert (reading.value, reading.outcome, reading.text) == (value, outcome, text)
    assert bool(reading.reason) == (outcome != "read")


@pytest.mark.parametrize(
    ("text", "value"),
    [("[1, 2.5]", (1, 2.5)), ('["1", 2]', (1, 2)), ("[]", ()), ('["a"]', None), ('{"a": 1}', None)],
)
def test_a_list_is_read_where_the_schema_is_one(text: str, value: object) -> None:
    assert read_object(said(text), LIST).value == value


def test_only_what_the_schema_knows_is_taken_out_of_quotes() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"a": {"type": "number"}}}

    assert read_object(said('{"a": "1.5", "b": "2"}'), schema).value == {"a": 1.5, "b": "2"}
    assert read_object(said('{"b": "2"}'), {"type": "object"}).value == {"b": "2"}


@pytest.mark.parametrize(("finish", "outcome"), [("length", "truncated"), ("refused", "abstained")])
def test_an_object_that_was_cut_or_declined_is_not_read(finish: Finish, outcome: str) -> None:
    reading = read_object(said('{"score": 85}', finish), SCORE)

    assert (reading.value, reading.outcome) == (None, outcome)
    assert reading.without_value("unreadable", "no").text == '{"score": 85}'


@settings(deadline=None)
@given(st.integers(0, 100), st.text())
def test_an_object_that_follows_its_schema_reads_as_json_reads_it(score: int, reason: str) -> None:
    text = json.dumps({"score": score, "reason": reason})

    assert read_object(said(text), SCORE) == Reading(json.loads(text), "read", "", text)


WORDS = ("supported", "contradicted", "not_found")


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ('{"verdicts": [{"number": 1, "verdict": "supported"}, {"number": 2, "verdict": "not_found"}]}', "s n"),
        ('[{"number": 2, "verdict": "not_found"}, {"number": 1, "verdict": "supported"}]', "s n"),
        ('{"1": "supported", "2": "Not Found"}', "s n"),
        ('{"1": {"verdict": "supported"}, "2": {"verdict": "not-found", "why": "x"}}', "s n"),
        ('{"verdicts": [{"claim": "2", "label": "contradicted",}]}', "- c"),
        ("1. supported\n2. not found — nothing says so", "s n"),
        ("[1] Supported\n[2] **not_found** (no such figure)", "s n"),
        ("1：supported\n２：contradicted", "s c"),
        ("Claim 1: supported.\nClaim 2: contradicted, as S3.2 says 5", "s c"),
        ("第1項：supported\n第2項：not_found", "s n"),
        ("Here:\n- 2) contradicted\n- 1) supported\nDone.", "s c"),
        ("1. supported\n1. supported\n2. not_found", "s n"),
        # doubt
        ("1. supported\n1. contradicted\n2. not_found", "- n"),
        ("1. not supported\n2. unsupported", "- -"),
        ("1. supported or contradicted\n2. supported/not_found", "- -"),
        ("1. maybe\n2. ?", "- -"),
        ('["supported", "not_found"]', "- -"),
        ("supported\nnot_found", "- -"),
        ('{"verdicts": [{"number": true, "verdict": "supported"}, {"number": 1}, 5]}', "- -"),
        ('{"verdicts": [{"number": 1, "verdict": "supported"}, {"number": 2, "verdict": "not_fo', "- -"),
        ("", "- -"),
    ],
)
def test_verdicts_are_read_by_number_and_never_by_position(text: str, verdicts: str) -> None:
    short = {"supported": "s", "contradicted": "c", "not_found": "n", None: "-"}
    found = read_verdicts(said(text), count=2, allowed=WORDS)

    assert " ".join(short[each.value] for each in found.readings) == verdicts
    assert all(each.reason for each in found.readings if each.value is None)
    assert found.missing == tuple(at for at, each in enumerate(found.readings, 1) if each.value is None)


@pytest.mark.parametrize("count_back", [0, 1, 4, 6])
def test_a_short_or_long_list_of_verdicts_leaves_the_missing_missing(count_back: int) -> None:
    text = "\n".join(f"{number}. supported" for number in range(1, count_back + 1))

    found = read_verdicts(said(text), count=4, allowed=WORDS)

    assert [each.value for each in found.readings].count("supported") == min(count_back, 4)
    assert found.missing == tuple(range(count_back + 1, 5))
    assert found.strays == tuple(range(5, count_back + 1))


def test_of_verdicts_that_were_cut_whole_lines_count_and_the_rest_is_truncated() -> None:
    found = read_verdicts(said("1. supported\n2. not_fo", "length"), count=3, allowed=WORDS)
    json_cut = read_verdicts(said('{"verdicts": [\n{"number": 1, "verdict": "supported"},\n{"nu', "length"),
                             count=1, allowed=WORDS)  # fmt: skip

    assert [each.outcome for each in found.readings] == ["read", "truncated", "truncated"]
    assert json_cut.readings[0].outcome == "truncated"


@pytest.mark.parametrize(("text", "finish"), [("I cannot answer that.", "stop"), ("", "refused")])
def test_a_judge_that_declines_abstains(text: str, finish: Finish) -> None:
    found = read_verdicts(said(text, finish), count=1, allowed=WORDS)

    assert found.readings[0].outcome == "abstained"


def test_what_was_read_over_is_named_for_every_verdict() -> None:
    found = read_verdicts(said("<think>1. contradicted</think>{'1': 'supported',}"), count=1, allowed=WORDS)

    assert found.readings[0].outcome == "recovered"
    assert "thought aloud" in found.readings[0].reason
    assert "trailing comma" in found.readings[0].reason


@pytest.mark.parametrize(("count", "allowed"), [(0, WORDS), (1, ())])
def test_no_verdicts_cannot_be_asked_for(count: int, allowed: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="ask for 1 or more"):
        read_verdicts(said("1. supported"), count=count, allowed=allowed)


@pytest.mark.parametrize(
    "text",
    ["I’m sorry, no.", "I can't do that", "As an AI I cannot", "It is not possible to say", "抱歉", "很遺憾",
     "無法評分", "作為一個AI語言模型", "不便回答", "There is insufficient information."],
)  # fmt: skip
def test_a_refusal_is_known_in_both_languages(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize("text", ["85", "The minister said no.", "他沒有出席", "相關性高", "Relevance: high"])
def test_news_is_no_refusal(text: str) -> None:
    assert not declines(text)


REQUEST = Request(
    messages=(Message("system", "Rate."), Message("user", "Topic: flood"), Message("assistant", '{"score": ')),
    max_tokens=50, schema='{"type": "object"}', prompt="abc", purpose="rating",
)  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh-TW", "zh-CN"])
def test_a_repair_shows_the_reply_as_data_and_what_is_wrong_with_it(language: str) -> None:
    reading = Reading[float](None, "unreadable", "the reply holds no number", "high <|im_end|> {problem}")

    repaired = repair_request(REQUEST, reading, language=language)

    assert [message.speaker for message in repaired.messages] == ["system", "user"]
    asked = repaired.messages[1].text
    assert asked.startswith("Topic: flood\n\n")
    assert "the reply holds no number" in asked
    assert "\nhigh ‹|im_end|› {problem}\n" in asked
    assert (repaired.schema, repaired.max_tokens, repaired.purpose) == (REQUEST.schema, 50, "rating")
    assert repaired.prompt.startswith("abc+")
    assert repaired.key("m") != REQUEST.key("m")


def test_a_repair_of_a_very_long_reply_shows_its_beginning() -> None:
    reading = Reading[float](None, "truncated", "", "x" * 100_000)

    asked = repair_request(REQUEST, reading).messages[-1].text

    assert len(asked) < 6_000
    assert "truncated" in asked


def test_there_is_nothing_to_repair_in_what_was_read_and_nowhere_without_a_user() -> None:
    with pytest.raises(UsageError, match="nothing to repair"):
        repair_request(REQUEST, Reading(85.0, "read"))
    with pytest.raises(UsageError, match="no turn of the user"):
        repair_request(Request((Message("system", "x"),), 5), Reading[float](None, "unreadable", "no"))
