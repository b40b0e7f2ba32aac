from __future__ import annotations

import os
from pathlib import Path

import pytest

from groundwire.retrieval.files import find_files
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
