"""Processes beside each other on one archive, a full disk, another embedder, another version of the engine."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError
from groundwire.core.types import Document
from groundwire.flow.archives import MANIFEST, open_archive, opened
from groundwire.flow.rebuild import rebuild
from groundwire.retrieval.files import only_writer
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.readers import read_documents

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

SETTINGS = {"GROUNDWIRE_EMBEDDER": "hash:16", "GROUNDWIRE_INDEX_COMMIT_SENTENCES": "300"}
ROWS = 600


def write_rows(path: Path, *, first: int, count: int, version: str = "1") -> Path:
    with path.open("w", encoding="utf-8") as out:
        for number in range(first, first + count):
            name = f"row-{number:05}"
            out.write(json.dumps({"id": name, "text": text_of(name, version)}) + "\n")
    return path


def start(*words: str | Path, **limits: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "groundwire", *map(str, words)]
    if limits:
        limit = f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); \
resource.setrlimit(resource.RLIMIT_FSIZE, ({limits['bytes_a_file']},) * 2)"
        begin = f"import sys; sys.argv[:] = {['groundwire', *map(str, words)]!r}"
        command = [sys.executable, "-c", f"{limit}; {begin}; from groundwire.cli.main import run; run()"]
    return subprocess.Popen(
        command, env={**os.environ, **SETTINGS}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def add_here(path: Path, *files: Path) -> None:
    with opened(open_archive(path, embedder="hash:16")) as archive:
        archive.add(read_documents(*files), commit_sentences=300)


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=240)
    return process.returncode, said


def contents(path: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    with opened(open_archive(path, create=False)) as archive:
        ids = list(archive.store.revisions())
        sentences = archive.sentences(ids)
        return {
            name: (found.text, tuple(sentence.id for sentence in sentences[name]))
            for name, found in archive.store.documents(ids).items()
        }


def test_a_reader_beside_a_writer_sees_whole_documents_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    add = ("add", tmp_path / "rows.jsonl", "-a", path)
    write_rows(tmp_path / "rows.jsonl", first=0, count=ROWS)
    add_here(path, tmp_path / "rows.jsonl")
    write_rows(tmp_path / "rows.jsonl", first=0, count=ROWS, version="2")
    looks, versions = 0, set()
    with opened(open_archive(path, create=False)) as archive:
        writer = start(*add)
        while writer.poll() is None or looks < 2:
            looks += 1
            hits = archive.search("gauge version watch", k=20)
            assert len(hits) == 20
            ids = {hit.sentence.document_id for hit in hits}
            texts = {name: found.text for name, found in archive.store.documents(ids).items()}
            assert texts.keys() == ids
            versions |= {text.split()[4] for text in texts.values()}
            assert all(text == text_of(name, text.split()[4]) for name, text in texts.items())
            for name, sentences in archive.sentences(ids).items():
                whole = " ".join(sentence.text for sentence in sentences)
                assert whole == text_of(name, whole.split()[4])
        assert archive.counts().documents == ROWS
    assert end(writer)[0] == 0
    assert "1" in versions
    assert {text.split()[4] for text, _ in contents(path).values()} == {"2"}


def text_of(name: str, version: str) -> str:
    number = int(name.removeprefix("row-"))
    return f"Gauge {number} of version {version} read high. Version {version} of the watch was told."


@pytest.mark.parametrize("writers", [2, 3])
def test_several_writers_wait_their_turn_and_make_what_one_would(tmp_path: Path, writers: int) -> None:
    share = 60
    files = [write_rows(tmp_path / f"{number}.jsonl", first=number * share, count=share) for number in range(writers)]
    with opened(open_archive(tmp_path / "together.archive", embedder="hash:16")) as archive:
        archive.add([Document("seed", "The first sentence of all.")])

    with only_writer(tmp_path / "together.archive"):  # so that all of them come to wait
        started = [start("add", file, "-a", tmp_path / "together.archive") for file in files]
        time.sleep(2)
    ended = [end(process) for process in started]

    assert [status for status, _ in ended] == [0] * writers, ended
    with opened(open_archive(tmp_path / "alone.archive", embedder="hash:16")) as archive:
        archive.add([Document("seed", "The first sentence of all.")])
    add_here(tmp_path / "alone.archive", *files)
    assert contents(tmp_path / "together.archive") == contents(tmp_path / "alone.archive")


def test_writers_that_start_on_no_archive_make_one(tmp_path: Path) -> None:
    files = [write_rows(tmp_path / f"{number}.jsonl", first=number * 50, count=50) for number in range(2)]

    ended = [end(process) for process in [start("add", file, "-a", tmp_path / "new.archive") for file in files]]

    assert [status for status, _ in ended] == [0, 0], ended
    assert len(contents(tmp_path / "new.archive")) == 100


def test_a_writer_whose_turn_does_not_come_says_who_is_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from groundwire.retrieval import files

    monkeypatch.setattr(files.only_writer.__wrapped__, "__kwdefaults__", {"wait_seconds": 0.2})  # type: ignore[attr-defined]
    path = tmp_path / "a.archive"
    with opened(open_archive(path, embedder="hash:16")) as archive:
        archive.add([Document("a", "The river rose.")])
        with only_writer(path):
            began = time.monotonic()
            for write in (
                lambda: archive.add([Document("b", "The bridge is shut.")]),
                lambda: archive.remove(["a"]),
                lambda: archive.snapshot("s"),
                archive.compact,
            ):
                with pytest.raises(ArchiveError, match=r"another process is writing to .*a\.archive"):
                    write()
            assert time.monotonic() - began >= 0.8
            assert len(archive.search("river", k=5)) == 1
        archive.add([Document("b", "The bridge is shut.")])
        assert archive.counts().documents == 2


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk, and on Linux")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def check_full(path: Path, *, full: tuple[int, str], before: dict[str, tuple[str, tuple[str, ...]]]) -> None:
    """A clear error in one line, the archive opens, and what was committed before is there."""
    status, said = full
    assert status == 3, said
    assert "Traceback" not in said
    assert "cannot be written: " in said, said
    assert "make room and run the same command again" in said, said
    assert said.count("\n") <= 2, said
    now = contents(path)
    assert before.items() <= now.items()
    assert all(len(sentences) == 2 for _, sentences in now.values())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits for the size of files")
def test_a_file_that_may_not_grow_costs_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    rows = write_rows(tmp_path / "rows.jsonl", first=0, count=ROWS)
    first = write_rows(tmp_path / "first.jsonl", first=0, count=50)
    add_here(path, first)
    before = contents(path)

    full = end(start("add", rows, "-a", path, bytes_a_file=24_000))

    check_full(path, full=full, before=before)
    add_here(path, rows)
    add_here(tmp_path / "whole.archive", rows)
    assert contents(path) == contents(tmp_path / "whole.archive")


def test_a_full_disk_costs_nothing_that_was_committed(tmp_path: Path, tiny_disk: Path) -> None:
    path = tiny_disk / "a.archive"
    first = write_rows(tmp_path / "first.jsonl", first=0, count=50)
    rows = write_rows(tmp_path / "rows.jsonl", first=0, count=6000)
    add_here(path, first)
    before = contents(path)

    full = end(start("add", rows, "-a", path))

    check_full(path, full=full, before=before)
    subprocess.run(["mount", "-o", "remount,size=100m", tiny_disk], check=True)
    add_here(path, rows)
    add_here(tmp_path / "whole.archive", rows)
    assert contents(path) == contents(tmp_path / "whole.archive")


def test_an_archive_of_another_embedder_is_refused_and_can_be_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    with opened(open_archive(path, embedder="hash:16")) as archive:
        archive.add([Document("a", "The river rose. The bridge is shut.")])

    with pytest.raises(ArchiveError, match=r"'hash:16' \(16 numbers each\).*'hash:32'"):
        open_archive(path, embedder="hash:32")

    rebuild(path, tmp_path / "new.archive", embedder="hash:32")
    with opened(open_archive(tmp_path / "new.archive", embedder="hash:32")) as archive:
        assert [hit.sentence.document_id for hit in archive.search("river", k=1)] == ["a"]
    assert contents(tmp_path / "new.archive") == contents(path)


def test_an_archive_of_another_version_of_the_engine_that_works_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    with opened(open_archive(path, embedder="hash:16")) as archive:
        archive.add([Document("a", "The river rose.")])
        now = archive.manifest.engine
    replace(Manifest.load(path / MANIFEST), engine="lancedb 0.1.0").save(path / MANIFEST)

    with opened(open_archive(path)) as archive:
        assert len(archive.search("river", k=1)) == 1

    assert Manifest.load(path / MANIFEST).engine == now


def test_an_archive_that_the_engine_cannot_search_is_rebuilt_from_its_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    with opened(open_archive(path, embedder="hash:16")) as archive:
        archive.add([Document("a", "The river rose. The bridge is shut."), Document("b", "河水上漲。")])
    before = contents(path)
    replace(Manifest.load(path / MANIFEST), engine="lancedb 0.1.0").save(path / MANIFEST)
    of_words = {file.parent for file in (path / "sentences.lance" / "_indices").rglob("*tokens*")}
    for file in (file for folder in of_words for file in folder.iterdir()):
        file.write_bytes(b"no index of this version")
    assert of_words

    with pytest.raises(ArchiveError, match=r"written by lancedb 0\.1\.0 and cannot be searched"):
        open_archive(path)

    rebuild(path, tmp_path / "new.archive")
    assert contents(tmp_path / "new.archive") == before
    with opened(open_archive(tmp_path / "new.archive")) as archive:
        assert len(archive.search("river", k=5)) > 0
