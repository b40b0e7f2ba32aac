"""An archive and a topic -> a written and checked article, with every step in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.errors import NothingFound
from groundwire.core.types import Article, Brief, Document, Filter, ScoredSource, Verdict
from groundwire.flow.checking import cited_documents
from groundwire.flow.independence import Independence, find_independence, notes_on
from groundwire.flow.searches import search_settings
from groundwire.flow.settings import Settings
from groundwire.flow.wording import fixed_words
from groundwire.retrieval.index import Archive
from groundwire.writing.score import keep, score
from groundwire.writing.summarise import summarise
from groundwire.writing.verify import verify
from groundwire.writing.write import WriteSettings, write


@dataclass(frozen=True, slots=True)
class Written:
    """An article with all that led to it.

    ``documents`` are those that the article cites, by id; ``scored`` are all that were rated, the dropped included;
    ``searched`` says line by line what was looked at, ``independence`` which sources are versions of one story.
    """

    article: Article
    verdicts: tuple[Verdict, ...]
    documents: Mapping[str, Document]
    scored: tuple[ScoredSource, ...]
    briefs: tuple[Brief, ...]
    searched: tuple[str, ...]
    independence: Independence


def write_article(archive: Archive, topic: str, *, settings: Settings, where: Filter | None = None) -> Written:
    """Search, rate, keep, brief, write and verify, with the built-in rater and writer.

    Raises:
        NothingFound: no source reaches ``write.best_at_least``, or what is kept is too little for an article; its
            ``searched`` lists what was looked at.
        UsageError: the topic is blank.
    """
    options = settings.write
    hits = archive.search(topic, k=options.k, settings=search_settings(settings.search, where))
    scored = score(topic, archive.documents(hits))
    best = max((source.relevance for source in scored if source.relevance is not None), default=0.0)
    kept = keep(scored, at_least=max(options.keep_at_least, options.keep_share * best))
    searched = _searched(archive, topic, scored=scored, settings=settings, where=where)
    if not kept or best < options.best_at_least:
        raise NothingFound(f"the archive holds nothing about '{topic}'; no article was written", searched=searched)
    briefs = summarise(kept)
    how = WriteSettings(options.language, options.max_tokens, options.max_sources)
    article = write(topic, briefs, settings=how, searched=searched)
    documents = cited_documents(archive, article)
    candidates = {source.source.document.id: source.source.document for source in kept}
    found = find_independence(article, {**candidates, **documents})
    about = notes_on(found, fixed_words(article.language))
    article = replace(article, notes=(*article.notes, *about, *_left_out(briefs), *_uncited(article, kept)))
    return Written(article, verify(article, documents), documents, scored, briefs, searched, found)


def _searched(
    archive: Archive, topic: str, *, scored: Sequence[ScoredSource], settings: Settings, where: Filter | None
) -> tuple[str, ...]:
    counts = archive.counts()
    lines = [
        f"archive {archive.name}: {counts.documents:,} documents, {counts.sentences:,} sentences",
        f"topic '{topic}', {settings.search.mode} search, {settings.write.k} sentences: {len(scored)} documents rated",
        *_filter_lines(where),
    ]
    best = [source for source in scored if source.relevance is not None][:3]
    lines += [f"rated {source.relevance:.0f}: {source.source.document.name} ({source.reason})" for source in best]
    options = settings.write
    rule = f"a source is kept from {options.keep_at_least:g} up, and one of {options.best_at_least:g} or more is needed"
    return (*lines, rule)


def _filter_lines(where: Filter | None) -> Iterable[str]:
    if where is None:
        return ()
    parts = {
        "from": where.published_from,
        "to": where.published_to,
        "sources": ", ".join(where.sources),
        "languages": ", ".join(where.languages),
    }
    given = "; ".join(f"{name} {value}" for name, value in parts.items() if value)
    return (f"only: {given}",) if given else ()


def _left_out(briefs: Sequence[Brief]) -> tuple[str, ...]:
    return tuple(f"{brief.document.name}: {note}" for brief in briefs for note in brief.notes)


def _uncited(article: Article, kept: Sequence[ScoredSource]) -> tuple[str, ...]:
    listed = {source.document_id for source in article.sources}
    return tuple(
        f"rated {source.relevance:.0f} but not cited: {source.source.document.name}"
        for source in kept
        if source.relevance is not None and source.source.document.id not in listed
    )
