"""Making an archive anew from its own documents: the same content, other ways of making it, whole or not at all."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError, GroundwireError
from groundwire.core.types import Document
from groundwire.flow.archives import MANIFEST, Making, open_archive, opened
from groundwire.flow.rebuild import rebuild
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.search import SearchSettings

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

DOCUMENTS = [
    Document(
        "a", "The river rose. The bridge was closed.", title="River", origin="/none/a.txt\n/none/b.txt", notes=("x",)
    ),
    Document("zh", "臺灣的經濟發展很快。昨天下雨。", language="zh-TW", origin="stories.jsonl:7"),
    Document("b", "Rates rose."),
]
WORDS = SearchSettings(mode="lexical")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old.archive"
    making = Making(passage_tokens=50, folding="", passage_words=False)
    with opened(open_archive(folder, embedder="hash:32", making=making)) as archive:
        archive.add(DOCUMENTS)
        archive.add([Document("gone", "Nobody reads this.")])
        archive.remove(["gone"])
    return folder


def held(folder: Path) -> dict[str, Document]:
    with opened(open_archive(folder)) as archive:
        return dict(archive.store.documents(archive.store.revisions()))


def test_the_new_archive_holds_the_same_documents_and_is_made_as_the_old_one(old: Path, tmp_path: Path) -> None:
    told = []

    report = rebuild(old, tmp_path / "new.archive", progress=lambda *one: told.append(one))

    assert (report.documents, report.added, report.sentences) == (3, 3, 5)
    assert told == [(3, None, "5 sentences")]
    assert held(tmp_path / "new.archive") == held(old) == {document.id: document for document in DOCUMENTS}
    with opened(open_archive(tmp_path / "new.archive")) as new, opened(open_archive(old)) as before:
        assert new.manifest == before.manifest
        assert new.store.revisions() == before.store.revisions()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.archive", "old.archive"]


def test_the_new_archive_can_be_made_otherwise(old: Path, tmp_path: Path) -> None:
    making = Making(context="exact", passage_words=True, folding="characters")
    (tmp_path / "new.archive").mkdir()

    rebuild(old, tmp_path / "new.archive", embedder="hash:64", making=making)

    with opened(open_archive(tmp_path / "new.archive")) as new:
        made = new.manifest
        assert (made.embedder, made.context, made.passage_tokens) == ("hash:64", "exact", 50)
        found = new.search("台湾经济", k=1, settings=SearchSettings(mode="lexical", passage_words=0.5))
        assert [hit.sentence.document_id for hit in found] == ["zh"]


def test_an_archive_made_before_folding_is_rebuilt_with_what_new_ones_have(old: Path, tmp_path: Path) -> None:
    manifest = json.loads((old / MANIFEST).read_text("utf-8"))
    (old / MANIFEST).write_text(json.dumps({**manifest, "format": 1}), "utf-8")

    rebuild(old, tmp_path / "new.archive")

    with opened(open_archive(tmp_path / "new.archive")) as new:
        assert (new.manifest.format, new.manifest.folding, new.manifest.passage_words) == (3, "characters", True)
        assert new.search("台湾", k=1, settings=WORDS)[0].sentence.document_id == "zh"


def test_an_archive_that_this_engine_cannot_search_can_be_rebuilt(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundwire.backends.lance_reader import LanceReader

    def broken(*asked: object, **how: object) -> None:
        raise RuntimeError(f"unknown index: {len(asked)} {sorted(how)}")

    manifest = json.loads((old / MANIFEST).read_text("utf-8"))
    (old / MANIFEST).write_text(json.dumps({**manifest, "engine": "lancedb 9.9.9"}), "utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(LanceReader, "dense", broken)
        with pytest.raises(
            ArchiveError,
            match=r"make it anew from its own documents: groundwire rebuild NEW\.archive --archive .*old\.archive",
        ):
            open_archive(old)
        rebuild(old, tmp_path / "new.archive")

    assert held(tmp_path / "new.archive") == {document.id: document for document in DOCUMENTS}


class KilledError(Exception):
    """Stands for what ends a process."""


def test_what_was_interrupted_is_not_there_and_goes_on_when_run_again(old: Path, tmp_path: Path) -> None:
    def kill(done: int, total: int | None, label: str, /) -> None:
        raise KilledError(f"{done} of {total}: {label}")

    new = tmp_path / "new.archive"
    with pytest.raises(KilledError):
        rebuild(old, new, progress=kill)
    assert not new.exists()
    with opened(open_archive(old)) as archive:
        archive.remove(["b"])
        archive.add([Document("c", "Snow fell.")])

    report = rebuild(old, new)

    assert (report.documents, report.added, report.unchanged) == (3, 1, 2)
    assert sorted(held(new)) == ["a", "c", "zh"]
    assert not (tmp_path / "new.archive.building").exists()


def test_what_is_left_of_a_try_that_was_made_otherwise_is_not_gone_on_with(old: Path, tmp_path: Path) -> None:
    with opened(open_archive(tmp_path / "new.archive.building", embedder="hash:32")):
        pass
    with pytest.raises(
        ArchiveError, match=r"new\.archive\.building was made with passage_tokens = 200, but 50 is asked"
    ):
        rebuild(old, tmp_path / "new.archive")


def test_a_place_that_is_taken_and_an_old_archive_that_is_none_are_refused(old: Path, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="with other things in it"):
        rebuild(old, old)
    with pytest.raises(ArchiveError, match="is not an archive"):
        rebuild(tmp_path / "none", tmp_path / "new.archive")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.archive"]


@pytest.mark.parametrize("method", ["revisions", "every_document"])
def test_documents_that_cannot_be_read_are_an_error_and_no_new_archive(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    from groundwire.backends.lance_store import LanceStore

    def broken(*_: object) -> Iterator[None]:
        raise RuntimeError("lance error: page 7")

    def of_the_old_one(folder: Path, manifest: Manifest) -> LanceStore:
        store = LanceStore(folder, dimension=64)
        monkeypatch.setattr(store, method, broken)
        assert manifest
        return store

    monkeypatch.setattr("groundwire.flow.rebuild.store_of", of_the_old_one)

    with pytest.raises(GroundwireError, match=r"the documents of .*old\.archive cannot be read .lance error: page 7"):
        rebuild(old, tmp_path / "new.archive")
    assert not (tmp_path / "new.archive").exists()


@pytest.mark.parametrize("damage", ["overwritten", "gone"])
def test_an_archive_whose_indexes_are_damaged_is_rebuilt_from_its_documents(
    old: Path, tmp_path: Path, damage: str
) -> None:
    expected = {document.id: document for document in DOCUMENTS}
    indexes = [path for folder in old.rglob("_indices") for path in folder.rglob("*") if path.is_file()]
    assert len(indexes) > 5
    for path in indexes:
        path.write_bytes(b"x") if damage == "overwritten" else path.unlink()
    with opened(open_archive(old)) as archive, pytest.raises(RuntimeError):
        archive.store.documents(["a"])

    report = rebuild(old, tmp_path / "new.archive")

    assert (report.documents, report.added) == (3, 3)
    assert held(tmp_path / "new.archive") == expected


def test_nobody_writes_to_the_old_archive_meanwhile(old: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def write(done: int, total: int | None, label: str, /) -> None:
        from groundwire.retrieval.files import only_writer

        with pytest.raises(ArchiveError, match="another process is writing"), only_writer(old, wait_seconds=0):
            pass
        seen.append(f"{done} {total} {label}")

    rebuild(old, tmp_path / "new.archive", progress=write)
    assert len(seen) == 1
    with opened(open_archive(old)) as archive:
        assert isinstance(archive, Archive)
        archive.remove(["a"])
