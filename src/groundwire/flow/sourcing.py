"""The sources of an article: found, rated and kept as the settings say, with what was looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.language import LanguageModel
from groundwire.core.types import Filter, ScoredSource, Source
from groundwire.flow.chunked import chunk_sources
from groundwire.flow.rating import Rated, rate
from groundwire.flow.runs import Recording
from groundwire.flow.searches import search_settings
from groundwire.flow.settings import Settings, WriteOptions
from groundwire.retrieval.index import Archive
from groundwire.writing.raters import RaterSettings
from groundwire.writing.reasons import note
from groundwire.writing.score import keep, ties


@dataclass(frozen=True, slots=True)
class Assistant:
    """A model that rates, briefs, writes or checks for an article, and the run that takes down what it is asked."""

    model: LanguageModel
    recording: Recording


@dataclass(frozen=True, slots=True)
class Sources:
    """What an article may be written from.

    Attributes:
        scored: every source that was found, the dropped included, best first; with the rater ``none`` in the order of
            the search and unscored.
        kept: those that reach the thresholds; with the rater ``none`` the first ``write.max_sources``.
        searched: what was looked at, line by line.
        notes: what an editor should know: unscored sources, sources dated after the article, what a rater gave up.
        orders: sources whose text tries to give orders to a model, and what that did to their ratings.
    """

    scored: tuple[ScoredSource, ...]
    kept: tuple[ScoredSource, ...]
    searched: tuple[str, ...]
    notes: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()


def find_sources(
    archive: Archive, topic: str, *, settings: Settings, where: Filter | None = None, assistant: Assistant | None = None
) -> Sources:
    """Find, rate and keep the sources of an article.

    Raises:
        NothingFound: nothing was found, or no source reaches ``write.best_at_least``; its ``searched`` lists what was
            looked at.
        UsageError: the topic is blank, or a rater on a model has no model.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    options = settings.write
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    if options.find == "none":
        return Sources((), (), ("nothing: the article is written from the topic alone",))
    found, late = _in_time(_found(archive, topic, settings=settings, where=where), options.as_of)
    found, beyond = _candidates(found, options)
    rated = _rated(topic, found, options=options, settings=settings, assistant=assistant)
    kept = _kept(rated.scored, options)
    searched = tuple(_searched(archive, topic, rated=rated.scored, settings=settings, where=where))
    if not kept:
        raise NothingFound(f"the archive holds nothing about '{topic}'; no article was written", searched=searched)
    return Sources(
        rated.scored, kept, searched, (*late, *beyond, *_notes(rated), *ties(kept)), tuple(map(str, rated.orders))
    )


def _found(archive: Archive, topic: str, *, settings: Settings, where: Filter | None) -> tuple[Source, ...]:
    if settings.write.find == "chunks":
        return chunk_sources(archive, topic, k=settings.search.k, where=where or Filter())
    hits = archive.search(topic, k=settings.write.k, settings=search_settings(settings.search, where))
    return archive.documents(hits)


def _in_time(found: Sequence[Source], as_of: date | None) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources that are out on the day of the article, and a note for each that is not yet."""
    late = [one for one in found if as_of and one.document.published and one.document.published > as_of]
    notes = (note("note_late", one.document.published, as_of, one.document.name) for one in late)
    return tuple(one for one in found if one not in late), tuple(notes)


def _candidates(found: Sequence[Source], options: WriteOptions) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources that a model is to rate, and a note on how many it is not: a call each, or three, has its price."""
    if options.rater in ("builtin", "none") or len(found) <= options.candidates:
        return tuple(found), ()
    left = len(found) - options.candidates
    return tuple(found[: options.candidates]), (note("note_candidates", options.candidates, left),)


def _rated(
    topic: str, found: Sequence[Source], *, options: WriteOptions, settings: Settings, assistant: Assistant | None
) -> Rated:
    if options.rater == "none":
        scored = tuple(ScoredSource(source, None, (), None, "not rated") for source in found)
        return Rated(scored, "builtin")
    how = RaterSettings(
        readings=options.readings,
        seed=settings.traffic.seed,
        prompts=settings.prompts_folder,
        prompt="rating-scorerag" if options.preset == "scorerag" else "rating",
    )
    recording, model = (assistant.recording, assistant.model) if assistant else (None, None)
    return rate(topic, found, how=options.rater, recording=recording, model=model, settings=how)


def _kept(scored: Sequence[ScoredSource], options: WriteOptions) -> tuple[ScoredSource, ...]:
    if options.rater == "none":
        return tuple(scored[: options.max_sources])
    best = max((source.relevance for source in scored if source.relevance is not None), default=0.0)
    if best < options.best_at_least:
        return ()
    return keep(scored, at_least=max(options.keep_at_least, options.keep_share * best), bands=options.bands)


def _notes(rated: Rated) -> Iterable[str]:
    if rated.note:
        yield rated.note
    for source in rated.scored:
        if source.relevance is None and source.reason != "not rated":
            yield note("note_unscored", source.source.document.name, source.reason)


def _searched(
    archive: Archive, topic: str, *, rated: Sequence[ScoredSource], settings: Settings, where: Filter | None
) -> Iterable[str]:
    counts, options = archive.counts(), settings.write
    yield f"archive {archive.name}: {counts.documents:,} documents, {counts.sentences:,} sentences"
    if options.find == "chunks":
        yield f"topic '{topic}', search by meaning, {settings.search.k} chunks: {len(rated)} documents"
    else:
        yield f"topic '{topic}', {settings.search.mode} search, {options.k} sentences: {len(rated)} documents"
    yield from _filter_lines(replace(where or Filter()))
    if options.rater == "none":
        return
    best = [source for source in rated if source.relevance is not None][:3]
    yield from (f"rated {source.relevance:.0f}: {source.source.document.name} ({source.reason})" for source in best)
    yield f"a source is kept from {options.keep_at_least:g} up, and one of {options.best_at_least:g} or more is needed"


def _filter_lines(where: Filter) -> Iterable[str]:
    parts = {
        "from": where.published_from,
        "to": where.published_to,
        "sources": ", ".join(where.sources),
        "languages": ", ".join(where.languages),
    }
    given = "; ".join(f"{name} {value}" for name, value in parts.items() if value)
    return (f"only: {given}",) if given else ()
