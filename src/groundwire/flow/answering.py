"""Answer questions from an archive: search, pack, answer by a model or without one, and check what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress
from groundwire.core.types import Document, Evidence, Filter, Verdict
from groundwire.evaluation.measures import is_refusal
from groundwire.flow.checking import check_article
from groundwire.flow.searches import pack_hits, search_settings
from groundwire.flow.settings import Settings
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.writing.answers import (
    Answered,
    AnswerSettings,
    QuestionAsked,
    extract_answer,
    question_asked,
    read_answer,
)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with the verdicts of its claims, the documents it rests on and the call that it took.

    ``call`` is None without a model, and where there was no evidence to ask about. ``notes`` say what was left out.
    """

    answered: Answered
    verdicts: tuple[Verdict, ...]
    documents: tuple[Document, ...]
    call: Answer | None = None
    notes: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether there is an answer, and every claim of it is supported."""
        return bool(self.verdicts) and all(verdict.support == "supported" for verdict in self.verdicts)

    @property
    def stands(self) -> bool:
        """Whether there is an answer, and the sources hold each claim of it at least in part."""
        return bool(self.verdicts) and all(verdict.support in ("supported", "partly") for verdict in self.verdicts)

    def as_data(self) -> dict[str, object]:
        """For JSON: the answer with its citations, what it was given, and whether that carries it."""
        found = self.answered
        titles = {document.id: document.name for document in self.documents}
        return {
            "question": found.question,
            "answer": found.text,
            "abstained": found.abstained,
            "outcome": found.outcome,
            "reason": found.reason,
            "claims": [asdict(claim) for claim in found.claims],
            "citations": [{**asdict(each), "title": titles[each.document_id]} for each in found.citations],
            "verdicts": [{"claim": each.claim.id, "support": each.support, "reason": each.reason}
                         for each in self.verdicts],
            "unknown_citations": list(found.unknown),
            "evidence": [{**asdict(hit.sentence), "rank": hit.rank} for hit in found.evidence.hits],
            "evidence_tokens": found.evidence.tokens,
            "notes": list(self.notes),
        }  # fmt: skip


def answer(
    archive: Archive,
    question: str,
    *,
    settings: Settings | None = None,
    where: Filter | None = None,
    assistant: Assistant | None = None,
) -> CheckedAnswer:
    """Answer one question: short, cited and checked; or say that the archive does not say.

    Args:
        archive: where the evidence is.
        question: one question.
        settings: how to search and pack, and ``answer`` for the rest; None: the defaults.
        where: which documents may be found.
        assistant: who answers; None: sentences of the evidence word for word.

    Raises:
        UsageError: the question is blank, or the settings name a model and none is given.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    (found,) = answer_all(archive, [question], settings=settings or Settings(), where=where, assistant=assistant)
    return found


def answer_all(
    archive: Archive,
    questions: Sequence[str],
    *,
    settings: Settings,
    where: Filter | None = None,
    assistant: Assistant | None = None,
    progress: Progress | None = None,
) -> tuple[CheckedAnswer, ...]:
    """The same for several, in order; a model is asked for all of them at once.

    Raises:
        UsageError, ModelError, BudgetReached, CannotDo: as ``answer``.
    """
    if settings.answer.model and assistant is None:
        raise UsageError(
            f"the settings name '{settings.answer.model}' to answer, and no run is given that asks it. Hand over an"
            " assistant, or leave answer.model empty"
        )
    if not all(question.strip() for question in questions):
        raise UsageError("a question is blank; say in a sentence what you want to know")
    packed = [_evidence(archive, question, settings=settings, where=where) for question in questions]
    if assistant is None:
        how = _settings(settings, system=True)
        found = [extract_answer(question, each, settings=how) for question, each in zip(questions, packed, strict=True)]
        return tuple(_checked(archive, each) for each in found)
    return _by_model(archive, questions, packed, settings=settings, assistant=assistant, progress=progress)


def _by_model(
    archive: Archive,
    questions: Sequence[str],
    packed: Sequence[Evidence],
    *,
    settings: Settings,
    assistant: Assistant,
    progress: Progress | None,
) -> tuple[CheckedAnswer, ...]:
    how = _settings(settings, system=assistant.recording.capabilities(assistant.model).system)
    asked = [
        question_asked(question, each, settings=how) if each.hits else None
        for question, each in zip(questions, packed, strict=True)
    ]
    for name, fingerprint in dict.fromkeys((one.prompt, one.request.prompt) for one in asked if one):
        assistant.recording.prompt(name, fingerprint)
    wanted = [one.request for one in asked if one]
    recording, model = assistant.recording, assistant.model
    answers = iter(recording.ask(wanted, model=model, progress=progress, only_fitting=True) if wanted else ())
    found = []
    for question, each, one in zip(questions, packed, asked, strict=True):
        if one is None:  # nothing was found: there is nothing to ask about
            found.append(_checked(archive, extract_answer(question, each, settings=how)))
            continue
        call = next(answers)
        found.append(_checked(archive, _read(call, one, each), call=call, notes=one.notes))
    return tuple(found)


def _read(call: Answer, asked: QuestionAsked, evidence: Evidence) -> Answered:
    if call.reply is None:
        why = call.failure.reason if call.failure else "no reply"
        return Answered(asked.question, "", (), evidence, "unreadable", why)
    return read_answer(call.reply, asked, evidence=evidence, refuses=is_refusal)


def _settings(settings: Settings, *, system: bool) -> AnswerSettings:
    how = settings.answer
    return AnswerSettings(how.form, how.least_coverage, how.language, system, settings.prompts_folder)


def _evidence(archive: Archive, question: str, *, settings: Settings, where: Filter | None) -> Evidence:
    options = settings.search
    hits = archive.search(question, k=options.k, settings=search_settings(options, where))
    return pack_hits(archive, hits, settings=settings)


def _checked(
    archive: Archive, found: Answered, *, call: Answer | None = None, notes: tuple[str, ...] = ()
) -> CheckedAnswer:
    """The answer with what the gates say of its claims."""
    article = found.article
    if article is None:
        return CheckedAnswer(found, (), (), call, notes)
    known = archive.store.documents(sorted({hit.sentence.document_id for hit in found.evidence.hits}))
    cited = {citation.document_id for citation in found.citations}
    verdicts = check_article(
        article,
        {name: document for name, document in known.items() if name in cited},
        others=[document for name, document in known.items() if name not in cited],
    ).verdicts
    return CheckedAnswer(found, verdicts, tuple(known[name] for name in sorted(cited)), call, notes)
