from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Document
from groundwire.retrieval import readers
from groundwire.retrieval.readers import Reading, Reject, read_documents, write_rejects


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def everything(reading: Reading) -> list[Document]:
    """All documents; the counts add up, always."""
    documents = list(reading)
    report = reading.report
    assert report.complete
    assert report.documents == len(documents)
    assert report.rows == report.documents + report.repeated + report.rejected
    assert report.rejected == sum(count for _, count in report.reasons)
    assert report.dates_missing + report.dates_unread + sum(d.published is not None for d in documents) == len(
        documents
    )
    return documents


def kinds(reading: Reading) -> list[str]:
    return [reject.kind for reject in reading.report.rejects]


STORIES = [
    {"news_id": 1, "news_title": "Flood", "news_content": "It rained in Tainan.", "date": "2024-05-06"},
    {"news_id": 2, "news_title": "Bridge", "news_content": "The bridge is gone.", "date": "5/6/2024"},
    {"news_id": 3, "news_title": "Relief", "news_content": "Help is on its way."},
]


COLUMNS = ("news_id", "news_title", "news_content", "date")


def table(delimiter: str) -> str:
    rows = [COLUMNS, *(tuple(str(story.get(name, "")) for name in COLUMNS) for story in STORIES)]
    return "\n".join(delimiter.join(row) for row in rows)


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv", "wrapped"])
def test_the_same_stories_come_out_of_every_format_of_rows(tmp_path: Path, form: str) -> None:
    lines = {
        "jsonl": "\n".join(json.dumps(story) for story in STORIES),
        "json": json.dumps(STORIES),
        "wrapped": json.dumps({"count": 3, "articles": STORIES}),
        "csv": table(","),
        "tsv": table("\t"),
    }
    path = put(tmp_path / f"stories.{'json' if form == 'wrapped' else form}", lines[form])
    reading = read_documents(path)
    documents = everything(reading)

    assert [(d.id, d.title, d.text) for d in documents] == [
        ("1", "Flood", "It rained in Tainan."),
        ("2", "Bridge", "The bridge is gone."),
        ("3", "Relief", "Help is on its way."),
    ]
    assert [d.published for d in documents] == [date(2024, 5, 6), None, None]
    assert (reading.report.dates_missing, reading.report.dates_unread) == (1, 1)
    assert ("title", "news_title", 3) in reading.report.taken
    place = {"jsonl": ":1", "json": "[0]", "wrapped": "[0]"}.get(form, ":2")
    assert documents[0].origin == f"{path}{place}"


@pytest.mark.parametrize(("order", "day"), [("day", date(2024, 6, 5)), ("month", date(2024, 5, 6))])
def test_an_order_makes_ambiguous_dates_readable(tmp_path: Path, order: Literal["day", "month"], day: date) -> None:
    path = put(tmp_path / "a.jsonl", json.dumps(STORIES[1]))

    assert everything(read_documents(path, date_order=order))[0].published == day


def test_a_folder_of_single_documents_is_read_in_order(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura")
    put(tmp_path / "a.md", "---\ntitle: From the front\ndate: 2024-05-06\nsource: Post\n---\n# Heading\n\nBody.\r\n")
    put(tmp_path / "b.txt", "Headline\n\nThe story of the day.")
    put(tmp_path / "c.html", "<html lang=en><title>Page</title><body><p>" + "The council met and voted. " * 20)
    reading = read_documents(tmp_path)
    documents = everything(reading)

    assert [d.title for d in documents] == ["From the front", "Headline", "Page"]
    assert documents[0].text == "Heading\n\nBody."
    assert (documents[0].published, documents[0].source) == (date(2024, 5, 6), "Post")
    assert documents[1].text == "Headline\n\nThe story of the day."
    assert [d.origin for d in documents] == [str(tmp_path / name) for name in ("a.md", "b.txt", "c.html")]
    assert all(len(d.id) == 16 for d in documents)
    assert reading.report.files == reading.report.rows == 3


def test_broken_rows_are_refused_by_line_and_the_others_are_taken(tmp_path: Path) -> None:
    rows = ['{"id": 1, "text": "One."}', "", '{"id": 2}', "[]", '{"id": 3, "text": " "}', '{"id": 4, "text": "Four."}']
    path = put(tmp_path / "a.jsonl", "\n".join([*rows, '{"id": 5, "text": "cut']))
    reading = read_documents(path)

    assert [d.id for d in everything(reading)] == ["1", "4"]
    assert [(r.line, r.kind) for r in reading.report.rejects] == [
        (3, "no_text"),
        (4, "not_an_object"),
        (5, "no_text"),
        (7, "bad_json"),
    ]
    assert {r.file for r in reading.report.rejects} == {str(path)}


def test_the_same_id_with_other_content_is_refused_and_with_the_same_counted(tmp_path: Path) -> None:
    rows = [{"id": "x", "text": "One."}, {"id": "x", "text": "Two."}, {"id": "x", "text": "One."}, {"text": "One."}]
    path = put(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in rows))
    reading = read_documents(path, path)

    assert [d.text for d in everything(reading)] == ["One.", "One."]
    report = reading.report
    assert (report.rows, report.repeated, report.rejected) == (8, 4, 2)
    assert report.rejects[0].line == 2
    assert report.rejects[0].reason == f"the id 'x' was already read from {path}:1 with other content"


def test_one_bad_file_does_not_lose_the_others(tmp_path: Path) -> None:
    good = put(tmp_path / "a.txt", "Good.")
    paths = [
        tmp_path / "missing.txt",
        put(tmp_path / "b.txt", b"%PDF-1.7 \x00\x01"),
        put(tmp_path / "c.txt", "新聞".encode() + b"\xe6\x96" + "新聞".encode()),
        put(tmp_path / "d.jsonl", ""),
        put(tmp_path / "e.txt", " \n"),
        put(tmp_path / "f.csv", "id,text\n"),
        put(tmp_path / "g.md", b"\x00\x01\x02\x03\x00"),
        tmp_path / "*.nothing",
        good,
    ]
    reading = read_documents(*paths)

    assert [d.text for d in everything(reading)] == ["Good."]
    assert kinds(reading) == ["missing", "missing", "binary", "undecodable", "empty", "empty", "empty", "binary"]
    assert "a PDF file" in reading.report.rejects[2].reason


def test_a_missing_extra_is_named_for_each_page_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    put(tmp_path / "a.html", "<p>Words</p>")
    put(tmp_path / "b.txt", "Words.")
    reading = read_documents(tmp_path)

    assert len(everything(reading)) == 1
    assert kinds(reading) == ["missing_extra"]
    assert "groundwire[read]" in reading.report.rejects[0].reason


def test_a_file_that_goes_away_or_may_not_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = put(tmp_path / "a.txt", "One."), put(tmp_path / "b.txt", "Two.")
    reading = read_documents(first, second)
    iterator = iter(reading)
    next(iterator)
    second.unlink()

    assert list(iterator) == []
    assert kinds(reading) == ["unopened"]
    assert "No such file" in reading.report.rejects[0].reason
    monkeypatch.setattr(readers, "find_files", lambda _: [(second, "text")])
    again = read_documents(second)
    assert everything(again) == []
    assert kinds(again) == ["unopened"]


TEXT = "立法院今天三讀通過預算案，總統府表示尊重。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp950", "gb18030", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("suffix", ["txt", "jsonl", "json", "csv", "md"])
def test_the_encoding_is_found_and_said(tmp_path: Path, suffix: str, encoding: str) -> None:
    text = TEXT if encoding != "gb18030" else "国家统计局今天公布数据，经济增长百分之五。"
    row = json.dumps({"id": "a", "text": text}, ensure_ascii=False)
    content = {"txt": text, "md": text, "jsonl": row, "json": f"[{row}]", "csv": f"id,text\na,{text}\n"}[suffix]
    path = put(tmp_path / f"a.{suffix}", content.encode(encoding))
    reading = read_documents(path)
    document = everything(reading)[0]

    assert document.text == text
    assert reading.report.encodings == ((str(path), encoding),)
    assert document.notes == (() if encoding.startswith("utf-8") else (f"encoding: {encoding}",))


def test_a_page_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura")
    html = f"<html><head><meta charset='big5'></head><body><p>{TEXT * 8}</p></body></html>"
    path = put(tmp_path / "a.html", html.encode("cp950"))

    assert everything(read_documents(path))[0].text == TEXT * 8


def test_one_damaged_line_costs_one_row(tmp_path: Path) -> None:
    good = json.dumps({"text": "好的新聞。"}, ensure_ascii=False).encode()
    lines = put(tmp_path / "a.jsonl", b"\n".join([good, b'{"text": "\xe6\x96"}', b'{"text": "plain"}']))
    cells = put(tmp_path / "b.csv", "id,text\n1,好的新聞一\n2,".encode() + b"\xe6\x96\n3,plain too\n")
    reading = read_documents(lines, cells)

    assert [d.text for d in everything(reading)] == ["好的新聞。", "plain", "好的新聞一", "plain too"]
    assert [(r.kind, r.line) for r in reading.report.rejects] == [("undecodable", 2), ("undecodable", 3)]


def test_a_file_in_utf16_that_is_cut_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    content = "".join(f'{{"text": "Story number {number}."}}\n' for number in range(3000)).encode("utf-16")
    reading = read_documents(put(tmp_path / "a.jsonl", content + b"\x00"))
    documents = everything(reading)

    assert 0 < len(documents) <= 3000
    assert kinds(reading)[-1] == "undecodable"


@pytest.mark.parametrize("opening", ["[\n", "[{\n", "{\n"])
def test_json_under_the_name_of_jsonl_is_still_read(tmp_path: Path, opening: str) -> None:
    story = '"text": "A story."\n}'
    content = {"[\n": "[\n{" + story + "]", "[{\n": "[{\n" + story + "]", "{\n": "{\n" + story}[opening]

    assert [d.text for d in everything(read_documents(put(tmp_path / "a.jsonl", content)))] == ["A story."]


def test_jsonl_under_the_name_of_json_is_still_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", '{"text": "One."}\n{"text": "Two."}\n{"text": "cut')
    reading = read_documents(path)

    assert [d.text for d in everything(reading)] == ["One.", "Two."]
    assert [(r.kind, r.line) for r in reading.report.rejects] == [("bad_json", 3)]


def test_fifty_megabytes_on_one_line_are_read(tmp_path: Path) -> None:
    story = json.dumps({"title": "Long", "text": "word " * 20_000}).encode()
    path = tmp_path / "a.json"
    with path.open("wb") as out:
        out.write(b"[")
        for number in range(525):
            out.write((b", " if number else b"") + b'{"id": %d, ' % number + story[1:])
        out.write(b"]")

    assert path.stat().st_size > 50 * 2**20
    assert len(everything(read_documents(path))) == 525


def test_a_mapping_reads_what_has_other_names_and_names_what_is_not_there(tmp_path: Path) -> None:
    rows = [{"key": "a", "sentences": {"zh-TW": ["標題", "第一句。"]}}]
    path = put(tmp_path / "a.jsonl", json.dumps(rows[0]))
    reading = read_documents(path, mapping={"id": "key", "text": "sentences.zh-TW", "title": "headline"})
    document = everything(reading)[0]

    assert (document.id, document.text) == ("a", "標題\n第一句。")
    assert reading.report.notes == ("no document took its title from 'headline'; the first row has 'key', 'sentences'",)
    missed = read_documents(path, mapping={"text": "body"})
    assert everything(missed) == []
    assert missed.report.rejects[0].reason == "no text in 'body'; the row has 'key', 'sentences'"


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        ((), {}, "Nothing to read"),
        (("a.txt",), {"mapping": {"titel": "x"}}, "did you mean 'title'"),
        (("a.txt",), {"date_order": "year"}, "date order is 'year'"),
    ],
)
def test_a_request_without_sense_is_a_usage_error(
    paths: tuple[str, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_documents(*paths, **options)  # type: ignore[arg-type]  # wrong on purpose


def test_reading_is_lazy_and_each_iteration_begins_anew(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "".join(f'{{"text": "{number}."}}\n' for number in range(10)))
    reading = read_documents(path)

    assert reading.report.rows == 0
    iterator = iter(reading)
    next(iterator)
    assert (reading.report.documents, reading.report.complete) == (1, False)
    assert len(everything(reading)) == len(everything(reading)) == 10


def test_progress_tells_bytes_up_to_the_whole(tmp_path: Path) -> None:
    lines = "".join(f'{{"text": "Story number {number}."}}\n' for number in range(5000))
    first, second = put(tmp_path / "a.jsonl", lines), put(tmp_path / "b.txt", "Words.")
    told: list[tuple[int, int | None, str]] = []
    everything(read_documents(first, second, progress=lambda done, total, label: told.append((done, total, label))))

    whole = first.stat().st_size + second.stat().st_size
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert {total for _, total, _ in told} == {whole}
    assert told[-1] == (whole, whole, "b.txt")
    assert len(told) >= 11


def test_rejects_go_to_the_sink_and_beyond_the_limit_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "REJECTS_KEPT", 2)
    path = put(tmp_path / "a.jsonl", '{"text": ""}\n' * 5 + '{"text": "\\ud800", "id": "\\ud801"}\n')
    seen: list[Reject] = []
    reading = read_documents(path, rejects=seen.append)
    everything(reading)

    assert (len(seen), len(reading.report.rejects), reading.report.rejected) == (6, 2, 6)
    assert reading.report.reasons == (("no_text", 5), ("unstorable", 1))
    assert reading.report.notes == ("only the first 2 rejects are kept here; the others were counted",)
    out = tmp_path / "rejects.jsonl"
    assert write_rejects(out, seen) == 6
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert written[0] == {
        "file": str(path), "line": 1, "kind": "no_text", "reason": "no text; the row has 'text'", "excerpt": "text: ''"
    }  # fmt: skip
    assert written[5]["line"] == 6


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
def test_a_name_on_disk_that_is_no_text_can_still_be_stored(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/a\xff.txt"
    with open(name, "wb") as out:  # noqa: PTH123 - a path of bytes
        out.write(b"Words.")

    assert everything(read_documents(tmp_path))[0].origin == f"{tmp_path}/a\\udcff.txt"


LINES = st.lists(
    st.binary(max_size=30)
    | st.builds(
        lambda identity, text: json.dumps({"id": identity, "text": text}).encode(),
        st.sampled_from(["a", "b", None, 3, [1]]),
        st.sampled_from(["One.", "Two.", "", None, "\ud800"]),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(LINES, st.sampled_from(["jsonl", "json", "csv", "txt", "md"]))
def test_the_counts_add_up_whatever_the_bytes(lines: list[bytes], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder) / f"a.{suffix}", b"\n".join(lines))
        for document in everything(read_documents(path)):
            document.text.encode()


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=8))
def test_texts_are_kept_to_the_character(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = "\n".join(json.dumps({"id": number, "text": text}) for number, text in enumerate(texts))
        documents = everything(read_documents(put(Path(folder) / "a.jsonl", rows)))

    assert {int(d.id): d.text for d in documents} == {n: texts[n] for n in (int(d.id) for d in documents)}
    blank = sum(not text.strip() for text in texts)
    assert len(documents) <= len(texts) - blank
