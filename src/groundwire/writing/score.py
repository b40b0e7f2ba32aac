"""Rate documents against a topic, 0 to 100, and keep the good ones.

The built-in rater needs no model: it maps what the search found (how near the best sentences are, and how much of the
topic's words they hold) to the chance that a person calls the document relevant, through a logistic curve fitted on
labelled news queries for each embedder (``calibration.json``; the script is ``benchmarks/fit_rater.py``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from groundwire.core.errors import UsageError
from groundwire.core.text import content_words, words
from groundwire.core.types import Band, Document, ScoredSource, Source
from groundwire.writing.reasons import note

BANDS = (70.0, 50.0, 30.0)
"""A relevance above the first is in the band ``high``, then ``middle``, ``low``; what is kept below is ``trace``."""

_NAMES: tuple[Band, ...] = ("high", "middle", "low")

KEEP_AT_LEAST = 20.0
"""Below this a source is dropped (ScoreRAG, arXiv:2506.03704)."""

_LOOKED_AT = 500
_HAN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTER = re.compile("[^\\W\\d_]")

NEAREST = 3
"""How many of a source's sentences the rating looks at."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve: ``100 / (1 + exp(-(intercept + similarity s + coverage c)))``.

    Attributes:
        embedder: the embedder whose similarities the curve was fitted on; ``""`` for the curve by words alone.
        across: whether it is for sources in another script than the topic (Chinese for English or the reverse), which
            share no words with it and lie farther away.
        sentence_weight: the weight the similarities were searched with when the curve was fitted.
        intercept: the constant term.
        similarity: weight of the mean similarity of the source's ``NEAREST`` best sentences (0 for words alone).
        coverage: weight of the share of the topic's content words that the source's hits and its title hold.
    """

    embedder: str
    across: bool
    sentence_weight: float
    intercept: float
    similarity: float
    coverage: float


Curves = Mapping[tuple[str, bool], Calibration]
"""Curves by embedder and ``across``; with one under ``("", False)`` for sources that can be rated by words alone."""


def calibrations() -> Curves:
    """The fitted curves."""
    stored = json.loads(files("groundwire.writing").joinpath("calibration.json").read_text(encoding="utf-8"))
    return {(curve["embedder"], curve["across"]): Calibration(**curve) for curve in stored["curves"]}


def band_of(
    relevance: float | None, *, at_least: float = KEEP_AT_LEAST, bands: tuple[float, float, float] = BANDS
) -> Band | None:
    """The band of a relevance: high > 70 >= middle > 50 >= low > 30 >= trace >= 20; None below, or when unscored."""
    if relevance is None or relevance < at_least:
        return None
    return next((name for above, name in zip(bands, _NAMES, strict=True) if relevance > above), "trace")


def score(topic: str, sources: Sequence[Source], *, curves: Curves | None = None) -> tuple[ScoredSource, ...]:
    """Rate each source against the topic with the built-in rater, by the curve of its embedder.

    Args:
        topic: what the article is about.
        sources: documents with the hits that speak for them.
        curves: those of ``calibrations`` unless others are given. A source without a curve or without similarities is
            rated by words alone, and its ``reason`` says so.

    Returns:
        Sources by relevance down; ties by the strength of the best hit down, then by document id up.

    Raises:
        UsageError: the topic is blank.
    """
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    known = calibrations() if curves is None else curves
    return in_order(_rated(topic, source, known) for source in sources)


def in_order(scored: Iterable[ScoredSource]) -> tuple[ScoredSource, ...]:
    """Sources by relevance down, the unscored last; ties by the strength of the best hit down, then by id up."""
    return tuple(sorted(scored, key=_order))


def keep(
    scored: Iterable[ScoredSource],
    *,
    at_least: float = KEEP_AT_LEAST,
    bands: tuple[float, float, float] = BANDS,
) -> tuple[ScoredSource, ...]:
    """The sources whose relevance reaches a threshold (0 to 100), in their bands; unscored ones are not among them.

    With a threshold below ``KEEP_AT_LEAST``, what lies between the two is kept in the band ``trace``.
    """
    return tuple(
        replace(source, band=band_of(source.relevance, at_least=at_least, bands=bands))
        for source in scored
        if source.relevance is not None and source.relevance >= at_least
    )


def ties(scored: Sequence[ScoredSource]) -> tuple[str, ...]:
    """Why sources of one rating stand in the order they do: a line for each group, by the strength of its best hits."""
    groups: dict[float, list[ScoredSource]] = {}
    for source in scored:
        if source.relevance is not None:
            groups.setdefault(source.relevance, []).append(source)
    return tuple(
        note(
            "tied",
            format(relevance, "g"),
            ", ".join(f"{one.source.document.name} ({_strongest(one):.3f})" for one in group),
        )
        for relevance, group in groups.items()
        if len(group) > 1
    )


def _strongest(scored: ScoredSource) -> float:
    return max((hit.strength for hit in scored.source.hits), default=-math.inf)


def features(topic: str, source: Source) -> tuple[float | None, float]:
    """What the rating rests on.

    Returns:
        The mean similarity of the ``NEAREST`` best sentences, None without any, and the share of the topic's content
        words that hits and title hold (0 to 1).
    """
    nearest = sorted((hit.similarity for hit in source.hits if hit.similarity is not None), reverse=True)[:NEAREST]
    similarity = sum(nearest) / len(nearest) if nearest else None
    return similarity, coverage(topic, [source.document.title, *(hit.sentence.text for hit in source.hits)])


def coverage(topic: str, texts: Iterable[str]) -> float:
    """Share of the topic's distinct content words that occur in the texts, 0 to 1; 0 for a topic without any word.

    A topic of function words only ("The Who") is taken by all its words.
    """
    terms = content_words if content_words(topic) else words
    wanted = set(terms(topic))
    found = {word for text in texts for word in terms(text)}
    return len(wanted & found) / len(wanted) if wanted else 0.0


def crosses_scripts(topic: str, document: Document) -> bool:
    """Whether one of topic and document is written in Chinese characters or kana, and the other is not."""
    return _is_han(topic) != _is_han(document.text[:_LOOKED_AT])


def _is_han(text: str) -> bool:
    han, letters = len(_HAN.findall(text)), len(_LETTER.findall(text))
    return 2 * han > letters  # a Chinese character says about as much as two or three letters


def _rated(topic: str, source: Source, curves: Curves) -> ScoredSource:
    similarity, covered = features(topic, source)
    across = crosses_scripts(topic, source.document)
    by_words = curves["", False]
    curve = by_words if similarity is None else curves.get((source.embedder, across), by_words)
    value = curve.intercept + curve.coverage * covered + curve.similarity * (similarity or 0.0)
    reason = f"{covered:.0%} of the topic's words"
    reason += f", similarity {similarity:.3f}" if curve.embedder else " (rated by words alone)"
    reason += ", in another script" if curve.across else ""
    relevance = round(50 * (1 + math.tanh(value / 2)), 1)  # the logistic curve, in a form that cannot overflow
    return ScoredSource(source, relevance, (relevance,), band_of(relevance), reason)


def _order(scored: ScoredSource) -> tuple[float, float, str]:
    relevance = -1.0 if scored.relevance is None else scored.relevance
    return (-relevance, -_strongest(scored), scored.source.document.id)
