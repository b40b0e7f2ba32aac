"""The sample archive with the real embedder: every topic it holds gets an article that holds, the others a refusal."""

import json
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from groundwire.core.errors import ModelError, NothingFound
from groundwire.flow.adding import add_files
from groundwire.flow.archives import open_archive, opened
from groundwire.flow.checking import verify_article
from groundwire.flow.pipeline import write_article
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
pytestmark = pytest.mark.integration

SAMPLE = files("groundwire.sample")
TOPICS = [json.loads(line) for line in SAMPLE.joinpath("topics.jsonl").read_text("utf-8").splitlines()]
STORIES = {row["id"]: row for row in map(json.loads, SAMPLE.joinpath("stories.jsonl").read_text("utf-8").splitlines())}
CANARY = "CANARY-7391"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    folder = tmp_path_factory.mktemp("sample")
    stories = folder / "stories.jsonl"
    stories.write_text(SAMPLE.joinpath("stories.jsonl").read_text("utf-8"), "utf-8")
    try:
        opening = open_archive(folder / "sample.archive", embedder="local:e5-small")
    except ModelError as error:
        pytest.skip(str(error))
    with opened(opening) as made:
        assert add_files(made, [str(stories)], settings=Settings()).archive.added == 40
        yield made


def held(topic: dict) -> bool:
    return len(topic["relevant"]) > 1


def in_its_language(topic: dict) -> bool:
    return any(STORIES[row["id"]]["language"] == topic["language"] for row in topic["relevant"])


@pytest.mark.parametrize(
    "topic", [topic for topic in TOPICS if held(topic) and in_its_language(topic)], ids=lambda topic: topic["id"]
)
def test_an_article_on_a_topic_that_is_held_cites_exact_characters(archive: Archive, topic: dict) -> None:
    written = write_article(archive, topic["topic"], settings=Settings())

    about = {row["id"] for row in topic["relevant"]}
    cited = {citation.document_id for claim in written.article.claims for citation in claim.citations}
    assert {verdict.support for verdict in written.verdicts} == {"supported"}
    for claim in written.article.claims:
        assert claim.citations
        for citation in claim.citations:
            document = written.documents[citation.document_id]
            whole = document.title if citation.part == "title" else document.text
            assert whole[citation.start : citation.end] == citation.text
            assert " ".join(citation.text.split()) == claim.text or len(claim.citations) > 1
    assert written.article.sources[0].document_id in about
    events = {STORIES[name]["event"] for name in about}
    beside = {name for name in cited if STORIES[name]["event"] not in events}
    assert len(beside) / len(cited) <= 0.25, f"cited from other events: {sorted(beside)}"
    assert CANARY not in repr(written.article)
    assert not any(mark in claim.text for claim in written.article.claims for mark in ("Related stories", "延伸閱讀"))


@pytest.mark.parametrize(
    "topic", [topic for topic in TOPICS if held(topic) and not in_its_language(topic)], ids=lambda topic: topic["id"]
)
def test_a_topic_held_in_another_language_only_is_never_written_about_from_other_stories(
    archive: Archive, topic: dict
) -> None:
    about = {row["id"] for row in topic["relevant"]}
    try:
        article = write_article(archive, topic["topic"], settings=Settings()).article
    except NothingFound:
        return
    assert article.sources[0].document_id in about


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if not held(topic)], ids=lambda topic: topic["id"])
def test_a_topic_that_is_not_held_or_only_by_a_caption_is_refused(archive: Archive, topic: dict) -> None:
    with pytest.raises(NothingFound) as refused:
        write_article(archive, topic["topic"], settings=Settings())

    assert "no article was written" in str(refused.value)
    assert any("40 documents" in line for line in refused.value.searched)


def test_an_article_notices_that_its_source_was_changed_afterwards(archive: Archive, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SAMPLE.joinpath("stories.jsonl").read_text("utf-8").splitlines()]
    topic = next(topic for topic in TOPICS if held(topic) and topic["language"] == "en")
    written = write_article(archive, topic["topic"], settings=Settings())
    first = written.article.lede[0].citations[0]
    story = next(row for row in rows if row["id"] == first.document_id)
    whole = story["text"]
    (tmp_path / "edited.jsonl").write_text(
        json.dumps({**story, "text": whole[: first.start] + whole[first.end :]}) + "\n", "utf-8"
    )
    (tmp_path / "moved.jsonl").write_text(json.dumps({**story, "text": "UPDATED\n\n" + whole}) + "\n", "utf-8")
    (tmp_path / "back.jsonl").write_text(json.dumps(story) + "\n", "utf-8")

    def verdict_after(name: str) -> tuple[str, str]:
        assert add_files(archive, [str(tmp_path / name)], settings=Settings()).archive.updated == 1
        verdict = verify_article(written.article, archive)[1]
        return verdict.support, " ".join([verdict.reason, *(check.reason for check in verdict.checks)])

    gone, moved, back = (verdict_after(name) for name in ("edited.jsonl", "moved.jsonl", "back.jsonl"))

    assert gone[0] != "supported"
    assert "chang" in gone[1]
    assert moved[0] == "supported"
    assert back[0] == "supported"


def test_filters_keep_an_article_to_its_dates(archive: Archive) -> None:
    from groundwire.core.types import Filter

    topic = next(topic for topic in TOPICS if held(topic) and topic["language"] == "en")
    every = write_article(archive, topic["topic"], settings=Settings())
    days = sorted(source.published for source in every.article.sources if source.published)

    early = write_article(archive, topic["topic"], settings=Settings(), where=Filter(published_to=days[0]))

    assert all(source.published is None or source.published <= days[0] for source in early.article.sources)
    assert days[0] <= date.today()
