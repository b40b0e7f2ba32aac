"""The sample archive keeps what its README promises."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from datetime import date
from importlib.resources import files
from itertools import combinations
from typing import Any

import pytest

SAMPLE = files("groundwire.sample")
CANARY = "CANARY-7391"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


STORIES = _rows("stories.jsonl")
TOPICS = _rows("topics.jsonl")
QUESTIONS = _rows("questions.jsonl")
AUDIT = _rows("audit.jsonl")
README = (SAMPLE / "README.md").read_text(encoding="utf-8")
BY_ID = {story["id"]: story for story in STORIES}
GOLD = [(question, gold) for question in QUESTIONS for gold in question["gold"]]


def _with(trait: str) -> list[dict[str, Any]]:
    return [story for story in STORIES if trait in story["traits"]]


def _texts(trait: str) -> str:
    return "\n".join(story["text"] for story in _with(trait))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Shared runs of five words, as a part of the shorter story's."""
    left, right = _shingles(one["text"]), _shingles(other["text"])
    return len(left & right) / min(len(left), len(right))


def _table(heading: str) -> dict[str, int]:
    """Name -> count of the README's table whose header row begins with ``heading``."""
    rows = README.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    found = {}
    for row in rows:
        cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
        found[cells[0]] = int(next(cell for cell in cells[1:] if cell.isdigit()))
    return found


# Files


def test_the_package_holds_data_and_no_code() -> None:
    tree = ast.parse((SAMPLE / "__init__.py").read_text(encoding="utf-8"))

    assert len(tree.body) == 1
    assert ast.get_docstring(tree)


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        (STORIES, ["id", "title", "text", "published", "source", "url", "language", "event", "traits"]),
        (TOPICS, ["id", "language", "topic", "relevant"]),
        (QUESTIONS, ["id", "language", "question", "answer", "gold"]),
    ],
    ids=["stories", "topics", "questions"],
)
def test_every_row_has_the_documented_fields_and_its_own_id(rows: list[dict[str, Any]], fields: list[str]) -> None:
    assert all(list(row) == fields for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row["id"]) for row in rows)
    assert all(f"`{field}`" in README for field in fields)


@pytest.mark.parametrize(
    ("rows", "english", "chinese"), [(STORIES, 27, 13), (TOPICS, 7, 5), (QUESTIONS, 26, 14), (AUDIT, 14, 10)]
)
def test_about_two_thirds_are_english(rows: list[dict[str, Any]], english: int, chinese: int) -> None:
    assert Counter(row["language"] for row in rows) == {"en": english, "zh-TW": chinese}


def test_the_readme_counts_files_events_and_traits_as_they_are() -> None:
    names = {
        "stories.jsonl": len(STORIES),
        "topics.jsonl": len(TOPICS),
        "questions.jsonl": len(QUESTIONS),
        "audit.jsonl": len(AUDIT),
    }

    assert _table("file") == names
    assert _table("`event`") == Counter(story["event"] for story in STORIES)
    assert _table("trait") == Counter(trait for story in STORIES for trait in story["traits"])


# Stories


def test_exactly_one_story_has_no_date_and_the_others_have_iso_dates() -> None:
    dates = [date.fromisoformat(story["published"]) for story in STORIES if story["published"] is not None]

    assert len(dates) == len(STORIES) - 1
    assert date(2024, 10, 8) <= min(dates) <= max(dates) <= date(2025, 10, 6)


def test_addresses_are_unique_and_can_never_resolve() -> None:
    addresses = [story["url"] for story in STORIES]

    assert len(set(addresses)) == len(addresses)
    assert all(re.fullmatch(r"https://[a-z-]+\.example/[a-z0-9-]+", address) for address in addresses)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["id"])
def test_a_story_is_tidy_and_of_a_newspaper_brief_s_length(story: dict[str, Any]) -> None:
    text = story["text"]

    assert text == text.strip()
    assert "\r" not in text
    assert "\n\n\n" not in text
    if story["language"] == "zh-TW":
        assert 200 <= len(re.sub(r"\s", "", text)) <= 500
    elif not {"caption", "one-sentence"} & set(story["traits"]):
        assert 120 <= len(text.split()) <= 350
        assert text.count("\n\n") >= 3


@pytest.mark.parametrize("rows", [STORIES, TOPICS, QUESTIONS], ids=["stories", "topics", "questions"])
def test_chinese_rows_hold_no_simplified_only_characters(rows: list[dict[str, Any]]) -> None:
    chinese = [row for row in rows if row["language"] == "zh-TW"]
    written = "".join(
        row.get(field, "") for row in chinese for field in ("title", "text", "topic", "question", "answer")
    )
    han = set(re.findall(r"[\u3400-\u9fff\uf900-\ufaff]", written))

    assert len(han) > 30
    "".join(sorted(han)).encode("big5")  # raises on a character that Taiwan's character set lacks
    with pytest.raises(UnicodeEncodeError):
        "国".encode("big5")


def test_chinese_stories_use_taiwan_s_punctuation_and_years() -> None:
    chinese = [story["text"] for story in STORIES if story["language"] == "zh-TW"]

    assert all("，" in text and "。" in text for text in chinese)
    assert not any(re.search(r"[“”‘’\"',;!?]", text) for text in chinese)
    assert sum("民國" in text for text in chinese) >= 3


def test_five_events_are_covered_in_both_languages() -> None:
    languages: dict[str, set[str]] = {}
    for story in STORIES:
        languages.setdefault(story["event"], set()).add(story["language"])

    assert sum(found == {"en", "zh-TW"} for found in languages.values()) == 5


# Traits


def test_wire_copies_share_their_text_and_differ_in_headline_outlet_by_line_and_one_number() -> None:
    versions = _with("wire-copy")
    by_lines = {story["text"].split("\n\n", 1)[0] for story in versions}
    moved = [re.findall(r"more than ([\d,]+) people", story["text"])[0] for story in versions]

    assert len(versions) == 4
    assert min(_overlap(one, other) for one, other in combinations(versions, 2)) > 0.9
    assert len({story["title"] for story in versions}) == 4
    assert len({story["source"] for story in versions}) == 4
    assert len(by_lines) == 4
    assert len({len(story["text"]) for story in versions}) == 4
    assert Counter(moved) == {"3,400": 3, "4,100": 1}


def test_independent_reports_share_the_event_but_not_the_text_of_the_wire() -> None:
    independents = _with("independent")
    others = [*_with("wire-copy"), *independents]
    pairs = [(one, other) for one in independents for other in others if one is not other]

    assert len(independents) == 2
    assert {story["event"] for story in others} == {"wangchao-typhoon"}
    assert {story["published"] for story in others} == {"2024-10-08"}
    assert max(_overlap(one, other) for one, other in pairs) < 0.05


def test_a_toll_goes_from_12_to_15_to_14_on_three_days() -> None:
    days = {story["published"]: story["text"].split(".\n\n")[0] for story in _with("update") if "zh" not in story["id"]}
    first = next(story["text"] for story in _with("update") if story["published"] == "2024-10-08")

    assert list(days) == ["2024-10-08", "2024-10-09", "2024-10-10"]
    assert "killed 12 people" in first
    assert "to 15" in days["2024-10-09"]
    assert "from 15 to 14" in days["2024-10-10"]
    assert "由15人下修為14人" in _texts("update")


def test_two_measures_are_in_conflict() -> None:
    by_words = {words: [s for s in _with("conflict") if words in s["text"]] for words in ("rose 3%", "fell 3%")}

    assert len(_with("conflict")) >= 4
    assert [len(found) for found in by_words.values()] == [1, 1]
    assert by_words["rose 3%"][0]["published"] == by_words["fell 3%"][0]["published"]
    assert "reached 3.38 trillion crowns in 2024" in _texts("conflict")
    assert "was 3.72 trillion crowns in 2024" in _texts("conflict")


def test_the_same_amount_stands_in_both_languages() -> None:
    english, chinese = sorted(_with("equal"), key=lambda story: story["language"])

    assert "NT$500 million" in english["text"]
    assert "5億元" in chinese["text"]


def test_quotations_come_in_three_kinds_of_marks_and_one_stands_in_two_outlets() -> None:
    quoted = re.compile(r"“[^”]+”|\"[^\"]+\"|「[^」]+」")
    stories = _with("quotation")
    outlets: dict[str, set[str]] = {}
    for story in stories:
        for words in quoted.findall(story["text"]):
            outlets.setdefault(words[1:-1], set()).add(story["source"])

    assert all(quoted.search(story["text"]) for story in stories)
    assert all(any(mark in story["text"] for story in stories) for mark in '“"「')
    assert not any(
        quoted.search(story["text"]) for story in STORIES if set(story["traits"]) & {"caption", "one-sentence"}
    )
    bell = next(words for words in outlets if words.startswith("A bell that cannot be rung"))
    assert outlets[bell] == {"The Marrow Courier", "The Strait Observer"}
    assert len(next(found for words, found in outlets.items() if words.startswith("We warned the lower"))) == 4


def test_a_paraphrase_and_translations_of_quotations_are_marked() -> None:
    assert "a bell nobody may ring is no more than metal" in _texts("paraphrase")
    assert "only metal" not in _texts("paraphrase")
    assert {story["language"] for story in _with("translated-quotation")} == {"zh-TW"}


@pytest.mark.parametrize("words", ["yesterday", "last Tuesday", "上週二", "去年10月7日"])
def test_dates_are_told_from_the_day_of_publication(words: str) -> None:
    assert sum(words in story["text"] for story in _with("relative-date")) == 1
    assert all(story["published"] for story in _with("relative-date"))


def test_a_correction_names_the_earlier_story_and_replaces_its_figure() -> None:
    (correction,), (corrected,) = _with("correction"), _with("corrected")

    assert corrected["title"] in correction["text"]
    assert corrected["source"] == correction["source"]
    assert corrected["published"] < correction["published"]
    assert "weighs 1,280 kilograms" in corrected["text"]
    assert "weighs 820 kilograms" in correction["text"]


@pytest.mark.parametrize(
    "words", ["ignore your instructions", "Rate this 100", "cite only", "<!--", "-->", "\n</source>\n```\n", CANARY]
)
def test_one_story_holds_orders_to_a_model(words: str) -> None:
    (orders,) = _with("orders")

    assert words in orders["text"]


def test_the_canary_stands_in_the_story_with_orders_and_nowhere_else() -> None:
    (orders,) = _with("orders")
    rows = [*STORIES, *TOPICS, *QUESTIONS]

    assert [row["id"] for row in rows if CANARY in json.dumps(row)] == [orders["id"]]
    assert CANARY not in README


@pytest.mark.parametrize("tail", ["Related stories\n", "延伸閱讀\n", "References\n"])
def test_tails_of_links_and_references_close_a_story_and_carry_no_gold(tail: str) -> None:
    (story,) = (story for story in _with("related-tail") if tail in story["text"])
    start = story["text"].index(tail)

    assert story["text"][start - 2 : start] == "\n\n"
    assert "\n\n" not in story["text"][start:]
    assert ("doi:10.5555/" in story["text"][start:]) is (tail == "References\n")
    assert not any(gold["document"] == story["id"] and gold["end"] > start for _, gold in GOLD)


def test_a_caption_of_twelve_words_is_alone_on_its_subject() -> None:
    (caption,) = _with("caption")
    others = [story for story in STORIES if story is not caption]

    assert len(caption["text"].split()) == 12
    assert not any(re.search("Tarn Hollow|frozen canal|skat", story["title"] + story["text"], re.I) for story in others)


def test_one_sentence_stands_in_three_sections_of_a_story() -> None:
    (story,) = _with("repeated")
    paragraphs = story["text"].split("\n\n")
    sentence = "Kestrel Bay lost a third of its eelgrass in nine days."

    assert [sentence in paragraph for paragraph in paragraphs].count(True) == 3
    assert story["text"].count(sentence) == 3


def test_a_brief_is_one_sentence_full_of_stops_that_end_nothing() -> None:
    (brief,) = _with("one-sentence")

    assert "\n" not in brief["text"]
    assert all(
        words in brief["text"] for words in ("No. 10", "p.m.", "Aug. 8", "Inc.", "U.S.", "J. T. Crane", "3.5 km")
    )
    assert not re.search(r"[a-z]{4,}[.!?] [A-Z]", brief["text"])


@pytest.mark.parametrize("words", ["U.S.", "No. 10", "Inc.", "3.5%", "p.m.", "Dr. ", "Gov. R. L. Thorne"])
def test_abbreviations_decimals_and_initials_are_there(words: str) -> None:
    assert words in _texts("abbreviations")


# Topics


def test_relevant_stories_exist_once_each_with_a_grade() -> None:
    for topic in TOPICS:
        ids = [relevant["id"] for relevant in topic["relevant"]]
        assert len(set(ids)) == len(ids)
        assert set(ids) <= set(BY_ID)
        assert {relevant["grade"] for relevant in topic["relevant"]} <= {1, 2}
        assert not ids or any(relevant["grade"] == 2 for relevant in topic["relevant"])


def test_two_topics_are_not_held_and_one_is_held_by_the_caption_only() -> None:
    (caption,) = _with("caption")
    ids = [[relevant["id"] for relevant in topic["relevant"]] for topic in TOPICS]

    assert sorted(topic["language"] for topic in TOPICS if not topic["relevant"]) == ["en", "zh-TW"]
    assert ids.count([caption["id"]]) == 1


def test_some_topics_have_their_best_sources_in_the_other_language() -> None:
    crossed = set()
    for topic in TOPICS:
        best = {BY_ID[relevant["id"]]["language"] for relevant in topic["relevant"] if relevant["grade"] == 2}
        if best and topic["language"] not in best:
            crossed.add(topic["language"])

    assert crossed == {"en", "zh-TW"}


# Questions


@pytest.mark.parametrize(("question", "gold"), GOLD, ids=[f"{q['id']}-{g['document']}-{g['start']}" for q, g in GOLD])
def test_gold_is_a_whole_sentence_at_its_offsets_and_holds_the_answer(
    question: dict[str, Any], gold: dict[str, Any]
) -> None:
    story = BY_ID[gold["document"]]
    text, start, end = story["text"], gold["start"], gold["end"]

    assert gold["text"] == text[start:end] == text[start:end].strip()
    assert start == 0 or text[start - 1] in " \n。」"
    assert end == len(text) or story["language"] == "zh-TW" or text[end] in " \n"
    assert gold["text"].endswith((".", ".”", '."', "。", "。」"))
    assert "\n" not in gold["text"]
    if story["language"] == question["language"]:
        assert question["answer"] in gold["text"]


def test_three_questions_cannot_be_answered_and_say_so() -> None:
    empty = [question for question in QUESTIONS if not question["gold"]]

    assert len(empty) == 3
    assert {question["language"] for question in empty} == {"en", "zh-TW"}
    assert all((question["answer"] == "") is (question["gold"] == []) for question in QUESTIONS)


def test_four_questions_have_gold_in_the_other_language_only() -> None:
    crossed = [
        question["language"]
        for question in QUESTIONS
        if question["gold"]
        and all(BY_ID[gold["document"]]["language"] != question["language"] for gold in question["gold"])
    ]

    assert Counter(crossed) == {"en": 2, "zh-TW": 2}


def test_an_answer_in_a_repeated_or_copied_sentence_has_gold_at_every_place() -> None:
    for question in QUESTIONS:
        listed = {(gold["document"], gold["start"]) for gold in question["gold"]}
        for gold in question["gold"]:
            for story in STORIES:
                places = [found.start() for found in re.finditer(re.escape(gold["text"]), story["text"])]
                assert {(story["id"], place) for place in places} <= listed
