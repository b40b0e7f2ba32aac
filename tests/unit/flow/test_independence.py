from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from groundwire.core.types import Article, Citation, Claim, Document, NumberedSource, Section
from groundwire.flow.independence import (
    MOST_COMPARED,
    Independence,
    claim_remark,
    find_independence,
    independence_row,
    notes_on,
    source_remarks,
)
from groundwire.flow.page import render_page
from groundwire.flow.render import Provenance, render_json, render_markdown
from groundwire.flow.reopen import reopen
from groundwire.flow.wording import fixed_words

STORY = (
    "At least 12 people were killed when the Tsengwen river broke its banks near Tainan on Monday night, rescue "
    "workers said. Soldiers carried families from their roofs with boats, and 3,400 homes were without power by "
    "dawn. The mayor said the dam upstream had released water at 2 a.m. without a warning to the villages below."
)
CHINESE = (
    "（中央社台南1日電）曾文溪昨晚潰堤，台南市安南區至少12人死亡，3400戶停電。市長黃偉哲表示，上游水庫凌晨2時洩洪，"
    "並未通知下游各里。農民預估稻米收成將減少四成。氣象署預報大雨將持續到週四，軍方已出動橡皮艇救援受困民眾。"
)
OWN = (
    "Residents of Annan district waited on their roofs for hours before boats came, four of them told this newspaper. "
    "They ask why no siren was heard when the dam was opened."
)
MADE = Provenance("0.1.0", "2026-11-30T18:05:00+08:00")


def documents(story: str = STORY) -> dict[str, Document]:
    texts = {
        "a": story,
        "b": "Flood strikes the south.\n\n" + story,
        "c": story.replace("12", "15"),
        "own": OWN,
        "uncited": "By Jane Roe.\n\n" + story,
    }
    return {
        name: Document(name, text, title=f"Title {name}", published=date(2024, 5, 3), source=f"Outlet {name}")
        for name, text in texts.items()
    }


def article(language: str = "en", cited: str = "a b c own") -> Article:
    sources = tuple(NumberedSource(number, name) for number, name in enumerate(cited.split(), 1))
    everything = tuple(Citation(source.number, source.document_id) for source in sources)
    return Article(
        topic="Flood",
        headline=Claim("c1", "Flood", everything[:1]),
        lede=(Claim("c2", "The river broke its banks.", everything[:2]),),
        sections=(Section("", (Claim("c3", "It did.", everything), Claim("c4", "Boats came.", everything[-1:]))),),
        sources=sources,
        language=language,
    )


def found(language: str = "en", story: str = STORY) -> Independence:
    return find_independence(article(language), documents(story))


def test_versions_of_one_story_count_once_in_an_article_and_in_a_claim() -> None:
    row = independence_row(found(), article())

    assert (row["sources"], row["independent"], row["compared"], row["not_compared"]) == (4, 2, 5, 0)
    assert row["claims"] == [{"id": "c2", "sources": 2, "independent": 1}, {"id": "c3", "sources": 4, "independent": 2}]


def test_a_version_that_stands_out_is_named_with_both_numbers() -> None:
    (story,) = independence_row(found(), article())["stories"]  # type: ignore[misc]

    assert (story["documents"], story["numbers"]) == (["a", "b", "c", "uncited"], [1, 2, 3])
    (difference,) = story["differences"]
    assert (difference["document_id"], difference["number"], difference["shared_by"]) == ("c", 3, 3)
    assert (difference["numbers"], difference["others"]) == (("15",), ("12",))
    assert STORY.replace("12", "15")[difference["span"]["start"] :].startswith(difference["text"])


@pytest.mark.parametrize(
    ("language", "story", "same", "differs"),
    [
        ("en", STORY, "Versions of one story, counted once: [1] Title a", "15 here, 12 in 3 of its other versions: At"),
        ("zh-TW", CHINESE, "同一則報導的不同版本，只計一次：[1] Title a", "此處作 15，另有 3 個版本作 12：（中央社"),
        ("zh-CN", CHINESE, "同一则报道的不同版本，只计一次：[1] Title a", "此处作 15，另有 3 个版本作 12：（中央社"),
    ],
)
def test_the_notes_say_it_in_the_language_of_the_article(language: str, story: str, same: str, differs: str) -> None:
    first, second = notes_on(found(language, story), fixed_words(language))

    assert first.startswith(f"{same} · Outlet a · 2024-05-03")
    assert first.endswith("Title uncited · Outlet uncited · 2024-05-03")
    assert second.startswith("[3] Title c")
    assert differs in second


def test_sources_that_share_nothing_are_all_independent_and_nothing_is_noted() -> None:
    apart = article(cited="a own")
    alone = find_independence(apart, {name: documents()[name] for name in ("a", "own")})

    assert (alone.independent, notes_on(alone, fixed_words("en"))) == (2, ())
    assert claim_remark(alone, apart.claims[2], words=fixed_words("en")) == ""
    assert source_remarks(alone, "a", words=fixed_words("en")) == ()
    assert "2 sources, 2 independent" in render_markdown(apart, independent=alone.independent)


def test_versions_of_which_none_is_cited_are_not_spoken_of() -> None:
    only = find_independence(article(cited="own"), documents())

    assert (only.independent, only.clusters, notes_on(only, fixed_words("en"))) == (1, (), ())


def test_a_single_cited_version_is_beside_uncited_ones_and_its_number_still_stands_out() -> None:
    only = find_independence(article(cited="c own"), documents())

    assert source_remarks(only, "c", words=fixed_words("en")) == ("15 here, 12 in 3 of its other versions",)
    assert only.independent == 2


def test_a_source_that_is_not_at_hand_counts_as_independent() -> None:
    gone = find_independence(article(), {name: one for name, one in documents().items() if name != "own"})

    assert gone.independent == 2
    assert gone.label("own") == "[4] own"


def test_the_cited_are_compared_first_and_what_is_left_out_is_said() -> None:
    many = {f"x{number}": Document(f"x{number}", f"Nothing {number}.") for number in range(MOST_COMPARED)}

    capped = find_independence(article(), {**many, **documents()})

    assert {"a", "b", "c", "own"} <= capped.names.keys()
    assert (capped.left_out, capped.independent) == (5, 2)
    assert notes_on(capped, fixed_words("en"))[-1].startswith("5 kept sources were not compared")


def test_many_differences_are_cut_short_in_the_notes_but_not_in_json() -> None:
    facts = [
        f"In village number {place} of the {place}th district they counted {place + 7} boats." for place in range(25)
    ]
    changed = [line.replace(f"{place + 7} boats", f"{place + 8} boats") for place, line in enumerate(facts)]
    texts = {"a": facts, "b": facts, "c": changed}

    differing = find_independence(article(cited="a b c"), {n: Document(n, " ".join(t)) for n, t in texts.items()})

    notes = notes_on(differing, fixed_words("en"))
    assert len(notes) == 22
    assert notes[-1] == "5 more differing numbers; the JSON export has all"
    (story,) = independence_row(differing, article(cited="a b c"))["stories"]  # type: ignore[misc]
    assert len(story["differences"]) == 25


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ("4 sources, 2 independent", "4 sources cited, 2 independent", "A version of the same story as [1][3]",
                "15 here, 12 in 3 of its other versions")),
        ("zh-TW", ("4 個來源，其中 2 個獨立", "引用 4 個來源，其中 2 個獨立", "與 [1][3] 為同一則報導的不同版本",
                   "此處作 15，另有 3 個版本作 12")),
    ],
)  # fmt: skip
def test_the_page_counts_and_names(language: str, shown: tuple[str, ...]) -> None:
    story = STORY if language == "en" else CHINESE

    page = render_page(article(language), documents=documents(story), independence=found(language, story))

    assert [words for words in shown if words not in page.replace("<bdi>", "").replace("</bdi>", "")] == []
    assert "independent" not in render_page(article("en"), documents=documents())


def test_the_json_export_is_read_back_with_and_without_the_count() -> None:
    row = independence_row(found(), article())

    text = render_json(article(), provenance=MADE, independence=row)

    assert json.loads(text)["independence"]["independent"] == 2
    assert reopen(text).article == article()
    assert "independence" not in json.loads(render_json(article(), provenance=MADE))


def test_the_markdown_export_says_how_many_are_independent_and_is_read_back() -> None:
    noted = replace(article(), notes=notes_on(found(), fixed_words("en")))

    text = render_markdown(noted, independent=found().independent)

    assert "4 sources, 2 independent" in text
    assert reopen(text).article.notes == noted.notes
