"""Raters on labelled pairs of topic and article: how well each tells them apart, and what it costs."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.language import LanguageModel
from groundwire.core.ports import Embedder, Progress
from groundwire.core.types import Interval, RaterName, ScoredSource, Source
from groundwire.evaluation.ordering import Drawing, rank_agreement, separation
from groundwire.evaluation.pairs import LabelledPair
from groundwire.flow.archives import IN_MEMORY, open_archive, opened
from groundwire.flow.plan import Plan, Price
from groundwire.flow.rating import Job, JobDone, rate_jobs
from groundwire.flow.records import Cost
from groundwire.flow.registry import embedder as embedder_named
from groundwire.flow.remembering import RememberingEmbedder
from groundwire.flow.runs import PlanOnly, Recording
from groundwire.flow.searches import search_settings
from groundwire.flow.settings import Settings
from groundwire.writing import raters
from groundwire.writing.raters import RaterSettings
from groundwire.writing.score import score

REFERENCE: RaterName = "readings"
"""The rater that the order of all others is compared with."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a rater's calls came to, those that the ledger already had included; equal calls count once.

    ``seconds`` are those that the calls took when they were made.
    """

    calls: int = 0
    repairs: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    money: Cost | None = None


@dataclass(frozen=True, slots=True)
class RaterFigures:
    """One rater (of one model; empty for ``builtin``) on all pairs.

    Attributes:
        separation: see ``evaluation.ordering.separation``, over all pairs.
        within: the same among the articles of each topic.
        agreement: tau-b with ``readings`` of the same model; None where those were not asked for.
        ratings: one a pair, in order.
        note: what the rater had to give up.
    """

    rater: RaterName
    model: str
    separation: Interval
    within: Interval
    agreement: Interval | None
    spent: Spent
    ratings: tuple[ScoredSource, ...]
    note: str = ""

    @property
    def name(self) -> str:
        """Rater and model."""
        return f"{self.rater} {self.model}".strip()


@dataclass(frozen=True, slots=True)
class RateBench:
    """What raters made of the same pairs."""

    pairs: tuple[LabelledPair, ...]
    raters: tuple[RaterFigures, ...]
    embedder: str

    @property
    def clusters(self) -> int:
        """How many clusters the pairs are in."""
        return len({pair.cluster for pair in self.pairs})

    def rows(self) -> tuple[dict[str, object], ...]:
        """One row a pair and rater, from which every figure can be computed again."""
        return tuple(
            {
                "id": pair.id, "topic": pair.topic, "relevant": pair.relevant, "cluster": pair.cluster,
                "rater": each.rater, "model": each.model, "rating": found.relevance, "readings": list(found.readings),
                "reason": found.reason,
            }
            for each in self.raters
            for pair, found in zip(self.pairs, each.ratings, strict=True)
        )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write ``rows`` as JSON Lines."""
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in self.rows()), encoding="utf-8")

    def facts(self) -> Mapping[str, object]:
        """All but the single ratings, as plain data."""
        return {
            "pairs": len(self.pairs), "clusters": self.clusters, "embedder": self.embedder,
            "raters": [
                {
                    "rater": each.rater, "model": each.model, "separation": asdict(each.separation),
                    "within": asdict(each.within), "agreement": asdict(each.agreement) if each.agreement else None,
                    "spent": asdict(each.spent), "note": each.note,
                }
                for each in self.raters
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asking:
    """What all calls of a bench share."""

    recording: Recording
    settings: Settings
    progress: Progress | None


def bench_rate(
    pairs: Sequence[LabelledPair],
    *,
    names: Sequence[RaterName],
    models: Mapping[str, LanguageModel],
    recording: Recording,
    settings: Settings,
    progress: Progress | None = None,
) -> RateBench:
    """Rate every pair by every rater of every model, and by the built-in one once.

    Args:
        pairs: labelled; two or more of unequal grade.
        names: the raters.
        models: by id.
        recording: the run that asks them.
        settings: embedder and search of the built-in rater, how intervals are drawn, the folder of prompts.
        progress: is told how far it is.

    Raises:
        UsageError: no two pairs have unequal grades, a rater on a model has no model, or a model cannot serve one.
        PlanOnly: a dry run; with the plan of every model.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    if len({pair.relevant for pair in pairs}) < 2:
        raise UsageError(f"{len(pairs)} pairs have one and the same label: there is nothing to tell apart")
    asking = [name for name in dict.fromkeys(names) if name != "builtin"]
    if asking and not models:
        raise UsageError(f"{', '.join(asking)} ask a model, and none is given. Name one, or compare 'builtin' alone")
    sources = sources_of(pairs, settings=settings)
    figures: list[RaterFigures] = []
    if "builtin" in names:
        rated = tuple(score(pair.topic, [source])[0] for pair, source in zip(pairs, sources, strict=True))
        figures.append(_figures("builtin", "", pairs=pairs, rated=rated, settings=settings))
    plans: list[Plan] = []
    for model in models.values():
        try:
            figures += _of_model(pairs, sources, asking, model=model, asking=_Asking(recording, settings, progress))
        except PlanOnly as planned:
            plans += planned.plans
    if plans:
        raise PlanOnly(*plans)
    return RateBench(tuple(pairs), _with_agreement(pairs, figures, settings), settings.embedder)


def sources_of(pairs: Sequence[LabelledPair], *, settings: Settings, embedder: Embedder | None = None) -> list[Source]:
    """Each pair's article with all its sentences as hits for its topic, as a search in it alone finds them."""
    model = RememberingEmbedder(embedder or embedder_named(settings.embedder, threads=settings.threads))
    how = search_settings(settings.search)
    found = []
    for pair in pairs:
        with opened(open_archive(IN_MEMORY, embedder=model)) as archive:
            archive.add([pair.document])
            sentences = archive.sentences([pair.id]).get(pair.id, ())
            most = max(1, len(sentences))
            hits = archive.search(pair.topic, k=most, settings=replace(how, candidates=most))
            found.append(Source(pair.document, hits, sentences, model.id))
    return found


def _of_model(
    pairs: Sequence[LabelledPair],
    sources: Sequence[Source],
    names: Sequence[RaterName],
    *,
    model: LanguageModel,
    asking: _Asking,
) -> list[RaterFigures]:
    """Every rater of one model; all are asked together, so that what they share is read once."""
    if not names:
        return []
    able = asking.recording.capabilities(model)
    folder = Path(asking.settings.prompts) if asking.settings.prompts else None
    how = RaterSettings(prompts=folder)
    made = [raters.rater(name, model=model.id, capabilities=able, settings=how) for name in names]
    for each in made:
        if each.note:
            _log.warning(each.note)
    jobs = [Job(rater, pair.topic, source) for rater in made for pair, source in zip(pairs, sources, strict=True)]
    done = rate_jobs(jobs, model=model, recording=asking.recording, progress=asking.progress)
    figures = []
    for place, (name, rater) in enumerate(zip(names, made, strict=True)):
        own = done[place * len(pairs) : (place + 1) * len(pairs)]
        rated = tuple(each.scored for each in own)
        spent = spent_on(own, price=asking.recording.price(model.id))
        found = _figures(name, model.id, pairs=pairs, rated=rated, settings=asking.settings)
        figures.append(replace(found, spent=spent, note=rater.note))
    return figures


def spent_on(done: Sequence[JobDone], *, price: Price | None = None) -> Spent:
    """What the calls of these jobs came to."""
    answers = {answer.request: answer for each in done for answer in each.answers}
    asked = [answer for answer in answers.values() if answer.reply is not None]
    usages = [answer.reply.usage for answer in asked if answer.reply is not None]
    costs = [price.of(usage) for usage in usages] if price else []
    return Spent(
        calls=len(asked),
        repairs=sum("+" in answer.request.prompt for answer in asked),
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        seconds=round(sum(answer.seconds for answer in asked), 1),
        money=Cost(sum((cost.amount for cost in costs), Decimal(0)), price.currency) if price else None,
    )


def _figures(
    name: RaterName, model: str, *, pairs: Sequence[LabelledPair], rated: tuple[ScoredSource, ...], settings: Settings
) -> RaterFigures:
    values, grades = [found.relevance for found in rated], [pair.relevant for pair in pairs]
    clusters, drawing = [pair.cluster for pair in pairs], _drawing(settings)
    apart, inside = (
        separation(values, grades, clusters=clusters, drawing=drawing, within=within) for within in (False, True)
    )
    return RaterFigures(name, model, apart, inside, None, Spent(), rated)


def _with_agreement(
    pairs: Sequence[LabelledPair], figures: Sequence[RaterFigures], settings: Settings
) -> tuple[RaterFigures, ...]:
    """The same with how far each orders pairs as the readings of its model do; ``builtin`` as those of the first."""
    clusters = [pair.cluster for pair in pairs]
    told = {each.model: each for each in reversed(figures) if each.rater == REFERENCE}
    first = next((each for each in figures if each.rater == REFERENCE), None)
    found = []
    for each in figures:
        other = told.get(each.model, first if each.rater == "builtin" else None)
        if other is not None and other is not each:
            values, theirs = ([one.relevance for one in which.ratings] for which in (each, other))
            tau = rank_agreement(values, theirs, clusters=clusters, drawing=_drawing(settings))
            found.append(replace(each, agreement=tau))
        else:
            found.append(each)
    return tuple(found)


def _drawing(settings: Settings) -> Drawing:
    return Drawing(settings.judge.level, settings.judge.resamples, settings.judge.seed)
