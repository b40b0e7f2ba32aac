"""An archive and a topic -> a written and checked article, with every step in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.errors import NothingFound
from groundwire.core.types import (
    Article,
    Brief,
    Citation,
    Claim,
    Document,
    Filter,
    ScoredSource,
    Verdict,
)
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


def verify_article(article: Article, archive: Archive) -> tuple[Verdict, ...]:
    """Check each claim of an article, also one written before the archive changed, against what it cites.

    A file without an id of its own has another id once it was edited. Where the archive no longer holds a cited
    document, but the very words stand in another one, the claim is checked there, and the verdict's reason says so.
    """
    homes = _new_homes(archive, article)
    moved = _moved(article, homes)
    verdicts = verify(moved, cited_documents(archive, moved))
    return tuple(
        replace(verdict, claim=claim, reason="; ".join([verdict.reason, *_remarks(claim, homes)]))
        for claim, verdict in zip(article.claims, verdicts, strict=True)
    )


def _new_homes(archive: Archive, article: Article) -> dict[Citation, Citation]:
    """Citations of documents that are gone -> the same words in another document.

    Where a document's words stand in another one, that is what has become of it: its title and what no longer stands
    there are looked for in it, too. Without words of its own a citation stands for the whole document, and the words of
    the claim are looked for.
    """
    documents = cited_documents(archive, article)
    lost: dict[Citation, list[str]] = {}
    for claim in article.claims:
        for citation in claim.citations:
            if citation.document_id not in documents:
                lost.setdefault(citation, []).append(citation.text if citation.text.strip() else claim.text)
    homes: dict[Citation, Citation] = {}
    for citation, texts in lost.items():
        found = [home for text in texts if (home := _where_it_stands(archive, citation, text=text))]
        if citation.part == "text" and found:
            homes[citation] = found[0]
    successors = {citation.document_id: found.document_id for citation, found in homes.items()}
    for citation in lost:
        if citation not in homes and citation.document_id in successors:
            homes[citation] = replace(citation, document_id=successors[citation.document_id], sentence_id="")
    return homes


def _where_it_stands(archive: Archive, citation: Citation, *, text: str) -> Citation | None:
    for match in archive.store.lexical(text, k=5, where=Filter()):
        found = match.sentence
        if found.text == text and not citation.text:
            return replace(citation, document_id=found.document_id)
        if found.text == text:
            return replace(
                citation, document_id=found.document_id, start=found.start, end=found.end, sentence_id=found.id
            )
    return None


def _moved(article: Article, homes: Mapping[Citation, Citation]) -> Article:
    def moved(claim: Claim) -> Claim:
        return replace(claim, citations=tuple(homes.get(citation, citation) for citation in claim.citations))

    return replace(
        article,
        headline=moved(article.headline),
        lede=tuple(map(moved, article.lede)),
        sections=tuple(replace(section, claims=tuple(map(moved, section.claims))) for section in article.sections),
    )


def _remarks(claim: Claim, homes: Mapping[Citation, Citation]) -> list[str]:
    return [
        f"source changed: '{citation.document_id}' is gone, words of it stand in '{homes[citation].document_id}'"
        for citation in claim.citations
        if citation in homes
    ]


def cited_documents(archive: Archive, article: Article) -> Mapping[str, Document]:
    """The documents an article cites or lists, by id, as far as the archive holds them."""
    cited = {citation.document_id for claim in article.claims for citation in claim.citations}
    listed = {source.document_id for source in article.sources}
    return archive.store.documents(sorted(cited | listed))


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
