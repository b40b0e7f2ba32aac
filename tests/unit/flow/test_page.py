import base64
import hashlib
import re
import tomllib
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.findings import CitationQuality, Discord, PremiseNote, Repair, Statement, StyleFinding
from groundwire.core.types import Article, Check, Citation, Claim, Document, NumberedSource, Section, Verdict
from groundwire.flow.findings import Findings
from groundwire.flow.page import render_page
from groundwire.flow.render import Provenance, hash_texts
from groundwire.writing.reasons import read_reason, worded

VOID = {"meta", "link", "br", "hr", "img", "input"}
RIVER = Document(
    "river-1",
    "The river rose 3.2 metres on Friday.\n\nTwo bridges closed. " + "More rain is expected along the coast. " * 12,
    title="River tops its bank",
    published=date(2024, 5, 3),
    source="Tainan Post",
    url="https://post.example/1#top",
    language="en",
)
FOUND = Document(
    "found-9", "The level was 3.1 metres.", "Level", date(2024, 5, 4), "Gauge", "https://gauge.example", "en"
)
MADE = Provenance(
    "0.1.0", "2026-11-30T18:05:00+08:00", "stories.archive", "", None, (("search.k", "30"),), hash_texts([RIVER])
)


class Page(HTMLParser):
    """A page as a browser's tokenizer sees it: every element with its attributes, and that the tags are balanced."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)
        if not {"style", "script", "title"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [attributes for _, attributes in self.elements if name in attributes.get("class", "").split()]


def english() -> Article:
    return Article(
        topic="Flood in Tainan",
        headline=Claim("c1", "River tops its bank", (Citation(1, "river-1", 0, 19, RIVER.title, "", "title"),)),
        lede=(
            Claim("c2", "The river rose 3.2 metres on Friday.", (Citation(1, "river-1", 0, 36, RIVER.text[:36]),)),
            Claim("c3", "Two bridges closed.", (Citation(1, "river-1", 38, 57, RIVER.text[38:57]),)),
        ),
        sections=(Section("Later", (Claim("c4", "It was 4 metres."),)), Section("", ())),
        sources=(
            NumberedSource(1, "river-1", RIVER.title, RIVER.source, RIVER.published, RIVER.url, "en", 83.4, "high"),
            NumberedSource(2, "none-2", "", "", None, "javascript:alert(1)", "not a tag!", None, None),
        ),
        language="en",
        notes=("one source was dropped",),
    )


def verdicts_of(article: Article) -> tuple[Verdict, ...]:
    *most, last = article.claims
    checks = (Check("number", "4", False, "the source says 3.1"), Check("wording", "", True, ""))
    found = Citation(0, "found-9", 0, 25, FOUND.text)
    good = (Verdict(claim, "supported", "every word stands there", claim.citations) for claim in most)
    return (*good, Verdict(last, "contradicted", "the level was 3.1", (found,), checks))


def show(article: Article, **given: object) -> Page:
    return Page(render_page(article, **given))  # type: ignore[arg-type]


def evidence_of(page: str, anchor: str) -> Page:
    found = re.search(
        rf'<div class="evidence" id="e-{anchor}".*?(?=</div></div>|</div> *<div class="claim)', page, re.DOTALL
    )
    assert found is not None
    part = found[0]
    return Page(part + "</div>" * (part.count("<div") - part.count("</div>")))


def test_the_page_asks_for_nothing_from_outside() -> None:
    article = english()

    page = show(article, verdicts=verdicts_of(article), documents={"river-1": RIVER}, provenance=MADE)

    assert {tag for tag, _ in page.elements}.isdisjoint({"link", "img", "iframe", "object", "embed", "form", "base"})
    assert all("src" not in attributes for _, attributes in page.elements)
    assert all("style" not in attributes for _, attributes in page.elements)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    css = page.texts["style"][0]
    assert "url(" not in css
    assert "@import" not in css


def test_only_our_style_and_script_pass_the_policy() -> None:
    page = show(english())

    policy = page.named("meta")[1]["content"]
    for kind in ("style", "script"):
        (content,) = page.texts[kind]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_every_claim_is_a_link_to_its_own_evidence() -> None:
    article = english()

    page = show(article, verdicts=verdicts_of(article))

    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert [link["href"] for link in page.of_class("words")] == ["#c1", "#c2", "#c3", "#c4"]
    inner = {attributes["href"][1:] for attributes in page.named("a") if attributes["href"].startswith("#")}
    assert inner - set(ids) == {"closed"}


def test_claims_show_their_evidence_with_the_cited_words_marked() -> None:
    article = english()

    text = render_page(article, verdicts=verdicts_of(article), documents={"river-1": RIVER, "found-9": FOUND})

    second = evidence_of(text, "c3")
    assert re.search(r"<mark><bdi>Two bridges closed\.</bdi></mark>", text)
    assert "The river rose 3.2 metres on Friday.\n" in second.text
    assert "Supported" in second.text
    assert "every word stands there" in second.text
    assert "Tainan Post, 2024-05-03" in second.text
    headline = evidence_of(text, "c1")
    assert "In the title." in headline.text


def test_evidence_found_by_the_check_and_its_checks_are_shown() -> None:
    article = english()

    text = render_page(article, verdicts=verdicts_of(article), documents={"river-1": RIVER, "found-9": FOUND})

    last = evidence_of(text, "c4")
    assert "This claim cites nothing." in last.text
    assert "Also found" in last.text
    assert "Gauge, 2024-05-04" in last.text
    assert "failed: Number: 4 the source says 3.1" in last.text
    assert "passed: Wording" in last.text


def test_evidence_of_an_unknown_document_has_its_id_for_a_title() -> None:
    article = english()

    text = render_page(article, verdicts=verdicts_of(article))

    assert "found-9" in evidence_of(text, "c4").text


def test_what_is_not_supported_comes_first() -> None:
    article = english()

    text = render_page(article, verdicts=verdicts_of(article))

    assert "3 of 4 claims supported" in text
    assert text.index("<h2>Not supported</h2>") < text.index('class="para lede"')
    assert text.index("the level was 3.1") < text.index('class="para lede"')
    assert "Not supported" not in show(article).text
    assert "claims not checked" in show(article).text


def test_long_contexts_are_cut_at_words() -> None:
    start = RIVER.text.index("More rain", 300)
    article = replace(
        english(), lede=(Claim("c2", "More rain", (Citation(1, "river-1", start, start + 9, "More rain"),)),)
    )

    text = render_page(article, documents={"river-1": RIVER})

    (shown,) = re.findall(r"<blockquote[^>]*><bdi>(.*?)</bdi><mark><bdi>More rain</bdi></mark><bdi>(.*?)</bdi>", text)
    before, after = shown
    assert before.startswith("…")
    assert RIVER.text[:start].endswith(before[1:])
    assert 200 < len(before) <= 241
    assert not RIVER.text[:start].removesuffix(before[1:])[-1:].strip()
    assert after == RIVER.text[start + 9 :].rstrip() or after.endswith("…")


def test_chinese_contexts_are_half_as_long_and_never_start_with_a_combining_mark() -> None:
    text = "水" * 300 + "é" + "\u0301" * 3 + "橋" * 119 + "封閉" + "河" * 300
    at = text.index("封閉")
    document = Document("d", text)
    article = Article(
        "t", Claim("c1", "封閉", (Citation(1, "d", at, at + 2, "封閉"),)), (), (), (NumberedSource(1, "d"),)
    )

    page = render_page(article, documents={"d": document})

    assert "<bdi>…" + "橋" * 119 + "</bdi><mark><bdi>封閉</bdi></mark><bdi>" + "河" * 120 + "…</bdi>" in page


@pytest.mark.parametrize(
    ("citation", "documents", "remark"),
    [
        (Citation(1, "river-1"), {"river-1": RIVER}, "Cites the whole document."),
        (Citation(1, "river-1", 0, 9, "The ocean"), {"river-1": RIVER}, "The source has changed since"),
        (Citation(1, "river-1", 9000, 9009, "The river"), {"river-1": RIVER}, "The source has changed since"),
        (Citation(1, "river-1", 9000, 9009), {"river-1": RIVER}, "The source has changed since"),
        (Citation(1, "river-1", 0, 9, "The river"), {}, "The text of this source is not at hand."),
    ],
)
def test_evidence_that_cannot_be_placed_says_so(
    citation: Citation, documents: dict[str, Document], remark: str
) -> None:
    article = replace(english(), headline=Claim("c1", "River", (citation,)), lede=(), sections=())

    text = render_page(article, documents=documents)

    assert remark in evidence_of(text, "c1").text
    assert citation.text in evidence_of(text, "c1").text


def test_offsets_without_characters_show_what_stands_there() -> None:
    article = replace(english(), headline=Claim("c1", "River", (Citation(1, "river-1", 4, 9),)))

    assert "<mark><bdi>river</bdi></mark>" in render_page(article, documents={"river-1": RIVER})


HOSTILE = [
    "<script>alert(1)</script>",
    "</style><b>x",
    "</script><b>x",
    "{{7*7}} {% include 'x' %} {# x #}",
    '" onmouseover="alert(1)" x=\'',
    "<!-- --> <![CDATA[ ]]> &lt; &amp;amp; &#60;",
    "a\u2028b\u2029c",
    "<img src=x onerror=alert(1)>",
    "</bdi></div></body>",
]


def filled_with(text: str) -> tuple[Article, dict[str, object]]:
    citation = Citation(1, text, 0, len(text), text, text)
    claim = Claim("c1", text, (citation,))
    article = Article(
        topic=text,
        headline=claim,
        lede=(Claim("c2", text, (citation,)),),
        sections=(Section(text, (Claim("c3", text, ()),)),),
        sources=(NumberedSource(1, text, text, text, None, text, text, 50, "low"),),
        language=text,
        writer=text,
        notes=(text,),
    )
    verdicts = tuple(
        Verdict(c, "partly", text, (citation,), (Check("date", text, False, text),)) for c in article.claims
    )
    made = Provenance(text, "2026-11-30", text, text, 1, ((text, text),), ((text, text),))
    return article, {"verdicts": verdicts, "documents": {text: Document(text, text, text)}, "provenance": made}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_archive_is_shown_and_never_obeyed(text: str) -> None:
    article, given_too = filled_with(text)
    plain, plain_too = filled_with("plain")

    page, expected = show(article, **given_too), show(plain, **plain_too)

    assert [tag for tag, _ in page.elements] == [tag for tag, _ in expected.elements]
    assert [sorted(names) for _, names in page.elements] == [sorted(names) for _, names in expected.elements]
    assert page.text.count(text) == expected.text.count("plain")
    assert page.texts["title"] == [text]
    assert page.texts["script"] == expected.texts["script"]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=20))
@settings(max_examples=25, deadline=None)
def test_any_text_leaves_the_structure_alone(text: str) -> None:
    article, given_too = filled_with(text)
    bare = re.sub("[\x00-\x08\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)

    page = show(article, **given_too)

    assert page.open == []
    assert len(page.named("script")) == 1
    assert page.texts.get("title", [""]) == [bare]


def test_signs_that_turn_text_around_are_shown_by_number() -> None:
    text = "left \u202eright\u202c \u2067x\u2069 bell\x07 end"
    article, given_too = filled_with(text)

    page = render_page(article, **given_too)  # type: ignore[arg-type]

    assert not set(page) & set("\u202e\u202c\u2067\u2069\x07")
    assert '<span class="control">U+202E</span>right<span class="control">U+202C</span>' in page
    assert "bell<span" in page
    assert "<title>left right x bell end</title>" in page


def test_every_piece_of_the_archive_is_isolated() -> None:
    article, given_too = filled_with("SENTINEL")

    body = render_page(article, **given_too).split("<body>")[1]  # type: ignore[arg-type]

    unescaped = re.sub(r'="[^"]*"', "", body)
    assert unescaped.count("SENTINEL") == unescaped.count("<bdi>SENTINEL</bdi>")
    assert unescaped.count("SENTINEL") > 20


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//x.example",
        "https://a b",
    ],
)
def test_only_web_addresses_become_links(url: str) -> None:
    article = english()
    article = replace(article, sources=(replace(article.sources[0], url=url),))

    page = show(article, documents={"river-1": replace(RIVER, url=url)})

    assert {link["href"][0] for link in page.named("a")} == {"#"}


def test_links_lead_to_the_cited_words() -> None:
    article = english()

    page = show(article, documents={"river-1": RIVER})

    out = [link for link in page.named("a") if link["href"].startswith("http")]
    assert all(link["rel"] == "noopener noreferrer nofollow" for link in out)
    (listed,) = [link["href"] for link in out if "data-address" in link]
    address, fragment = listed.split(":~:")
    assert address == "https://post.example/1#top"
    assert [unquote(part.removeprefix("text=")) for part in fragment.split("&")] == [
        "River tops its bank",
        "The river rose 3.2 metres on Friday.",
        "Two bridges closed.",
    ]


@pytest.mark.parametrize(
    ("cited", "expected"),
    [
        ("a-b, c & d", "a%2Db%2C%20c%20%26%20d"),
        (
            "One two three four five six seven eight nine ten eleven twelve.",
            "One%20two%20three%20four%20five,eight%20nine%20ten%20eleven%20twelve.",
        ),
        ("水" * 20 + "橋" * 60, "%E6%B0%B4" * 20 + "%E6%A9%8B" * 60),
        (
            "水位上升三公尺，" + "橋" * 60 + "，市長視察學校。",
            f"{quote('水位上升三公尺，')},{quote('市長視察學校。')}",
        ),
        ("two\n\nlines", "two,lines"),
    ],
)
def test_text_fragments_are_encoded_and_short(cited: str, expected: str) -> None:
    document = Document("d", cited, url="https://post.example/1")
    citation = Citation(1, "d", 0, len(cited), cited)
    source = NumberedSource(1, "d", "T", url=document.url)
    article = Article("t", Claim("c1", cited, (citation,)), (), (), (source,))

    page = show(article, documents={"d": document})

    assert f"https://post.example/1#:~:text={expected}" in {link["href"] for link in page.named("a")}


def test_sources_show_relevance_and_band() -> None:
    page = show(english())

    assert "Relevance 83 · high" in page.text
    assert "Not rated" in page.text
    assert "Untitled" in page.text


def test_a_source_without_cited_words_is_linked_plainly() -> None:
    source = NumberedSource(1, "d", "T", url="https://post.example/1")
    article = Article("t", Claim("c1", "H", (Citation(1, "d"),)), (), (), (source,))

    assert {link["href"] for link in show(article).named("a") if link["href"][0] == "h"} == {"https://post.example/1"}


def test_languages_are_told_apart() -> None:
    article = english()

    page = show(article, documents={"river-1": RIVER})

    assert page.named("html")[0]["lang"] == "en"
    assert {quote["lang"] for quote in page.named("blockquote")} == {"en"}
    items = re.findall(r'<li id="s\d"><span class="n">\[\d\]</span><div>\s*<p lang="([^"]*)">', render_page(article))
    assert items == ["en", ""]
    assert show(replace(article, language="")).named("html")[0]["lang"] == "en"


def test_a_quoted_claim_is_in_the_language_of_its_source() -> None:
    page = show(replace(english(), language="zh-TW"))

    assert [link["lang"] for link in page.of_class("words")] == ["en", "en", "en", "zh-TW"]


def test_a_taiwanese_page_speaks_traditional_chinese() -> None:
    document = Document(
        "d", "曾文溪水位上升。", "曾文溪暴漲", date(2024, 5, 3), "南方日報", "https://south.example", "zh-TW"
    )
    claims = [Claim(f"c{n}", "曾文溪水位上升。", (Citation(1, "d", 0, 8, document.text),)) for n in (1, 2, 3)]
    source = NumberedSource(1, "d", "曾文溪暴漲", "南方日報", document.published, document.url, "zh-TW", 71, "high")
    article = Article("臺南水災", claims[0], tuple(claims[1:]), (), (source,), "zh-TW", notes=("略去一則",))
    verdicts = tuple(Verdict(claim, "supported", "逐字相符", claim.citations) for claim in claims)

    text = render_page(article, verdicts=verdicts, documents={"d": document}, provenance=MADE)

    page = Page(text)
    assert page.named("html")[0]["lang"] == "zh-TW"
    assert "3 項陳述中 3 項有來源支持" in page.text
    assert "相關度 71 · 高" in page.text
    table = tomllib.loads((files("groundwire.flow") / "templates" / "words.toml").read_text("utf-8"))
    english_words = {row[0].strip() for row in table.values() if row[0] != row[1] and len(row[0].strip()) > 3}
    body = re.sub(r"builtin|stories\.archive|groundwire|river-1|search\.k", "", page.text)
    assert not [word for word in english_words if re.search(rf"\b{re.escape(word)}\b", body)]
    assert '</sup><div class="evidence" id="e-c2"' in text
    assert re.search(r'</div></div><div class="claim supported" id="c3">', text)  # no space between Chinese sentences


def test_sentences_in_english_are_parted_by_a_space() -> None:
    assert re.search(r'</div></div> <div class="claim unchecked" id="c3">', render_page(english()))


def test_provenance_stands_at_the_foot() -> None:
    text = show(english(), provenance=MADE).text

    for part in ("How this page was made", "stories.archive", "search.k = 30", hash_texts([RIVER])[0][1]):
        assert part in text
    assert "Embedder" not in text
    assert "Seed" not in text
    bare = show(english(), provenance=Provenance("0.1.0", "2026-11-30"))
    assert "SHA-256" not in bare.text
    assert "Settings" not in bare.text


def test_two_pages_have_the_same_bytes() -> None:
    documents = {"river-1": RIVER, "found-9": FOUND}
    one = render_page(english(), verdicts=verdicts_of(english()), documents=documents, provenance=MADE)
    other = render_page(
        english(), verdicts=verdicts_of(english()), documents=dict(reversed(documents.items())), provenance=MADE
    )

    assert one == other
    assert one.encode("utf-8")


def test_a_lone_surrogate_does_not_stop_the_page() -> None:
    article, given_too = filled_with("a\ud800b")

    assert "a\ufffdb" in render_page(article, **given_too).encode("utf-8").decode()  # type: ignore[arg-type]


def test_verdicts_of_another_article_are_refused() -> None:
    with pytest.raises(UsageError, match="'c9'"):
        render_page(english(), verdicts=(Verdict(Claim("c9", "x"), "supported", ""),))


def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    digits = colour.lstrip("#")
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "desk", "chosen"])
@pytest.mark.parametrize("ink", ["ink", "soft", "link", "good", "partly", "bad"])
def test_contrast_is_enough_for_level_aa(scheme: str, ground: str, ink: str) -> None:
    css = (files("groundwire.flow") / "templates" / "article.css").read_text("utf-8")
    light, dark = re.split(r"@media \(prefers-color-scheme: dark\)", css)[:2]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", light if scheme == "light" else dark))

    bright, dim = sorted((luminance(colours[ground]), luminance(colours[ink])), reverse=True)

    assert (bright + 0.05) / (dim + 0.05) >= 4.5


def test_reasons_are_told_in_the_language_of_the_page() -> None:
    claim = Claim("c1", "橋關閉了。", (Citation(1, "d", 0, 5, "橋關閉了。"),))
    article = Article("橋", claim, (), (), (NumberedSource(1, "d"),), language="zh-TW")

    for reason, told in (("word for word in the source", "與來源原文逐字相同"), ("another reason", "another reason")):
        page = render_page(article, verdicts=[Verdict(claim, "supported", reason)], documents={})
        assert told in page
    check = Check("number", "5 億元", passed=False, reason="stands in the cited document, but not in the cited words")
    page = render_page(article, verdicts=[Verdict(claim, "partly", "number: not", checks=(check,))], documents={})
    assert worded(read_reason(check.reason), "zh-TW") in page
    assert "but not in the cited words" not in page


@pytest.mark.parametrize(
    ("text", "cited", "place", "fragment"),
    [
        (
            "Rain fell. It is shut. Noon came. It is shut. Then night.",
            "It is shut.",
            34,
            "shut.%20Noon%20came.-,It%20is%20shut.",
        ),
        ("It is shut. Noon came. It is shut.", "It is shut.", 0, "It%20is%20shut."),
        ("雨很大。橋封閉。市長視察學校。橋封閉。", "橋封閉。", 15, None),
    ],
)
def test_a_link_to_words_that_stand_there_twice_names_what_is_before_them(
    text: str, cited: str, place: int, fragment: str | None
) -> None:
    assert text[place : place + len(cited)] == cited
    claim = Claim("c1", cited, (Citation(1, "d", place, place + len(cited), cited),))
    article = Article("T", claim, (), (), (NumberedSource(1, "d", url="https://a.example/x"),), language="en")

    page = render_page(article, documents={"d": Document("d", text, url="https://a.example/x")})

    wanted = fragment or f"{quote('市長視察學校。')}-,{quote('橋封閉。')}"
    assert f'#:~:text={wanted}"' in page


def test_findings_stand_in_panels_of_their_own() -> None:
    article = replace(english(), as_of=date(2024, 5, 6))
    cited = article.lede[0].citations[0]
    sides = (
        Statement("river", "level", 3.2, "m", "3.2 metres", "2024-05-03", cited),
        Statement("river", "level", 3.1, "m", "3.1 metres", "", Citation(0, "found-9", 0, 25, FOUND.text)),
        Statement("river", "level", 4, "m", "", "", Citation(2, "none-2", 0, 4, "gone")),
        Statement("river", "level", 5, "m", "five", "", cited),
    )
    found = Findings(
        (Discord("conflict", sides, "<b>why</b>"),),
        (PremiseNote("4 metres", "the sources say 3.2", (cited,)),),
        (StyleFinding("avoid", "tops", "say rises", "c1"), StyleFinding("length", "", "")),
        (
            Repair("recited", replace(article.lede[1], citations=()), article.lede[1], ""),
            Repair("cut", article.lede[0], None, "no"),
        ),
        CitationQuality(0.5, None, 1.0, 4, 3),
        ("orders",),
        ("thin",),
        ("never <i>cited</i>",),
    )
    verdicts = tuple(Verdict(claim, "supported", "", judged_by="llama:x") for claim in article.claims)

    text = render_page(article, verdicts=verdicts, documents={"river-1": RIVER, "found-9": FOUND}, findings=found)

    page = Page(text)
    assert [one["id"] for one in page.of_class("panel")] == [
        "premise", "warnings", "discords", "repairs", "style", "quality",
    ]  # fmt: skip
    assert page.texts["del"] == ["[1]"] or "[1]" in page.texts["ins"]
    for words in (
        "as of 2024-05-06",
        "Judged by: llama:x",
        "4 metres: the sources say 3.2",
        "<b>why</b>",
        "never <i>cited</i>",
        "citation recall 50%; citation precision no value",
    ):
        assert words in page.text
    assert "<mark><bdi>3.2 metres</bdi></mark>" in text
    assert '<a href="#c1">#1</a>' in text


def test_without_findings_there_are_no_panels() -> None:
    page = show(english())

    assert page.of_class("panel") == []
