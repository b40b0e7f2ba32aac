"""A query -> ranked hits: by meaning (dense), by words (lexical) or both (hybrid). Ties are settled here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Embedder, Vector, VectorStore
from groundwire.core.types import Filter, Fusion, Hit, Match, Mode, Sentence
from groundwire.retrieval.blend import weighted_query

RRF_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


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
    """

    mode: Mode = "hybrid"
    sentence_weight: float = 0.6
    fusion: Fusion = "zscore"
    lexical_weight: float = 0.5
    candidates: int = 100
    where: Filter = EVERYTHING

    def __post_init__(self) -> None:
        if not 0 <= self.sentence_weight <= 1:
            raise UsageError(f"sentence_weight is {self.sentence_weight}; it runs from 0 to 1")
        if self.lexical_weight < 0:
            raise UsageError(f"lexical_weight is {self.lexical_weight}; it must be 0 or more")
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
        found = store.lexical(query, k=k, where=settings.where)
        return _ranked({match.sentence.id: match for match in found}, bm25=_values(found))
    vector = weighted_query(embedder.embed([query], role="query")[0], sentence_weight=settings.sentence_weight)
    if settings.mode == "dense":
        found = store.dense(vector, k=k, where=settings.where)
        return _ranked({match.sentence.id: match for match in found}, similarity=_values(found))
    return _hybrid(query, vector, store=store, k=k, settings=settings)


def _hybrid(query: str, vector: Vector, *, store: VectorStore, k: int, settings: SearchSettings) -> tuple[Hit, ...]:
    wide = max(k, settings.candidates)
    dense = store.dense(vector, k=wide, where=settings.where)
    lexical = store.lexical(query, k=wide, where=settings.where)
    matches = {match.sentence.id: match for match in (*dense, *lexical)}
    similarity, bm25 = _values(dense), _values(lexical)
    no_similarity = [name for name in matches if name not in similarity]
    no_bm25 = [name for name in matches if name not in bm25]
    if no_similarity:
        similarity |= _values(store.dense(vector, k=len(no_similarity), where=EVERYTHING, among=no_similarity))
    if no_bm25 and lexical:
        bm25 |= _values(store.lexical(query, k=len(no_bm25), where=EVERYTHING, among=no_bm25))
    # What the engine still does not list holds none of the query's words: its BM25 value is 0 by definition.
    bm25 = {name: bm25.get(name, 0.0) for name in matches}
    return _ranked(matches, similarity=similarity, bm25=bm25, settings=settings)[:k]


def _values(matches: tuple[Match, ...]) -> dict[str, float]:
    return {match.sentence.id: match.value for match in matches}


def _ranked(
    matches: Mapping[str, Match],
    *,
    similarity: Mapping[str, float] | None = None,
    bm25: Mapping[str, float] | None = None,
    settings: SearchSettings | None = None,
) -> tuple[Hit, ...]:
    names = sorted(matches)
    strengths = _strengths(names, similarity=similarity, bm25=bm25, settings=settings)
    order = sorted(zip(names, strengths, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return tuple(
        Hit(
            sentence=_sentence(matches, name),
            rank=rank,
            strength=strength,
            similarity=None if similarity is None else similarity[name],
            bm25=None if bm25 is None else bm25[name],
        )
        for rank, (name, strength) in enumerate(order, start=1)
    )


def _sentence(matches: Mapping[str, Match], name: str) -> Sentence:
    return matches[name].sentence


def _strengths(
    names: list[str],
    *,
    similarity: Mapping[str, float] | None,
    bm25: Mapping[str, float] | None,
    settings: SearchSettings | None,
) -> list[float]:
    sides = [np.array([side[name] for name in names]) for side in (similarity, bm25) if side is not None]
    if settings is None or not names:
        return [float(value) for value in sides[0]]
    mix = _zscores if settings.fusion == "zscore" else _reciprocal_ranks
    dense, lexical = (mix(side) for side in sides)
    return [float(value) for value in (dense + settings.lexical_weight * lexical) / (1 + settings.lexical_weight)]


def _zscores(values: Vector) -> Vector:
    spread = values.std()
    return np.zeros(len(values)) if spread == 0 else (values - values.mean()) / spread


def _reciprocal_ranks(values: Vector) -> Vector:
    """1 / (constant + rank); equal values share the rank of the first of them."""
    ranks = 1 + (values[:, None] < values[None, :]).sum(axis=1)
    return np.asarray(1.0 / (RRF_CONSTANT + ranks))
