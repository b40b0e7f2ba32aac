"""Real awkward files from the test suites of public projects; the expected results come with them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest

from groundwire.core.dates import read_date
from groundwire.core.encodings import decode
from groundwire.retrieval.feeds import read_feed
from groundwire.retrieval.formats import Row, read_table
from groundwire.retrieval.pages import declared_encoding, read_page
from groundwire.retrieval.readers import read_documents

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED") or Path(__file__).resolve().parents[3].parent / "shared")
MESSY = (SHARED / "data" / "messy").resolve()
NEWS = SHARED / "data"

pytestmark = pytest.mark.skipif(not MESSY.is_dir(), reason="needs the shared data")


def pages() -> list[Path]:
    return [path for path in sorted((MESSY / "html").rglob("*.html")) if ".expected." not in path.name]


def overlap(text: str, expected: str) -> float:
    """F1 of words, or of characters where there are no spaces between words."""
    spaced = sum(char > "\u0e00" for char in expected) < 0.2 * len(expected)
    ours, theirs = (Counter(re.findall(r"\w+" if spaced else r"\w", part.lower())) for part in (text, expected))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def test_broken_json_is_refused_and_nothing_fails() -> None:
    files = sorted((MESSY / "json").glob("*.json"))
    reading = read_documents(MESSY / "json")
    documents = list(reading)

    assert len(files) > 300
    assert not [d.origin for d in documents if Path(d.origin).name.startswith("n_")]
    assert {Path(reject.file).name for reject in reading.report.rejects} == {path.name for path in files}
    # What is broken is refused as such; n_ files whose beginning holds rows are refused for what follows them as well.
    kinds: dict[str, set[str]] = {}
    for reject in reading.report.rejects:
        kinds.setdefault(Path(reject.file).name, set()).add(reject.kind)
    broken = {"bad_json", "binary", "undecodable", "empty"}
    accepted = sorted(name for name, found in kinds.items() if name.startswith("n_") and not found & broken)
    assert all("nan" in name.lower() or "infinity" in name.lower() or "minus_inf" in name.lower() for name in accepted)
    sound = [name for name in kinds if name.startswith("y_") and kinds[name] & (broken - {"empty"})]
    assert sound == []


# The expected result of location_coordinates is of another table.
TABLES = sorted({path.stem for path in (MESSY / "csv").glob("*.csv")} - {"location_coordinates"})


@pytest.mark.parametrize("name", TABLES)
def test_tables_hold_what_their_authors_say(name: str) -> None:
    text = decode((MESSY / "csv" / f"{name}.csv").read_bytes()).text
    expected = json.loads((MESSY / "csv" / f"{name}.json").read_text(encoding="utf-8"))
    rows = [dict(item.values) for item in read_table(text.splitlines(keepends=True)) if isinstance(item, Row)]

    assert [{key: str(value).replace("\r\n", "\n") for key, value in row.items()} for row in rows] == [
        {key: value.replace("\r\n", "\n") for key, value in row.items()} for row in expected
    ]


@pytest.fixture(scope="module")
def rows_of_pages() -> dict[Path, Row | None]:
    pytest.importorskip("trafilatura")
    rows: dict[Path, Row | None] = {}
    for path in pages():
        data = path.read_bytes()
        row = read_page(decode(data, declared=declared_encoding(data)).text)
        rows[path] = row if isinstance(row, Row) else None
    return rows


def test_pages_give_the_text_that_other_extractors_agree_on(rows_of_pages: dict[Path, Row | None]) -> None:
    html = pytest.importorskip("lxml.html")
    values = []
    for path, row in rows_of_pages.items():
        text = str(row.values["text"]) if row else ""
        plain, cleaned = path.with_suffix(".txt"), Path(str(path).replace(".source.", ".expected."))
        if plain.exists():
            values.append(overlap(text, plain.read_text(encoding="utf-8")))
        elif cleaned != path:
            values.append(overlap(text, html.fromstring(cleaned.read_text(encoding="utf-8")).text_content()))

    assert (len(rows_of_pages), sum(row is not None for row in rows_of_pages.values())) == (33, 32)
    assert len(values) == 27
    assert sum(values) / len(values) > 0.9
    assert sum(value > 0.85 for value in values) >= 24


def test_dates_of_pages_agree_with_what_is_known_of_them(rows_of_pages: dict[Path, Row | None]) -> None:
    right, wrong = 0, []
    for path, row in rows_of_pages.items():
        beside = (Path(str(path).replace(".source.html", ".expected-metadata.json")), path.with_suffix(".json"))
        known = next((json.loads(meta.read_text(encoding="utf-8")) for meta in beside if meta.is_file()
                      and meta.suffix == ".json"), {})  # fmt: skip
        expected = read_date(known.get("publishedTime") or known.get("publish_date")).value
        found = read_date(row.values["published"]).value if row else None
        if expected is not None and found is not None:
            right += abs((found - expected).days) <= 1  # a zone apart
            wrong += [path.name] * (abs((found - expected).days) > 1)

    assert (right, wrong) == (8, [])


def test_what_a_page_hides_is_not_read() -> None:
    pytest.importorskip("trafilatura")
    row = read_page((MESSY / "html" / "readability" / "hidden-nodes.source.html").read_text(encoding="utf-8"))

    assert isinstance(row, Row)
    assert row.notes == ("hidden elements left out: 2",)
    assert str(row.values["text"]).count("Lorem ipsum dolor sit amet, consetetur") < 6


EXPECTED = re.compile(
    r"Expect:\s+not bozo and entries\[0\]\['(?P<field>title|link|summary|description|id|guid)'\]"
    r" == u?'(?P<value>[^'\\]*)'"
)
FIELDS_OF_FEEDS = {"link": "url", "summary": "text", "description": "text", "guid": "id"}


def test_feeds_are_read_or_refused_with_a_reason_and_hold_what_their_authors_say() -> None:
    pytest.importorskip("feedparser")
    pytest.importorskip("trafilatura")
    files = sorted((MESSY / "feeds").rglob("*.xml"))
    reading = read_documents(MESSY / "feeds")
    documents = list(reading)
    refused = {Path(reject.file).name: reject.kind for reject in reading.report.rejects}

    assert len(files) == 138
    assert (len(documents), reading.report.repeated) == (12, 6)
    opened = {Path(file).name for file, _ in reading.report.encodings}
    assert opened | set(refused) == {path.name for path in files}
    assert {kind for name, kind in refused.items() if name.startswith("wellformed")} <= {"empty", "no_text"}
    compared = 0
    for path in files:
        data = path.read_bytes()
        expected = EXPECTED.search(data.decode("utf-8", "replace"))
        row = next(iter(read_feed(data.decode("utf-8"))), None) if expected and "svg" not in path.name else None
        if expected and isinstance(row, Row):
            field = FIELDS_OF_FEEDS.get(expected["field"], expected["field"])
            assert row.values[field] == re.sub(r"<[^>]*>", "", unescape(expected["value"])), path.name
            compared += 1
    assert compared > 8


def test_pdfs_are_read_or_refused_with_a_reason() -> None:
    pytest.importorskip("pypdf")
    files = sorted((MESSY / "pdf").rglob("*.pdf"))
    reading = read_documents(MESSY / "pdf")
    documents = {Path(document.origin).name: document for document in reading}
    refused = {Path(reject.file).name: reject.kind for reject in reading.report.rejects}

    assert len(files) == 24
    assert set(documents) | set(refused) == {path.name for path in files}
    assert refused == {
        "aes-256.pdf": "encrypted",
        "issue-1113-evil-xobjects.pdf": "bad_pdf",
        "jo.pdf": "bad_pdf",  # its font has no map to Unicode
        "libreoffice-writer-password.pdf": "encrypted",
        "rc4-40.pdf": "encrypted",
        "simple1.pdf": "bad_pdf",
        "simple2.pdf": "scanned",
        "simple3.pdf": "bad_pdf",
    }
    assert "pages without text (scanned, or blank): 4-5" in documents["imagemagick-images.pdf"].notes
    assert "Beautiful is better than ugly.\n\nExplicit is" in documents["google-doc-document.pdf"].text
    columns = documents["multicolumn.pdf"]
    assert columns.title == "Two-Column Document with Lorem Ipsum"
    assert "adipiscing elit. Ut purus elit, vestibulum ut, placerat ac, adipiscing vitae" in columns.text
    # The last words of the left column and the first of the right one.
    assert "Donec nonummy pellentesque ante. Phasellus adipiscing semper elit." in columns.text
    assert any(note.startswith("running lines taken out: 3 (") for note in columns.notes)


def test_every_file_is_either_in_or_refused_with_a_reason() -> None:
    pytest.importorskip("trafilatura")
    files = {str(path) for path in MESSY.rglob("*") if path.is_file()}
    reading = read_documents(MESSY)
    documents = list(reading)
    report = reading.report

    assert report.complete
    assert report.rows == report.documents + report.repeated + report.rejected
    assert report.documents == len(documents) > 90
    assert {path for path, _ in report.encodings} | {reject.file for reject in report.rejects} == files
    assert all(reject.reason for reject in report.rejects)


@pytest.mark.parametrize(
    ("path", "mapping", "documents", "dated"),
    [
        ("news-ntrex/articles.jsonl", {"text": "sentences.zh-TW"}, 123, 0),
        ("news-summhay/documents.jsonl", {}, 500, 0),
        ("news-scorerag-sample/news_202405.json", {}, 10, 10),
        ("news-wikinews/articles.jsonl", {"text": "paragraphs"}, 43, 43),
        ("news-crud-zh/articles.jsonl", {"text": "raw"}, 900, 649),
    ],
)
def test_real_news_is_read_whole(path: str, mapping: dict[str, str], documents: int, dated: int) -> None:
    reading = read_documents(NEWS / path, mapping=mapping)
    read = list(reading)

    assert (reading.report.rows, reading.report.rejected) == (documents, 0)
    assert sum(document.published is not None for document in read) == dated
    assert reading.report.dates_unread == 0
