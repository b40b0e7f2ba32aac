from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError
from groundwire.retrieval.files import LOCK, find_files, is_own_export, only_writer
from groundwire.retrieval.formats import Refused


def found(*paths: Path | str, within: Path) -> list[tuple[str, str]]:
    """Name and format, or kind of refusal, of everything found."""
    return [
        (os.path.relpath(path, within), result.kind if isinstance(result, Refused) else result)
        for path, result in find_files([str(path) for path in paths])
    ]


def test_a_folder_is_searched_deeply_in_order_and_everything_passed_over_is_named(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.JSONL", "a/deep/x.csv", ".git/config", ".hidden.txt", "paper.pdf", "README"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    (tmp_path / "linked").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing")

    assert found(tmp_path, within=tmp_path) == [
        (".git", "skipped"),
        (".hidden.txt", "skipped"),
        ("README", "no_reader"),
        ("a/deep/x.csv", "csv"),
        ("a/z.JSONL", "jsonl"),
        ("b.md", "markdown"),
        ("gone.txt", "unopened"),
        ("linked", "skipped"),
        ("paper.pdf", "pdf"),
    ]


def test_a_pattern_is_expanded_only_where_no_file_has_that_name(tmp_path: Path) -> None:
    for name in ("a1.txt", "a2.txt", "a[12].txt", "a3.pdf"):
        (tmp_path / name).write_text("x", encoding="utf-8")

    assert found(tmp_path / "a[12].txt", within=tmp_path) == [("a[12].txt", "text")]
    assert found(tmp_path / "a?.*", within=tmp_path) == [
        ("a1.txt", "text"),
        ("a2.txt", "text"),
        ("a3.pdf", "pdf"),
    ]
    assert found(tmp_path / "**" / "a1.*", within=tmp_path) == [("a1.txt", "text")]
    assert found(tmp_path / "b*", within=tmp_path) == [("b*", "missing")]


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b" \n<!DOCTYPE html><p>a", "html"),
        (b"<HTML>", "html"),
        (b"\xef\xbb\xbf[1]", "json"),
        (b'{"text": "a"}', "json"),
        (b"<?xml version='1.0'?>", "feed"),
        (b"<rdf:RDF>", "feed"),
        (b"%PDF-1.7", "pdf"),
        (b"words", "text"),
        (b"", "text"),
    ],
)
def test_a_file_asked_for_by_name_is_read_by_what_it_holds(tmp_path: Path, content: bytes, form: str) -> None:
    path = tmp_path / "story.data"
    path.write_bytes(content)

    assert found(path, within=tmp_path) == [("story.data", form)]


def test_nothing_that_is_asked_for_is_lost(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    asked = ("no\0name", "empty", "loop", "pipe.txt", "missing.txt", "", "a.txt")

    kinds = [kind for _, kind in found(*(tmp_path / name if name else "" for name in asked), within=tmp_path)]

    assert kinds == ["missing", "empty", "unopened", "unopened", "missing", "missing", "text"]


def test_folders_and_files_that_may_not_be_opened_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "closed").write_text("x", encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(Path, "open", refuse)  # the tests may run as a user who may open everything

    assert found(tmp_path / "locked", tmp_path / "closed", within=tmp_path) == [
        ("locked", "unopened"),
        ("closed", "unopened"),
    ]


def test_an_archive_in_a_folder_is_one_line_and_nothing_in_it_is_read(tmp_path: Path) -> None:
    for name in ("a.txt", "s.archive/manifest.json", "s.archive/rejects.jsonl", "s.archive/documents.lance/x.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")  # by itself, it makes no archive of a folder

    assert found(tmp_path, within=tmp_path) == [("a.txt", "text"), ("manifest.json", "json"), ("s.archive", "skipped")]
    assert found(tmp_path / "s.archive", within=tmp_path) == [("s.archive", "own_export")]


OWN = """# The wall held. [1]

*Topic: The wall · 2024-05-06 · writer: builtin · 1 source · all 1 claims supported*

The wall held. [1]

## Sources

[1] The wall. CNA, 2024-05-06. `wall-1`
"""
PAGE = '<!doctype html><html><head><meta charset="utf-8">{}<title>T</title></head><body><p>Rain.</p></body></html>'
GENERATOR = '<meta name="generator" content="groundwire">'


@pytest.mark.parametrize(
    ("text", "form", "own"),
    [
        (OWN, "markdown", True),
        (OWN.replace("\n", "\r\n"), "text", True),
        (OWN.replace("*Topic", "*Subject"), "markdown", False),
        (OWN.replace("## Sources", "## Links"), "markdown", False),
        (OWN.replace("`wall-1`", ""), "markdown", False),
        ("Rain fell.", "text", False),
        ('{"schema": "groundwire.article/1", "article": {}}', "json", True),
        ('{"article": {}, "schema": "groundwire.article/7"}', "json", True),
        ('{"text": "The schema is \\"groundwire.article/1\\"."}', "json", False),
        ('{"text": "x", "note": "groundwire.article/1"}', "json", False),
        ('["groundwire.article/1"]', "json", False),
        ('{"schema": "groundwire.article/1"', "json", False),
        (PAGE.format(GENERATOR), "html", True),
        (PAGE.format(""), "html", False),
        (PAGE.format("<!-- groundwire -->"), "html", False),
    ],
)
def test_our_own_articles_are_told_from_sources(text: str, form: str, own: bool) -> None:
    assert is_own_export(text, form) is own


def test_an_archive_has_one_writer_at_a_time(tmp_path: Path) -> None:
    busy = pytest.raises(ArchiveError, match=r"another process is writing to .*0\.1 seconds")
    with only_writer(tmp_path), busy, only_writer(tmp_path, wait_seconds=0.1):
        pass
    with only_writer(tmp_path, wait_seconds=0):
        assert (tmp_path / LOCK).exists()


def test_an_archive_in_memory_needs_no_lock() -> None:
    entered = []
    with only_writer(None), only_writer(None, wait_seconds=0):
        entered.append(True)
    assert entered


def test_a_writer_waits_for_another_process_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom groundwire.retrieval.files import only_writer\n"
        "with only_writer(Path(sys.argv[1])):\n    print('in', flush=True)\n    time.sleep(60)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(ArchiveError, match="another process"), only_writer(tmp_path, wait_seconds=0.2):
            pass
    finally:
        other.kill()
        other.communicate()
    started = time.monotonic()
    with only_writer(tmp_path, wait_seconds=10):
        assert time.monotonic() - started < 5


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(95, f"Operation not supported on {handle}")

    monkeypatch.setattr("groundwire.retrieval.files._lock", refuse)
    with (
        pytest.raises(ArchiveError, match=r"cannot be locked .*keep the archive on a local disk"),
        only_writer(tmp_path),
    ):
        pass
