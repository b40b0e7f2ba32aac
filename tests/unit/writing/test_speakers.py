"""Right words, wrong speaker."""

import pytest

from groundwire.core.quotations import find_quotations
from groundwire.core.types import Document, Span
from groundwire.writing.guards import Excerpt, Finding
from groundwire.writing.speakers import reports, said_by, sayers, speaker_gate

ENGLISH = (
    'Jo Halvor was late. "We lost the whole harvest this year," said Ann Marlow, a farmer. '
    '"We did not," Jo Halvor said.'
)
CHINESE = "市長特朗普說：「我們輸了這場比賽。」教練卡瓦諾表示：「我們會再回來。」"


def gate(claim: str, source: str) -> tuple[Finding, ...]:
    return speaker_gate(claim, [Excerpt(Document("d", source), Span(0, len(source)), source)])


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ('"We lost the whole harvest this year," said Jo Halvor.', ENGLISH),
        ('Jo Halvor said: "We lost the whole harvest this year."', ENGLISH),
        ("卡瓦諾說：「我們輸了這場比賽。」", CHINESE),
    ],
)
def test_another_speaker_speaks_against_a_claim(claim: str, source: str) -> None:
    (found,) = gate(claim, source)
    assert (found.check.kind, found.check.passed, found.conflict) == ("speaker", False, True)


@pytest.mark.parametrize(
    ("claim", "source", "passed"),
    [
        ('"We lost the whole harvest this year," Marlow said.', ENGLISH, [True]),
        ("特朗普說：「我們輸了這場比賽。」", CHINESE, [True]),
        ('"We lost the whole harvest this year," she said.', ENGLISH, []),
        ('"We lost," said Jo Halvor.', ENGLISH, []),
        (
            '"We lost the whole harvest this year," said Jo Halvor.',
            '"We lost the whole harvest this year," she said.',
            [],
        ),
        ('"We won the whole harvest this year," said Jo Halvor.', ENGLISH, []),
    ],
)
def test_the_same_speaker_passes_and_an_unnamed_one_is_left_open(claim: str, source: str, passed: list[bool]) -> None:
    assert [finding.check.passed for finding in gate(claim, source)] == passed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"We lost it all," said Ann Marlow.', ("said", ("Ann Marlow",))),
        ('Ann Marlow: "We lost it all."', ("", ("Ann Marlow",))),
        ('"We lost it all" was on the wall.', None),
        ("卡瓦諾說：「我們輸了。」", ("說", ("卡瓦諾",))),
    ],
)
def test_verb_and_speaker_are_read_beside_a_quotation(text: str, found: tuple[str, tuple[str, ...]] | None) -> None:
    (quotation,) = find_quotations(text)

    assert said_by(text, quotation.outer) == found


@pytest.mark.parametrize(
    ("quote", "names"),
    [("lost the whole harvest", ["Ann Marlow"]), ("We did not", ["Jo Halvor"]), ("not there", [])],
)
def test_the_source_names_who_says_a_quotation(quote: str, names: list[str]) -> None:
    assert [name.text for name in sayers(quote, ENGLISH)] == names


def test_a_verb_of_saying_is_seen() -> None:
    assert reports("as Ann Marlow said")
    assert reports("市長指出")
    assert not reports("as Ann Marlow left")
