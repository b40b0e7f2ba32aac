from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chroma_folder import Record, cut, write_chroma
from groundwire.core.types import Document
from groundwire.retrieval.chroma import LEAST_OVERLAP, MOST_OF_A_TITLE, join_chunks
from groundwire.retrieval.readers import ReadReport, read_documents


def story(number: int, *, paragraphs: int = 12) -> str:
    lines = (
        f"Story {number}, paragraph {at}: gauge {number * 100 + at} read {(number * 37 + at * 91) % 977} centimetres. "
        f"河水在{at}時上漲{(number + 3) * at}公分。"
        for at in range(paragraphs)
    )
    return "\n\n".join(lines)


def chunks(number: int, pieces: list[str], **about: str | int) -> list[Record]:
    known = {
        "title": f"Story {number}",
        "source": "Gazette",
        "url": f"https://example.com/{number}",
        "date": f"2024-05-{number + 1:02}",
    }
    return [Record(f"{number}-{at}", piece, {**known, "chunk": at, **about}) for at, piece in enumerate(pieces)]


def read(*paths: str | Path, **mapping: str) -> tuple[list[Document], ReadReport]:
    reading = read_documents(*paths, mapping=mapping or None)
    documents = list(reading)
    report = reading.report
    assert report.rows == report.documents + report.repeated + report.rejected
    return documents, report


def test_the_chunks_of_an_article_come_back_as_the_article(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": [*chunks(0, cut(story(0))), *chunks(1, cut(story(1)))]})

    documents, report = read(folder)

    assert [document.text for document in documents] == [story(0), story(1)]
    first = documents[0]
    assert (first.id, first.title, first.source) == ("news/0-0", "Story 0", "Gazette")
    assert (first.url, first.published) == ("https://example.com/0", date(2024, 5, 1))
    assert first.origin == f"{folder / 'chroma.sqlite3'}[1]"
    assert first.notes == (f"joined from {len(cut(story(0)))} chunks",)
    assert (report.files, report.documents, report.rejected) == (1, 2, 0)


def test_chunks_out_of_order_are_put_in_order_by_their_place(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": chunks(0, cut(story(0)))[::-1]})

    assert [document.text for document in read(folder)[0]] == [story(0)]


def test_chunks_of_two_articles_that_were_put_in_by_turns_are_told_apart(tmp_path: Path) -> None:
    both = zip(chunks(0, cut(story(0))), chunks(1, cut(story(1))), strict=True)
    folder = write_chroma(tmp_path / "db", {"news": [record for pair in both for record in pair]})

    assert {document.text for document in read(folder)[0]} == {story(0), story(1)}


def test_chunks_cut_at_paragraphs_share_nothing_and_become_paragraphs(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": chunks(0, story(0).split("\n\n"))})

    (document,), _ = read(folder)

    assert document.text == story(0)
    assert document.notes == (
        "joined from 12 chunks; 11 of them begin a paragraph: they share no words with the one before",
    )


def test_an_outlet_alone_names_no_article(tmp_path: Path) -> None:
    pieces = [*cut(story(0)), *cut(story(1))]
    folder = write_chroma(
        tmp_path / "db", {"n": [Record(str(at), text, {"source": "G"}) for at, text in enumerate(pieces)]}
    )

    documents, _ = read(folder)

    assert [document.text for document in documents] == [story(0), story(1)]
    assert documents[1].id == f"n/{len(cut(story(0)))}"
    assert "one of 2 parts with the same metadata, which share no words" in documents[1].notes


def test_a_title_on_very_many_chunks_names_no_article(tmp_path: Path) -> None:
    records = [Record(str(at), f"Report {at:05} of the day.", {"title": "News"}) for at in range(MOST_OF_A_TITLE + 1)]
    few, many = (
        read(write_chroma(tmp_path / name, {"n": records[:count]}))[0]
        for name, count in (("few", MOST_OF_A_TITLE), ("many", MOST_OF_A_TITLE + 1))
    )

    assert (len(few), len(many)) == (1, MOST_OF_A_TITLE + 1)


@pytest.mark.parametrize(
    "about",
    [{"ref_doc_id": "a7"}, {"news_id": 7}, {"source": "/data/a7.txt"}, {"source": "https://example.com/a7"}],
    ids=str,
)
def test_what_names_an_article_joins_its_chunks(tmp_path: Path, about: dict[str, str | int]) -> None:
    records = [
        Record(f"r{at}", text, about) for at, text in enumerate(("The river rose today.", "The bridge is shut."))
    ]

    (document,), _ = read(write_chroma(tmp_path / "db", {"n": records}))

    assert document.text == "The river rose today.\n\nThe bridge is shut."


def test_loaders_of_web_pages_write_the_address_as_the_source(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"n": [Record("r", "The river rose.", {"source": "https://example.com/a"})]})

    (document,), _ = read(folder)

    assert (document.url, document.source) == ("https://example.com/a", "")


def test_an_id_in_the_metadata_is_the_id_of_the_document(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": chunks(0, cut(story(0)), doc_id="story-0")})

    assert [document.id for document in read(folder)[0]] == ["story-0"]


def test_ids_of_chunks_are_no_id_of_an_article(tmp_path: Path) -> None:
    records = [Record(f"r{at}", text, {"title": "T", "id": f"chunk-{at}"}) for at, text in enumerate(cut(story(0)))]

    assert [document.id for document in read(write_chroma(tmp_path / "db", {"n": records}))[0]] == ["n/r0"]


def test_a_folder_that_was_filled_twice_gives_each_article_once(tmp_path: Path) -> None:
    again = [Record(f"again {record.name}", record.document, record.about) for record in chunks(0, cut(story(0)))]
    folder = write_chroma(tmp_path / "db", {"news": [*chunks(0, cut(story(0))), *again]})

    (document,), _ = read(folder)

    assert document.text == story(0)
    assert f"{len(again)} chunks of the same words as another were left out" in document.notes


def test_all_collections_are_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    folder = write_chroma(
        tmp_path / "db",
        {"b": [Record("0", "The river rose.")], "a": [Record("0", "河水上漲。")], "empty": []},
    )

    assert [document.id for document in read(folder)[0]] == ["a/0", "b/0"]
    assert [document.id for document in read(f"{folder}#b")[0]] == ["b/0"]
    assert [document.id for document in read(folder / "chroma.sqlite3")[0]] == ["a/0", "b/0"]


def test_a_collection_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": [Record("0", "The river rose.")]})

    documents, report = read(f"{folder}#nws")

    assert documents == []
    assert [(reject.kind, reject.reason) for reject in report.rejects] == [
        ("missing", "has no collection 'nws'; there are: 'news'")
    ]


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert [reject.kind for reject in read(f"{tmp_path}/none#news")[1].rejects] == ["missing"]


def test_no_collection_at_all_is_said(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {})

    assert [reject.kind for reject in read(folder)[1].rejects] == ["empty"]
    assert "there are: none" in read(f"{folder}#a")[1].rejects[0].reason


def test_what_lies_beside_a_chroma_folder_is_read_and_its_indexes_are_not(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": [Record("0", "The river rose.")]})
    (folder / "note.txt").write_text("The bridge is shut.", "utf-8")
    (folder / "chroma.sqlite3-journal").write_bytes(b"")

    documents, report = read(tmp_path)

    assert sorted(document.text for document in documents) == ["The bridge is shut.", "The river rose."]
    assert report.rejected == 0


def test_fields_can_be_mapped_and_the_document_stays_the_text(tmp_path: Path) -> None:
    record = Record("0", "The river rose.", {"head": "Flood", "key": "a-1", "body": "another text"})
    folder = write_chroma(tmp_path / "db", {"news": [record]})

    (document,), _ = read(folder, title="head", id="key", text="body")

    assert (document.title, document.id, document.text) == ("Flood", "a-1", "The river rose.")


def test_a_record_without_a_document_is_refused_by_name(tmp_path: Path) -> None:
    records = [Record("v", None), Record("w", "", {"title": "bare"}), *chunks(0, cut(story(0)))]

    documents, report = read(write_chroma(tmp_path / "db", {"news": records}))

    assert len(documents) == 1
    assert [(reject.kind, reject.reason) for reject in report.rejects] == [
        ("no_text", "record 'v' of collection 'news' holds no document"),
        ("no_text", "record 'w' of collection 'news' holds no document"),
    ]


def test_bytes_that_are_no_text_cost_their_record_alone(tmp_path: Path) -> None:
    records = [Record("a", b"The river \xff rose."), Record("b", "The bridge is shut.")]

    documents, report = read(write_chroma(tmp_path / "db", {"news": records}))

    assert [document.id for document in documents] == ["news/b"]
    assert report.reasons == (("unstorable", 1),)


def test_changes_that_only_wait_in_the_queue_are_said(tmp_path: Path) -> None:
    records = [Record("a", "The river rose."), Record("b", "The bridge is shut.")]

    documents, report = read(write_chroma(tmp_path / "db", {"news": records}, unwritten=1))

    assert [document.id for document in documents] == ["news/a"]
    assert report.reasons == (("bad_database", 1),)
    assert "has 1 changes that Chroma has not brought into its tables yet" in report.rejects[0].reason


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"x" * 100, b"no database at all, but text"])
def test_what_is_no_database_of_chroma_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(content)

    documents, report = read(tmp_path)

    assert documents == []
    assert report.reasons == (("bad_database", 1),)


def test_the_folder_is_only_read(tmp_path: Path) -> None:
    folder = write_chroma(tmp_path / "db", {"news": chunks(0, cut(story(0)))})
    before = (folder / "chroma.sqlite3").read_bytes()
    reading = iter(read_documents(folder))
    next(reading)

    with sqlite3.connect(folder / "chroma.sqlite3", timeout=0) as tables:  # not locked while it is read
        tables.execute("BEGIN EXCLUSIVE")
        tables.rollback()
    tables.close()

    assert list(reading) == []
    assert (folder / "chroma.sqlite3").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["chroma.sqlite3"]


def test_a_collection_is_read_in_several_queries(tmp_path: Path) -> None:
    pieces = cut(story(0, paragraphs=600), size=100, overlap=20)
    assert len(pieces) > 500
    folder = write_chroma(tmp_path / "db", {"news": chunks(0, pieces)})

    assert [document.text for document in read(folder)[0]] == [story(0, paragraphs=600)]


@given(st.text(min_size=1, max_size=400), st.integers(LEAST_OVERLAP, 20), st.integers(1, 40))
def test_no_character_is_lost_where_pieces_share_nothing_else(text: str, overlap: int, extra: int) -> None:
    distinct = "".join(chr(0x4E00 + at) for at in range(len(text)))  # no stretch comes twice

    runs = join_chunks(cut(distinct, size=overlap + extra + overlap, overlap=overlap), whole=False)

    assert [run.text for run in runs] == [distinct]


@given(st.lists(st.text(alphabet="ab \n", min_size=1, max_size=40), min_size=1, max_size=6))
def test_every_piece_stands_in_what_was_joined(pieces: list[str]) -> None:
    for whole in (False, True):
        runs = join_chunks(pieces, whole=whole)

        assert sum(run.chunks for run in runs) == len(pieces)
        assert all(any(piece in run.text for run in runs) for piece in pieces)
        assert len(runs) == 1 or not whole
