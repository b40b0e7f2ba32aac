"""CASES B4: what is a conflict, what an update, and what is the same or of something else."""

from __future__ import annotations

import json
from datetime import date
from importlib.resources import files

import pytest

from groundwire.core.types import Document
from groundwire.writing.discords import find_discords, kinship
from groundwire.writing.reasons import read_reason, worded

MONDAY, TUESDAY, WEDNESDAY = date(2024, 10, 7), date(2024, 10, 8), date(2024, 10, 9)


def story(text: str, *, day: date | None = MONDAY, title: str = "", language: str = "") -> Document:
    return Document(f"{hash((text, day)):x}", text, title, day, language=language)


def kinds(*stories: Document) -> list[str]:
    return [discord.kind for discord in find_discords(stories)]


def sample() -> dict[str, list[Document]]:
    events: dict[str, list[Document]] = {}
    for line in (files("groundwire.sample") / "stories.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        day = date.fromisoformat(row["published"]) if row["published"] else None
        document = Document(row["id"], row["text"], row["title"], day, row["source"], row["url"], row["language"])
        events.setdefault(row["event"], []).append(document)
    return events


CONFLICTS = [
    ("Unemployment in Valdane stood at 0% in May 2024.", "Unemployment in Valdane stood at 5% in May 2024."),
    (
        "Valdane's gross domestic product reached 3.38 trillion crowns in 2024, the office said.",
        "Valdane's gross domestic product was 3.72 trillion crowns in 2024, the Treasury said.",
    ),
    (
        "Shipments of battery cells by Brightwater Cells rose 3% in the first quarter of 2024.",
        "Shipments of battery cells by Brightwater Cells fell 3% in the first quarter of 2024.",
    ),
    ("颱風在望潮市造成12人死亡，消防局表示。", "消防局統計，颱風已在望潮市造成15人死亡。"),
    ("台风在望潮市造成12人死亡，消防局表示。", "消防局統計，颱風已在望潮市造成15人死亡。"),
    ("瓦爾丹2024年國內生產毛額為3兆3800億元。", "瓦爾丹2024年國內生產毛額達3兆7200億元。"),
    ("瑞瀾電子第一季電池出貨量較去年同期成長3%。", "瑞瀾電子第一季電池出貨量較去年同期衰退3%。"),
    (
        "Typhoon Corva killed 12 people in Wangchao, the fire department said.",
        "The death toll of Typhoon Corva in Wangchao stands at 15, rescuers said.",
    ),
    (
        "The council of Wangchao approved a relief budget of NT$500 million for households.",
        "The council of Wangchao approved a relief budget of NT$700 million for households.",
    ),
]


@pytest.mark.parametrize(("one", "two"), CONFLICTS)
def test_two_values_for_one_thing_and_one_time_are_a_conflict(one: str, two: str) -> None:
    assert kinds(story(one), story(two)) == ["conflict"]


SILENT = [
    # equal, or as good as equal
    ("The council of Wangchao approved a relief budget of NT$500 million.", "望潮市議會三讀通過5億元救助預算。"),
    ("市議會三讀通過5億元風災救助預算。", "市議會三讀通過500,000,000元風災救助預算。"),
    ("The storm left about 1.2 million homes in Lanwan dark.", "The storm left 1,187,000 homes in Lanwan dark."),
    ("The storm left 1.2 million homes in Lanwan dark.", "The storm left 1,187,000 homes in Lanwan dark."),
    ("望潮颱風造成1200人受傷送醫。", "望潮颱風造成1187人受傷送醫。"),
    ("The storm killed 10 to 15 people in Wangchao.", "The storm killed 12 people in Wangchao."),
    ("The storm killed more than 10 people in Wangchao.", "The storm killed 12 people in Wangchao."),
    ("民國113年瓦爾丹國內生產毛額為3兆3800億元。", "2024年瓦爾丹國內生產毛額為3.38兆元。"),
    # another subject, measure, year, hour
    ("The flood killed 12 people in Wangchao.", "The flood killed 15 people in Osterby."),
    ("Wangchao counted 12 deaths after the flood.", "Osterby counted 15 deaths after the flood."),
    ("洪水在台北造成12人死亡。", "洪水在高雄造成15人死亡。"),
    ("洪水過後，望潮市有12人死亡。", "洪水過後，歐特市有15人死亡。"),
    ("The flood killed 12 people in Wangchao.", "The flood injured 46 people in Wangchao."),
    ("颱風在望潮市造成12人死亡。", "颱風在望潮市造成46人受傷。"),
    ("The population of Wangchao was 640,000 in 2022.", "The population of Wangchao was 655,000 in 2023."),
    ("瓦爾丹2022年國內生產毛額為3兆元。", "瓦爾丹2023年國內生產毛額為4兆元。"),
    ("The storm killed 12 people in Wangchao on 2 May 2024.", "The storm killed 9 people in Wangchao on 9 June 2024."),
    ("Gauges in Wangchao measured 412 millimetres of rain.", "Gauges in Wangchao measured 412 mm of rain."),
    (
        "The gauge in Wangchao stood at 3.2 metres at 8:15 a.m.",
        "The gauge in Wangchao stood at 4.1 metres at 2:15 p.m.",
    ),
    # the other source tells of both
    (
        "The storm killed 12 people in Wangchao.",
        "The storm killed 15 people in Wangchao, not 12 as the mayor had said.",
    ),
    ("The death toll in Wangchao is 15.", "The death toll in Wangchao rose from 12 to 15."),
    # a level and a change
    ("Unemployment in Valdane stood at 5.1% in May 2024.", "Unemployment in Valdane rose 0.3% in May 2024."),
]


@pytest.mark.parametrize(("one", "two"), SILENT)
def test_equal_values_and_values_of_something_else_are_no_discord(one: str, two: str) -> None:
    assert find_discords([story(one), story(two)]) == ()
    assert find_discords([story(two), story(one)]) == ()


@pytest.mark.parametrize(
    ("one", "two", "values"),
    [
        # a distance of 14 km or 14 hospitals is not a toll of 14
        (
            "消防局8日統計，颱風柯瓦在望潮市南方14公里登陸，全市已有12人死亡。",
            "颱風柯瓦的死亡人數下修為14人。",
            {12, 14},
        ),
        ("颱風柯瓦造成望潮12人死亡，14家醫院停診。", "颱風柯瓦的死亡人數下修為14人，死者在兩家醫院登記。", {12, 14}),
        # people, whatever their counter
        ("颱風柯瓦在望潮造成12人罹難。", "颱風柯瓦在望潮奪走14條人命。", {12, 14}),
        ("Typhoon Corva killed 12 people 14 km south of Wangchao.", "The toll of Typhoon Corva is now 14.", {12, 14}),
    ],
)
def test_a_toll_is_told_from_other_numbers_of_its_sentence(one: str, two: str, values: set[int]) -> None:
    sources = [
        Document("a", one, "颱風柯瓦 Typhoon Corva", date(2024, 10, 8)),
        Document("b", two, "颱風柯瓦 Typhoon Corva", date(2024, 10, 10)),
    ]

    (found,) = find_discords(sources, topic="颱風柯瓦 Typhoon Corva")

    assert found.kind == "update"
    assert {statement.value for statement in found.statements} == values


def test_a_toll_of_three_days_is_one_update_in_order_of_time() -> None:
    last = story("The death toll of Typhoon Corva in Wangchao was lowered from 15 to 14.", day=WEDNESDAY)
    first = story("Typhoon Corva killed 12 people in Wangchao.", day=MONDAY)
    second = story("The death toll of Typhoon Corva in Wangchao rose to 15.", day=TUESDAY)

    (found,) = find_discords([last, first, second])

    assert found.kind == "update"
    assert [s.value for s in found.statements] == [12, 15, 14]
    assert [s.as_of for s in found.statements] == ["2024-10-07", "2024-10-08", "2024-10-09"]
    assert found.reason == "the value changed over time: 12 → 15 → 14; the latest counts"


def test_a_chinese_toll_of_two_days_is_an_update() -> None:
    found = kinds(story("柯瓦颱風在望潮市造成12人死亡。"), story("柯瓦颱風在望潮市已造成15人死亡。", day=TUESDAY))

    assert found == ["update"]


def test_other_numbers_of_other_days_are_updates_only_in_a_copy_of_the_sentence() -> None:
    one = story("The shelter in the Shore Street school of Wangchao holds 862 guests.")
    copy = story("The shelter in the Shore Street school of Wangchao holds 640 guests.", day=TUESDAY)
    loose = story("A third shelter near Wangchao, in a temple on Shore Street, took 640 guests.", day=TUESDAY)

    assert kinds(one, copy) == ["update"]
    assert kinds(one, loose) == []


def test_a_rate_of_another_day_is_news_and_no_update() -> None:
    one = story("Shares of Brightwater Cells rose 3% in Marrow trading.")
    two = story("Shares of Brightwater Cells rose 5% in Marrow trading.", day=TUESDAY)

    assert kinds(one, two) == []


def test_tolls_that_lie_months_apart_are_of_two_matters() -> None:
    one, two = "The storm killed 12 people in Wangchao.", "The storm killed 15 people in Wangchao."

    assert kinds(story(one), story(two, day=date(2025, 3, 1))) == []


def test_one_named_day_in_reports_of_two_days_is_one_time_but_for_tolls() -> None:
    one = story("On 5 October 2024 the harbour of Wangchao took in 412 fishing boats of the fleet.")
    two = story("On 5 October 2024 the harbour of Wangchao took in 380 fishing boats of the fleet.", day=TUESDAY)
    toll = story("The storm of 6 October 2024 killed 12 people in Wangchao.")
    later = story("The storm of 6 October 2024 killed 15 people in Wangchao.", day=TUESDAY)

    assert kinds(one, two) == ["conflict"]
    assert kinds(toll, later) == ["update"]


def test_numbers_without_a_unit_are_compared_in_near_copies() -> None:
    one = story("The mayor of Wangchao gave the wards of the lower harbour the number 412 on a list.")
    two = story("The mayor of Wangchao gave the wards of the lower harbour the number 580 on a list.")

    assert kinds(one, two) == ["conflict"]


def test_sources_that_each_have_both_values_speak_of_two_things() -> None:
    one = (
        "In Lanwan 38% of voters believe the first candidate. Yet 41% of voters in Lanwan believe the other candidate."
    )
    two = (
        "In Lanwan 41% of voters believe the first candidate. Yet 38% of voters in Lanwan believe the other candidate."
    )

    assert kinds(story(one), story(two)) == []


def test_two_lower_bounds_agree_unless_they_lie_far_apart() -> None:
    title = "Storm hits the harbour quarter of Wangchao"
    one = story("The storm hurt more than 3,000 people in Wangchao.", title=title)
    two = story("In Wangchao, a city, more than 3,400 were injured.", title=title)
    far = story("In Wangchao, a city, more than 8,000 were injured.", title=title)

    assert kinds(one, two) == []
    assert kinds(one, far) == ["conflict"]


def test_sources_without_dates_are_compared_as_of_one_time() -> None:
    one = story("The storm killed 12 people in Wangchao.", day=None)

    (found,) = find_discords([one, story("The storm killed 15 people in Wangchao.", day=None)])

    assert found.reason == "the sources give different values: 12 / 15"


def test_two_speakers_of_one_source_are_left_alone() -> None:
    text = "The mayor said the storm killed 12 people. The opposition said the storm killed 20 people."

    assert kinds(story(text)) == []


def test_numbers_of_unrelated_stories_are_not_compared() -> None:
    one = story("A bus crash on the coast road killed 12 people.", title="Bus leaves road")
    two = story("Smoke in a bakery oven killed 3 people, police found.", title="Fire in bakery")

    assert kinds(one, two) == []


def test_a_topic_that_both_sources_are_about_makes_them_kin() -> None:
    one = story("Late buses. The pump station flooded at night and water rose.")
    two = story("A quiet morning in town; the pump station flooded, clerks noted.")

    assert kinship(one, two, topic="pump station flooded") > kinship(one, two, topic="") or kinship(one, two) >= 0.25
    assert kinship(story(""), story("")) == 0


def test_the_sample_archive_reports_what_was_planted_and_nothing_else() -> None:
    found = {
        event: [(d.kind, sorted({s.written for s in d.statements})) for d in find_discords(documents)]
        for event, documents in sample().items()
    }

    assert found == {
        "wangchao-typhoon": [
            ("conflict", ["3,400", "4,100"]),
            ("update", ["12", "14", "15"]),
            ("update", ["19", "31", "Eleven"]),
        ],
        "osterby-battery-plant": [("conflict", ["3%"])],
        "valdane-economy": [("conflict", ["3.38 trillion", "3.72 trillion"])],
        "lanfu-bell": [],
        "kestrel-eelgrass": [],
        "tarn-hollow-canal": [],
        "osterby-trams": [],
    }


@pytest.mark.parametrize("language", ["zh-TW", "zh-CN"])
def test_every_reason_is_worded_in_both_chinese_scripts(language: str) -> None:
    stories = [story(text) for pair in CONFLICTS for text in pair]
    found = [d for a, b in zip(stories[::2], stories[1::2], strict=True) for d in find_discords([a, b])]
    found += find_discords(
        [story("The storm killed 12 people in Wangchao.", day=day) for day in (MONDAY,)]
        + [story("The storm killed 15 people in Wangchao.", day=TUESDAY)]
    )

    for discord in found:
        reason = read_reason(discord.reason)
        assert reason.kind.startswith("discord_")
        assert any("\u4e00" <= character <= "\u9fff" for character in worded(reason, language))
        assert all(value in worded(reason, language) for value in reason.values)


@pytest.mark.parametrize(
    "aside",
    [
        "It is the deadliest storm to strike Wangchao since 1986, when a nameless one killed 37 people.",
        "It is the deadliest storm since 1986, in which a nameless one killed 37 people.",
        "An employer asked for one death certificate and received two of them from the hospital.",
    ],
)
def test_what_happened_in_another_year_or_counts_other_things_is_no_later_value(aside: str) -> None:
    first = Document("a", "Typhoon Corva killed 12 people in Wangchao on Monday.", "Typhoon Corva", date(2024, 10, 8))
    later = Document("b", f"The toll of Typhoon Corva in Wangchao rose to 15. {aside}", "Typhoon", date(2024, 10, 9))
    values = {statement.value for found in find_discords([first, later]) for statement in found.statements}
    assert values == {12, 15}
