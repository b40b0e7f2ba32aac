"""From an archive to a checked article, and back to it after the archive changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.core.errors import NothingFound
from groundwire.core.types import Document, Filter
from groundwire.flow.adding import add_files
from groundwire.flow.archives import open_archive
from groundwire.flow.checking import verify_article
from groundwire.flow.pipeline import write_article
from groundwire.flow.render import render_markdown
from groundwire.flow.reopen import reopen
from groundwire.flow.searches import pack_hits
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive

STORY = (
    "The harbour of Port Ellery was flooded on Monday night. The water stood two metres high in Dock Street. "
    "Flood relief reached 300 homes by Tuesday. The mayor thanked the crews and asked for 20 more boats."
)
TOPIC = "Flood in the harbour of Port Ellery"


def archive_of(*documents: Document) -> Archive:
    archive = open_archive("memory:", embedder="hash:128")
    archive.add(documents)
    return archive


def test_every_step_is_kept() -> None:
    archive = archive_of(Document("a", STORY, title="Harbour under water", source="Bay Post"))

    written = write_article(archive, TOPIC, settings=Settings())

    assert written.article.headline.text == "Harbour under water"
    assert {verdict.support for verdict in written.verdicts} == {"supported"}
    assert set(written.documents) == {"a"}
    assert [brief.document.id for brief in written.briefs] == ["a"]
    assert written.scored[0].relevance == max(source.relevance or 0 for source in written.scored)
    assert written.searched[0].startswith("archive memory:: 1 documents")


def test_a_refusal_says_what_was_searched_filters_included() -> None:
    archive = archive_of(Document("a", STORY, source="Bay Post"))
    where = Filter(sources=("Other Paper",), languages=("en",))

    with pytest.raises(NothingFound) as refused:
        write_article(archive, TOPIC, settings=Settings(), where=where)

    assert "only: sources Other Paper; languages en" in refused.value.searched


def test_what_barely_is_about_the_topic_is_dropped_beside_what_clearly_is() -> None:
    other = Document("b", "The harbour concert was cancelled. Tickets are refunded. The band plays in May. " * 2)
    archive = archive_of(Document("a", STORY), other)

    strict = write_article(archive, TOPIC, settings=Settings.model_validate({"write": {"keep_share": 1}}))

    assert [source.document_id for source in strict.article.sources] == ["a"]


def test_an_article_needs_one_source_above_the_lowest_band() -> None:
    archive = archive_of(Document("a", STORY))

    with pytest.raises(NothingFound):
        write_article(archive, TOPIC, settings=Settings.model_validate({"write": {"best_at_least": 100}}))


def test_evidence_is_packed_under_the_budget_of_the_settings() -> None:
    archive = archive_of(Document("a", STORY))

    settings = Settings.model_validate({"search": {"budget_tokens": 15}})

    evidence = pack_hits(archive, archive.search("water", k=30), settings=settings)

    assert 0 < evidence.tokens <= 15


def test_an_article_over_files_finds_its_words_again_after_a_comma_was_mended(tmp_path: Path) -> None:
    archive = open_archive("memory:", embedder="hash:128")
    story = tmp_path / "flood.md"
    story.write_text(f"# Harbour under water\n\n{STORY}", "utf-8")
    add_files(archive, [str(story)], settings=Settings())
    article = write_article(archive, TOPIC, settings=Settings()).article
    story.write_text(f"# Harbour under water\n\nCorrected.\n\n{STORY.replace('20 more', '25 more')}", "utf-8")
    assert add_files(archive, [str(story)], settings=Settings()).archive.removed == 1

    verdicts = verify_article(article, archive)

    kept = [verdict for verdict in verdicts if "20 more" not in verdict.claim.text]
    assert len(kept) == len(verdicts) - 1
    assert {verdict.support for verdict in kept} == {"supported"}
    assert all("source changed" in verdict.reason for verdict in kept)
    assert [verdict.claim for verdict in verdicts] == list(article.claims)
    (lost,) = (verdict for verdict in verdicts if "20 more" in verdict.claim.text)
    assert lost.support != "supported"
    assert "no longer holds the cited words" in lost.reason


def test_markdown_over_files_finds_its_words_again_after_an_edit(tmp_path: Path) -> None:
    archive = open_archive("memory:", embedder="hash:128")
    story = tmp_path / "flood.txt"
    story.write_text(STORY, "utf-8")
    add_files(archive, [str(story)], settings=Settings())
    article = reopen(render_markdown(write_article(archive, TOPIC, settings=Settings()).article)).article
    story.write_text(STORY.replace("20 more", "25 more"), "utf-8")
    add_files(archive, [str(story)], settings=Settings())

    verdicts = verify_article(article, archive)

    assert all("source changed" in verdict.reason for verdict in verdicts)
    held = {verdict.support for verdict in verdicts if "20 more" not in verdict.claim.text}
    assert (held, len(verdicts) > 2) == ({"supported"}, True)
    assert any(verdict.support != "supported" for verdict in verdicts if "20 more" in verdict.claim.text)


def test_an_article_on_a_document_that_is_gone_stays_unsupported() -> None:
    archive = archive_of(Document("a", STORY))
    article = write_article(archive, TOPIC, settings=Settings()).article
    empty = archive_of(Document("z", "Nothing of the kind is said here."))

    verdicts = verify_article(replace(article, notes=()), empty)

    assert "supported" not in {verdict.support for verdict in verdicts}
