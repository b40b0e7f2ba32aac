import json
import re
from dataclasses import fields, replace
from datetime import date
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.findings import CitationQuality, Discord, PremiseNote, Repair, Statement, StyleFinding
from groundwire.core.text import words
from groundwire.core.types import (
    Article,
    Band,
    Check,
    Citation,
    Claim,
    NumberedSource,
    Part,
    Section,
    Support,
    Verdict,
)
from groundwire.flow.findings import Findings
from groundwire.flow.render import Provenance, render_json, render_markdown
from groundwire.flow.reopen import MarkerNote, reopen

MADE = Provenance(
    "0.1.0", "2026-11-30T18:05:00+08:00", "s.archive", "local:e5-small", 7, (("k", "30"),), (("a", "0f"),)
)
SOURCES = """
## Sources

[1] One. Post, 2024-05-03. `d1`

[2] Two. `d2`

[3] Three. `d3` <https://post.example/3>
"""

texts = st.text(max_size=30)
numbers = st.integers(0, 99)
citations = st.builds(
    Citation,
    numbers,
    texts,
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    texts,
    texts,
    st.sampled_from(get_args(Part)),
)
checks = st.builds(
    Check, st.sampled_from(["citation", "quotation", "number", "date", "wording"]), texts, st.booleans(), texts
)
claims = st.builds(Claim, st.just("c"), texts, st.lists(citations, max_size=2).map(tuple))
sources = st.builds(
    NumberedSource,
    numbers,
    texts,
    texts,
    texts,
    st.none() | st.dates(),
    texts,
    texts,
    st.none() | st.floats(0, 100),
    st.none() | st.sampled_from(get_args(Band)),
)


@st.composite
def articles(draw: st.DrawFn) -> Article:
    article = draw(
        st.builds(
            Article,
            texts,
            claims,
            st.lists(claims, max_size=2).map(tuple),
            st.lists(st.builds(Section, texts, st.lists(claims, max_size=2).map(tuple)), max_size=2).map(tuple),
            st.lists(sources, max_size=2).map(tuple),
            texts,
            texts,
            st.lists(texts, max_size=2).map(tuple),
        )
    )
    count = iter(range(1, 99))

    def name(claim: Claim) -> Claim:
        return replace(claim, id=f"c{next(count)}")

    return replace(
        article,
        headline=name(article.headline),
        lede=tuple(name(claim) for claim in article.lede),
        sections=tuple(replace(s, claims=tuple(name(claim) for claim in s.claims)) for s in article.sections),
    )


@given(articles(), st.data())
@settings(max_examples=25, deadline=None)
def test_json_gives_back_article_verdicts_and_provenance(article: Article, data: st.DataObject) -> None:
    judged = data.draw(st.lists(st.sampled_from(article.claims), unique_by=lambda claim: claim.id))
    order = {claim.id: place for place, claim in enumerate(article.claims)}
    verdicts = tuple(
        Verdict(
            claim,
            data.draw(st.sampled_from(get_args(Support))),
            data.draw(texts),
            data.draw(st.lists(citations, max_size=2).map(tuple)),
            data.draw(st.lists(checks, max_size=2).map(tuple)),
        )
        for claim in sorted(judged, key=lambda claim: order[claim.id])
    )

    found = reopen(render_json(article, verdicts=verdicts, provenance=MADE))

    assert found.article == article
    assert found.verdicts == verdicts
    assert found.provenance == MADE
    assert found.notes == ()


def test_json_gives_back_all_findings_and_the_day_and_an_old_file_still_opens() -> None:
    day = replace(small(), as_of=date(2026, 5, 6))
    cited = Citation(1, "d1", 0, 1, "H")
    found = Findings(
        (Discord("conflict", (Statement("a", "b", 5.0, "kg", "5", "2026", cited),), "r"),),
        (PremiseNote("p", "r", (cited,)),),
        (StyleFinding("rule", "item", "advice", "c1"),),
        (Repair("recited", day.headline, day.headline, "r"), Repair("cut", day.headline, None, "r")),
        CitationQuality(None, 0.5, 1.0, 3, 2, 1),
        ("o",),
        ("t",),
        ("u",),
    )
    verdicts = (Verdict(day.headline, "supported", "r", judged_by="llama:x"),)
    text = render_json(day, provenance=MADE, verdicts=verdicts, findings=found)

    read = reopen(text)

    assert (read.article, read.findings, read.verdicts) == (day, found, verdicts)
    old = json.loads(text)
    for key in ("findings", "repairs", "quality"):
        del old[key]
    del old["article"]["as_of"], old["article"]["headline"]["verdict"]["judged_by"]
    assert reopen(json.dumps(old)).findings == Findings()
    with pytest.raises(UnreadableInput, match="findings"):
        reopen(json.dumps({**old, "findings": 7}))


written = st.from_regex(
    r"[A-Z][a-z]{2,7}( [a-z]{2,7}| \d{1,3}| \$5| \*x\*| \[sic\]){1,6}\.", fullmatch=True
) | st.from_regex(r"[水位上升橋封閉市長表示學校]{3,14}。", fullmatch=True)
cited_numbers = st.lists(st.sampled_from([1, 2, 3]), max_size=3, unique=True)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "Later", "善後"]), st.lists(st.tuples(written, cited_numbers), min_size=1, max_size=4)
        ),
        max_size=3,
    ),
    st.sampled_from(["en", "zh-TW", "zh-CN"]),
    st.none() | st.dates(),
)
@settings(max_examples=40, deadline=None)
def test_what_a_model_wrote_comes_back_from_markdown(
    parts: list[tuple[str, list[tuple[str, list[int]]]]], language: str, day: date | None
) -> None:
    count = iter(range(2, 99))

    def claim(text: str, numbers: list[int]) -> Claim:
        return Claim(f"c{next(count)}", text, tuple(Citation(n, f"d{n}", 0, 3, "abc", f"d{n}:0") for n in numbers))

    article = Article(
        "Topic",
        Claim("c1", "Headline", (Citation(2, "d2"),)),
        (claim("The lede stands here.", [3, 1]),),
        tuple(Section(heading, tuple(claim(*one) for one in claims)) for heading, claims in parts),
        tuple(NumberedSource(n, f"d{n}", "T", "P", url=f"https://p.example/{n}#top") for n in (1, 2, 3)),
        language,
        as_of=day,
    )
    repairs = (Repair("cut", Claim("x", "## Sources [1]"), None, "no"),)

    read = reopen(render_markdown(article, findings=Findings(repairs=repairs, thin=("[2] thin",)))).article

    def held(one: Article) -> list[tuple[str, list[int]]]:
        return [(claim.text, [citation.number for citation in claim.citations]) for claim in one.claims]

    assert held(read) == held(article)
    assert [section.heading for section in read.sections] == [section.heading for section in article.sections]
    assert (read.as_of, [source.url for source in read.sources]) == (day, [source.url for source in article.sources])


def small() -> Article:
    return Article(
        "t", Claim("c1", "H", (Citation(1, "d1", 0, 1, "H"),)), (), (), (NumberedSource(1, "d1", "One"),), "en"
    )


def content() -> dict:
    return json.loads(render_json(small(), provenance=MADE))


def spoiled(path: tuple, value: object) -> str:
    held = content()
    inner = held
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(held)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("article", "headline", "citations", 0, "start"), "0", "article.headline.citations.0.start"),
        (("article", "headline", "citations", 0, "part"), "body", "article.headline.citations.0.part"),
        (("article", "headline", "colour"), "red", "article.headline.colour"),
        (("article", "colour"), "red", "article.colour"),
        (("colour",), "red", "colour"),
        (("article", "sources", 0, "published"), "5/6/2024", "article.sources.0.published"),
        (("article", "headline"), None, "article.headline"),
        (("article", "headline", "verdict"), {"support": "sure", "reason": ""}, "verdicts.0.support"),
        (("provenance", "created"), "yesterday", "provenance"),
        (("article", "topic"), "\ud800", "is not|fault"),
    ],
)
def test_a_fault_in_the_json_is_named_with_its_place(path: tuple, value: object, message: str) -> None:
    with pytest.raises(UnreadableInput, match=message):
        reopen(spoiled(path, value))


@pytest.mark.parametrize("text", ["{", '{"schema": "groundwire.article/1",', '{"a": ' + "[" * 100_000])
def test_broken_json_is_said_to_be_broken(text: str) -> None:
    with pytest.raises(UnreadableInput, match="is not JSON"):
        reopen(text)


@pytest.mark.parametrize("schema", [None, "groundwire.article/2", 1])
def test_another_schema_is_refused_by_name(schema: object) -> None:
    with pytest.raises(UsageError, match=r"reopens 'groundwire\.article/1'"):
        reopen(spoiled(("schema",), schema))


def test_a_byte_order_mark_does_no_harm() -> None:
    assert reopen("\ufeff" + render_json(small(), provenance=MADE)).article == small()
    assert reopen("\ufeff" + render_markdown(small())).article.headline.text == "H"


def english() -> Article:
    return Article(
        topic="Flood · relief *now*",
        headline=Claim("c1", "River tops its bank at [2] a.m. <b>", (Citation(1, "d1"),)),
        lede=(
            Claim("c2", "The river rose 3.5% in Q1.", (Citation(1, "d1"), Citation(2, "d`2 "))),
            Claim("c3", "“We lost. We will be back,” he said.", (Citation(2, "d`2 "),)),
            Claim("c4", "Nothing is cited here.", ()),
        ),
        sections=(
            Section("Sources", (Claim("c5", "# 1 is not a heading.", (Citation(3, '"q"\n'),)),)),
            Section("Notes: #", (Claim("c6", "It ends without a stop", (Citation(1, "d1"),)),)),
        ),
        sources=(
            NumberedSource(
                1, "d1", "U.S. aid. Who pays?", "St. Mary, Mail", date(2024, 5, 3), "https://post.example/1"
            ),
            NumberedSource(2, "d`2 ", "", "Post 2024-05-03", None, "javascript:alert(1)"),
            NumberedSource(3, '"q"\n', "Events. In Tainan, 2024-05-03", "", None, ""),
        ),
        language="en",
        notes=("- a note", "another [1]"),
    )


def taiwanese() -> Article:
    return Article(
        topic="臺南水災",
        headline=Claim("c1", "曾文溪水位上升", (Citation(1, "溪-1"),)),
        lede=(
            Claim("c2", "水位上升3.2公尺。", (Citation(1, "溪-1"),)),
            Claim("c3", "市長說：「情況很好。我們有信心。」", (Citation(2, "溪-2"), Citation(1, "溪-1"))),
            Claim("c4", "兩座橋封閉。", (Citation(1, "溪-1"),)),
        ),
        sections=(Section("善後", (Claim("c5", "（1）橋已修好。", (Citation(2, "溪-2"),)),)),),
        sources=(
            NumberedSource(
                1, "溪-1", "曾文溪暴漲。誰負責？", "南方日報", date(2024, 5, 3), "https://south.example/臺南"
            ),
            NumberedSource(2, "溪-2", "修橋", "北報。晚報", None, ""),
        ),
        language="zh-TW",
    )


@pytest.mark.parametrize(
    "article", [english(), taiwanese(), replace(english(), language="fr"), replace(english(), language="")]
)
def test_markdown_gives_back_all_that_it_can_hold(article: Article) -> None:
    found = reopen(render_markdown(article, provenance=MADE))

    assert found.article == article
    assert found.notes == ()
    assert found.verdicts == ()


def test_verdicts_are_not_read_from_markdown() -> None:
    article = english()
    verdicts = tuple(Verdict(claim, "not_found", "no # source says so") for claim in article.claims)

    assert reopen(render_markdown(article, verdicts=verdicts)).article == article


one_line = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")) | st.just(" "), max_size=20
).map(str.strip)


@given(
    st.builds(NumberedSource, st.just(1), st.text(min_size=1), one_line, one_line, st.none() | st.dates(), st.text())
)
@settings(max_examples=60, deadline=None)
def test_a_line_of_the_sources_gives_back_its_source(source: NumberedSource) -> None:
    article = Article("t", Claim("c1", "H"), (), (), (source,), "en")

    (found,) = reopen(render_markdown(article)).article.sources

    assert found.document_id == source.document_id
    assert found.url == source.url
    assert found.published == source.published
    assert found.source == source.source
    assert found.title.rstrip(".。") == source.title.rstrip(".。")


@given(st.lists(st.text(alphabet="ab 1.[]-,*_#`\\&;!?【】中。、「」\n", max_size=25), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_no_word_of_a_claim_is_lost_in_markdown(lines: list[str]) -> None:
    claims = tuple(Claim(f"c{place}", text, (Citation(1, "d1"),)) for place, text in enumerate(lines, start=2))
    article = Article("t", Claim("c1", "H"), claims, (), (NumberedSource(1, "d1"),), "en")

    found = reopen(render_markdown(article)).article

    assert letters(found.lede) == letters(claims)


def letters(claims: tuple[Claim, ...]) -> str:
    """All that is said; a comma or semicolon may belong to a list of markers, as in ``[1]; [2]``."""
    return re.sub(r"[\s,;，；、]", "", "".join(claim.text for claim in claims))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell [1][2].", [("It fell.", (1, 2))]),
        ("It fell. [1, 2]", [("It fell.", (1, 2))]),
        ("It fell. [1-3]", [("It fell.", (1, 2, 3))]),
        ("It fell. [1–2,3]", [("It fell.", (1, 2, 3))]),
        ("It fell. [^2]", [("It fell.", (2,))]),
        ("It fell. [1] [1]", [("It fell.", (1,))]),
        ("It fell. 【2】 ［3］", [("It fell.", (2, 3))]),
        ("It rose 3.5%[1] in May. Then it fell. [2]", [("It rose 3.5% in May.", (1,)), ("Then it fell.", (2,))]),
        ("It rose.[1]Then it fell.[2]", [("It rose.", (1,)), ("Then it fell.", (2,))]),
        ("It rose [1] and fell [2]. Then it rested.", [("It rose and fell.", (1, 2)), ("Then it rested.", ())]),
        ("[1] It rose.", [("It rose.", (1,))]),
        ("水位上升。[1]橋封閉。[2]", [("水位上升。", (1,)), ("橋封閉。", (2,))]),
        ("行政院[1]表示沒有問題。", [("行政院表示沒有問題。", (1,))]),
        ("He said “we lost [2] badly” on May 5. [1]", [("He said “we lost badly” on May 5.", (2, 1))]),
        ("It fell [1], [2], and [3].", [("It fell.", (1, 2, 3))]),
        (
            "It fell [1]; [2] & [3]. Then it rose [1] and fell.",
            [("It fell.", (1, 2, 3)), ("Then it rose and fell.", (1,))],
        ),
        ("水位上升[1]、[2]和[3]。橋封閉[1]與[2]", [("水位上升。", (1, 2, 3)), ("橋封閉", (1, 2))]),
        ("It fell [1] and [2] rose.", [("It fell and rose.", (1, 2))]),
        ("It fell. [1‑3]", [("It fell.", (1, 2, 3))]),
        ("It fell. [1−3]", [("It fell.", (1, 2, 3))]),
        ("It fell. [[1]]", [("It fell.", (1,))]),
        (
            'He saw "the game [2]" twice. He saw "[1] a game". [3]',
            [('He saw "the game" twice.', (2,)), ('He saw "a game".', (1, 3))],
        ),
        ("It is at https://x.y/a[1]b?c=1&d[2]=3 now. [1]", [("It is at https://x.y/a[1]b?c=1&d[2]=3 now.", (1,))]),
        ("It is at https://x.y/b&amp;c [2].", [("It is at https://x.y/b&c.", (2,))]),
        (r"It has \[1\] in it. [2]", [("It has [1] in it.", (2,))]),
        ("See [the map](https://a.example) now. [1]", [("See [the map](https://a.example) now.", (1,))]),
        ("It is *very* **wet** in 5 * 3 rooms. [1]", [("It is very wet in 5 * 3 rooms.", (1,))]),
        ("Nothing [ , ] and [-] and [a] is a marker.", [("Nothing [ , ] and [-] and [a] is a marker.", ())]),
        ("R&amp;D &copy; &unknown; &#x41; &#9999999; fell.", [("R&D © &unknown; A &#9999999; fell.", ())]),
    ],
)
def test_markers_belong_to_the_sentence_they_follow(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    found = reopen(f"# H\n\n{text}\n{SOURCES}")

    assert [(claim.text, tuple(c.number for c in claim.citations)) for claim in found.article.lede] == expected
    assert all(c == Citation(c.number, f"d{c.number}") for claim in found.article.claims for c in claim.citations)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "kept", "numbers", "markers"),
    [
        ("It fell. [0]", "It fell. [0]", (), ["[0]"]),
        ("It fell [99]. [1]", "It fell [99]. ", (1,), ["[99]"]),
        ("In [2024], it fell. [1]", "In [2024], it fell.", (1,), ["[2024]"]),
        ("[2024] was wet. [1]", "[2024] was wet.", (1,), ["[2024]"]),
        ("It fell. [1, 7, 8]", "It fell. [7, 8]", (1,), ["[7, 8]"]),
        ("It fell. [2-7]", "It fell. [4-7]", (2, 3), ["[4-7]"]),
        ("It fell. [3-1]", "It fell. [3-1]", (), ["[3-1]"]),
        ("It fell. [1-999999999]", "It fell. [4-999999999]", (1, 2, 3), ["[4-999999999]"]),
        ("It fell. [0-2]", "It fell. [0]", (1, 2), ["[0]"]),
        ("It fell. [0-9, 8]", "It fell. [0, 4-9, 8]", (1, 2, 3), ["[0, 4-9, 8]"]),
        ("It fell. [4-7]", "It fell. [4-7]", (), ["[4-7]"]),
        ("It fell [1], [9], and [3].", "It fell [9].", (1, 3), ["[9]"]),
        ("水位上升[0-2]。", "水位上升[0]。", (1, 2), ["[0]"]),
        ("It fell. [12345678901234567890]", "It fell. [12345678901234567890]", (), ["[12345678901234567890]"]),
        ("It fell. [98] [99]", "It fell. [98] [99]", (), ["[98]", "[99]"]),
        ("[99]", "[99]", (), ["[99]"]),
        ("It fell. [1 2]", "It fell. [1 2]", (), ["[1 2]"]),
    ],
)
def test_a_marker_without_a_source_stays_and_is_noted(
    text: str, kept: str, numbers: tuple[int, ...], markers: list[str]
) -> None:
    found = reopen(f"# H\n\n{text}\n{SOURCES}")

    (claim,) = found.article.lede
    assert claim.text == kept.strip()
    assert tuple(citation.number for citation in claim.citations) == numbers
    assert found.notes == tuple(
        MarkerNote("c2", marker, "the list of sources has no such number") for marker in markers
    )
    again = reopen(render_markdown(found.article))
    assert "".join(again.article.lede[0].text.split()) == "".join(claim.text.split())


@pytest.mark.parametrize(
    "marker",
    [
        *("(S3)", "[S3]", "[s3.2]", "【4†source】", "【4:0†source】", "[1 and 3]", "[1 to 3]", "[1至3]", "[1和3]"),
        *("[Source 2]", "(source: 2)", "[ref. 1]", "[doc 3, p. 4]", "[來源1]", "（来源：2）", "【資料3】", "[1 & 2]"),
    ],
)
@pytest.mark.parametrize("text", ["It fell {}.", "It fell. {} [1]", "水位上升{}。"])
def test_what_looks_like_a_marker_stays_and_is_noted(text: str, marker: str) -> None:
    found = reopen(f"# H\n\nOne came before. {text.format(marker)}\n{SOURCES}")

    assert marker in "".join(claim.text for claim in found.article.lede)
    assert [note.marker for note in found.notes] == [marker]
    assert "looks like a marker" in found.notes[0].reason
    (owner,) = (claim for claim in found.article.lede if claim.id == found.notes[0].claim_id)
    assert marker in owner.text


@pytest.mark.parametrize(
    "text", ["It fell (2024) [x] to S3 (Audi), (3.5%) and (1 of 3).", "水位（圖1）上升[甲]。", "A (2) b."]
)
def test_ordinary_brackets_are_not_noted(text: str) -> None:
    found = reopen(f"# H\n\n{text}\n{SOURCES}")

    assert found.article.lede[0].text == text
    assert found.notes == ()


@pytest.mark.parametrize(
    ("line", "identity", "url"),
    [
        ("[1] T. `a`", "a", ""),
        ("[1] T. ``a`b`` `c`", "a`b", "c"),
        ("[1] T. `a` <https://x.y>", "a", "https://x.y"),
        ("[1] T. `a` <>", "a", ""),
        (r"[1] T \` u. `a`", "a", ""),
    ],
)
def test_the_code_spans_of_a_source_are_its_id_and_address(line: str, identity: str, url: str) -> None:
    (found,) = reopen(f"# H\n\nX.\n\n## Sources\n\n{line}\n").article.sources

    assert (found.document_id, found.url) == (identity, url)


@pytest.mark.parametrize("ids", ["`" * 3000, "`a``", "`a` `b` `c`", "`a` b", "`a` <b c>", "a `b", "` `` ``` ````"])
def test_a_source_line_with_other_than_one_or_two_code_spans_is_refused(ids: str) -> None:
    with pytest.raises(UsageError, match="names no document"):
        reopen(f"# H\n\nX.\n\n## Sources\n\n[1] T. {ids}\n")


def test_a_note_says_where_the_marker_stands() -> None:
    found = reopen(f"# H [9]\n\n[1]\n{SOURCES}")

    assert [str(note) for note in found.notes] == [
        "c1: marker [9]: the list of sources has no such number",
        "marker [1]: no sentence stands before it",
    ]


draft_words = st.sampled_from(
    ["river", "rose", "3.5%", "Friday.", "“Bridges", "closed,”", "said", "2024", "橋。", "封閉"]
)
markers = st.sampled_from(
    [
        "[1]",
        "[1][2]",
        "[1, 2]",
        "[1-3]",
        "[0]",
        "[6]",
        "[2024]",
        "[^2]",
        "【3】",
        "[1, 9]",
        "[]",
        "[x]",
        "[2-9]",
        "(S3)",
    ]
)


@given(st.lists(st.tuples(draft_words, st.sampled_from([" ", ""]), st.none() | markers), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_no_word_of_a_draft_is_lost_whatever_the_markers(pieces: list[tuple[str, str, str | None]]) -> None:
    draft = " ".join(f"{word}{gap}{marker or ''}" for word, gap, marker in pieces)

    article = reopen(f"# H\n\n{draft}\n{SOURCES}").article

    kept = re.sub(r"\[[\d, ^-]+\]|【\d】", " ", " ".join(claim.text for claim in article.lede))
    assert words(kept) == words(re.sub(r"\[[\d, ^-]+\]|【\d】", " ", draft))


EDITED = """\
Stray words before the headline. [1]

#   The headline   #

*An ordinary first line in italics.* [2]
It runs over
two lines. [1]

Added by hand:
- first point [2]
* second point. [3]
> quoted words [1]

---

### Sub-heading
水位
上升。[1]

# Another title
Last sentence
[2]

資料來源：
## 資料來源

- [1] One. Post, 2024-13-45. `d1`
[2] Two
    goes on. `` `d2` ``

A remark that is no source.
[3] `"d3"`

## 備註
### notes
- by hand

## Afterword
Written after the sources. [3]
"""


def test_a_text_edited_by_hand_survives() -> None:
    found = reopen(EDITED.replace("\n", "\r\n"))
    article = found.article

    assert article.headline.text == "The headline"
    assert [claim.text for claim in article.lede] == [
        "Stray words before the headline.",
        "An ordinary first line in italics.",
        "It runs over two lines.",
        "Added by hand:",
        "first point",
        "second point.",
        "quoted words",
    ]
    assert [section.heading for section in article.sections] == ["Sub-heading", "Another title", "備註", "Afterword"]
    assert [claim.text for section in article.sections for claim in section.claims] == [
        "水位上升。",
        "Last sentence",
        "資料來源：",
        "Written after the sources.",
    ]
    assert [(s.number, s.document_id, s.title, s.source, s.published) for s in article.sources] == [
        (1, "d1", "One", "Post, 2024-13-45", None),
        (2, "`d2`", "Two goes on", "", None),
        (3, "d3", "", "", None),
    ]
    assert article.notes == ("by hand", "A remark that is no source.")
    assert article.language == "zh-TW"
    assert article.topic == "The headline"
    assert [claim.id for claim in article.claims] == [f"c{n}" for n in range(1, 13)]


def test_a_code_span_that_only_looks_like_json_is_taken_as_it_is() -> None:
    found = reopen('# H\n\nX.\n\n## Sources\n\n[1] T. `"half`\n')

    assert found.article.sources[0].document_id == '"half'


def test_the_language_is_guessed_where_the_headings_are_english() -> None:
    found = reopen("# The river rose\n\nThe river rose three metres on Friday and two bridges were closed.\n" + SOURCES)

    assert found.article.language == "en"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no list of sources"),
        ("# H\n\nWords. [1]\n", "## Sources"),
        ("Words. [1]\n\n## Sources\n\n[1] T. `d1`\n", "no headline"),
        ("# H\n\n## Sources\n\nnothing\n", "list of sources is empty"),
        ("# H\n\n## Sources\n\n[1] T. Post.\n", "near line 5 names no document"),
        ("# H\n\n## Sources\n\n[1] T. `a`\n\n[1] U. `b`\n", r"\[1\] is listed twice, near line 7"),
    ],
)
def test_what_is_missing_in_markdown_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reopen(text)


def test_every_field_of_an_article_is_in_the_json() -> None:
    assert set(content()["article"]) == {field.name for field in fields(Article)}
