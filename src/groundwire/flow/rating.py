"""Rate what a search found: by the built-in rater, or by a model through the ledger."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.language import LanguageModel, Request
from groundwire.core.ports import Progress
from groundwire.core.prompts import LANGUAGES, load, nearest_language
from groundwire.core.replies import Reading, repair_request
from groundwire.core.text import detect_language
from groundwire.core.types import RaterName, ScoredSource, Source
from groundwire.flow.runs import Recording
from groundwire.writing import raters
from groundwire.writing.raters import Rater, RaterSettings
from groundwire.writing.safety import Obeyed, lower, without_orders
from groundwire.writing.score import in_order, score

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rated:
    """Sources in order of relevance, the unscored last.

    ``rater`` is the one that rated, ``note`` what it had to give up (empty where nothing). ``orders`` are the sources
    that give orders to a model; each was rated without them, too, and the lower rating counts.
    """

    scored: tuple[ScoredSource, ...]
    rater: RaterName
    note: str = ""
    orders: tuple[Obeyed, ...] = ()

    @property
    def unscored(self) -> int:
        """How many sources have no rating."""
        return sum(source.relevance is None for source in self.scored)


@dataclass(frozen=True, slots=True)
class Job:
    """One source to be rated by one rater."""

    rater: Rater
    topic: str
    source: Source


@dataclass(frozen=True, slots=True)
class JobDone:
    """What came of a job: the source with its rating, and every answer that it rests on, repairs last."""

    scored: ScoredSource
    answers: tuple[Answer, ...]


def rate(
    topic: str,
    sources: Sequence[Source],
    *,
    how: RaterName,
    recording: Recording | None = None,
    model: LanguageModel | None = None,
    settings: RaterSettings | None = None,
) -> Rated:
    """Rate sources against a topic.

    Args:
        topic: what the article is about.
        sources: documents with the hits that speak for them.
        how: the rater.
        recording: the run that asks the model; not needed for ``builtin``.
        model: who is asked; not needed for ``builtin``.
        settings: of raters on models.

    Raises:
        UsageError: the topic is blank, a rater on a model has no model, or the model cannot serve the rater.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    cleaned = {one.document.id: found for one in sources if (found := without_orders(one)) is not None}
    also = [found for found, _ in cleaned.values()]
    if how == "builtin":
        return _lower(Rated(score(topic, sources), how), score(topic, also), cleaned)
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    if recording is None or model is None:
        raise UsageError(f"the rater '{how}' asks a model, and none is given. Name one, or rate with 'builtin'")
    rater = raters.rater(how, model=model.id, capabilities=recording.capabilities(model), settings=settings)
    if rater.note:
        _log.warning(rater.note)
    jobs = [Job(rater, topic, source) for source in (*sources, *also)]
    done = [each.scored for each in rate_jobs(jobs, model=model, recording=recording)]
    rated = Rated(in_order(done[: len(sources)]), rater.name, rater.note)
    return _lower(rated, done[len(sources) :], cleaned)


def _lower(rated: Rated, also: Sequence[ScoredSource], cleaned: Mapping[str, tuple[Source, str]]) -> Rated:
    """Ratings that the orders in a source cannot raise."""
    without = {each.source.document.id: each for each in also}
    orders = {name: order for name, (_, order) in cleaned.items()}
    scored, told = lower(rated.scored, without, orders=orders)
    return replace(rated, scored=in_order(scored), orders=told)


def rate_jobs(
    jobs: Sequence[Job], *, model: LanguageModel, recording: Recording, progress: Progress | None = None
) -> tuple[JobDone, ...]:
    """Rate by raters on one model; what cannot be read is asked for once more, and is unscored after that.

    Requests go out in the order of their words, so that a model that keeps what it has read reads a common beginning
    once; results come in the order of the jobs.

    Raises:
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    wanted = [raters.requests(job.rater, job.topic, source=job.source) for job in jobs]
    _take_down(jobs, wanted, recording)
    answers = _asked([request for each in wanted for request in each], model=model, recording=recording, told=progress)
    first = [[answers[request] for request in each] for each in wanted]
    readings = [[raters.read(job.rater, answer) for answer in each] for job, each in zip(jobs, first, strict=True)]
    again = [
        [_repair(job, answer, reading) for answer, reading in zip(answered, read, strict=True)]
        for job, answered, read in zip(jobs, first, readings, strict=True)
    ]
    repairs = [request for each in again for request in each if request is not None]
    repaired = _asked(repairs, model=model, recording=recording, told=progress) if repairs else {}
    done = []
    for job, answered, read, asked in zip(jobs, first, readings, again, strict=True):
        further = [None if request is None else repaired[request] for request in asked]
        final = [
            reading if answer is None else _after_repair(job.rater, answer, reading)
            for answer, reading in zip(further, read, strict=True)
        ]
        kept = (*answered, *(answer for answer in further if answer is not None))
        done.append(JobDone(raters.rated(job.rater, job.source, readings=final), kept))
    return tuple(done)


def _asked(
    requests: Sequence[Request], *, model: LanguageModel, recording: Recording, told: Progress | None
) -> dict[Request, Answer]:
    """Answers by request."""
    ordered = sorted(dict.fromkeys(requests), key=lambda request: [message.text for message in request.messages])
    return dict(zip(ordered, recording.ask(ordered, model=model, progress=told), strict=True))


def _repair(job: Job, answer: Answer, reading: Reading[float]) -> Request | None:
    """The one further call for a reply that could not be read; None where there is nothing to repair."""
    if reading.value is not None or answer.reply is None or answer.request.given:
        return None
    return repair_request(answer.request, reading, language=_language(job.topic), folder=job.rater.settings.prompts)


def _after_repair(rater: Rater, answer: Answer, before: Reading[float]) -> Reading[float]:
    found = raters.read(rater, answer)
    why = f"{before.reason}; asked once more: {found.reason}"
    return found if found.value is not None else found.without_value(found.outcome, why)


def _take_down(jobs: Sequence[Job], wanted: Sequence[Sequence[Request]], recording: Recording) -> None:
    """Note seeds and prompts of the jobs."""
    prompts = {request.prompt for each in wanted for request in each}
    folder = jobs[0].rater.settings.prompts if jobs else None
    for name in ("rating", "rating-scorerag", "rating-yesno", "likelihood"):
        for language in LANGUAGES:
            found = load(name, language, folder=folder)
            if found.fingerprint in prompts:
                recording.prompt(f"{name}.{language}", found.fingerprint)
    for number, seed in enumerate(sorted({job.rater.settings.seed for job in jobs if job.rater.name == "readings"})):
        recording.seed("readings" if not number else f"readings {number + 1}", seed)


def _language(topic: str) -> str:
    return nearest_language(detect_language(topic))
