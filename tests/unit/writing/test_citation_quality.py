"""Citation recall, precision by leaving one out, and the share of claims that cite."""

from datetime import date

import pytest

from groundwire.core.findings import CitationQuality
from groundwire.core.types import Article, Check, Citation, Claim, Document, Verdict
from groundwire.writing.citation_quality import citation_quality, is_undecided

A = Document("a", "The river rose by 3 metres on Monday. Officials opened two shelters.")
B = Document("b", "The council approved a budget of 5 million dollars. Mayor Wu praised the volunteers.")
C = Document("c", "Cake is best with cherries. The river rose by 3 metres on Monday.")
DOCUMENTS = {"a": A, "b": B, "c": C}


def cites(*names: str) -> tuple[Citation, ...]:
    return tuple(Citation(number, name) for number, name in enumerate(names, 1))


def article(*claims: tuple[str, tuple[Citation, ...]], as_of: date | None = None) -> Article:
    made = tuple(Claim(f"c{number}", text, cited) for number, (text, cited) in enumerate(claims, 1))
    return Article("Flood", Claim("c0", "Flood"), made, (), (), as_of=as_of)


RIVER = "The river rose by 3 metres on Monday."
BOTH = "The river rose by 3 metres on Monday. The council approved a budget of 5 million dollars."


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([(RIVER, cites("a"))], (1.0, 1.0, 1.0, 1, 1, 0)),
        ([(RIVER, cites("b"))], (0.0, 0.0, 1.0, 1, 1, 0)),
        ([(RIVER, cites("a", "b"))], (1.0, 0.5, 1.0, 1, 2, 0)),
        ([(RIVER, cites("a", "c"))], (1.0, 1.0, 1.0, 1, 2, 0)),
        ([(RIVER, cites("a", "c", "b"))], (1.0, 2 / 3, 1.0, 1, 3, 0)),
        ([(BOTH, cites("a", "b"))], (1.0, 1.0, 1.0, 1, 2, 0)),
        ([(RIVER, cites("a")), ("Officials opened two shelters.", ())], (0.5, 1.0, 0.5, 2, 1, 0)),
        ([("Officials opened five shelters.", cites("a"))], (0.0, 0.0, 1.0, 1, 1, 0)),
        ([], (None, None, None, 0, 0, 0)),
        ([("官員開設了兩處避難所。", cites("a"))], (None, None, 1.0, 1, 1, 2)),
        ([("Officials opened two shelters to house families who fled.", cites("a"))], (None, None, 1.0, 1, 1, 2)),
    ],
)
def test_an_article_is_measured(
    claims: list[tuple[str, tuple[Citation, ...]]], expected: tuple[float | None, ...]
) -> None:
    assert citation_quality(article(*claims), DOCUMENTS) == CitationQuality(*expected)  # type: ignore[arg-type]


def test_verdicts_that_are_there_are_used_and_must_fit() -> None:
    one = article((RIVER, cites("b")))
    given = [Verdict(one.headline, "background", ""), Verdict(one.lede[0], "supported", "", judged_by="m")]
    assert citation_quality(one, DOCUMENTS, verdicts=given).recall == 1.0
    with pytest.raises(ValueError, match="zip"):
        citation_quality(one, DOCUMENTS, verdicts=given[:1])


def test_a_source_of_after_the_article_is_no_support() -> None:
    late = {"a": Document("a", A.text, published=date(2024, 5, 6))}
    assert citation_quality(article((RIVER, cites("a"))), late).recall == 1.0
    assert citation_quality(article((RIVER, cites("a")), as_of=date(2024, 5, 5)), late).recall == 0.0


def test_a_citation_of_whose_absence_nobody_can_tell_is_undecided() -> None:
    claim = "Officials opened two shelters and the council approved a budget."
    found = citation_quality(article((claim, cites("a", "b"))), DOCUMENTS)
    assert (found.recall, found.citations) == (1.0, 2)
    assert found.precision in (None, 1.0)


WORDING = Check("wording", "x", passed=False, reason="55% of its words stand in the cited sentences")
SILENT = Check("wording", "x", passed=False, reason="undecided: m gave no verdict that could be read (x)")
REMARK = Check("citation", "b", passed=False, reason="'b' at 0-3, which is not cited, says it")


@pytest.mark.parametrize(
    ("verdict", "undecided"),
    [
        (Verdict(Claim("c", "x"), "supported", ""), False),
        (Verdict(Claim("c", "x"), "partly", "", checks=(WORDING,)), True),
        (Verdict(Claim("c", "x"), "partly", "", checks=(WORDING,), judged_by="m"), False),
        (Verdict(Claim("c", "x"), "not_found", "", checks=(WORDING,)), False),
        (Verdict(Claim("c", "x"), "partly", "", checks=(WORDING, Check("number", "5", passed=False))), False),
        (
            Verdict(
                Claim("c", "x"), "not_found", "",
                checks=(SILENT,),
            ),
            True,
        ),
        (
            Verdict(
                Claim("c", "x"), "partly", "",
                checks=(WORDING, REMARK),
            ),
            True,
        ),
    ],
)  # fmt: skip
def test_undecided_is_what_only_its_words_speak_against(verdict: Verdict, undecided: bool) -> None:
    assert is_undecided(verdict) is undecided
