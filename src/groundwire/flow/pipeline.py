"""An archive and a topic -> a written and checked article, with every step in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.errors import UsageError
from groundwire.core.types import Article, Brief, Document, Filter, ScoredSource, Verdict
from groundwire.flow.checking import Checked, check_article, cited_documents
from groundwire.flow.drafting import draft_article, model_briefs
from groundwire.flow.findings import NOTHING, Findings
from groundwire.flow.house import House, house_of
from groundwire.flow.independence import Independence, find_independence, notes_on
from groundwire.flow.settings import Settings, WriteOptions
from groundwire.flow.sourcing import Assistant, Sources, find_sources
from groundwire.flow.wording import fixed_words
from groundwire.retrieval.index import Archive
from groundwire.writing.briefing import BriefSettings
from groundwire.writing.discords import find_discords
from groundwire.writing.drafts import DraftSettings
from groundwire.writing.model_check import CheckSettings
from groundwire.writing.premise import check_premise
from groundwire.writing.repair import repair_article
from groundwire.writing.summarise import summarise, summarise_alike
from groundwire.writing.thin import thin_notes
from groundwire.writing.write import WriteSettings, write

Known = Mapping[str, Document]


@dataclass(frozen=True, slots=True)
class Written:
    """An article with all that led to it.

    ``documents`` are those that the article cites or could have cited, by id; ``scored`` are all that were rated, the
    dropped included;
    ``searched`` says line by line what was looked at, ``independence`` which sources are versions of one story, and
    ``findings`` what else an editor should know.
    """

    article: Article
    verdicts: tuple[Verdict, ...]
    documents: Known
    scored: tuple[ScoredSource, ...]
    briefs: tuple[Brief, ...]
    searched: tuple[str, ...]
    independence: Independence
    findings: Findings = NOTHING


def needs_model(options: WriteOptions) -> bool:
    """Whether a model has to be asked for an article."""
    on_models = options.rater not in ("builtin", "none") or options.briefs in ("facts", "summaries")
    return bool(options.model) or on_models or options.check == "model" or options.find == "none"


def write_article(
    archive: Archive,
    topic: str,
    *,
    settings: Settings,
    where: Filter | None = None,
    assistant: Assistant | None = None,
) -> Written:
    """Search, rate, keep, brief, write, verify and repair, as ``settings.write`` says.

    Args:
        archive: where the sources are.
        topic: what the article is about.
        settings: by default without a model.
        where: which sources may be found.
        assistant: the model, where the settings ask for one, and the run that takes down what it is asked.

    Raises:
        NothingFound: no source reaches ``write.best_at_least``, or what is kept is too little for an article; its
            ``searched`` lists what was looked at.
        UsageError: the topic is blank, or the settings ask for a model and none is given.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    if needs_model(settings.write) and assistant is None:
        raise UsageError(
            "the settings of the article ask for a model, and none is named. Name one with --model (such as"
            " llama:qwen2.5-coder-1.5b), or leave preset, rater, briefs and check as they are"
        )
    house = house_of(settings.write)
    sources = find_sources(archive, topic, settings=settings, where=where, assistant=assistant)
    kept = {source.source.document.id: source.source.document for source in sources.kept}
    premise = check_premise(topic, tuple(kept.values()))
    briefs = _briefs(topic, sources, settings=settings, assistant=assistant)
    work = _Work(archive, topic, settings, sources, briefs, house, assistant)
    article = _drafted(work)
    known = {**kept, **cited_documents(archive, article)}
    checked = _checked(article, known, work)
    repaired = repair_article(article, checked.verdicts, known) if settings.write.repair else None
    if repaired is not None and repaired.repairs:
        article = _with_ratings(repaired.article, sources.kept)
        checked = _checked(article, known, work)
    independence = find_independence(article, known)
    findings = Findings(
        discords=find_discords(tuple(kept.values()), topic=topic),
        premise=premise,
        style=house.check(article, known),
        repairs=repaired.repairs if repaired else (),
        quality=checked.quality,
        orders=sources.orders,
        thin=thin_notes(briefs, independent=independence.independent, language=article.language) if briefs else (),
        uncited=_uncited(article, sources.kept),
        origins=tuple((name, _origin(document, article.language)) for name, document in kept.items()),
    )
    return Written(
        article=replace(article, notes=_notes(article, work, independence)),
        verdicts=tuple(checked.verdicts),
        documents=known,
        scored=sources.scored,
        briefs=briefs,
        searched=sources.searched,
        independence=independence,
        findings=findings,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """What the steps after the search share."""

    archive: Archive
    topic: str
    settings: Settings
    sources: Sources
    briefs: tuple[Brief, ...]
    house: House
    assistant: Assistant | None


def _briefs(topic: str, sources: Sources, *, settings: Settings, assistant: Assistant | None) -> tuple[Brief, ...]:
    options = settings.write
    if options.briefs == "none":
        return ()
    if options.briefs != "sentences" and assistant is not None:
        return model_briefs(
            topic,
            sources.kept[: options.max_sources],
            kind=options.briefs,
            recording=assistant.recording,
            model=assistant.model,
            settings=BriefSettings(prompts=settings.prompts_folder, article_words=options.max_words),
        )
    if options.rater == "none":
        return summarise_alike([source.source for source in sources.kept])
    return summarise(sources.kept)


def _drafted(work: _Work) -> Article:
    """The article as its writer left it."""
    options = work.settings.write
    if work.assistant is None or not options.model:
        how = WriteSettings(options.language, options.max_tokens, options.max_sources)
        found = write(work.topic, work.briefs, settings=how, searched=work.sources.searched)
        return replace(work.house.followed(found), as_of=options.as_of)
    settings = DraftSettings(
        cite=options.cite,
        language=options.language,
        as_of=options.as_of,
        max_words=options.max_words,
        max_sources=options.max_sources,
        outline=work.house.outline_in_words(options.language),
        house_rules=work.house.rules_in_words(options.language),
        prompts=work.settings.prompts_folder,
    )
    recording, model = work.assistant.recording, work.assistant.model
    return draft_article(work.topic, work.briefs, recording=recording, model=model, settings=settings)


def _checked(article: Article, known: Known, work: _Work) -> Checked:
    cited = {citation.document_id for claim in article.claims for citation in claim.citations}
    helped = work.assistant if work.settings.write.check == "model" else None
    return check_article(
        article,
        {name: document for name, document in known.items() if name in cited},
        recording=helped.recording if helped else None,
        model=helped.model if helped else None,
        others=[document for name, document in known.items() if name not in cited],
        how=CheckSettings(prompts=work.settings.prompts_folder),
    )


def _with_ratings(article: Article, kept: Sequence[ScoredSource]) -> Article:
    """The article with the ratings of sources that a repair cites for the first time."""
    rated = {one.source.document.id: one for one in kept}
    sources = tuple(
        replace(one, relevance=rated[one.document_id].relevance, band=rated[one.document_id].band)
        if one.relevance is None and one.document_id in rated
        else one
        for one in article.sources
    )
    return replace(article, sources=sources)


def _notes(article: Article, work: _Work, independence: Independence) -> tuple[str, ...]:
    about = notes_on(independence, fixed_words(article.language))
    left_out = (f"{brief.document.name}: {note}" for brief in work.briefs for note in brief.notes)
    return (*article.notes, *work.sources.notes, *about, *left_out)


def _origin(document: Document, language: str) -> str:
    day = document.published.isoformat() if document.published else ""
    return fixed_words(language)["comma"].join(filter(None, (document.source or document.name, day)))


def _uncited(article: Article, kept: Sequence[ScoredSource]) -> tuple[str, ...]:
    """The sources that were kept and are not cited, with their ratings."""
    listed = {source.document_id for source in article.sources}
    return tuple(
        f"{source.source.document.name} ({'–' if source.relevance is None else format(source.relevance, '.0f')})"
        for source in kept
        if source.source.document.id not in listed
    )
