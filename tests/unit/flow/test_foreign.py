"""Articles of anybody, in any common form of markers, with anybody's sources."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Document
from groundwire.flow.foreign import ForeignChecked, read_foreign, verify_foreign
from groundwire.flow.ledger import Ledger
from groundwire.flow.runs import recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel

RIVER = Document(
    "d1", "The river rose by 3 metres on Monday. Officials opened two shelters.", title="River rises in Tainan",
    url="https://www.example.org/river?utm_source=x", origin="/s/river.txt",
)  # fmt: skip
BUDGET = Document(
    "d2", "The council approved a budget of 5 million dollars. Mayor Wu praised the volunteers.",
    title="Council approves budget", url="https://news.example.com/budget", origin="/s/02-budget.md",
)  # fmt: skip
FLOOD = Document(
    "z1", "週一河水上漲3公尺。官員開設12處避難所。", title="台南河水暴漲", url="https://example.tw/a", origin="/s/a.txt"
)  # fmt: skip
MONEY = Document("z2", "市議會通過500萬元預算。吳市長感謝志工。", title="市議會通過預算", origin="/s/b.txt")
ENGLISH, CHINESE = (RIVER, BUDGET), (FLOOD, MONEY)
ROSE, SHELTERS = "The river rose by 3 metres on Monday", "Officials opened two shelters"
MONEY_LINE, WU = "The council approved a budget of 5 million dollars", "Mayor Wu praised the volunteers"
LIST = "\n\n## Sources\n\n1. River rises in Tainan. https://example.org/river\n2. Council approves budget\n"
LISTE = "\n\n## 資料來源\n\n1. 台南河水暴漲\n2. 市議會通過預算\n"


def cited(text: str, documents: tuple[Document, ...] = ENGLISH) -> list[tuple[str, list[str]]]:
    article = read_foreign(text, documents).article
    return [(claim.text, [one.document_id for one in claim.citations]) for claim in article.claims[1:]]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (f"{ROSE} [1].", ["d1"]),
        (f"{ROSE}.[1]", ["d1"]),
        (f"{ROSE} [1][2].", ["d1", "d2"]),
        (f"{ROSE} [1, 2].", ["d1", "d2"]),
        (f"{ROSE} [1-2].", ["d1", "d2"]),
        (f"{ROSE} [^2].", ["d2"]),
        (f"{ROSE} (1).", ["d1"]),
        (f"{ROSE} (S2).", ["d2"]),
        (f"{ROSE} [S2].", ["d2"]),
        (f"{ROSE}【2】.", ["d2"]),
        (f"{ROSE}.²", ["d2"]),
        (f"{ROSE}.¹˒²", ["d1", "d2"]),
        (f"[{ROSE}](https://example.org/river).", ["d1"]),
    ],
)
def test_every_kind_of_marker_is_read(marked: str, expected: list[str]) -> None:
    assert cited(f"# Flood\n\n{marked}{LIST}") == [(f"{ROSE}.", expected)]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("週一河水上漲3公尺[1]。", ["z1"]),
        ("週一河水上漲3公尺。【1】", ["z1"]),
        ("週一河水上漲3公尺（1）。", ["z1"]),
        ("週一河水上漲3公尺（註2）。", ["z2"]),
        ("週一河水上漲3公尺[來源2]。", ["z2"]),
        ("週一河水上漲3公尺。¹", ["z1"]),
        ("週一河水上漲3公尺[1、2]。", ["z1", "z2"]),
        ("週一河水上漲3公尺[^1]。", ["z1"]),
    ],
)
def test_every_kind_of_marker_is_read_in_chinese(marked: str, expected: list[str]) -> None:
    assert cited(f"# 淹水\n\n{marked}{LISTE}", CHINESE) == [("週一河水上漲3公尺。", expected)]


@pytest.mark.parametrize(
    "kept",
    [
        "The pond is 30 m² wide.",
        "It cost 5 million (2024).",
        "He called f(1) twice.",
        "The flood of [2024] was worse.",
        "About 12 km² were flooded.",
        "He was 45 (7) years old or so (99).",
    ],
)
def test_what_only_looks_like_a_marker_stays_a_word(kept: str) -> None:
    found = read_foreign(f"# Flood\n\n{kept}{LIST}", ENGLISH)
    assert [(claim.text, claim.citations) for claim in found.article.claims[1:]] == [(kept, ())]


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        ("## References\n\n[1] https://example.org/river/#top", "by its address"),
        ("References:\n[1] “River rises in Tainan”, Example, 2024", "by its title"),
        ("Works cited\n\n1) river.txt", "by the name of its file"),
        ("[1]: https://example.org/river", "by its address"),
        ("[1] see river.txt", "by the name of its file"),
        ("【1】 d1", "by its id"),
        ("Notes\n======\n\n- River rises\n  in Tainan", "by its title"),
        ("## Sources\n\n(1) River rises in\nTainan", "by its title"),
        ("## Sources\n\n^1 River rises in Tainan", "by its title"),
        ("## Sources\n\n[River](https://example.org/river)", "by its address"),
        ("## Sources\n\n* [River rises in Tainan](https://elsewhere.example/)", "by its title"),
        ("## Sources\n\n1. [River rises in Tainan](https://example.org/river)", "by its address"),
    ],
)
def test_a_list_of_sources_is_found_and_matched(sources: str, why: str) -> None:
    found = read_foreign(f"# Flood\n\n{ROSE} [1].\n\n{sources}\n", ENGLISH)
    assert found.matched == (f"[1]: River rises in Tainan, {why}",)
    assert [(claim.text, claim.citations[0].document_id) for claim in found.article.claims[1:]] == [(f"{ROSE}.", "d1")]
    assert found.notes == ()


def test_without_a_list_numbers_go_by_order() -> None:
    found = read_foreign(f"{ROSE} [1]. {MONEY_LINE} [2]. {WU} [3].", ENGLISH)
    assert [[one.document_id for one in claim.citations] for claim in found.article.claims[1:]] == [["d1"], ["d2"], []]
    assert found.matched[1] == "[2]: Council approves budget, by order: the article lists no sources"
    assert [str(note) for note in found.notes] == ["c3: marker [3]: the list of sources has no such number"]


def test_a_marker_that_points_at_nothing_is_reported_and_stays_among_the_words() -> None:
    text = f"# Flood\n\n{ROSE} [3]. [{WU}](https://nowhere.example/).{LIST}3. Another page. https://nowhere.example/x\n"
    found = read_foreign(text, ENGLISH)
    assert [claim.text for claim in found.article.claims[1:]] == [f"{ROSE} [3].", f"{WU}."]
    assert [str(note) for note in found.notes] == [
        "c1: marker [3]: none of the sources given is this one of the list: 'Another page. https://nowhere.example/x'",
        "marker https://nowhere.example/: leads to none of the sources given",
    ]


def test_a_link_to_a_source_that_is_in_no_list_gets_a_number_of_its_own() -> None:
    text = (
        f"# Flood\n\n[{MONEY_LINE}](https://news.example.com/budget). {WU} [(source)](https://news.example.com/budget)."
    )
    listed = f"{text}\n\n## Sources\n\n1. River rises in Tainan\n"
    found = read_foreign(listed, ENGLISH).article
    assert [[one.number for one in claim.citations] for claim in found.claims[1:]] == [[2], [2]]
    assert [source.document_id for source in found.sources] == ["d1", "d2"]


def test_footnotes_have_names_and_further_lines() -> None:
    text = f"# Flood\n\n{ROSE}.[^river] {MONEY_LINE}.[^2]\n\n[^river]: River rises\n    in Tainan\n[^2]: 02-budget.md\n"
    assert cited(text) == [(f"{ROSE}.", ["d1"]), (f"{MONEY_LINE}.", ["d2"])]


def test_quoted_blocks_lists_and_tables_are_claims_and_headings_are_none() -> None:
    text = (
        f"# Flood\n\nLead line.\n\n## Relief\n\n> {SHELTERS} [1].\n\n---\n\n- {ROSE} [1]\n1. {WU} [2]\n\n"
        f"| what | how much |\n|---|---|\n| budget | 5 million dollars [2] |\n{LIST}"
    )
    found = read_foreign(text, ENGLISH).article
    assert [(section.heading, [claim.text for claim in section.claims]) for section in found.sections] == [
        ("Relief", [f"{SHELTERS}.", ROSE, WU]),
        ("what | how much", ["budget | 5 million dollars"]),
    ]
    assert all(claim.citations for section in found.sections for claim in section.claims)


def test_a_page_is_read_with_its_footnotes_links_and_numbered_list() -> None:
    pytest.importorskip("trafilatura", reason="the extra 'read' is not installed")
    page = (
        "<!doctype html><html><body><h1>Flood</h1>"
        f'<p>{ROSE}.<sup><a href="#n1">[1]</a></sup> The <a href="https://news.example.com/budget/">council</a>'
        " approved a budget of 5 million dollars in the 2<sup>nd</sup> reading.</p>"
        '<p style="display:none">Hidden words.</p><ul><li>Point one</li></ul>'
        "<table><tr><td>budget</td><td>5 million dollars</td></tr></table>"
        "<h2>References</h2><ol><li>River rises in Tainan</li><li>Elsewhere</li></ol></body></html>"
    )
    found = read_foreign(page, ENGLISH)
    assert [(claim.text, [one.document_id for one in claim.citations]) for claim in found.article.claims] == [
        ("Flood", []),
        (f"{ROSE}.", ["d1"]),
        ("The council approved a budget of 5 million dollars in the 2nd reading.", ["d2"]),
        ("Point one", []),
        ("budget | 5 million dollars", []),
    ]


def test_a_number_that_is_a_link_stands_for_what_it_leads_to() -> None:
    text = f"# Flood\n\n{WU} [1](https://news.example.com/budget). {ROSE} [7](https://nowhere.example/x)."
    found = read_foreign(text, ENGLISH)
    assert [(claim.text, [one.document_id for one in claim.citations]) for claim in found.article.claims[1:]] == [
        (f"{WU}.", ["d2"]),
        (f"{ROSE} [7].", []),
    ]
    assert len(found.notes) == 2


def test_a_power_in_a_page_is_no_footnote() -> None:
    pytest.importorskip("trafilatura", reason="the extra 'read' is not installed")
    page = (
        "<html><body><p>The pond is 30 m<sup>2</sup> wide and 10<sup>6</sup> years old.<sup>1</sup></p></body></html>"
    )
    (claim,) = read_foreign(page, ENGLISH).article.claims[1:]
    assert (claim.text, len(claim.citations)) == ("The pond is 30 m² wide and 10⁶ years old.", 1)


def test_the_first_line_of_plain_text_is_its_headline_only_without_a_stop() -> None:
    assert read_foreign(f"Flood in Tainan\n\n{ROSE}.", ENGLISH).article.headline.text == "Flood in Tainan"
    assert read_foreign(f"{ROSE}.\n\n{SHELTERS}.", ENGLISH).article.headline.text == ""
    assert read_foreign("", ENGLISH).article.claims[0].text == ""


def supports(found: ForeignChecked) -> list[str]:
    return [verdict.support for verdict in found.checked.verdicts[1:]]


def test_claims_are_checked_against_what_they_cite() -> None:
    text = f"# Flood\n\n{ROSE} [1]. Officials opened five shelters [1]. {MONEY_LINE} [1].{LIST}"
    found = verify_foreign(text, ENGLISH)
    assert supports(found) == ["supported", "contradicted", "not_found"]
    assert "'d2' at 0-51, which is not cited, says it" in found.checked.verdicts[3].reason
    assert (found.checked.quality.cited, found.checked.quality.recall) == (1.0, 1 / 3)


def test_claims_are_checked_in_chinese() -> None:
    text = f"# 淹水\n\n週一河水上漲3公尺[1]。官員開設30處避難所[1]。市議會通過500萬元預算[1]。{LISTE}"
    assert supports(verify_foreign(text, CHINESE)) == ["supported", "contradicted", "not_found"]


def test_without_markers_each_claim_is_held_against_all_sources_and_cites_nothing() -> None:
    text = f"Flood in Tainan\n\n{ROSE}. The council approved a budget of 9 million dollars. Zebras graze quietly."
    found = verify_foreign(text, ENGLISH)
    assert not found.foreign.marked
    assert supports(found) == ["supported", "contradicted", "not_found"]
    assert [verdict.claim for verdict in found.checked.verdicts] == list(found.foreign.article.claims)
    assert {one.document_id for one in found.checked.verdicts[1].evidence} == {"d1"}
    assert (found.checked.quality.cited, found.checked.quality.recall) == (0.0, 0.0)
    assert verify_foreign(text, ()).checked.verdicts[1].support == "not_found"


@pytest.mark.parametrize("marker", [" [1]", ""])
def test_the_day_of_the_article_counts(marker: str) -> None:
    late = replace(RIVER, published=date(2024, 5, 6))
    text = f"# Flood\n\n{ROSE}{marker}."
    assert supports(verify_foreign(text, [late], as_of=date(2024, 5, 7))) == ["supported"]
    assert supports(verify_foreign(text, [late], as_of=date(2024, 5, 5))) == ["partly"]


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("marker", [" [1]", ""])
def test_a_model_settles_what_the_gates_cannot(ledger: Ledger, marker: str) -> None:
    claim = "Officials opened two shelters to house families who fled"
    model = ScriptedModel([json.dumps({"verdicts": [{"number": 1, "verdict": "supported"}]})])
    with recorded(ledger, command=["verify"], settings=Loaded(Settings(), {})) as recording:
        found = verify_foreign(f"# Flood\n\n{claim}{marker}.", ENGLISH, recording=recording, model=model)
    assert supports(found) == ["supported"]
    assert found.checked.verdicts[1].judged_by == model.id
    assert found.checked.verdicts[1].claim == found.foreign.article.claims[1]


@given(st.text(alphabet="ab 1[]()^#>|-.\n【】²:", max_size=80))
def test_no_letter_is_ever_lost_and_nothing_raises(text: str) -> None:
    found = read_foreign(f"word\n\n{text}", ENGLISH).article
    said = "".join([*(claim.text for claim in found.claims), *(section.heading for section in found.sections)])
    listed = "".join(character for character in text if character in "ab")
    assert sum(said.count(letter) for letter in "ab") <= len(listed)
    if "]:" not in text and "[" not in text and "【" not in text:
        assert sum(said.count(letter) for letter in "ab") == len(listed)
