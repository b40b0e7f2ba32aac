"""Statements drawn from sentences: what a number is of, its value and unit, and the time it holds for."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Document
from groundwire.writing.facts import Fact, find_statements, read_facts, telling_words, turn_of

DAY = date(2024, 10, 8)


def story(text: str, *, published: date | None = DAY, title: str = "", name: str = "a") -> Document:
    return Document(name, text, title, published)


def only(text: str, *, published: date | None = DAY) -> Fact:
    facts = read_facts(story(text, published=published))
    assert len(facts) == 1, [fact.statement for fact in facts]
    return facts[0]


@pytest.mark.parametrize(
    ("text", "measure", "value", "unit"),
    [
        ("The storm killed 12 people in Wangchao.", "deaths", 12, "person"),
        ("The death toll of the storm in Wangchao rose from 12 to 15.", "deaths", 15, ""),
        ("風災在望潮市造成12人死亡。", "deaths", 12, "person"),
        ("消防局將風災的死亡人數由15人下修為14人。", "deaths", 14, "person"),
        ("消防局将风灾的死亡人数由15人下修为14人。", "deaths", 14, "person"),
        ("Valdane's gross domestic product was 3.38 trillion crowns in 2024.", "gdp", 3.38e12, "crown"),
        ("瓦爾丹2024年國內生產毛額為3兆3800億元。", "gdp", 3.38e12, "元"),
        ("Unemployment in Valdane stood at 5.1% at the end of the year.", "unemployment", 5.1, "%"),
        ("Voter turnout in the city was 62 percent on Sunday.", "turnout", 62, "%"),
        ("The council approved a relief budget of NT$500 million.", "", 5e8, "TWD"),
        ("市議會三讀通過5億元風災救助預算。", "", 5e8, "元"),
    ],
)
def test_a_number_is_read_with_its_measure_value_and_unit(text: str, measure: str, value: float, unit: str) -> None:
    fact = only(text)

    assert (fact.measure, fact.statement.value, fact.statement.unit) == (measure, value, unit)
    assert fact.statement.written in text


def test_two_numbers_of_one_sentence_go_to_the_measures_that_stand_beside_them() -> None:
    english = read_facts(story("The fire chief said that 31 people were still missing and 46 were hurt."))
    chinese = read_facts(story("全市已有12人死亡、31人失聯、46人受傷。"))

    assert [(f.measure, f.statement.value) for f in english] == [("missing", 31), ("injured", 46)]
    assert [(f.measure, f.statement.value) for f in chinese] == [("deaths", 12), ("missing", 31), ("injured", 46)]


def test_the_words_of_a_measure_are_not_lent_to_a_second_number() -> None:
    facts = read_facts(story("The fire chief said that 31 people were still missing and 46 were being treated there."))

    assert [fact.measure for fact in facts] == ["missing", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Did the storm kill 12 people in the harbour city?",
        "Three of the dead lived in the Lower Jetty ward.",
        "Dozens of people were killed in the harbour city.",
        "The plant aims to hire 1,800 people in the town.",
        "The company expects revenue of $9.5 billion for the year.",
        "The output is higher than 300 units a month in the old plant.",
        "The yield of the 10-year bond is watched by all traders.",
        "風災造成多少人死亡？",
        "公司預計招募1800人在當地工作。",
        "In 1998",
        "",
    ],
)
def test_what_is_asked_hoped_partial_or_vague_states_nothing(text: str) -> None:
    assert read_facts(story(text)) == ()


@pytest.mark.parametrize(
    ("text", "sign", "value"),
    [
        ("Shipments of battery cells by Brightwater rose 3% in the quarter.", 1, 3),
        ("Shipments of battery cells by Brightwater fell 3% in the quarter.", -1, -3),
        ("Shares of Brightwater closed 2.2% higher in Marrow trading.", 1, 2.2),
        ("Turnout among voters fell to 61% in the last election.", 0, 61),
        ("瑞瀾電子股價上漲1.8%，收在高點。", 1, 1.8),
        ("瑞瀾電子股價下跌1.8%，收在低點。", -1, -1.8),
        ("當地失業率降至8.7%的低點。", 0, 8.7),
        ("瑞瀾電子第三季營收有3%成長。", 1, 3),
    ],
)
def test_a_rise_and_a_fall_are_told_from_a_level(text: str, sign: int, value: float) -> None:
    fact = read_facts(story(text))[0]

    assert (fact.sign, fact.statement.value) == (sign, value)


@pytest.mark.parametrize(
    ("text", "as_of"),
    [
        ("The storm killed 12 people in Wangchao.", "2024-10-08"),
        ("The storm killed 12 people in Wangchao yesterday.", "2024-10-08"),
        ("The storm killed 37 people in Wangchao in 1986.", "1986"),
        ("Storms killed 37 people in Wangchao in August 1986.", "1986-08"),
        ("Shipments of cells by Brightwater rose 3% in the first quarter of 2024.", "2024-01-01/2024-03-31"),
        ("The storm, the worst since 1986, killed 12 people in Wangchao.", "2024-10-08"),
        ("民國112年望潮颱風造成12人死亡。", "2023"),
        ("去年10月7日的颱風在望潮造成9人死亡。", "2023-10-07"),
        ("上週二的地震在望潮造成9人死亡。", "2024-10-01"),
        ("On 2 May 2024 the storm killed 12 people in Wangchao.", "2024-05-02"),
    ],
)
def test_the_time_of_a_number_is_resolved_against_publication(text: str, as_of: str) -> None:
    assert read_facts(story(text))[0].statement.as_of == as_of


def test_without_a_date_of_publication_only_what_the_sentence_says_is_known() -> None:
    assert only("The storm killed 12 people in Wangchao yesterday.", published=None).statement.as_of == ""
    assert only("On 2 May 2024 the storm killed 12 people.", published=None).statement.as_of == "2024-05-02"


def test_statements_point_at_the_characters_of_their_sentence_in_text_and_title() -> None:
    document = story("First words.\n\nThe storm killed 12 people in Wangchao.", title="Storm kills 12 in Wangchao")

    statements = find_statements([document])

    assert [s.citation.part for s in statements] == ["title", "text"]
    for statement in statements:
        whole = document.title if statement.citation.part == "title" else document.text
        assert whole[statement.citation.start : statement.citation.end] == statement.citation.text


def test_the_speaker_of_a_number_is_not_its_subject() -> None:
    fact = only("The storm killed 12 people in old Wangchao, Mayor Lin Hsiu-wen said.")

    assert fact.names == ("wangchao",)


def test_a_rise_or_fall_of_a_text_is_found_unless_it_says_both() -> None:
    assert turn_of("Bank raises its rate") == ("raises", 1)
    assert turn_of("央行調降利率") == ("调降", -1)
    assert turn_of("Prices rose and wages fell") == ("", 0)
    assert turn_of("A quiet day") == ("", 0)


def test_telling_words_leave_out_numbers_function_words_and_turns() -> None:
    assert telling_words("The 12 shipments of cells rose") == {"shipment", "cell"}
    assert telling_words("颱風") == {"台风"} | set()


@given(st.text(max_size=200))
def test_any_text_is_read_and_its_statements_stand_in_it(text: str) -> None:
    for statement in find_statements([story(text)]):
        assert text[statement.citation.start : statement.citation.end] == statement.citation.text
        assert statement.written in statement.citation.text
