"""A query -> ranked hits: by meaning (dense), by words (lexical) or both (hybrid). Ties are settled here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import get_args

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Embedder, Vector, VectorStore
from groundwire.core.types import Filter, Fusion, Hit, Match, Mode, Sentence
from groundwire.retrieval.blend import weighted_query

RRF_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

VALUE_DECIMALS = 6
"""Values are compared to this many decimals: what differs by less is a tie, however an engine rounds its sums."""

EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to search.

    Attributes:
        mode: ``dense``, ``lexical`` or ``hybrid``.
        sentence_weight: 0 (passage only) to 1 (sentence only); ParetoRAG proposes 0.8.
        fusion: how ``hybrid`` mixes: ``zscore`` or ``rrf`` (reciprocal ranks).
        lexical_weight: weight of the words beside 1 for the vectors; 0 and up.
        candidates: how many sentences each side proposes to ``hybrid``, at least k.
        where: what may be returned.

    Raises:
        UsageError: a value is out of its range.
    """

    mode: Mode = "hybrid"
    sentence_weight: float = 0.6
    fusion: Fusion = "zscore"
    lexical_weight: float = 0.5
    candidates: int = 100
    where: Filter = EVERYTHING

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise UsageError(f"mode is {self.mode!r}; it can be {', '.join(get_args(Mode))}")
        if self.fusion not in get_args(Fusion):
            raise UsageError(f"fusion is {self.fusion!r}; it can be {', '.join(get_args(Fusion))}")
        if not 0 <= self.sentence_weight <= 1:
            raise UsageError(f"sentence_weight is {self.sentence_weight}; it runs from 0 to 1")
        if not (self.lexical_weight >= 0 and isfinite(self.lexical_weight)):
            raise UsageError(f"lexical_weight is {self.lexical_weight}; it must be a number, 0 or more")
        if self.candidates < 1:
            raise UsageError(f"candidates is {self.candidates}; it must be 1 or more")


def search(query: str, *, store: VectorStore, embedder: Embedder, k: int, settings: SearchSettings) -> tuple[Hit, ...]:
    """The k best sentences for a query, fewer where the archive or the filter holds fewer.

    ``hybrid`` takes the union of what both sides propose, computes the values that a side did not propose (none is
    taken as zero), and mixes. Order: strength down, then sentence id up.

    Raises:
        UsageError: the query is blank, or k is below 1.
    """
    if not query.strip():
        raise UsageError("the query is blank; give at least one word")
    if k < 1:
        raise UsageError(f"k is {k}; it must be 1 or more")
    if settings.mode == "lexical":
        lexical = _Side(store.lexical(query, k=k, where=settings.where))
        return _hits(lexical.values, lexical.sentences, k=k, bm25=lexical.values)
    vector = weighted_query(embedder.embed([query], role="query")[0], sentence_weight=settings.sentence_weight)
    if settings.mode == "dense":
        dense = _Side(store.dense(vector, k=k, where=settings.where))
        return _hits(dense.values, dense.sentences, k=k, similarity=dense.values)
    return _hybrid(query, vector, store=store, k=k, settings=settings)


class _Side:
    """What one side of a search found: sentences and values by sentence id."""

    def __init__(self, matches: Iterable[Match]) -> None:
        self.sentences = {match.sentence.id: match.sentence for match in matches}
        self.values = {match.sentence.id: round(match.value, VALUE_DECIMALS) for match in matches}


def _hybrid(query: str, vector: Vector, *, store: VectorStore, k: int, settings: SearchSettings) -> tuple[Hit, ...]:
    wide = max(k, settings.candidates)
    dense = _Side(store.dense(vector, k=wide, where=settings.where))
    lexical = _Side(store.lexical(query, k=wide, where=settings.where))
    sentences = dense.sentences | lexical.sentences
    similarity, bm25 = dense.values, lexical.values
    if unknown := sorted(sentences.keys() - similarity.keys()):
        similarity = similarity | _Side(store.dense(vector, k=len(unknown), where=EVERYTHING, among=unknown)).values
    # Where no allowed sentence holds a word of the query, there is nothing to ask for.
    if bm25 and (unknown := sorted(sentences.keys() - bm25.keys())):
        bm25 = bm25 | _Side(store.lexical(query, k=len(unknown), where=EVERYTHING, among=unknown)).values
    names = sorted(similarity)  # without those that another process removed between the questions
    similarity = {name: similarity[name] for name in names}
    # What the engine does not list holds none of the query's words: its BM25 value is 0 by definition.
    bm25 = {name: bm25.get(name, 0.0) for name in names}
    return _hits(_mixed(similarity, bm25, settings=settings), sentences, k=k, similarity=similarity, bm25=bm25)


def _hits(
    strengths: Mapping[str, float],
    sentences: Mapping[str, Sentence],
    *,
    k: int,
    similarity: Mapping[str, float] | None = None,
    bm25: Mapping[str, float] | None = None,
) -> tuple[Hit, ...]:
    best = sorted(strengths, key=lambda name: (-strengths[name], name))[:k]
    return tuple(
        Hit(
            sentence=sentences[name],
            rank=rank,
            strength=strengths[name],
            similarity=None if similarity is None else similarity[name],
            bm25=None if bm25 is None else bm25[name],
        )
        for rank, name in enumerate(best, start=1)
    )


def _mixed(similarity: Mapping[str, float], bm25: Mapping[str, float], *, settings: SearchSettings) -> dict[str, float]:
    """Strengths of the candidates, from both sides' values in the same order of names."""
    scaled = _zscores if settings.fusion == "zscore" else _reciprocal_ranks
    dense, lexical = (scaled(np.array(list(side.values()), dtype=np.float64)) for side in (similarity, bm25))
    strengths = (dense + settings.lexical_weight * lexical) / (1 + settings.lexical_weight)
    return dict(zip(similarity, strengths.tolist(), strict=True))


def _zscores(values: Vector) -> Vector:
    """How many standard deviations above the mean of the candidates; 0 where all are equal."""
    if values.size == 0 or np.ptp(values) == 0:
        return np.zeros(values.size)
    return np.asarray((values - values.mean()) / values.std())


def _reciprocal_ranks(values: Vector) -> Vector:
    """1 / (constant + rank); equal values share the rank of the first of them."""
    larger = values.size - np.searchsorted(np.sort(values), values, side="right")
    return np.asarray(1.0 / (RRF_CONSTANT + 1 + larger))
