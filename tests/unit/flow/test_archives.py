"""Opening archives: what fits, what is refused, and what another version of the engine means."""

import json
import sys
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError, MissingExtra, UsageError
from groundwire.core.folding import folder as fold_function
from groundwire.core.types import Context, Document
from groundwire.flow.archives import MANIFEST, Making, making_of, open_archive, opened
from groundwire.flow.settings import load
from groundwire.retrieval.corpus import SPLITTER
from groundwire.retrieval.search import SearchSettings

DOCUMENT = Document("a", "The river rose by two metres. The bridge was closed.")


def test_an_archive_in_memory_works_without_any_extra() -> None:
    with opened(open_archive("memory:", embedder="hash:32")) as archive:
        archive.add([DOCUMENT])
        assert archive.search("bridge", k=1)[0].sentence.text == "The bridge was closed."
        assert archive.manifest.engine == "memory"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    with opened(open_archive(tmp_path / "a.archive", embedder="hash:32", making=Making(passage_tokens=50))) as archive:
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
        ({"making": Making(context="exact")}, "made with context = 'passage', but 'exact' is asked for"),
        ({"making": Making(passage_tokens=51)}, "made with passage_tokens = 50, but 51 is asked for"),
        ({"making": Making(passage_words=False)}, "made with passage_words = True, but False is asked for"),
        ({"making": Making(folding="")}, "made with folding = 'characters', but '' is asked for"),
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
            open_archive(place, embedder="hash:32", making=Making(context=context))

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


CHINESE = Document("zh", "臺灣的經濟發展很快。昨天下雨。", language="zh-TW")


def test_a_new_archive_finds_words_across_scripts_and_keeps_those_of_passages(folder: Path) -> None:
    for place in (folder, "memory:"):
        with opened(open_archive(place, embedder="hash:32")) as archive:
            archive.add([CHINESE])
            assert (archive.manifest.folding, archive.manifest.passage_words) == ("characters", True)
            found = archive.search("台湾经济", k=1, settings=SearchSettings(mode="lexical", passage_words=0.5))
            assert [hit.sentence.text for hit in found] == ["臺灣的經濟發展很快。"]


def test_an_archive_can_be_made_without_folding_and_without_the_words_of_passages(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    making = Making(folding="", passage_words=False)
    for place in (tmp_path / "plain.archive", "memory:"):
        with opened(open_archive(place, embedder="hash:32", making=making)) as archive:
            archive.add([CHINESE])
            assert archive.search("台湾", settings=SearchSettings(mode="lexical")) == ()
            with pytest.raises(ArchiveError, match="made without the words of passages"):
                archive.search("下雨", settings=SearchSettings(mode="lexical", passage_words=0.5))
    with opened(open_archive(tmp_path / "plain.archive")) as archive:
        assert (archive.manifest.folding, archive.manifest.passage_words) == ("", False)


def test_a_folding_that_is_not_installed_leaves_no_archive_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    monkeypatch.setitem(sys.modules, "opencc", None)
    fold_function.cache_clear()
    for place in ("memory:", tmp_path / "a.archive"):
        with pytest.raises(MissingExtra, match="needs the extra 'zh'"):
            open_archive(place, embedder="hash:32", making=Making(folding="opencc:tw2sp"))
    assert list(tmp_path.iterdir()) == []


def test_an_archive_of_another_engine_whose_words_cannot_be_folded_here_opens_for_what_needs_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    pytest.importorskip("opencc", reason="the extra 'zh' is not installed")
    folder = tmp_path / "a.archive"
    with opened(open_archive(folder, embedder="hash:32", making=Making(folding="opencc:t2s"))) as archive:
        archive.add([CHINESE])
    written_by(folder, "lancedb 0.1.0")
    monkeypatch.setitem(sys.modules, "opencc", None)
    fold_function.cache_clear()

    with opened(open_archive(folder)) as archive:
        assert len(archive.search("下雨", settings=SearchSettings(mode="dense"))) == 2
        with pytest.raises(MissingExtra, match="needs the extra 'zh'"):
            archive.search("下雨")
    assert "lancedb 0.1.0" in (folder / MANIFEST).read_text("utf-8")


def test_an_archive_is_opened_as_it_was_when_a_snapshot_was_taken(folder: Path) -> None:
    with opened(open_archive(folder)) as archive:
        archive.snapshot("before")
        archive.add([CHINESE])
        archive.compact()
        assert archive.facts()["snapshots"] == 1

    with opened(open_archive(folder, snapshot="before")) as past:
        assert past.counts().documents == 1
        assert past.search("bridge", k=1)[0].sentence.text == "The bridge was closed."
        with pytest.raises(ArchiveError, match=r"a\.archive@before is the snapshot 'before' and stays as it is"):
            past.add([CHINESE])
    with opened(open_archive(folder)) as archive:
        assert archive.counts().documents == 2


def test_a_snapshot_that_is_not_there_is_refused_and_makes_no_archive(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="there is no snapshot 'before'; there is none at all"):
        open_archive(folder, snapshot="before")
    with pytest.raises(ArchiveError, match="there is no archive at"):
        open_archive(tmp_path / "none", embedder="hash:32", snapshot="before")
    assert not (tmp_path / "none").exists()


def test_what_somebody_has_set_is_how_an_archive_is_made(tmp_path: Path) -> None:
    environment = {"GROUNDWIRE_INDEX_FOLDING": "", "GROUNDWIRE_INDEX_PASSAGE_WORDS": "false"}
    flags = {"index.passage_tokens": 90}

    making = making_of(load(folder=tmp_path, environment=environment, flags=flags))

    assert making == Making(passage_tokens=90, passage_words=False, folding="")
    assert making_of(load(folder=tmp_path, environment={}, flags={})) == Making()


@pytest.mark.parametrize("format_", [1, 2])
def test_an_archive_of_an_older_format_opens_is_added_to_and_lasts(tmp_path: Path, format_: int) -> None:
    lancedb = pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    folder = tmp_path / "old.archive"
    folder.mkdir()
    made = {"embedder": "hash:32", "dimension": 32, "context": "passage", "passage_tokens": 50, "format": format_}
    (folder / MANIFEST).write_text(json.dumps({**made, "splitter": SPLITTER, "engine": "lancedb 0.40.0"}), "utf-8")

    with opened(open_archive(folder)) as archive:
        archive.add([DOCUMENT, CHINESE])
        assert (archive.manifest.format, archive.manifest.folding) == (format_, "")
        assert archive.search("台湾", settings=SearchSettings(mode="lexical")) == ()
        assert archive.search("臺灣", k=1, settings=SearchSettings(mode="lexical"))[0].sentence.document_id == "zh"
        asked = SearchSettings(mode="lexical", passage_words=0.5)
        if format_ == 1:
            with pytest.raises(ArchiveError, match="made without the words of passages"):
                archive.search("bridge", settings=asked)
        else:
            assert archive.search("bridge", k=1, settings=asked)[0].sentence.text == "The bridge was closed."
        archive.snapshot("before")
        archive.remove(["a"])
        archive.compact()
        assert archive.at("before").counts().documents == 2
    columns = lancedb.connect(str(folder)).open_table("sentences").schema.names
    assert ("folded" in columns, "passage_text" in columns) == (False, format_ == 2)
