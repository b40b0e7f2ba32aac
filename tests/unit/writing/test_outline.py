"""An outline is read, told, followed without losing a claim, and checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Article, Citation, Claim, NumberedSource, Section
from groundwire.writing.outline import (
    Outline,
    OutlineSection,
    check_outline,
    follow_outline,
    outline_in_words,
    outline_of,
    parse_outline,
    read_outline,
)

FILE = """<!-- for the
flood story -->
# Relief reaches Tainan
Keep it sober.

## Water and damage (max 120 words)
- rain, rivers, houses
## 救災 （最多 300 字）
軍隊、經費
## What comes next
"""
FLOOD = Outline(
    (
        OutlineSection("Water and damage", "rain, rivers, houses", 120),
        OutlineSection("救災", "軍隊、經費", 300),
        OutlineSection("What comes next"),
    ),
    "Relief reaches Tainan",
    "Keep it sober.",
)


def article(*sections: tuple[str, tuple[str, ...]], language: str = "en") -> Article:
    """Claims that cite a document each."""
    made = tuple(
        Section(heading, tuple(Claim("", text, (Citation(9, f"doc-{text}", 0, 1),)) for text in texts))
        for heading, texts in sections
    )
    return Article("Flood", Claim("c1", "Flood in Tainan"), (), made, (), language)


def shape(found: Article) -> list[tuple[str, list[str]]]:
    return [(section.heading, [claim.text for claim in section.claims]) for section in found.sections]


def test_a_file_is_read_with_headline_notes_and_lengths(tmp_path: Path) -> None:
    path = tmp_path / "flood.md"
    path.write_text("\ufeff" + FILE, encoding="utf-8")

    assert read_outline(path) == FLOOD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no heading; write a line like '## What happened'"),
        ("# only a headline", "has no heading"),
        ("words\n## One", "x.md:1: 'words' stands under no heading"),
        ("## One\n# Late", "x.md:2: a headline"),
        ("# One\n# Two\n## Three", "x.md:2: a headline"),
        ("## One\n### Deep", "x.md:2: '###' is a heading inside a section"),
        ("## One\n## (max 5 words)", "x.md:2: a heading without words"),
        ("<!-- a\nb -->\n## One\n##  one", "x.md:4: the heading 'one' stands twice"),
    ],
)
def test_what_is_no_outline_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_outline(text, name="x.md")

    assert said in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "big5.md").write_bytes("## 救災".encode("big5"))

    with pytest.raises(UnreadableInput, match=r"gone\.md cannot be read"):
        read_outline(tmp_path / "gone.md")
    with pytest.raises(UnreadableInput, match=r"big5\.md is not UTF-8"):
        read_outline(tmp_path / "big5.md")


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                "The headline should go along these lines: Relief reaches Tainan Keep it sober.",
                "Use exactly these section headings, in this order:",
                "## Water and damage (at most 120 words): rain, rivers, houses",
            ],
        ),
        ("zh-TW", ["標題方向：Relief reaches Tainan Keep it sober.", "請依序使用下列小標，不增不減：",
                   "## Water and damage（最多 120 字）：rain, rivers, houses"]),
        ("zh-CN", ["标题方向：Relief reaches Tainan Keep it sober.", "请依次使用下列小标题，不增不减：",
                   "## Water and damage（最多 120 字）：rain, rivers, houses"]),
    ],
)  # fmt: skip
def test_an_outline_is_told_in_words(language: str, lines: list[str]) -> None:
    told = outline_in_words(FLOOD, language).splitlines()

    assert told[:3] == lines
    assert told[-1] == "## What comes next"


def test_without_a_wish_for_the_headline_nothing_is_said_of_it() -> None:
    told = outline_in_words(replace(FLOOD, headline="", notes=""), "en")

    assert told.startswith("Use exactly")


def test_claims_go_where_most_of_their_words_are() -> None:
    found = follow_outline(
        article(
            ("Post, 1 May 2024", ("Rivers rose and houses fell.", "Nobody was hurt.", "軍隊前往救災。")),
            ("What comes next", ("Rain will return.",)),
        ),
        FLOOD,
    )

    assert shape(found) == [
        ("Water and damage", ["Rivers rose and houses fell."]),
        ("救災", ["軍隊前往救災。"]),
        ("What comes next", ["Rain will return."]),
        ("Post, 1 May 2024", ["Nobody was hurt."]),
    ]
    assert [claim.id for claim in found.claims] == ["c1", "c2", "c3", "c4", "c5"]
    assert [claim.citations[0].number for claim in found.claims[1:]] == [1, 2, 3, 4]
    assert [source.number for source in found.sources] == [1, 2, 3, 4]


def test_a_word_of_one_heading_tells_more_than_one_of_all() -> None:
    outline = Outline((OutlineSection("Flood rain"), OutlineSection("Flood money")))

    assert shape(follow_outline(article(("P", ("The flood cost money.", "The flood came."))), outline)) == [
        ("Flood rain", ["The flood came."]),
        ("Flood money", ["The flood cost money."]),
    ]


def test_likeness_decides_only_where_no_word_is_shared() -> None:
    def likeness(claim: str, told: str) -> float:
        return 0.9 if ("hurt" in claim and "next" in told) else 0.2

    given_article = article(("P", ("Nobody was hurt.", "Rivers rose.", "Elsewhere.")))

    assert shape(follow_outline(given_article, FLOOD, likeness=likeness)) == [
        ("Water and damage", ["Rivers rose."]),
        ("What comes next", ["Nobody was hurt."]),
        ("P", ["Elsewhere."]),
    ]


def test_what_is_known_of_a_source_stays_in_the_list() -> None:
    listed = NumberedSource(7, "doc-Rain.", "Title", "Post", relevance=80.0, band="high")
    given_article = replace(article(("P", ("Rain.",))), sources=(listed,))

    assert follow_outline(given_article, FLOOD).sources == (replace(listed, number=1),)


_TEXTS = st.lists(
    st.sampled_from(["rain", "rivers", "houses", "軍隊", "經費", "comes", "next", "nobody", "sun"]), min_size=1
)
_SECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["P", "Q", "What comes next", "water and damage"]), st.lists(_TEXTS.map(" ".join), max_size=4)
    ),
    max_size=4,
)


@given(_SECTIONS)
def test_no_claim_is_lost_or_changed_and_to_follow_twice_changes_nothing(
    sections: list[tuple[str, list[str]]],
) -> None:
    before = article(*((heading, tuple(texts)) for heading, texts in sections))

    after = follow_outline(before, FLOOD)

    assert Counter(claim.text for claim in after.claims) == Counter(claim.text for claim in before.claims)
    cited = [Counter(c.document_id for claim in found.claims for c in claim.citations) for found in (before, after)]
    assert cited[0] == cited[1]
    assert follow_outline(after, FLOOD) == after


def test_missing_long_and_turned_headings_are_found() -> None:
    outline = parse_outline("## A (max 3 words)\n## B\n## C\n## D")
    found = check_outline(article(("B", ("x y z",)), ("a", ("one two", "three four")), ("D", ())), outline)

    assert [(f.rule, f.item) for f in found] == [("outline", "A"), ("outline", "B"), ("outline", "C"), ("outline", "D")]
    assert found[0].advice == "4 words, where the outline has at most 3"
    assert found[1].advice == "stands before a heading that should come first"
    assert found[2].advice == found[3].advice
    assert found[2].advice.startswith("no claim stands under this heading")


def test_a_chinese_section_is_measured_in_characters() -> None:
    outline = parse_outline("## 救災（最多 5 字）")

    assert check_outline(article(("救災", ("軍隊抵達。",)), language="zh-TW"), outline) == ()
    (found,) = check_outline(article(("救災", ("軍隊已經抵達。",)), language="zh-TW"), outline)
    assert found.advice == "6 字，大綱上限為 5 字"


@given(st.lists(st.sampled_from(["Rain", "Post, 1 May", "救災", "  wide   space "]), max_size=5))
def test_a_file_made_of_an_article_reads_back_as_its_headings(headings: list[str]) -> None:
    made = article(*((heading, ("x",)) for heading in [*headings, "End"]))

    read = parse_outline(outline_of(made))

    assert [section.heading for section in read.sections] == list(
        dict.fromkeys(" ".join(heading.split()) for heading in [*headings, "End"])
    )
    assert read.headline == "Flood in Tainan"
    assert all(finding.advice.startswith("stands before") for finding in check_outline(made, read))
