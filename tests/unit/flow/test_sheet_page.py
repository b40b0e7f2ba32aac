"""What sheets look like: questions in words, the table, the page."""

import csv
import io
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Item
from groundwire.evaluation.sheets import Key, SheetPlan, draw_tasks
from groundwire.flow import sheet_page
from groundwire.flow.sheet_page import GUIDE, Sheet, safe_cell, sheet_words, worded_questions
from groundwire.flow.wording import LANGUAGES

HOSTILE = "=HYPERLINK(\"http://evil\")<script>document.title='run'</script>\u202egnp.exe"


def sheet(form: str = "scorerag", *, language: str = "en", answer: str = "It rained.", contexts: bool = True) -> Sheet:
    items = [
        Item(
            f"t{n}",
            HOSTILE,
            (f"{system} source {n}", "shared") if contexts else (),
            f"{answer} {n} {mark}",
            ref,
            system,
        )
        for n, ref in ((0, "Six."), (1, None))
        for system, mark in (("plain", "one"), ("better", "two"))
    ]
    key: Key = draw_tasks(items, form=form, plan=SheetPlan(repeated=0))
    by_place = {(item.id, item.system): item for item in items}
    return Sheet(key, by_place, {place: item.answer for place, item in by_place.items()}, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_criterion_has_five_anchors_in_every_language(language: str) -> None:
    asked = worded_questions("scorerag", language)

    assert [len(one.anchors) for one in asked] == [5] * 4
    assert all(one.asks and one.title and all(one.anchors) for one in asked)
    assert [choice["value"] for choice in asked[0].choices] == ["1", "2", "3", "4", "5"]
    assert not any(re.search(r"\d[:：]", anchor) for one in asked for anchor in one.anchors)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rubrics_of_ccrs_are_worded_without_what_is_for_judges_only(language: str) -> None:
    asked = worded_questions("ccrs", language)

    assert len({one.title for one in asked}) == 5
    assert all(one.asks and "null" not in one.asks for one in asked)
    assert (asked[0].low, asked[0].high) == (0, 100)


def test_the_words_are_those_of_the_prompts() -> None:
    coherence, *_ = worded_questions("scorerag", "en")

    assert coherence.asks == "Does the article read as one story?"
    assert coherence.anchors[4] == "One thread from the first line to the last."
    assert worded_questions("scorerag", "zh-TW")[0].title == "連貫"
    assert worded_questions("information_density", "en")[0].asks.startswith("It informs without padding")


def test_a_prompt_that_says_nothing_of_a_question_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        system = ""

    monkeypatch.setattr(sheet_page, "load", lambda *_: Empty)
    with pytest.raises(UsageError, match=r"rubric-scorerag.en.md does not say what 'coherence' means"):
        worded_questions("scorerag", "en")
    with pytest.raises(UsageError, match=r"rubrics-ccrs-shared.en.md does not say what 'contextual_coherence'"):
        worded_questions("ccrs", "en")


def test_every_fixed_word_is_there_in_every_language() -> None:
    tables = [sheet_words(language) for language in LANGUAGES]

    assert all(words.keys() == tables[0].keys() and all(words.values()) for words in tables)


@given(st.text(max_size=40))
def test_no_cell_begins_like_a_formula_and_no_character_is_lost(text: str) -> None:
    cell = safe_cell(text)

    assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
    assert cell.removeprefix("'") == text.removeprefix("'")


def test_a_table_has_a_mark_for_spreadsheets_a_guide_and_empty_places_for_answers() -> None:
    text = sheet(answer="@SUM(1)").table(1)
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))

    assert text.startswith("\ufeffid,question,sources,answer,reference,coherence,")
    assert rows[0]["id"] == GUIDE
    assert "(1 to 5) 1: Sentences without connection." in rows[0]["coherence"]
    assert len(rows) == 5
    assert all(row["question"].startswith("'=HYPERLINK") and row["answer"].startswith("'@SUM") for row in rows[1:])
    assert {row["accuracy"] for row in rows[1:]} == {""}
    assert {row["reference"] for row in rows[1:]} == {"Six.", ""}


def test_a_table_of_pairs_has_two_texts_and_the_sources_of_both() -> None:
    rows = list(csv.DictReader(io.StringIO(sheet("preference").table(1).removeprefix("\ufeff"))))

    assert {rows[1]["left"][-3:], rows[1]["right"][-3:]} == {"one", "two"}
    assert rows[1]["sources"].count("[") == 3
    assert "left, right or tie" in rows[0]["preference"]


@pytest.mark.parametrize("form", ["scorerag", "preference", "ccrs"])
def test_neither_form_of_a_sheet_tells_a_system(form: str) -> None:
    made = sheet(form, contexts=False)

    for text in (made.table(1), made.page(1, name="sheet")):
        assert "plain" not in re.sub(r"text/plain", "", text)
        assert "better" not in text.replace("Left is better", "").replace("Right is better", "").replace(
            "serves a reader of this topic better", ""
        )


def test_a_page_escapes_every_text_and_loads_nothing() -> None:
    text = sheet(answer=HOSTILE).page(1, name="sheet")

    assert "<script>document.title" not in text
    assert "\u202e" not in text
    assert "default-src 'none'" in unescape(text)
    assert not re.search(r"(?:src|href)=[\"']", text)
    assert text.count("<script>") == 1
    assert text == sheet(answer=HOSTILE).page(1, name="sheet")


def test_a_page_has_a_named_control_for_each_answer() -> None:
    text = sheet().page(1, name="sheet")

    assert text.count('type="radio"') == 4 * 4 * 5
    assert text.count("<fieldset") == text.count("<legend>") == 16
    assert sheet("ccrs").page(1, name="x").count('<input type="number"') == 20
    assert "No sources were given" in sheet(contexts=False).page(1, name="x")


def test_a_page_is_in_the_language_asked_for() -> None:
    text = sheet("preference", language="zh-TW", answer="河水上漲。").page(1, name="sheet")

    assert '<html lang="zh-TW">' in text
    assert "左邊較好" in text
    assert 'lang="zh-TW">' in text


def test_a_sheet_says_what_its_maker_must_know() -> None:
    assert sheet().notes(table=True) == ("drawn at random: 2 of 2 items, seed 0",)
    named = sheet(answer="By the PLAIN system." + "x" * 40_000, contexts=False).notes(table=True)
    assert named[1:] == (
        "2 of 4 texts hold the name of their system: they are not blind",
        "4 of 4 texts come without sources, needed for accuracy",
        "4 cells hold more than the 32,767 characters a spreadsheet keeps; make .html",
    )
    assert sheet(answer="Explaining.").notes(table=True) == ("drawn at random: 2 of 2 items, seed 0",)
    assert sheet("ccrs").notes(table=False)[1:] == (
        "2 of 4 texts come without a reference, needed for answer_correctness, information_recall",
    )
    assert len(sheet("preference", answer="x" * 40_000, contexts=False).notes(table=False)) == 1
