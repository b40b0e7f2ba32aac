"""Public data as people bring it: everything is in the archive or rejected with a reason, and articles cite exactly."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire.flow.adding import Added, add_files
from groundwire.flow.archives import open_archive, opened
from groundwire.flow.pipeline import Written, write_article
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED") or Path(__file__).resolve().parents[2].parent / "shared")
DATA = (SHARED / "data").resolve()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not here (GROUNDWIRE_SHARED)")

NTREX = {"en": "en", "zh-TW": "zh-TW", "zh-CN": "zh-CN", "ja": "ja"}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with opened(open_archive(tmp_path / "public.archive", embedder="hash:128")) as made:
        yield made


def settings(**fields: str) -> Settings:
    return Settings.model_validate({"read": {"map": fields}, "index": {"commit_sentences": 20_000}})


def add_up(added: Added) -> None:
    """Every row and every file is accounted for."""
    read, archive = added.read, added.archive
    assert read.complete
    assert read.rows == read.documents + read.repeated + read.rejected
    assert read.documents == archive.documents
    assert archive.documents == archive.added + archive.updated + archive.unchanged + len(archive.empty)
    assert all(reject.reason for reject in read.rejects)


def resolve(written: Written) -> None:
    """Every citation leads to exactly its characters, and every claim is supported."""
    citations = [citation for claim in written.article.claims for citation in claim.citations]
    assert citations
    for citation in citations:
        document = written.documents[citation.document_id]
        whole = document.title if citation.part == "title" else document.text
        assert whole[citation.start : citation.end] == citation.text
    assert {verdict.support for verdict in written.verdicts} == {"supported"}


def test_summhay_is_read_whole_and_three_topics_become_articles(archive: Archive) -> None:
    added = add_files(archive, [str(DATA / "news-summhay" / "documents.jsonl")], settings=settings())

    add_up(added)
    assert added.archive.added == 500
    queries = [json.loads(line) for line in (DATA / "news-summhay" / "queries.jsonl").read_text("utf-8").splitlines()]
    for query in (queries[0], queries[len(queries) // 2], queries[-1]):
        resolve(
            write_article(
                archive, f"{query['topic_title'].partition(':')[0]}: {query['subtopic']}", settings=settings()
            )
        )


@pytest.mark.parametrize("language", NTREX)
def test_ntrex_is_read_in_each_of_its_languages(archive: Archive, language: str) -> None:
    path = DATA / "news-ntrex" / "articles.jsonl"

    added = add_files(archive, [str(path)], settings=settings(text=f"sentences.{language}", id="doc_id"))

    add_up(added)
    assert added.archive.added == 123
    rows = {row["doc_id"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}
    found = archive.store.documents(rows)
    assert all(found[name].text == "\n".join(row["sentences"][language]) for name, row in rows.items())
    spoken = [document.language for document in found.values()]
    assert spoken.count(language) / len(spoken) >= 0.98
    if language == "zh-TW":
        headline = rows[min(rows)]["sentences"]["zh-TW"][0]
        resolve(write_article(archive, headline, settings=settings()))


@pytest.mark.parametrize("folder", ["html", "encodings", "json", "csv"])
def test_every_messy_file_is_taken_or_refused_with_a_reason(archive: Archive, folder: str) -> None:
    place = DATA / "messy" / folder

    added = add_files(archive, [str(place)], settings=settings())

    add_up(added)
    named = {Path(reject.file).resolve() for reject in added.read.rejects}
    known = {line for origin in archive.store.origins().values() for line in origin.split("\n")}
    taken = {Path(re.sub(r"(:\d+|\[\d+\])$", "", line)) for line in known}
    repeated = added.read.repeated
    unaccounted = [path for path in place.rglob("*") if path.is_file() and path.resolve() not in named | taken]
    assert len(unaccounted) <= repeated, f"neither taken nor refused: {unaccounted[:5]}"
    again = add_files(archive, [str(place)], settings=settings())
    assert (again.archive.added, again.archive.updated) == (0, 0)
