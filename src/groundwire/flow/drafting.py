"""Briefs and articles by a model, asked through the ledger: planned to fit, repaired once, refused aloud."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from groundwire.core.answers import Answer
from groundwire.core.errors import CannotDo
from groundwire.core.language import Capabilities, LanguageModel, Reply
from groundwire.core.prompts import nearest_language
from groundwire.core.replies import Reading, repair_request
from groundwire.core.text import detect_language
from groundwire.core.types import Article, Brief, ScoredSource
from groundwire.flow.plan import input_tokens
from groundwire.flow.runs import Recording
from groundwire.writing.briefing import BriefJob, BriefKind, BriefSettings, brief_job, read_brief, unbriefed
from groundwire.writing.draft_reading import read_draft
from groundwire.writing.drafts import Draft, DraftSettings, draft_of
from groundwire.writing.reasons import note

_ROOM = 1.1
"""Tokens are estimated, so a request is planned as if it were so much longer."""

T = TypeVar("T")


def model_briefs(
    topic: str,
    scored: Sequence[ScoredSource],
    *,
    kind: BriefKind,
    recording: Recording,
    model: LanguageModel,
    settings: BriefSettings | None = None,
) -> tuple[Brief, ...]:
    """Brief sources by a model.

    Args:
        topic: what the article is about.
        scored: the sources that are kept, best first.
        kind: ``facts`` (ours) or ``summaries`` (ScoreRAG).
        recording: the run.
        model: who is asked.
        settings: a folder of prompts; what the model can do is looked up.

    Returns:
        A brief a source, in order. Where no brief could be read, also after a repair, it holds the source's own
        sentences; where the model found nothing on the topic, it is empty; its notes say which.

    Raises:
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    how = replace(settings or BriefSettings(), capabilities=recording.capabilities(model))
    jobs = [brief_job(topic, one, number=place, kind=kind, settings=how) for place, one in enumerate(scored, start=1)]
    asked = [job for job in jobs if job.fallback.sentences]
    for job in asked:
        recording.prompt(job.prompt, job.request.prompt)
    answers = recording.ask([job.request for job in asked], model=model)
    readings = [_brief_read(job, answer, model) for job, answer in zip(asked, answers, strict=True)]
    lost = [
        place for place, (reading, answer) in enumerate(zip(readings, answers, strict=True)) if _mends(reading, answer)
    ]
    requests = [
        repair_request(asked[place].request, readings[place], language=_language(topic), folder=how.prompts)
        for place in lost
    ]
    for place, answer in zip(lost, recording.ask(requests, model=model) if requests else (), strict=True):
        readings[place] = _second(readings[place], _brief_read(asked[place], answer, model))
    read = {id(job): reading for job, reading in zip(asked, readings, strict=True)}
    return tuple(_brief(job, read.get(id(job))) for job in jobs)


def draft_article(
    topic: str,
    briefs: Sequence[Brief],
    *,
    recording: Recording,
    model: LanguageModel,
    settings: DraftSettings | None = None,
) -> Article:
    """Have a model write an article.

    The request is planned before it is sent: sources that do not fit into the model's context are left out, the lowest
    rated first, and named in the notes. A reply that cannot be used is asked for once more.

    Args:
        topic: what the article is about.
        briefs: best first; none for ``cite="none"``.
        recording: the run.
        model: who writes.
        settings: how it is asked.

    Raises:
        UsageError: as ``draft_of``.
        CannotDo: not even one source fits, or no reply could be used; the replies are in the ledger.
        ModelError, BudgetReached: as ``traffic.ask``.
    """
    draft = fitting_draft(
        topic, briefs, settings=settings or DraftSettings(), capabilities=recording.capabilities(model), model=model.id
    )
    recording.prompt(draft.prompt, draft.request.prompt)
    (answer,) = recording.ask([draft.request], model=model)
    reading = _draft_read(draft, answer, model)
    if reading.value is None and _mends(reading, answer):
        folder, language = draft.settings.prompts, nearest_language(draft.language)
        (again,) = recording.ask(
            [repair_request(draft.request, reading, language=language, folder=folder)], model=model
        )
        reading = _second(reading, _draft_read(draft, again, model))
    if reading.value is None:
        raise CannotDo(
            f"'{model.id}' wrote nothing on '{topic}' that could be used: {reading.reason}. Its replies are in the"
            " ledger. Try another model, fewer sources (write.max_sources), or write without a model"
        )
    return reading.value


def fitting_draft(
    topic: str, briefs: Sequence[Brief], *, settings: DraftSettings, capabilities: Capabilities, model: str
) -> Draft:
    """The draft that fits into the model's context, with the sources that had to be left out in its notes.

    Raises:
        UsageError: as ``draft_of``.
        CannotDo: not even the best source fits.
    """
    draft = draft_of(topic, briefs, settings=settings, capabilities=capabilities)
    context = capabilities.context_tokens
    left = list(draft.briefs)
    out: list[Brief] = []
    while (
        context is not None
        and (size := round(input_tokens(draft.request) * _ROOM)) + draft.request.max_tokens > context
    ):
        if len(left) < 2:
            raise CannotDo(
                f"the article's request is about {size} tokens and its reply up to {draft.request.max_tokens};"
                f" '{model}' holds {context}. Lower write.max_words, shorten rules and outline, or take a model that"
                " holds more"
            )
        lowest = min(range(len(left)), key=lambda place: (_relevance(left[place]), -place))
        out.append(left.pop(lowest))
        notes, draft = draft.notes, draft_of(topic, left, settings=settings, capabilities=capabilities)
        draft = replace(draft, notes=tuple(dict.fromkeys((*notes, *draft.notes))))
    told = (note("note_room", context, model, one.document.name) for one in out)
    return replace(draft, notes=(*draft.notes, *told))


def _relevance(brief: Brief) -> float:
    """By what a source is kept; one that nobody rated goes by its place."""
    return -1.0 if brief.relevance is None else brief.relevance


def _read(answer: Answer, read: Callable[[Reply], Reading[T]]) -> Reading[T]:
    if answer.reply is None:
        return Reading(None, "unreadable", f"no reply: {answer.failure.reason if answer.failure else 'none came'}")
    return read(answer.reply)


def _brief_read(job: BriefJob, answer: Answer, model: LanguageModel) -> Reading[Brief]:
    return _read(answer, lambda reply: read_brief(job, reply, model=model.id))


def _draft_read(draft: Draft, answer: Answer, model: LanguageModel) -> Reading[Article]:
    return _read(answer, lambda reply: read_draft(draft, reply, model=model.id))


def _mends(reading: Reading[T], answer: Answer) -> bool:
    """Whether it is worth asking once more: there is a reply, and it could not be read."""
    return reading.value is None and answer.reply is not None


def _second(first: Reading[T], second: Reading[T]) -> Reading[T]:
    if second.value is not None:
        return second
    return second.without_value(second.outcome, f"{first.reason}; asked once more: {second.reason}")


def _brief(job: BriefJob, reading: Reading[Brief] | None) -> Brief:
    if reading is None:
        return unbriefed(job, "none of its sentences may be quoted, so it was not asked")
    return unbriefed(job, reading.reason) if reading.value is None else reading.value


def _language(topic: str) -> str:
    return nearest_language(detect_language(topic))
