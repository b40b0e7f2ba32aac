"""An article in Chinese keeps to its script: no other characters, no stray Latin words, no half-width marks."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from groundwire.core.types import Article, Citation, Claim, Document, Section
from groundwire.writing.script import check_days, check_script

SOURCES = {
    "a": Document(
        "a", "President Lin of TSMC said the flood hit Tainan. It rained. The iPhone line stood still.", "Rain"
    ),
    "b": Document("b", "台南水災，市民以 app 通報災情，台積電停工。", source="CNA"),
}


def found(text: str, language: str = "zh-TW") -> list[tuple[str, str]]:
    article = Article("水災", Claim("c1", ""), (Claim("c2", text),), (), (), language)
    assert all(finding.claim_id == "c2" for finding in check_script(article, SOURCES))
    return [(finding.rule, finding.item) for finding in check_script(article, SOURCES)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("台南發生水災，市長說：「會重建。」", []),
        ("台南发生水灾。", [("script", "发灾")]),
        ("市長說：「我们會重建。」", [("script", "们")]),  # the script of a quotation is ours
        ("台北后里的群峰與台南的里長", []),  # forms that both scripts have
        ("台南發生 flood，房屋倒塌。", [("latin", "flood")]),
        ("台南發生 big flood。", [("latin", "big flood")]),
        ("President Lin 表示，TSMC 的 iPhone 產線停工。", []),
        ("WHO 派員前往，A 區停電。", []),  # abbreviations and single letters
        ("雨量達 300 mm，風速 20km。", []),
        ("市民用 app 通報。", []),
        ("President Wang 表示", [("latin", "Wang")]),
        ("他說：「all is lost」後離去。", []),
        ("詳見 https://example.org/flood/page 。", []),
        ("台南,水災。", [("half_width", ",")]),
        ("台南水災.", [("half_width", ".")]),
        ("真的嗎?", [("half_width", "?")]),
        ("市長(林某)說", [("half_width", "("), ("half_width", ")")]),
        ("12:30 下雨，共 3.5 公釐，TSMC (台積電) 停工。", []),
    ],
)
def test_what_drifts_from_traditional_chinese_is_found(text: str, items: list[tuple[str, str]]) -> None:
    assert found(text) == items


def test_headings_are_looked_at_too() -> None:
    section = Section("发现 flood", (Claim("c2", "鐘響了。"),))
    article = Article("古鐘", Claim("c1", "古鐘歸還"), (), (section,), (), "zh-TW")

    assert [(one.rule, one.item, one.claim_id) for one in check_script(article, {})] == [
        ("script", "发现", ""), ("latin", "flood", ""),
    ]  # fmt: skip


def test_a_simplified_article_is_held_to_its_own_script() -> None:
    assert found("台南发生水灾。", "zh-CN") == []
    assert found("台南發生水災。", "zh-CN") == [("script", "發災")]


@pytest.mark.parametrize("language", ["en", "zh", "ja", ""])
def test_an_article_in_another_language_has_no_script_to_keep(language: str) -> None:
    assert found("台南发生 flood,水灾。", language) == []


def test_advice_is_in_the_language_of_the_article() -> None:
    article = Article("水災", Claim("c1", "水灾 flood,水災,雨"), (), (), (), "zh-TW")

    assert [finding.advice for finding in check_script(article, {})] == [
        "不是本文使用的字體（zh-TW）",
        "來源中並非名稱，請改寫為中文",
        "改用全形標點 ，",
    ]


FLOOD = {"a": Document("a", "昨天淹水。", "Flood", date(2024, 10, 14)), "b": Document("b", "It rained.", "Rain")}


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("上週二清晨退潮後，收成幾乎歸零。", [("上週二", "2024-10-08")]),
        ("漁會昨天說，去年虧損。", [("昨天", "2024-10-13"), ("去年", "2023-01-01 – 2023-12-31")]),
        ("The tide turned last Tuesday.", [("last Tuesday", "2024-10-08")]),
        ("The tide turned on 8 October 2024, he said.", []),
        ("望潮市消防局10日下修，10月7日登陸。", []),  # as written, as news has it
        ("他說：「昨天我們沒有做到。」", []),
    ],
)
def test_days_that_only_the_source_explains_are_named(text: str, days: list[tuple[str, str]]) -> None:
    language = "en" if text.isascii() else "zh-TW"
    claim = Claim("c2", text, (Citation(1, "a", 0, 5, "昨天淹水。"),))
    article = Article("水災", Claim("c1", ""), (claim,), (), (), language)

    found = check_days(article, FLOOD)

    assert [(one.rule, one.item, one.claim_id) for one in found] == [("relative_day", item, "c2") for item, _ in days]
    assert all(day in one.advice for one, (_, day) in zip(found, days, strict=True))
    assert check_days(replace(article, as_of=date(2024, 10, 14)), FLOOD) == ()


@pytest.mark.parametrize(("heading", "source"), [("潮聲日報　2024年10月14日", "a"), ("水災", "b"), ("水災", "gone")])
def test_a_day_is_let_alone_where_its_heading_is_dated_or_its_source_is_not(heading: str, source: str) -> None:
    claim = Claim("c2", "昨天淹水。", (Citation(1, source, 0, 5, "昨天淹水。"),))
    article = Article("水災", Claim("c1", ""), (), (Section(heading, (claim,)),), (), "zh-TW")

    assert check_days(article, FLOOD) == ()
