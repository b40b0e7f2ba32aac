from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.types import Document
from groundwire.retrieval.corpus import revision, split_document
from groundwire.retrieval.exported import exported_line
from groundwire.retrieval.fields import Made, Reader
from groundwire.retrieval.formats import Row
from groundwire.retrieval.readers import read_documents


def back(documents: Sequence[Document], **mapping: str) -> list[Document]:
    """The documents after they were written to a file and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_bytes(b"".join(exported_line(document).encode() + b"\n" for document in documents))
        return [replace(document, origin="") for document in read_documents(path, mapping=mapping or None)]


words = st.text(max_size=60)
raw_rows = st.fixed_dictionaries(
    {"text": st.text(min_size=1, max_size=300)},
    optional={
        "id": words | st.integers(),
        "title": words,
        "date": st.dates().map(str) | st.sampled_from(["5/6/2024", "民國113年5月6日", "yesterday", ""]),
        "source": words,
        "url": st.sampled_from(["https://example.com/2024/05/06/a", "javascript:alert(1)", "no address", ""]) | words,
        "language": st.sampled_from(["zh", "zh-Hant", "pt_BR", "en", "?", ""]),
    },
)


@given(raw_rows)
@settings(max_examples=150)
def test_what_a_reader_gave_comes_back_the_same(values: dict[str, object]) -> None:
    made = Reader({}).make(Row(values), origin="", notes=("encoding: big5",))
    if not isinstance(made, Made):
        return
    document = made.document

    (again,) = back([document])

    assert again == document
    assert revision(again) == revision(document)
    assert split_document(again) == split_document(document)


def test_nothing_is_guessed_anew() -> None:
    document = Document(
        "a",
        "The river rose by two metres in the night, and the bridge was shut to all of the town.",
        url="https://example.com/2024/05/06/flood",
        language="",
    )

    assert back([document]) == [document]


@pytest.mark.parametrize("language", ["", "zh", "zh-TW", "de", "sr-Latn-RS"])
def test_the_language_stays(language: str) -> None:
    document = Document("a", "行政院長說河水上漲。", language=language)

    assert back([document]) == [document]


def test_a_mapping_for_other_files_does_not_apply() -> None:
    document = Document(
        "a", "The river rose.", title="Flood", source="Gazette", published=date(2024, 5, 6), language="en"
    )

    assert back([document], title="news_title", text="body", id="key") == [document]


def test_odd_notes_are_kept_as_lines_or_left_out() -> None:
    line = json.loads(exported_line(Document("a", "The river rose.")))
    for notes, kept in (
        (["one\ntwo", 7, "three", "\ud800"], ("one two", "three")),
        ("no list", ()),
        (None, ()),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.jsonl"
            path.write_text(json.dumps({**line, "notes": notes}) + "\n", "utf-8")
            assert [document.notes for document in read_documents(path)] == [kept]


def test_a_hostile_export_is_tidied_like_any_other_row() -> None:
    hostile = Document("a\x1b[2J", "The river rose.", title="red \x1b[31m title", url="javascript:alert(1)")
    tidied = replace(hostile, id="a")

    assert back([hostile]) == []
    (document,) = back([tidied])
    assert (document.title, document.url) == ("red [31m title", "")


def test_a_language_that_is_no_tag_is_read_from_the_text() -> None:
    (document,) = back([Document("a", "行政院長說河水上漲，請勿靠近。", language="<b>")])

    assert document.language == "zh-TW"
    assert any(note.startswith("language left out") for note in document.notes)
