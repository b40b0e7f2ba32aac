"""Rate documents against a topic, 0 to 100, and keep the good ones.

The built-in rater needs no model: it maps what the search found (how near the best sentences are, and how much of the
topic's words they hold) to the chance that a person calls the document relevant, through a logistic curve fitted on
labelled news queries for each embedder (``calibration.json``; the script is ``benchmarks/fit_rater.py``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from groundwire.core.errors import UsageError
from groundwire.core.text import content_words
from groundwire.core.types import Band, Hit, ScoredSource, Source

BANDS: tuple[tuple[float, Band], ...] = ((70, "high"), (50, "middle"), (30, "low"))
"""A relevance above the number falls into the band; from ``KEEP_AT_LEAST`` to 30 it is ``trace``."""

KEEP_AT_LEAST = 20.0
"""Below this a source is dropped (ScoreRAG, arXiv:2506.03704)."""

NEAREST = 3
"""How many of a source's sentences the rating looks at."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve: ``100 / (1 + exp(-(intercept + similarity s + coverage c)))``.

    Attributes:
        embedder: the embedder whose similarities the curve was fitted on; ``""`` for the curve by words alone.
        sentence_weight: the weight the similarities were searched with when the curve was fitted.
        intercept: the constant term.
        similarity: weight of the mean similarity of the source's ``NEAREST`` best sentences (0 for words alone).
        coverage: weight of the share of the topic's content words that these sentences and the title hold.
    """

    embedder: str
    sentence_weight: float
    intercept: float
    similarity: float
    coverage: float


def calibration(embedder: str) -> Calibration:
    """The curve fitted for an embedder; the curve by words alone where there is none."""
    stored = json.loads(files("groundwire.writing").joinpath("calibration.json").read_text(encoding="utf-8"))
    curves = {curve["embedder"]: Calibration(**curve) for curve in stored["curves"]}
    return curves.get(embedder, curves[""])


def band_of(relevance: float | None, *, at_least: float = KEEP_AT_LEAST) -> Band | None:
    """The band of a relevance: high > 70 >= middle > 50 >= low > 30 >= trace >= 20; None below, or when unscored."""
    if relevance is None or relevance < at_least:
        return None
    return next((band for above, band in BANDS if relevance > above), "trace")


def score(topic: str, sources: Sequence[Source]) -> tuple[ScoredSource, ...]:
    """Rate each source against the topic with the built-in rater, by the curve of its embedder.

    Returns:
        Sources by relevance down; ties by the strength of the best hit down, then by document id up.

    Raises:
        UsageError: the topic is blank.
    """
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    curves = {name: calibration(name) for name in {source.embedder for source in sources}}
    rated = [_rated(topic, source, curves[source.embedder]) for source in sources]
    return tuple(sorted(rated, key=_order))


def keep(scored: Iterable[ScoredSource], *, at_least: float = KEEP_AT_LEAST) -> tuple[ScoredSource, ...]:
    """The sources whose relevance reaches a threshold (0 to 100); unscored ones are not among them."""
    return tuple(source for source in scored if source.relevance is not None and source.relevance >= at_least)


def features(topic: str, source: Source) -> tuple[float | None, float]:
    """What the rating rests on: mean similarity of the nearest sentences (None without vectors), coverage (0 to 1)."""
    nearest = sorted(source.hits, key=lambda hit: -(hit.similarity or 0.0))[:NEAREST]
    return _similarity(nearest), coverage(topic, [source.document.title, *(hit.sentence.text for hit in source.hits)])


def coverage(topic: str, texts: Iterable[str]) -> float:
    """Share of the topic's distinct content words that occur in the texts, 0 to 1; 0 for a topic without any."""
    wanted = set(content_words(topic))
    found = {word for text in texts for word in content_words(text)}
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _rated(topic: str, source: Source, curve: Calibration) -> ScoredSource:
    similarity, covered = features(topic, source)
    if curve.similarity and similarity is None:
        curve = calibration("")
    value = curve.intercept + curve.coverage * covered + curve.similarity * (similarity or 0.0)
    relevance = round(100 / (1 + math.exp(-value)), 1)
    words = f"{covered:.0%} of the topic's words"
    reason = f"{words}, similarity {similarity:.3f}" if curve.similarity else f"{words} (rated by words alone)"
    return ScoredSource(source, relevance, (relevance,), band_of(relevance), reason)


def _similarity(hits: Sequence[Hit]) -> float | None:
    values = [hit.similarity for hit in hits if hit.similarity is not None]
    return sum(values) / len(values) if values else None


def _order(scored: ScoredSource) -> tuple[float, float, str]:
    relevance = -1.0 if scored.relevance is None else scored.relevance
    strongest = max((hit.strength for hit in scored.source.hits), default=-math.inf)
    return (-relevance, -strongest, scored.source.document.id)
