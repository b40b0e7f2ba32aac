"""Opening archives: what fits, what is refused, and what another version of the engine means."""

import json
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.types import Context, Document
from groundwire.flow.archives import MANIFEST, open_archive, opened

DOCUMENT = Document("a", "The river rose by two metres. The bridge was closed.")


def test_an_archive_in_memory_works_without_any_extra() -> None:
    with opened(open_archive("memory:", embedder="hash:32")) as archive:
        archive.add([DOCUMENT])
        assert archive.search("bridge", k=1)[0].sentence.text == "The bridge was closed."
        assert archive.manifest.engine == "memory"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    with opened(open_archive(tmp_path / "a.archive", embedder="hash:32", passage_tokens=50)) as archive:
        archive.add([DOCUMENT])
    return tmp_path / "a.archive"


def test_an_archive_is_opened_as_it_was_made(folder: Path) -> None:
    with opened(open_archive(folder)) as archive:
        assert archive.counts().documents == 1
        assert (archive.manifest.embedder, archive.manifest.passage_tokens) == ("hash:32", 50)
        assert archive.manifest.engine.startswith("lancedb ")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"embedder": "hash:64"}, "hash:32"),
        ({"context": "exact"}, "made with context = 'passage', but 'exact' is asked for"),
        ({"passage_tokens": 51}, "made with passage_tokens = 50, but 51 is asked for"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(folder: Path, asked: dict, said: str) -> None:
    with pytest.raises(ArchiveError) as refused:
        open_archive(folder, **asked)

    assert said in str(refused.value)


@pytest.mark.parametrize("context", ["pooled_rest", "pooled"])
def test_a_context_that_the_embedder_cannot_give_leaves_no_archive_behind(tmp_path: Path, context: Context) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    for place in ("memory:", tmp_path / "a.archive"):
        with pytest.raises(UsageError, match="'hash:32' does not give"):
            open_archive(place, embedder="hash:32", context=context)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_things_a_file_and_nothing_are_no_archives(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Dear", "utf-8")

    with pytest.raises(ArchiveError, match="with other things in it"):
        open_archive(tmp_path / "other", embedder="hash:32")
    with pytest.raises(ArchiveError, match="is a file"):
        open_archive(tmp_path / "other" / "letter.txt", embedder="hash:32")
    with pytest.raises(ArchiveError, match="groundwire add --archive"):
        open_archive(tmp_path / "none", embedder="hash:32", create=False)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["letter.txt", "other"]


def test_a_start_that_was_cut_off_after_the_manifest_is_an_empty_archive(folder: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.archive"
    cut.mkdir()
    (cut / MANIFEST).write_text((folder / MANIFEST).read_text("utf-8"), "utf-8")

    with opened(open_archive(cut)) as archive:
        assert archive.counts().documents == 0
        assert archive.add([DOCUMENT]).added == 1


def written_by(folder: Path, engine: str) -> None:
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).write_text(json.dumps({**manifest, "engine": engine}), "utf-8")


def test_an_archive_of_another_engine_version_is_tried_and_noted(folder: Path) -> None:
    written_by(folder, "lancedb 0.1.0")

    with opened(open_archive(folder)) as archive:
        assert archive.counts().documents == 1
    assert "lancedb 0.1.0" not in (folder / MANIFEST).read_text("utf-8")


def test_an_archive_of_another_engine_version_that_cannot_be_searched_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundwire.backends.lance_store import LanceStore

    def broken(*asked: object, **how: object) -> None:
        raise RuntimeError(f"unknown index: {len(asked)} {sorted(how)}")

    written_by(folder, "lancedb 9.9.9")
    monkeypatch.setattr(LanceStore, "dense", broken)

    with pytest.raises(ArchiveError, match=r"written by lancedb 9\.9\.9 and cannot be searched"):
        open_archive(folder)
