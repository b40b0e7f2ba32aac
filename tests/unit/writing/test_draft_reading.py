"""CASES C1: what a model drafted becomes an article, whatever its markers, and no word of it is lost."""

import json
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.language import Capabilities, Finish, Reply, Usage
from groundwire.core.replies import Reading
from groundwire.core.types import Article, Brief, Document, Sentence
from groundwire.writing.draft_reading import read_draft
from groundwire.writing.drafts import Cite, Draft, DraftSettings, draft_of

NAMES = ("flood", "boats", "bell", "plant", "bank")
BRIEFS = tuple(
    Brief(
        Document(name, f"First of {name}. Second of {name}.", f"Title {name}", date(2024, 1, place), "Observer",
                 f"https://example.org/{name}", "en"),
        90.0 - place,
        "high",
        tuple(
            Sentence(f"{name}#{at}", name, 0, at * 20, at * 20 + 10, text)
            for at, text in enumerate((f"First of {name}.", f"Second of {name}."))
        ),
    )
    for place, name in enumerate(NAMES, 1)
)  # fmt: skip


def draft(cite: Cite = "sentences", *, schema: bool = False, language: str = "en") -> Draft:
    how = DraftSettings(cite=cite, language=language, as_of=date(2024, 2, 1))
    return draft_of("The flood", BRIEFS, settings=how, capabilities=Capabilities(schema=schema))


def reading(text: str, made: Draft | None = None, *, finish: Finish = "stop") -> Reading[Article]:
    return read_draft(made or draft(), Reply(text, finish, Usage(5, 5)), model="llama:x")


def article(text: str, made: Draft | None = None, *, finish: Finish = "stop") -> Article:
    found = reading(text, made, finish=finish)
    assert found.value is not None, found
    return found.value


def cited(found: Article) -> list[list[str]]:
    return [[citation.sentence_id or citation.document_id for citation in claim.citations] for claim in found.claims]


def everything(found: Article) -> str:
    headings = [section.heading for section in found.sections]
    return "\n".join((*(claim.text for claim in found.claims), *headings, *found.notes))


WHOLE = """# The river rose [S1.1]

The flood came on Monday. [S1.1][S2.1] Boats came [S2.2].

It matters to the town [S1.2].

## What happened

The bell rang [S3.1-S3.2]. The plant closed [S4.1].
"""


def test_headline_lede_nut_graf_and_sections_become_an_article_with_numbered_sources() -> None:
    found = article(WHOLE)

    assert found.headline.text == "The river rose"
    assert [claim.text for claim in found.lede] == [
        "The flood came on Monday.", "Boats came.", "It matters to the town.",
    ]  # fmt: skip
    assert [(section.heading, len(section.claims)) for section in found.sections] == [("What happened", 2)]
    assert cited(found) == [
        ["flood#0"], ["flood#0", "boats#0"], ["boats#1"], ["flood#1"], ["bell#0", "bell#1"], ["plant#0"],
    ]  # fmt: skip
    assert [(source.number, source.document_id, source.url) for source in found.sources] == [
        (1, "flood", "https://example.org/flood"), (2, "boats", "https://example.org/boats"),
        (3, "bell", "https://example.org/bell"), (4, "plant", "https://example.org/plant"),
    ]  # fmt: skip
    assert [claim.id for claim in found.claims] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert (found.writer, found.as_of, found.language) == ("llama:x", date(2024, 2, 1), "en")
    assert found.notes == ()


@pytest.mark.parametrize(
    ("marker", "documents", "flagged"),
    [
        ("[1][2]", ["flood", "boats"], []),
        ("[1, 2]", ["flood", "boats"], []),
        ("[1-3]", ["flood", "boats", "bell"], []),
        ("[0]", [], ["0"]),
        ("[6]", [], ["6"]),
        ("[^2]", ["boats"], []),
        ("(S3)", ["bell"], []),
        ("【4】", ["plant"], []),
        ("[4-6]", ["plant", "bank"], ["6"]),
    ],
)
def test_markers_of_every_form_are_resolved_or_flagged(marker: str, documents: list[str], flagged: list[str]) -> None:
    found = article(f"# News\n\nGrowth was 3.5%{marker} in May.", draft("sources"))

    (claim,) = found.lede
    assert claim.text == "Growth was 3.5% in May."
    assert [citation.document_id for citation in claim.citations] == documents
    assert [note for note in found.notes if note.startswith("cites ")] == [
        f"cites {each}, which the model was not given: Growth was 3.5% in May." for each in flagged
    ]


def test_a_year_in_brackets_stays_and_a_marker_leaves_a_quotation() -> None:
    found = article('# News\n\nIn [2024] it rained. He said: "We lost [2] it all."', draft("sources"))

    assert [claim.text for claim in found.lede] == ["In [2024] it rained.", 'He said: "We lost it all."']
    assert [citation.document_id for citation in found.lede[1].citations] == ["boats"]


def test_a_made_up_address_stays_and_is_flagged_and_a_sources_own_is_not() -> None:
    found = article("# News\n\nSee https://made.up/x. And https://example.org/flood. [S1.1]")

    assert "an address that no source has: https://made.up/x." in found.notes
    assert not any("example.org" in note for note in found.notes)
    assert "https://made.up/x" in everything(found)


@pytest.mark.parametrize(
    ("form", "stays"),
    [("[1]【Title flood】", ""), ("[1]《Title flood》", ""), ("[1：Title flood]", ""), ("[1]「別的」", "「別的」")],
)
def test_number_and_title_are_one_citation(form: str, stays: str) -> None:
    found = article(f"# 標題\n\n水漲了{form}。", draft("sources", language="zh-TW"))

    assert found.lede[0].text == f"水漲了{stays}。"
    assert cited(found)[1] == ["flood"]


def test_a_number_with_the_title_of_another_source_is_flagged() -> None:
    found = article("# News\n\nIt rose [2]“Title flood”.", draft("sources"))

    assert "cites [2] with the title of source 1: Title flood" in found.notes
    assert "Title flood" in found.lede[0].text


def test_a_source_that_is_cited_whole_and_by_a_sentence_is_cited_by_the_sentence() -> None:
    assert cited(article("# News\n\nIt rose [S1][S1.2]. It fell [S1]."))[1:] == [["flood#1"], ["flood"]]


def test_lists_tables_bold_words_quotes_and_fences_lose_their_marks_and_no_word() -> None:
    text = (
        "```markdown\n# **The river** rose [S1.1]\n\n- First *item* [S1.2].\n- Second item\n1. Third item. [S2.1]\n"
        "> A quoted line\n\n| Place | Dead |\n| --- | ---: |\n| Town | 12 [S3.1] |\n***\n**Aftermath**\n\n"
        "A `code` word, 2*3*4 and snake_case_name.\n```"
    )

    found = article(text)

    assert found.headline.text == "The river rose"
    assert [claim.text for claim in found.lede] == [
        "First item.", "Second item", "Third item.", "A quoted line", "Place | Dead", "Town | 12",
    ]  # fmt: skip
    assert found.sections[0].heading == "Aftermath"
    assert found.sections[0].claims[0].text == "A code word, 2*3*4 and snake_case_name."
    assert cited(found)[1:4] == [["flood#1"], [], ["boats#0"]]
    assert "words beside a code fence of the draft: markdown" in found.notes
    assert "the number of a list item was left out: 1." in found.notes


@pytest.mark.parametrize(
    "listed",
    [
        "## Sources\n[S1.1] Title flood, Observer\n- https://made.up/y",
        "**References:**\n1. Title flood, Observer\nhttps://made.up/y",
        "Sources:\nTitle flood, Observer\nhttps://made.up/y",
        "## 參考資料\nTitle flood, Observer\nhttps://made.up/y",
        "[^1]: Title flood, Observer\n[^2]: https://made.up/y",
    ],
)
def test_a_list_of_sources_that_the_model_added_is_kept_aside(listed: str) -> None:
    found = article(f"# News\n\nIt rose [S1.1].\n\n{listed}")

    assert [claim.text for claim in found.claims] == ["News", "It rose."]
    assert any("list of sources" in note and "Title flood, Observer" in note for note in found.notes)
    assert any("https://made.up/y" in note for note in found.notes)


def test_what_follows_a_list_of_sources_is_article_again_and_news_is_no_such_list() -> None:
    found = article("# News\n\nIt rose.\n\n## 來源\nx\n\n## 新聞\nIt fell.")

    assert [(section.heading, section.claims[0].text) for section in found.sections] == [("新聞", "It fell.")]


def test_a_heading_claims_nothing_and_its_markers_are_noted() -> None:
    found = article("# News\n\nIt rose [S1.1].\n\n## Rise [S1.2][S9.9]\nIt fell.")

    assert found.sections[0].heading == "Rise"
    assert "the heading 'Rise' cites S1.2, S9.9; headings claim nothing" in found.notes


def test_a_marker_alone_on_a_line_is_that_of_the_sentence_before() -> None:
    found = article("# News\n\nIt rose [S1.1].\n\n[S1.2][S9.9]\n\n## More\n[S2.1]\n\nIt fell.")

    assert cited(found)[1:] == [["flood#0", "flood#1"], []]
    assert "cites S9.9, which the model was not given: It rose." in found.notes


def test_without_a_headline_the_first_sentence_stands_in_its_place() -> None:
    found = article("It rose [S1.1]. It fell [S1.2].")

    assert (found.headline.text, [claim.text for claim in found.lede]) == ("It rose.", ["It fell."])
    assert cited(found) == [["flood#0"], ["flood#1"]]
    assert "the draft has no headline; its first sentence stands in its place" in found.notes


def test_a_headline_of_markers_alone_is_none_and_what_it_cites_in_vain_is_flagged() -> None:
    found = article("# [S9.9] x\n\nIt rose.")
    bare = article('{"headline": {"ids": ["S9.9"], "text": ""}, "lede": [{"ids": ["S1.1"], "text": "It rose."}]}',
                   draft(schema=True))  # fmt: skip

    assert found.headline.text == "x"
    assert bare.headline.text == "It rose."
    assert "unknown citation S9.9, without words" in bare.notes


def test_headings_alone_still_make_a_headline() -> None:
    found = article('{"sections": [{"heading": "Only this", "sentences": []}]}', draft(schema=True))

    assert found.headline.text == "Only this"


@pytest.mark.parametrize("cite", ["sentences", "none"])
def test_sentences_without_citations_are_counted_where_citations_were_asked_for(cite: Cite) -> None:
    found = article("# News\n\nIt rose.", draft(cite))

    assert ("2 of 2 sentences cite nothing" in found.notes) == (cite == "sentences")


def test_what_is_said_twice_is_noted() -> None:
    assert "stands 2 times in the article: It rose." in article("# News\n\nIt rose.\n\n## More\nIt rose.").notes


def test_a_draft_that_was_cut_is_kept_and_flagged() -> None:
    found = article("# News\n\nIt rose [S1.1]. It fe", finish="length")

    assert found.lede[-1].text == "It fe"
    assert any("was cut: its end is missing" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("", "stop", "unreadable"),
        ("<think>Let me see</think>", "stop", "unreadable"),
        ("[S1.1]", "stop", "unreadable"),
        ("***", "length", "truncated"),
        ("# News", "refused", "abstained"),
        ("I'm sorry, I cannot help with that.", "stop", "abstained"),
        ("抱歉，我無法提供這篇報導。", "stop", "abstained"),
    ],
)
def test_an_empty_or_refused_draft_is_no_article(text: str, finish: Finish, outcome: str) -> None:
    found = reading(text, finish=finish)

    assert (found.value, found.outcome) == (None, outcome)
    assert found.reason


def test_an_article_about_a_refusal_is_an_article() -> None:
    assert article('# Mayor declines\n\n"I cannot help," she said [S1.1].').lede


def as_json(**more: object) -> str:
    value = {
        "headline": {"ids": ["S1.1"], "text": "The river rose"},
        "lede": [{"ids": ["S1.1", "S2.1"], "text": "It came on Monday. Boats came."}],
        "sections": [{"heading": "More [S1.1]", "sentences": [{"ids": ["S9.9"], "text": "It fell [S3.1]."}]}],
    }
    return json.dumps({**value, **more})


def test_json_becomes_the_same_article() -> None:
    found = article(as_json(), draft(schema=True))

    assert found.headline.text == "The river rose"
    assert [claim.text for claim in found.lede] == ["It came on Monday.", "Boats came."]
    assert found.sections[0].heading == "More"
    assert cited(found) == [["flood#0"], ["flood#0", "boats#0"], ["flood#0", "boats#0"], ["bell#0"]]
    assert "cites S9.9, which the model was not given: It fell." in found.notes


def test_json_that_was_cut_keeps_its_whole_sentences_and_the_rest_in_its_notes() -> None:
    text = as_json()[: as_json().index(" [S3.1]")]

    found = article(text, draft(schema=True), finish="length")

    assert [claim.text for claim in found.claims] == ["The river rose", "It came on Monday.", "Boats came."]
    assert "the unfinished end of the draft: More [S1.1] S9.9 It fell" in found.notes


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ('{"headline": {"ids": ["S1.1"], "te', "length"),
        (as_json(byline="Somebody"), "stop"),
        (as_json() + " Words beside it", "stop"),
        (as_json() + as_json(), "stop"),
        ("{}", "stop"),
        ('[{"headline": 1}]', "stop"),
        ('Here: {"headline": 1}', "stop"),
    ],
)
def test_json_of_another_form_is_not_read_so_that_nothing_is_lost(text: str, finish: Finish) -> None:
    found = reading(text, draft(schema=True), finish=finish)

    assert found.value is None
    assert found.reason


def test_an_article_in_markdown_is_one_where_json_was_asked_for() -> None:
    found = article(WHOLE, draft(schema=True))

    assert len(found.claims) == 6
    assert any("read as Markdown" in note for note in found.notes)


KNOWN = {"S1", "S2", "S3", "S4", "S5", "1", "2", "3", "4", "5", "S"}


def lost(text: str, found: Article) -> list[str]:
    kept = everything(found)
    return [word for word in re.findall(r"[^\W_]+", text) if word not in kept and word not in KNOWN]


_MARKS = (
    "[S1.1]", "[S2.1, S9.9]", "【S3.1】", "(S4.1)", "[0]", "[77]", "[2024]", "[^3]", "# ", "## ", "- ", "1. ", "> ",
    "**", "*", "__", "_", "`", "```", "```py\n", "| ", "---\n", "\n", "\n\n", ". ", "。", "3.5%", '"', "「", "」", "~~",
    "[x](", "https://made.up/z", "Sources:\n", "## References\n", "來源：", ")", "[S1.1-S1.2]", "]", "[", "：",
    "Title flood",
)  # fmt: skip
_PIECES = st.one_of(
    st.sampled_from(_MARKS),
    st.integers(min_value=1000, max_value=9999).map("wort{}".format),  # words that stand nowhere else
    st.text(alphabet="abcXYZ789 中文水鐘", min_size=1, max_size=6),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_PIECES, max_size=30).map("".join), st.sampled_from(["sentences", "sources", "none"]))
def test_no_word_of_a_draft_is_ever_lost(text: str, cite: Cite) -> None:
    found = reading(text, draft(cite))

    if found.value is None:
        assert found.text == text  # the reply is kept for the one repair
        return
    assert lost(text, found.value) == []


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(_PIECES, max_size=6).map("".join), max_size=6), st.integers(min_value=0, max_value=600))
def test_no_word_of_a_draft_in_json_is_lost_even_where_it_was_cut(texts: list[str], end: int) -> None:
    sentences = [{"ids": ["S1.1"], "text": text} for text in texts]
    whole = as_json(sections=[{"heading": text, "sentences": sentences} for text in texts[:1]], lede=sentences)
    cut = whole[:end]

    found = reading(cut, draft(schema=True), finish="length" if cut != whole else "stop")

    if found.value is None:
        assert found.text == cut
        return
    words = " ".join(json.loads(f'"{each}"') for each in re.findall(r'"((?:[^"\\]|\\.)*)"', cut))
    keys = {"headline", "lede", "sections", "heading", "sentences", "ids", "text"}
    assert [word for word in lost(words, found.value) if word not in keys] == []
