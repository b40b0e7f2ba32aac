"""Folding, words, token counts and languages."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire.core.text import content_words, count_tokens, detect_language, folded_with_map, normalise, words

ANY = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            list(" aZß.-—…“」'`漢字かがﾞゞﬁİϓ\u0301\u0323\u0345\u1161ᄀㄱㅏ\u200b\ufe0f\xa0\n\u3000´゛１，")
        ),
        st.characters(),
    ),
    max_size=40,
)
SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))


@given(ANY)
@example("a\u0301\u0323" * 60)
@example("a" + "\u0301\u0323" * 60)
@example("か ゙")
@example("e\u200b\u0301")
@example("\ud800")
def test_to_normalise_twice_is_to_normalise_once(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


@given(ANY)
@example("a" + "\u0301\u0323" * 60)
@example("ㄱㅏ 한")
@example("漢 字 -- a .....")
def test_the_map_gives_a_place_in_the_source_for_each_folded_character(text: str) -> None:
    folded, positions = folded_with_map(text)

    assert folded == normalise(text)
    assert len(folded) == len(positions)
    assert list(positions) == sorted(positions)
    assert all(0 <= position < len(text) for position in positions)


@given(ANY, ANY)
def test_what_is_quoted_is_found_at_its_place(before: str, after: str) -> None:
    quotation = "“Floods—again…” he said"
    text = f"{before} {quotation} {after}"

    folded, positions = folded_with_map(text)
    at = folded.index(normalise(quotation))
    end = at + len(normalise(quotation))
    source = text[positions[at] : positions[end] if end < len(positions) else len(text)]

    assert normalise(source) == normalise(quotation)


def test_the_map_points_at_the_source_character() -> None:
    assert folded_with_map("  ﬁne  Ünï") == ("fine ünï", (2, 2, 3, 4, 5, 7, 8, 9))
    assert folded_with_map("e\u0301 漢 \n字……") == ("é漢字...", (0, 3, 6, 7, 7, 7))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“Hello,” she said—“go”", '"hello," SHE said-"go"'),
        ("「情況很好」", "“情況很好”"),
        ("it’s", "it's"),
        ("wait…", "wait..."),
        ("他說……好", "他說...好"),
        ("５．５％", "5.5%"),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth\u00ad", "zerowidth"),
        ("a \t\r\n\u3000b", "a b"),
        ("第一\n行 GDP 成長", "第一行GDP成長"),
        ("STRASSE", "straße"),
        ("五—— 六", "五--六"),
    ],
)
def test_spellings_of_the_same_quotation_compare_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("3.5", "35"), ("rose", "fell"), ("no..", "no."), ("", "a")])
def test_different_quotations_stay_different(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ""),
        ("The U.S. rose 3.5%, to 1,200.50 in Q1; -7", "the us rose 3.5 to 1200.50 in q1 7"),
        ("Taiwan's state-of-the-art COVID-19 don’t", "taiwan state of the art covid 19 don't"),
        ("Zoë’s naïve cafe\u0301 x_y 12a 1,2,3", "zoë naïve café x y 12a 1,2,3"),
        ("印度GDP成長6.7%。台北 高雄 人", "印度 gdp 成長 6.7 台北 高雄 人"),
        ("情況很好５月２０日", "情況 況很 很好 5 月 20 日"),
        ("これは本", "これ れは は本"),
        ("Москва, हिन्दी में. ไทย 안녕", "москва हिन्दी में ไท ทย 안녕"),
        ("“「...」” 😀 —", ""),
    ],
)
def test_words_are_what_two_texts_can_share(text: str, terms: str) -> None:
    assert words(text) == tuple(terms.split())


@given(ANY)
def test_words_do_not_depend_on_the_form_of_the_characters(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(ANY)
def test_words_have_no_white_space_and_are_not_empty(text: str) -> None:
    assert all(term and not any(map(str.isspace, term)) for term in words(text))


def test_content_words_leave_out_what_carries_no_topic() -> None:
    assert content_words("What we have is the flood relief in Tainan") == ("flood", "relief", "tainan")
    assert content_words("我們 淹水") == ("淹水",)


@given(ANY)
@example("_")
@example("ไทย")
def test_only_white_space_costs_no_tokens(text: str) -> None:
    assert (count_tokens(text) > 0) == bool(text.strip())


@given(ANY, ANY)
def test_tokens_of_texts_add_up(one: str, other: str) -> None:
    assert abs(count_tokens(f"{one} {other}") - count_tokens(one) - count_tokens(other)) <= 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # by the tokenizer of multilingual-e5
        ("The river rose by two metres on Sunday, and hundreds of people left their homes in Tainan.", 21),
        ("台南市政府今天表示，連日大雨造成多處淹水，市府已經開設應變中心，呼籲民眾減少外出。", 28),
    ],
)
def test_tokens_are_about_those_of_a_multilingual_model(text: str, tokens: int) -> None:
    assert count_tokens(text) == pytest.approx(tokens, rel=0.3)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The flood was bad, and people left their homes.", "en"),
        ("台南市政府今天表示，連日大雨造成多處淹水", "zh-TW"),
        ("台南市政府今天表示，连日大雨造成多处淹水", "zh-CN"),
        ("台灣台湾", "zh"),
        ("你好", "zh"),
        ("川は二メートル上がりました。", "ja"),
        ("강물이 일요일에 2미터 상승했다", "ko"),
        ("蘋果公司（Apple Inc.）與 Microsoft 宣布合作，將於五月推出", "zh-TW"),
        ("The minister met 王小明 and 李大華 in the capital, and they said that the plan was dead.", "en"),
        ("Le président a dit que la France est un pays de paix, on a vu cela dans une ville.", ""),
        ("Der Präsident hat gesagt, dass die Bundesregierung in der Nacht so an der Sache war.", ""),
        ("El presidente dijo a los medios que no es un problema para me.", ""),
        ("De president was in de stad en had het over de nieuwe wet van de week.", ""),
        ("Han for til byen og sagde at han have for det i at.", ""),
        ("", ""),
        ("123 !", ""),
        ("Tainan", ""),
    ],
)
def test_tells_languages_apart(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_looks_at_the_start_of_a_text_only() -> None:
    assert detect_language("The flood was bad. " * 300 + "大雨造成淹水。" * 3000) == "en"


@pytest.mark.parametrize("language", ["en", "zh-TW", "zh-CN", "ja"])
def test_tells_the_language_of_news_articles(language: str) -> None:
    articles = SHARED / "data" / "news-ntrex" / "articles.jsonl"
    if not articles.exists():
        pytest.skip("the translated news articles are not here")
    rows = [json.loads(line) for line in articles.read_text(encoding="utf-8").splitlines()]

    right = [detect_language("\n".join(row["sentences"][language])) == language for row in rows]

    assert len(rows) > 100
    assert sum(right) / len(rows) >= 0.98
