"""CASES C6: what strays into an article in Traditional Chinese."""

import pytest

from groundwire.core.types import Article, Brief, Claim, Document, Section
from groundwire.writing.draft_notes import notes_on_language

BRIEF = Brief(Document("d", "市府啟用 e化 系統 iPhone 與 app 服務，民眾說好。"), 80.0, "high", ())


def article(text: str, *, language: str = "zh-TW", heading: str = "古鐘") -> Article:
    section = Section(heading, (Claim("c3", "鐘響了。"),))
    return Article("古鐘", Claim("c1", "古鐘歸還"), (Claim("c2", text),), (section,), (), language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("市長林秀文說，水位上升。", []),
        ("市长说，水位上升。", ["Simplified characters in an article in Traditional Chinese: 长说"]),
        ("市長在 Wangchao 說，風速 187 km，見 https://example.com/abc 。", []),
        ("市長 announced 水位上升。", ["Latin words that are no names: announced"]),
        ("民眾用 app 報案。", []),
    ],
)
def test_simplified_characters_and_latin_words_are_named(text: str, expected: list[str]) -> None:
    assert list(notes_on_language(article(text), [BRIEF])) == expected


def test_headings_are_looked_at_too() -> None:
    assert list(notes_on_language(article("好。", heading="发现"), [])) == [
        "Simplified characters in an article in Traditional Chinese: 发现"
    ]


def test_other_languages_are_let_alone() -> None:
    assert list(notes_on_language(article("市长 announced", language="zh-CN"), [])) == []
