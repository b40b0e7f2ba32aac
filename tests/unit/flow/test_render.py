import hashlib
import html
import json
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groundwire.core.errors import UsageError
from groundwire.core.types import Article, Check, Citation, Claim, Document, NumberedSource, Section, Verdict
from groundwire.flow.render import (
    Provenance,
    escape_markdown,
    hash_texts,
    is_link,
    plain_text,
    render_json,
    render_markdown,
    unsupported,
)
from groundwire.flow.wording import LANGUAGES, fixed_words, word_table, words_language
from groundwire.writing.wordlists import lines

RIVER = Document("river-1", "The river rose 3.2 metres on Friday. Two bridges closed.", title="River tops its bank")
MADE = Provenance("0.1.0", "2026-11-30T18:05:00+08:00", "stories.archive", "local:e5-small", 7, (("k", "30"),))


def cite(number: int, document_id: str, start: int | None = None, end: int | None = None, text: str = "") -> Citation:
    return Citation(number, document_id, start, end, text)


def english() -> Article:
    return Article(
        topic="Flood in Tainan",
        headline=Claim(
            "c1", "River tops its bank", (Citation(1, "river-1", 0, 19, "River tops its bank", "", "title"),)
        ),
        lede=(
            Claim("c2", "The river rose 3.2 metres on Friday.", (cite(1, "river-1", 0, 36, RIVER.text[:36]),)),
            Claim("c3", "Relief came late.", (cite(1, "river-1"), cite(2, "aid-2"), cite(1, "river-1"))),
        ),
        sections=(Section("What closed", (Claim("c4", "Two bridges closed.", (cite(1, "river-1", 37, 56),)),)),),
        sources=(
            NumberedSource(
                1, "river-1", "River tops its bank", "Tainan Post", date(2024, 5, 3), "https://post.example/1"
            ),
            NumberedSource(2, "aid-2", "Who pays?", "St. Mary Mail", None, "", "en", 48.5, "low"),
        ),
        language="en",
        notes=("one source was dropped",),
    )


def taiwanese() -> Article:
    return Article(
        topic="臺南水災",
        headline=Claim("c1", "曾文溪水位上升", (cite(1, "溪-1"),)),
        lede=(Claim("c2", "水位上升3.2公尺。", (cite(1, "溪-1"),)), Claim("c3", "兩座橋封閉。", (cite(1, "溪-1"),))),
        sections=(),
        sources=(NumberedSource(1, "溪-1", "曾文溪暴漲", "南方日報", date(2024, 5, 3), "https://south.example/1"),),
        language="zh-TW",
    )


def verdicts_of(article: Article) -> tuple[Verdict, ...]:
    claims = article.claims
    good = [Verdict(claim, "supported", "every word stands there", claim.citations) for claim in claims[:-1]]
    check = Check("number", "3.2", False, "the source says 2.3")
    return (*good, Verdict(claims[-1], "not_found", "no source says so", (), (check,)))


def test_markdown_of_an_english_article_is_this() -> None:
    article = english()

    assert (
        render_markdown(article, verdicts=verdicts_of(article), provenance=MADE)
        == """\
# River tops its bank [1]

*Topic: Flood in Tainan · 2026-11-30 · writer: builtin · 2 sources · 3 of 4 claims supported*

The river rose 3.2 metres on Friday. [1] Relief came late. [1][2]

## What closed

Two bridges closed. [1]

## Sources

[1] River tops its bank. Tainan Post, 2024-05-03. `river-1` <https://post.example/1#:~:text=The%20river%20rose%203.2%20metres%20on%20Friday.>

[2] Who pays? St&#46; Mary Mail. `aid-2`

## Not supported

- **Not found**: Two bridges closed. — no source says so

## Notes

- one source was dropped
"""
    )


def test_markdown_of_a_taiwanese_article_is_this() -> None:
    assert (
        render_markdown(taiwanese(), provenance=MADE)
        == """\
# 曾文溪水位上升[1]

*主題：臺南水災 · 2026-11-30 · 撰寫：builtin · 1 個來源 · 陳述未經查核*

水位上升3.2公尺。[1]兩座橋封閉。[1]

## 資料來源

[1] 曾文溪暴漲。南方日報，2024-05-03。 `溪-1` <https://south.example/1>
"""
    )


def test_a_claim_without_a_stop_closes_its_paragraph() -> None:
    article = Article("t", Claim("c1", "H"), (Claim("c2", "No stop here"), Claim("c3", "Next.")), (), ())

    assert "\n\nNo stop here\n\nNext.\n\n" in render_markdown(article)


def test_a_heading_of_the_article_is_not_taken_for_one_of_ours() -> None:
    article = Article("t", Claim("c1", "H"), (), (Section("Sources", ()), Section("", ()), Section("備註:", ())), ())

    shown = render_markdown(article)

    assert shown.count("\n## Sources\n") == 1
    assert "\n## &#83;ources\n" in shown
    assert "\n##\n" in shown


@pytest.mark.parametrize(
    "text",
    [
        "# no heading",
        "no heading #",
        "no heading ##",
        "- no list",
        "+ no list",
        "1. no list",
        "2024) no list",
        "> no quote",
        "=== no underline",
        "---",
        "***",
        "```code``` and `code`",
        "<script>alert(1)</script> <b>bold</b>",
        "*light* **bold** _light_ ~~gone~~",
        "[1](javascript:alert(1)) ![x](y) [1]: z",
        "[99](javascript:alert(1))",
        "&lt; &amp; &#60; &copy; AT&T",
        "back\\slash \\* \\",
        "line\nbreak\r\n# heading\u2028# heading\x85end",
        "<https://evil.example> <javascript:alert(1)>",
        "{{7*7}} {% raw %} ${x}",
        "【1】 ［2］",
    ],
)
def test_markdown_shows_the_text_of_a_claim_as_it_is(text: str) -> None:
    article = Article(
        "t", Claim("c1", text), (Claim("c2", text),), (Section(text, ()),), (NumberedSource(1, "a", text),)
    )

    page = MarkdownIt("commonmark").render(render_markdown(article))

    tags = re.findall(r"<(/?\w+)", page)
    assert set(tags) <= {"h1", "/h1", "h2", "/h2", "p", "/p", "em", "/em", "code", "/code"}
    assert (tags.count("h1"), tags.count("h2")) == (1, 2)
    line = re.sub(r"[\r\n\u2028\x85]+", " ", text).strip()
    shown = [html.unescape(part) for part in re.findall(r"<(?:h1|h2|p)>([^\n]*)</(?:h1|h2|p)>", page)]
    assert [part for part in shown if part == line] == [line] * 3


@given(st.text(alphabet="#*_-+>`[]<&;\\~!|=1.2)( \nab中。", max_size=30))
@settings(deadline=None)
def test_what_is_escaped_is_read_back(text: str) -> None:
    line = " ".join(part for part in text.split("\n") if part) if "\n" in text else text

    shown = plain_text(escape_markdown(text))

    assert shown.split() == line.split()
    page = MarkdownIt("commonmark").render(escape_markdown(text))
    assert "<" not in page.replace("<p>", "").replace("</p>", "")


def test_two_renderings_have_the_same_bytes() -> None:
    article = english()
    verdicts = verdicts_of(article)

    assert render_markdown(article, verdicts=verdicts) == render_markdown(english(), verdicts=verdicts_of(english()))
    assert render_json(article, provenance=MADE) == render_json(english(), provenance=MADE)


def test_json_carries_hashes_offsets_and_characters_of_each_citation() -> None:
    article = english()
    hashes = hash_texts([RIVER])
    made = Provenance("0.1.0", "2026-11-30T18:05:00+08:00", hashes=hashes)

    text = render_json(article, verdicts=verdicts_of(article), provenance=made)

    content = json.loads(text)
    assert content["schema"] == "groundwire.article/1"
    assert list(content) == ["schema", "summary", "article", "findings", "repairs", "quality", "provenance"]
    assert content["summary"]["supported"] == 3
    assert content["summary"]["not_found"] == 1
    first, second = content["article"]["lede"][0]["citations"][0], content["article"]["lede"][1]["citations"][1]
    assert RIVER.text[first["start"] : first["end"]] == first["text"]
    assert first["source_sha256"] == hashlib.sha256(RIVER.text.encode()).hexdigest()
    assert second["source_sha256"] is None
    verdict = content["article"]["sections"][0]["claims"][0]["verdict"]
    assert verdict["checks"] == [{"kind": "number", "item": "3.2", "passed": False, "reason": "the source says 2.3"}]
    assert content["article"]["sources"][0]["published"] == "2024-05-03"
    assert content["article"]["sources"][1]["published"] is None


def test_json_is_not_escaped_to_ascii_and_holds_no_lone_surrogate() -> None:
    article = Article("臺南\ud800", Claim("c1", "曾文溪"), (), (), ())

    text = render_json(article, provenance=MADE)

    assert "曾文溪" in text
    assert "臺南\ufffd" in text.encode("utf-8").decode("utf-8")


def test_created_must_be_a_date() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        Provenance("0.1.0", "yesterday")


def test_hashes_are_sorted_by_id() -> None:
    other = Document("a", "臺南")

    assert hash_texts([RIVER, other]) == hash_texts([other, RIVER])
    assert hash_texts([other]) == (("a", hashlib.sha256("臺南".encode()).hexdigest()),)


def test_a_verdict_on_other_words_is_refused() -> None:
    article = english()
    stranger = Verdict(Claim("c2", "Other words."), "supported", "")

    with pytest.raises(UsageError, match="'c2' is about other words"):
        render_markdown(article, verdicts=(stranger,))
    with pytest.raises(UsageError, match="'c9'"):
        render_markdown(article, verdicts=(Verdict(Claim("c9", "x"), "supported", ""),))


def test_two_verdicts_on_one_claim_are_refused() -> None:
    article = english()

    with pytest.raises(UsageError, match="'c1' has two verdicts"):
        render_json(article, verdicts=(*verdicts_of(article), verdicts_of(article)[0]), provenance=MADE)


def test_claims_that_share_an_id_cannot_have_verdicts() -> None:
    article = Article("t", Claim("c1", "A."), (Claim("c1", "B."),), (), ())

    with pytest.raises(UsageError, match="2 claims share 1 ids"):
        render_markdown(article, verdicts=(Verdict(article.headline, "supported", ""),))


def test_the_gravest_verdicts_come_first() -> None:
    claim = Claim("c1", "A.")
    found = [None, *(Verdict(claim, support, "") for support in ("background", "supported", "partly", "contradicted"))]

    assert unsupported(found) == (4, 3, 1, 0)
    assert unsupported([None, None]) == ()


def test_what_was_not_checked_is_counted() -> None:
    article = english()

    shown = render_markdown(article, verdicts=verdicts_of(article)[:2])

    assert "2 of 4 claims supported, 2 not checked*" in shown
    assert "- **Not checked**: Relief came late." in shown


@pytest.mark.parametrize("language", ["fr", "", "zh-HK", "zh"])
def test_a_language_without_its_own_words_is_named(language: str) -> None:
    article = Article("t", Claim("c1", "H"), (), (), (), language=language)

    facts = render_markdown(article).split("\n")[2]

    assert any(label in facts for label in ("language: fr", "language: unknown", "語言：zh-HK", "语言：zh"))


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "en"),
        ("fr", "en"),
        ("", "en"),
        ("zh-TW", "zh-TW"),
        ("zh-Hant-HK", "zh-TW"),
        ("zh-CN", "zh-CN"),
        ("zh", "zh-CN"),
    ],
)
def test_fixed_words_follow_the_language(language: str, expected: str) -> None:
    assert words_language(language) == expected
    assert fixed_words(language)["sources"] == {"en": "Sources", "zh-TW": "資料來源", "zh-CN": "资料来源"}[expected]


def test_each_fixed_word_stands_in_every_language() -> None:
    for key, row in word_table().items():
        assert len(row) == len(LANGUAGES), key
        assert all(word.strip() or key in ("colon", "comma") for word in row), key
        fields = [sorted(re.findall(r"\{(\w)\}", word)) for word in row]
        assert fields[0] == fields[1] == fields[2], key


def test_each_measure_of_facts_has_its_word() -> None:
    named = {line.split()[0] for level in ("total", "level") for line in lines("measures")[level]}

    assert {key.removeprefix("measure_") for key in word_table() if key.startswith("measure_")} == named


def test_traditional_words_hold_no_simplified_character() -> None:
    simplified = set("".join(row[2] for row in word_table().values()))
    traditional = set("".join(row[1] for row in word_table().values()))

    big5 = {character for character in traditional if ord(character) > 0x3000}
    assert "".join(sorted(big5)).encode("big5")  # every character is in the Traditional standard set
    assert simplified - traditional >= set("题写语来")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://post.example/a?b=c#d", True),
        ("HTTP://post.example", True),
        ("https://例.example/臺南", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://a b", False),
        ('https://a"onclick=x', False),
        ("https://a'x", False),
        ("https://a<b>", False),
        ("java\nscript:x", False),
        ("https://a\u202eb", False),
        (" https://a", False),
        ("//post.example", False),
        ("", False),
    ],
)
def test_only_web_addresses_are_links(url: str, expected: bool) -> None:
    assert is_link(url) is expected
