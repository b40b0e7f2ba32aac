"""Calls about claims: extraction, batches of five, what is missing."""

import json

import pytest

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Reply, Request, Usage
from groundwire.evaluation.claim_calls import (
    ClaimJudge,
    check_again,
    checks,
    claims_of,
    extraction,
    extraction_again,
    read_check,
    read_claims,
    truths,
)

ABLE = Capabilities(schema=True)
JUDGE = ClaimJudge("m", "m", ABLE, ABLE)
SINGLY = ClaimJudge("m", "m", Capabilities(), Capabilities(thinking=True), batch=1)
FOUR = ("A.", "B.", "C.", "D.")


def reply(request: Request, text: str, finish: str = "stop") -> Answer:
    return Answer(request, Reply(text, finish, Usage(1, 1)))  # type: ignore[arg-type]


def verdicts(*pairs: tuple[int, str]) -> str:
    return json.dumps({"verdicts": [{"number": number, "verdict": word} for number, word in pairs]})


def test_claims_are_read_once_each_and_none_is_a_reading() -> None:
    request = extraction(JUDGE, "The dam broke.")

    assert request.schema
    assert read_claims(reply(request, '{"claims": ["A.", " A. ", "B."]}')).value == ("A.", "B.")
    assert claims_of(read_claims(reply(request, '{"claims": []}'))).found == ()
    assert claims_of(read_claims(reply(request, '{"claims": []}'))).outcome == "read"


def test_claims_that_cannot_be_read_are_asked_for_once_more() -> None:
    request = extraction(SINGLY, "大壩潰決。")
    answer = reply(request, "Nice.")
    reading = read_claims(answer)
    again = extraction_again(SINGLY, answer, reading=reading)
    lost = Answer(request, failure=Failure(FailureKind.BUSY, "no line"))

    assert request.schema == ""
    assert again is not None
    assert "Nice." in again.messages[-1].text
    assert "no claims could be read" in claims_of(reading).reason
    assert extraction_again(SINGLY, lost, reading=read_claims(lost)) is None
    assert "no line" in read_claims(lost).reason
    assert extraction_again(SINGLY, answer, reading=read_claims(reply(request, '{"claims": []}'))) is None


@pytest.mark.parametrize(
    ("count", "batch", "calls"), [(0, 5, 0), (1, 5, 1), (5, 5, 1), (6, 5, 2), (11, 5, 3), (4, 1, 4)]
)
def test_claims_go_in_batches(count: int, batch: int, calls: int) -> None:
    judge = ClaimJudge("m", "m", ABLE, ABLE, batch=batch)
    made = checks(judge, "text", [f"claim {number}" for number in range(count)])

    assert len(made) == calls
    assert [claim for check in made for claim in check.claims] == [f"claim {number}" for number in range(count)]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([(1, "supported")], 3),
        ([], 4),
        ([(1, "supported"), (2, "supported"), (3, "not_found"), (4, "contradicted"), (5, "supported"),
          (6, "supported")], 0),
    ],
)  # fmt: skip
def test_of_four_claims_what_does_not_come_back_is_asked_for_once_more(
    given: list[tuple[int, str]], missing: int
) -> None:
    (check,) = checks(JUDGE, "The dam broke.", FOUR)
    answer = reply(check.request, verdicts(*given))
    readings = read_check(check, answer)
    again = check_again(JUDGE, check, answer, readings=readings)

    assert [reading.value for reading in readings].count(None) == missing
    assert (again is None) == (missing == 0)
    if again is not None:
        assert len(again.claims) == missing
        assert truths(again, read_check(again, reply(again.request, "")))[FOUR[-1]] is None


def test_only_supported_is_entailed() -> None:
    (check,) = checks(JUDGE, "text", FOUR)
    words = verdicts((1, "supported"), (2, "contradicted"), (3, "not_found"))

    assert truths(check, read_check(check, reply(check.request, words))) == {
        "A.": True, "B.": False, "C.": False, "D.": None,
    }  # fmt: skip


def test_one_claim_a_call_reads_one_word() -> None:
    check, *_ = checks(SINGLY, "text", FOUR)
    bad = reply(check.request, "Perhaps.")
    again = check_again(SINGLY, check, bad, readings=read_check(check, bad))

    assert truths(check, read_check(check, reply(check.request, '{"verdict": "supported"}'))) == {"A.": True}
    assert truths(check, read_check(check, bad)) == {"A.": None}
    assert again is not None
    assert again.claims == ("A.",)


def test_without_a_reply_nothing_is_read_and_nothing_repaired() -> None:
    (check,) = checks(JUDGE, "text", FOUR)
    lost = Answer(check.request)
    readings = read_check(check, lost)

    assert [reading.value for reading in readings] == [None] * 4
    assert check_again(JUDGE, check, lost, readings=readings) is None


def test_an_empty_batch_is_refused_and_fingerprints_name_both_models() -> None:
    with pytest.raises(UsageError, match="batch of 0"):
        ClaimJudge("m", "m", ABLE, ABLE, batch=0)
    prints = {ClaimJudge(one, other, ABLE, ABLE, batch=size).fingerprint
              for one in "ab" for other in "ab" for size in (1, 5)}  # fmt: skip
    assert len(prints) == 8
