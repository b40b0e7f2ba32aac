from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.ports import Snapshot
from groundwire.core.types import Document
from groundwire.flow import life
from groundwire.flow.archives import open_archive
from groundwire.retrieval.files import only_writer
from groundwire.retrieval.index import Archive
from groundwire.retrieval.readers import read_documents


def archive_of(documents: Sequence[Document]) -> Archive:
    archive = open_archive("memory:", embedder="hash:16")
    archive.add(documents)
    return archive


STORIES = (
    Document("a", "The river rose. The bridge is shut.", "Flood", date(2024, 5, 6), "Gazette", language="en"),
    Document("b", "河水上漲。", "水", date(2024, 5, 1), "Gazette", language="zh-TW", notes=("encoding: big5",)),
    Document("c", "Relief is on its way.", language="en", url="https://example.com/2020/01/02/c"),
)


def exported(archive: Archive) -> tuple[list[bytes], life.Exported]:
    lines: list[bytes] = []
    return lines, life.export_documents(archive, lines.append)


def contents(archive: Archive) -> tuple[dict[str, Document], dict[str, object]]:
    ids = list(archive.store.revisions())
    documents = {name: replace(found, origin="") for name, found in archive.store.documents(ids).items()}
    return documents, dict(archive.sentences(ids))


def added_again(lines: Sequence[bytes], folder: Path) -> Archive:
    path = folder / "exported.jsonl"
    path.write_bytes(b"".join(lines))
    archive = open_archive("memory:", embedder="hash:16")
    archive.add(read_documents(path))
    return archive


def test_an_export_added_to_a_new_archive_gives_the_same_documents_and_sentences(tmp_path: Path) -> None:
    archive = archive_of(STORIES)

    lines, report = exported(archive)

    assert report == life.Exported(3, ())
    assert report.lines() == ("3 documents exported",)
    assert contents(added_again(lines, tmp_path)) == contents(archive)


printable = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)
any_documents = st.lists(
    st.builds(
        Document,
        id=st.text(min_size=1, max_size=20).filter(lambda name: "\0" not in name),
        text=st.text(min_size=1, max_size=120),
        title=st.text(max_size=30) | printable,
        published=st.none() | st.dates(),
        source=printable,
        url=st.sampled_from(["", "https://example.com/2024/05/06/a", "ftp://example.com/a"]),
        language=st.sampled_from(["", "en", "zh", "zh-TW", "tlh"]),
    ),
    max_size=4,
    unique_by=lambda document: document.id,
)


@given(any_documents)
@settings(max_examples=80, deadline=None)
def test_every_document_comes_back_the_same_or_is_named(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Document]
) -> None:
    documents = [
        document for document in documents if document.text.encode("utf-8", "ignore").decode() == document.text
    ]
    documents = [document for document in documents if _storable(document)]
    archive = archive_of(documents)

    lines, report = exported(archive)

    before, after = contents(archive), contents(added_again(lines, tmp_path_factory.mktemp("export")))
    same = before[0].keys() - set(report.changed)
    assert report.documents == len(before[0])
    for name in same:
        assert replace(after[0][name], notes=()) == before[0][name]
        assert after[1][name] == before[1][name]
    for name in report.changed:
        assert name not in after[0] or replace(after[0][name], notes=()) != before[0][name]


def _storable(document: Document) -> bool:
    return all(not any("\ud800" <= letter <= "\udfff" for letter in text) for text in (document.id, document.title))


def test_documents_that_come_back_changed_are_named_up_to_ten() -> None:
    odd = [Document(f"d{number:02}", "The river rose.", title="two\nlines") for number in range(12)]

    _, report = exported(archive_of([*odd, STORIES[0]]))

    assert len(report.changed) == 12
    assert report.lines()[1] == (
        "come back tidied when they are added, 12 documents: "
        "d00, d01, d02, d03, d04, d05, d06, d07, d08, d09 and 2 more"
    )


def test_a_large_archive_is_exported_in_parts_that_tell_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "_DOCUMENTS_AT_ONCE", 2)
    told: list[tuple[int, int | None]] = []
    lines: list[bytes] = []

    life.export_documents(archive_of(STORIES), lines.append, progress=lambda done, total, _: told.append((done, total)))

    assert [json.loads(line)["id"] for line in lines] == ["a", "b", "c"]
    assert told == [(2, 3)]


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "documents.jsonl"

    report = life.export_to_file(archive_of(STORIES), path)

    assert report.documents == 3
    assert path.read_bytes() == b"".join(exported(archive_of(STORIES))[0])
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_there_is_replaced_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text("precious", "utf-8")

    with pytest.raises(UsageError, match="is there already"):
        life.export_to_file(archive_of(STORIES), path)
    assert path.read_text("utf-8") == "precious"

    assert life.export_to_file(archive_of(STORIES), path, replace_file=True).documents == 3
    assert len(path.read_text("utf-8").splitlines()) == 3


def test_a_folder_is_no_file_to_export_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        life.export_to_file(archive_of(STORIES), tmp_path, replace_file=True)


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text("precious", "utf-8")
    archive = archive_of(STORIES)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.store, "documents", full)
    with pytest.raises(OSError, match="No space left"):
        life.export_to_file(archive, path, replace_file=True)

    assert path.read_text("utf-8") == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_the_facts_say_what_an_archive_is_and_holds() -> None:
    facts = life.archive_facts(archive_of(STORIES))

    assert (facts["documents"], facts["sentences"], facts["undated"]) == (3, 4, 1)
    assert facts["languages"] == {"en": 2, "zh-TW": 1}
    assert facts["outlets"] == {"Gazette": 2, "": 1}
    assert (facts["published_from"], facts["published_to"]) == (date(2024, 5, 1), date(2024, 5, 6))
    assert (facts["embedder"], facts["being_written"]) == ("hash:16", False)


def test_the_facts_of_an_empty_archive_have_no_days() -> None:
    facts = life.archive_facts(archive_of([]))

    assert (facts["documents"], facts["published_from"], facts["languages"]) == (0, None, {})
    assert "languages: none" in list(life.facts_lines(facts))


def test_facts_in_words() -> None:
    taken = Snapshot("may", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC), 1200, 34000)
    facts = {
        "archive": "a.archive",
        "sentences": 34000,
        "languages": {"en": 1100, "": 100},
        "outlets": {f"paper {number:02}": 1 for number in range(12)},
        "published_from": None,
        "folding": "",
        "being_written": True,
        "passage_words": False,
        "snapshots": {"may": taken},
    }

    assert list(life.facts_lines(facts)) == [
        "archive: a.archive",
        "sentences: 34,000",
        "languages: en 1,100, (none) 100",
        "outlets: " + ", ".join(f"paper {number:02} 1" for number in range(10)) + " and 2 more",
        "being written: yes",
        "passage words: no",
        "snapshot may: 2024-05-06 07:08:09 UTC, 1,200 documents, 34,000 sentences",
    ]


def test_to_compact_an_archive_in_memory_changes_nothing() -> None:
    archive = archive_of(STORIES)
    before = contents(archive)

    assert life.compact(archive).snapshots == ()
    assert contents(archive) == before


def test_what_compacting_did_in_words() -> None:
    assert life.Compacted(12345, 2000, ()).lines() == ("12,345 bytes before, 2,000 now",)
    assert life.Compacted(12345, 2000, ("a", "b")).lines()[1] == "kept for snapshots: a, b"


def test_a_writer_shows_in_the_facts(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    archive = open_archive(tmp_path / "a.archive", embedder="hash:16")

    with only_writer(archive.folder):
        assert life.archive_facts(archive)["being_written"] is True
    assert life.archive_facts(archive)["being_written"] is False
    archive.close()


def test_compacting_an_archive_on_disk_makes_it_smaller_and_names_its_snapshots(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    archive = open_archive(tmp_path / "a.archive", embedder="hash:16")
    for number in range(4):
        archive.add([Document("a", f"Version {number} of the story. " * 40, language="en")])

    first = life.compact(archive)
    archive.snapshot("kept")
    second = life.compact(archive)

    assert first.bytes_after < first.bytes_before
    assert (first.snapshots, second.snapshots) == ((), ("kept",))
    archive.close()
