"""CASES C5: what a topic takes for granted and its sources contradict is said before anything is drafted."""

from __future__ import annotations

import json
from datetime import date
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Document
from groundwire.writing.premise import check_premise
from groundwire.writing.reasons import read_reason, worded


def story(text: str, *, title: str = "", day: date | None = None, name: str = "a", language: str = "") -> Document:
    return Document(name, text, title, day, language=language)


FLOOD = (
    story("The flood hit Wangchao in September 2022 and killed 12 people.", title="Flood in Wangchao", name="a"),
    story("In 2022 the flood destroyed the harbour of Wangchao, the mayor said.", title="After the flood", name="b"),
)
FLOOD_ZH = (
    story("2022年9月的洪水侵襲望潮市，造成12人死亡。", title="望潮市洪水", name="a"),
    story("市長表示，望潮市的洪水在民國111年摧毀港口。", title="望潮市洪水之後", name="b"),
)
RATES = (
    story("The Bank of Valdane cut its main interest rate to 3.5% on Wednesday.", title="Bank cuts rate", name="a"),
    story("瓦爾丹央行調降利率，主要利率降至3.5%。", title="瓦爾丹央行降息", name="b"),
)
FALSE = [
    (
        "Shares of Brightwater rose 7% in the quarter",
        (story("Shares of Brightwater fell 7.5% in the quarter."),),
        "rose",
        "premise_direction",
        "fell",
    ),
    ("The flood in Wangchao in 2023", FLOOD, "2023", "premise_date", "2022"),
    ("2023年望潮市洪水", FLOOD_ZH, "2023年", "premise_date", "2022"),
    ("民國112年望潮市洪水", FLOOD_ZH, "民國112年", "premise_date", "2022"),
    ("Flood in Wangchao kills 15 people", FLOOD, "15", "premise_number", "12"),
    ("望潮市洪水造成15人死亡", FLOOD_ZH, "15", "premise_number", "12"),
    ("Bank of Valdane raises its main interest rate", RATES, "raises", "premise_direction", "cut"),
    ("瓦爾丹央行調升利率", RATES, "调升", "premise_direction", "调降"),
    (
        "The harbour of Wangchao took in 412 fishing boats",
        (story("The harbour of Wangchao took in 380 fishing boats, the pilots said."),),
        "412",
        "premise_number",
        "380",
    ),
    ("The flood destroyed the harbour of Osterby", FLOOD, "Osterby", "premise_name", "Wangchao"),
]


@pytest.mark.parametrize(("topic", "sources", "item", "kind", "says"), FALSE)
def test_a_false_premise_is_named_with_what_the_sources_say(
    topic: str, sources: tuple[Document, ...], item: str, kind: str, says: str
) -> None:
    (note,) = check_premise(topic, sources)

    assert (note.item, read_reason(note.reason).kind) == (item, kind)
    assert says in note.reason
    texts = {document.id: {"text": document.text, "title": document.title} for document in sources}
    assert note.evidence
    for citation in note.evidence:
        assert texts[citation.document_id][citation.part][citation.start : citation.end] == citation.text


TRUE = [
    ("The flood in Wangchao in 2022", FLOOD),
    ("Flood in Wangchao kills 12 people", FLOOD),
    ("民國111年望潮市洪水", FLOOD_ZH),
    ("望潮市洪水造成12人死亡", FLOOD_ZH),
    ("Bank of Valdane cuts its main interest rate", RATES),
    ("瓦爾丹央行調降利率", RATES),
    ("The flood destroyed the harbour of Wangchao", FLOOD),
    ("Flood in Wangchao", FLOOD),
    ("A strike at the shipyard in 2023", FLOOD),
    ("Osterby", FLOOD),
    ("The flood in Wangchao in 2023", (story("The flood hit Wangchao on 6 May."),)),
    ("Police arrested 15 people in Wangchao", FLOOD),
    (
        "The harbour of Wangchao took in 412 fishing boats",
        (story("Of the fishing boats, the harbour sold 300 boats."),),
    ),
    ("望潮市洪水造成15人死亡", FLOOD),
    ("The floods of the 2020s in Wangchao", FLOOD),
    ("Wangchao in the winter of 2022", FLOOD),
    ("Marla Osei praises the harbour pilots of the coast guard school", FLOOD),
    ("瓦爾丹央行三月會議紀錄全文", FLOOD),
    ("", FLOOD),
    ("The flood in Wangchao in 2023", ()),
]


@pytest.mark.parametrize(("topic", "sources"), TRUE)
def test_what_a_source_confirms_or_none_speaks_of_is_no_note(topic: str, sources: tuple[Document, ...]) -> None:
    assert check_premise(topic, sources) == ()


def test_one_source_that_confirms_the_topic_is_enough() -> None:
    other = story("The flood came back to Wangchao in 2023.", title="Second flood", name="c")
    deadlier = story("The flood in Wangchao killed 15 people, the fire department said.", name="c")
    raised = story("The Bank of Valdane raised its main interest rate.", name="c")

    assert check_premise("The flood in Wangchao in 2023", (*FLOOD, other)) == ()
    assert check_premise("Flood in Wangchao kills 15 people", (*FLOOD, deadlier)) == ()
    assert check_premise("Bank of Valdane raises its main interest rate", (*RATES, raised)) == ()


def test_the_day_of_publication_confirms_a_year() -> None:
    source = story("The flood hit Wangchao, which had seen one in 2021.", title="Flood", day=date(2022, 9, 5))

    assert check_premise("The flood in Wangchao in 2022", [source]) == ()
    assert [n.item for n in check_premise("The flood in Wangchao in 2023", [source])] == ["2023"]


def test_a_day_of_the_week_before_is_read_from_publication() -> None:
    source = story("上週二的洪水侵襲望潮市。", title="望潮市洪水", day=date(2022, 9, 5))

    assert check_premise("2022年8月30日望潮市洪水", [source]) == ()
    assert [n.item for n in check_premise("2023年望潮市洪水", [source])] == ["2023年"]


def test_a_year_long_past_is_history_and_contradicts_nothing() -> None:
    source = story("The flood in Wangchao was the worst after that of 1986.", title="Flood in Wangchao")

    assert check_premise("The flood in Wangchao in 2023", [source]) == ()


def test_topics_of_the_sample_archive_that_are_right_raise_no_note() -> None:
    folder = files("groundwire.sample")
    documents = {}
    for line in (folder / "stories.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        day = date.fromisoformat(row["published"]) if row["published"] else None
        documents[row["id"]] = Document(row["id"], row["text"], row["title"], day, language=row["language"])
    topics = [json.loads(line) for line in (folder / "topics.jsonl").read_text("utf-8").splitlines()]

    for topic in topics:
        assert check_premise(topic["topic"], [documents[one["id"]] for one in topic["relevant"]]) == ()
    typhoon = [document for name, document in documents.items() if name.startswith("typhoon")]
    assert [n.item for n in check_premise("Typhoon Corva floods Wangchao in 2023", typhoon)] == ["2023"]
    assert [n.item for n in check_premise("2023年柯瓦颱風侵襲望潮市", typhoon)] == ["2023年"]


@pytest.mark.parametrize("language", ["zh-TW", "zh-CN"])
def test_every_note_is_worded_in_both_chinese_scripts(language: str) -> None:
    for topic, sources, *_ in FALSE:
        for note in check_premise(topic, sources):
            reason = read_reason(note.reason)
            assert worded(reason, language) != note.reason
            assert all(value in worded(reason, language) for value in reason.values)


@given(st.text(max_size=60), st.text(max_size=120))
def test_any_topic_and_text_are_read(topic: str, text: str) -> None:
    for note in check_premise(topic, [story(text, day=date(2022, 9, 5))]):
        assert note.evidence
