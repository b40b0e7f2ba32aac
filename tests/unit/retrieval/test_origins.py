"""One origin for each file, and when a file is certainly gone."""

import os
import sys
from pathlib import Path

import pytest

from groundwire.retrieval.origins import file_origin, is_gone, is_row
from groundwire.retrieval.readers import read_documents

posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links as POSIX has them")


@posix
def test_one_file_has_one_origin_by_whatever_path_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stories"
    folder.mkdir()
    (folder / "a.txt").write_text("Rain fell.")
    (tmp_path / "linked").symlink_to(folder)
    (tmp_path / "b.txt").symlink_to(folder / "a.txt")
    monkeypatch.chdir(folder)
    ways = ["a.txt", "./../stories/a.txt", str(tmp_path / "linked" / "a.txt"), str(tmp_path / "b.txt"), str(folder)]

    origins = {document.origin for way in ways for document in read_documents(way)}

    assert origins == {str((folder / "a.txt").resolve())}


@posix
def test_a_name_that_is_no_text_or_has_a_line_end_is_one_line_that_is_found_again(tmp_path: Path) -> None:
    for raw in (b"odd\xff.txt", b"two\nlines.txt", b"back\\slash\\n.txt"):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw))
        path.write_text("Rain fell.")
        origin = file_origin(path)

        assert "\n" not in origin
        assert origin.encode("utf-8")
        assert not is_gone(origin)
        path.unlink()
        assert is_gone(origin)


@posix
def test_only_a_file_that_is_certainly_not_there_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    assert is_gone(str(tmp_path / "b.txt"))
    assert is_gone(str(tmp_path / "none" / "b.txt"))
    assert is_gone(str(tmp_path / "a.txt" / "b.txt"))
    assert not is_gone(str(tmp_path / "a.txt"))
    assert not is_gone(str(tmp_path / ("n" * 300)))  # cannot be looked at: too long for a name
    assert not is_gone(str(tmp_path / "none.jsonl:3"))
    assert not is_gone("https://example.org/story")
    assert not is_gone("")


@pytest.mark.parametrize(("origin", "row"), [("/s/a.jsonl:12", True), ("/s/a.json[0]", True), ("/s/a.txt", False)])
def test_rows_are_told_from_files(origin: str, row: bool) -> None:
    assert is_row(origin) is row


def test_a_reading_tells_what_each_file_that_was_read_to_its_end_holds(tmp_path: Path) -> None:
    texts = {
        "a.txt": "Rain fell.", "b.txt": "Rain fell.", "c.txt": " ", "d.jsonl": '{"id": "r", "text": "Row."}',
        "e.json": '{"id": "e", "text": "One object."}', "f.jsonl": '{"id": "s", "text": "Row."}\n{',
        "g.json": '{"schema": "groundwire.article/1"}',
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    reading = read_documents(tmp_path)

    (rain, *_) = list(reading)

    held = {Path(origin).name: name for origin, name in reading.files_read().items()}
    assert held == {"a.txt": rain.id, "b.txt": rain.id, "c.txt": "", "d.jsonl": "", "e.json": "e"}
    assert dict(reading.report.reasons) == {"empty": 1, "bad_json": 1, "own_export": 1}
    assert (reading.report.documents, reading.report.repeated) == (4, 1)
