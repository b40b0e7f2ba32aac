"""A query -> ranked hits: by meaning (dense), by words (lexical) or both (hybrid). Ties are settled here.

What the ranked sentences become (whole passages, windows, ...) is the ``shape``, see ``retrieval.shapes``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import get_args

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Embedder, Vector, VectorStore
from groundwire.core.types import Filter, Fusion, Hit, Mode, Passage, Preset, Sentence, Shape
from groundwire.retrieval import shapes
from groundwire.retrieval.blend import blend, weighted_query
from groundwire.retrieval.lexical import EVERYTHING, Found, Words, found, holding, phrases
from groundwire.retrieval.shapes import Placed

RRF_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to search.

    Attributes:
        mode: ``dense``, ``lexical`` or ``hybrid``.
        sentence_weight: 0 (passage only) to 1 (sentence only); ParetoRAG proposes 0.8.
        fusion: how ``hybrid`` mixes: ``zscore`` or ``rrf`` (reciprocal ranks).
        lexical_weight: weight of the words beside 1 for the vectors; 0 and up.
        candidates: how many sentences each side proposes to ``hybrid``, and how many are ranked for ``diverse`` and
            ``sifted``; at least k.
        where: what may be returned.
        shape: what the ranked sentences become. ``sentences``: themselves. ``passages``: all sentences of the best
            passages, in order. ``windows``: each with its ``neighbours``. ``sifted``: of the best passages those
            sentences that are nearest to the query, in order. ``diverse``: the best that are unlike each other.
        neighbours: sentences on either side in ``windows``; 0 and up.
        passages: how many passages are read for ``sifted``.
        threshold: how many standard deviations above the mean of those passages' sentences the cosine of a sentence
            with the query must lie in ``sifted``.
        diversity: 0 (strength alone) to 1 (unlikeness alone) in ``diverse``.
        passage_words: how much of the lexical value is that of the words of the whole passage: 0 (BM25 of the sentence)
            to 1 (BM25 of its passage).
        phrases: whether parts of the query in quotation marks must occur in every hit as they stand, forms and case
            folded; they are looked for among the 8,000 sentences that BM25 ranks first for their words. What a shape
            brings in beside a hit need not hold them.

    Raises:
        UsageError: a value is out of its range.
    """

    mode: Mode = "hybrid"
    sentence_weight: float = 0.6
    fusion: Fusion = "zscore"
    lexical_weight: float = 0.5
    candidates: int = 100
    where: Filter = EVERYTHING
    shape: Shape = "sentences"
    neighbours: int = 1
    passages: int = 20
    threshold: float = 0.0
    diversity: float = 0.3
    passage_words: float = 0.0
    phrases: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("mode", Mode), ("fusion", Fusion), ("shape", Shape)):
            if getattr(self, name) not in get_args(allowed):
                raise UsageError(f"{name} is {getattr(self, name)!r}; it can be {', '.join(get_args(allowed))}")
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if not (least <= value <= most and isfinite(value)):
                raise UsageError(f"{name} is {value}; {_range(least, most)}")


_RANGES = (
    ("sentence_weight", 0, 1),
    ("lexical_weight", 0, inf),
    ("candidates", 1, inf),
    ("neighbours", 0, inf),
    ("passages", 1, inf),
    ("threshold", -inf, inf),
    ("diversity", 0, 1),
    ("passage_words", 0, 1),
)
"""The least and the most that a setting may be."""


def _range(least: float, most: float) -> str:
    if most < inf:
        return f"it runs from {least:g} to {most:g}"
    return f"it must be {least:g} or more" if least > -inf else "it must be a finite number"


PRESETS: Mapping[Preset, SearchSettings] = {
    "passages": SearchSettings(mode="dense", sentence_weight=0.0, shape="passages"),
    "sentences": SearchSettings(mode="dense", sentence_weight=1.0),
    "pareto": SearchSettings(mode="dense", sentence_weight=0.8),
    "window": SearchSettings(mode="dense", sentence_weight=1.0, shape="windows", neighbours=3),
    "dslr": SearchSettings(mode="dense", sentence_weight=0.0, shape="sifted"),
    "mmr": SearchSettings(mode="dense", sentence_weight=1.0, shape="diverse"),
    "best": SearchSettings(mode="hybrid", sentence_weight=0.4, lexical_weight=0.25, passage_words=0.5),
}
"""Ways to search with a name: the rivals that ParetoRAG is measured against, itself, and the best that we measured."""


def preset(name: str) -> SearchSettings:
    """The settings of this name, see ``PRESETS``; change single ones with ``dataclasses.replace``.

    Raises:
        UsageError: there is none.
    """
    for known, settings in PRESETS.items():
        if known == name:
            return settings
    raise UsageError(f"no preset is named '{name}'; there are {', '.join(PRESETS)}")


def search(query: str, *, store: VectorStore, embedder: Embedder, k: int, settings: SearchSettings) -> tuple[Hit, ...]:
    """The k best sentences for a query, fewer where the archive or the filter holds fewer.

    ``hybrid`` takes the union of what both sides propose, computes the values that a side did not propose (none is
    taken as zero), and mixes. Order: strength down, then sentence id up; in a ``shape`` other than ``sentences`` the
    order of that shape, where a sentence has the strength of what brought it in, and k cuts in that order.

    Raises:
        UsageError: the query is blank, or k is below 1.
    """
    if not query.strip():
        raise UsageError("the query is blank; give at least one word")
    if k < 1:
        raise UsageError(f"k is {k}; it must be 1 or more")
    asked = _Asked(query, store=store, embedder=embedder, settings=settings)
    if settings.phrases and (wanted := phrases(query)):
        enough = max(k, settings.candidates)
        asked.among = holding(wanted, store=store, enough=enough, where=settings.where)
    return asked.ranked(k) if settings.shape == "sentences" else _shaped(asked, k=k)


class _Asked:
    """A query put to a store, embedded when a vector is first needed; ``among``: only these sentences are ranked."""

    def __init__(self, query: str, *, store: VectorStore, embedder: Embedder, settings: SearchSettings) -> None:
        self.query = query
        self.store = store
        self.settings = settings
        self.words = Words(query, store=store, passage_words=settings.passage_words)
        self.among: Mapping[str, Sentence] | None = None
        self._embedder = embedder

    @cached_property
    def _vector(self) -> Vector:
        return np.asarray(self._embedder.embed([self.query], role="query")[0])

    def ranked(self, k: int) -> tuple[Hit, ...]:
        """The k best sentences by the mode of the settings."""
        if self.settings.mode == "lexical":
            words = self._lexical(k)
            return _hits(words.values, words.sentences, k=k, bm25=words.values)
        if self.settings.mode == "dense":
            dense = self._dense(k)
            return _hits(dense.values, dense.sentences, k=k, similarity=dense.values)
        return self._hybrid(k)

    def similarities(self, names: Collection[str], *, weight: float | None = None) -> Mapping[str, float]:
        """The weighted cosines of these sentences, as far as they are there; without a weight that of the settings."""
        if not names:
            return {}
        vector = self._weighted(weight)
        return found(self.store.dense(vector, k=len(names), where=EVERYTHING, among=sorted(names))).values

    def passages(self, count: int) -> list[tuple[Passage, float]]:
        """The best passages: those of the best sentences, as many of these as it takes."""
        wide = max(count, self.settings.candidates)
        while True:
            ranked = self.ranked(wide)
            places = {(hit.sentence.document_id, hit.sentence.passage) for hit in ranked}
            if len(places) >= count or len(ranked) < wide:
                return shapes.best_passages(ranked, self.held(ranked))[:count]
            wide *= 2

    def held(self, ranked: Sequence[Hit]) -> shapes.Held:
        """All sentences of the documents of ranked sentences."""
        return self.store.sentences(dict.fromkeys(hit.sentence.document_id for hit in ranked))

    def _weighted(self, weight: float | None = None) -> Vector:
        return weighted_query(self._vector, sentence_weight=self.settings.sentence_weight if weight is None else weight)

    def _dense(self, k: int) -> Found:
        among = None if self.among is None else sorted(self.among)
        return found(self.store.dense(self._weighted(), k=k, where=self.settings.where, among=among))

    def _lexical(self, k: int, *, also: Mapping[str, Sentence] | None = None) -> Found:
        if self.among is not None:
            values = self.words.values(self.among)
            return Found(self.among, {name: value for name, value in values.items() if value > 0})
        wide = max(k, self.settings.candidates) if self.settings.passage_words else k
        return self.words.proposed(wide, where=self.settings.where, also=also)

    def _hybrid(self, k: int) -> tuple[Hit, ...]:
        wide = max(k, self.settings.candidates)
        dense = self._dense(wide)
        words = self._lexical(wide, also=dense.sentences)
        sentences = {**dense.sentences, **words.sentences}
        similarity = {**dense.values, **self.similarities(sentences.keys() - dense.values.keys())}
        # Where no allowed sentence holds a word of the query, there is nothing to ask for.
        unknown = {name: one for name, one in sentences.items() if name not in words.values} if words.values else {}
        bm25 = {**words.values, **self.words.values(unknown)}
        names = sorted(similarity)  # without those that another process removed between the questions
        similarity = {name: similarity[name] for name in names}
        bm25 = {name: bm25.get(name, 0.0) for name in names}
        return _hits(_mixed(similarity, bm25, settings=self.settings), sentences, k=k, similarity=similarity, bm25=bm25)


def _shaped(asked: _Asked, *, k: int) -> tuple[Hit, ...]:
    """Hits in a shape other than ``sentences``, with the values of every sentence that the shape brought in."""
    settings = asked.settings
    placed = _placed(asked, k=k)[:k]
    names = [sentence.id for sentence, _ in placed]
    by_vector = settings.mode != "lexical" or settings.shape == "sifted"
    weight = 1.0 if settings.shape == "sifted" else None
    similarity = asked.similarities(names, weight=weight) if by_vector else {}
    bm25 = asked.words.values({sentence.id: sentence for sentence, _ in placed}) if settings.mode != "dense" else {}
    return tuple(
        Hit(sentence, rank, strength, similarity.get(sentence.id), bm25.get(sentence.id))
        for rank, (sentence, strength) in enumerate(placed, start=1)
    )


def _placed(asked: _Asked, *, k: int) -> list[Placed]:
    settings = asked.settings
    if settings.shape == "sifted":
        placed = shapes.whole(asked.passages(settings.passages))
        similarities = asked.similarities([sentence.id for sentence, _ in placed], weight=1.0)
        return shapes.sifted(placed, similarities, threshold=settings.threshold)
    if settings.shape == "diverse":
        return _diverse(asked, k=k)
    ranked = asked.ranked(k)
    if settings.shape == "windows":
        return shapes.windows(ranked, asked.held(ranked), neighbours=settings.neighbours)
    return shapes.whole(shapes.best_passages(ranked, asked.held(ranked)))


def _diverse(asked: _Asked, *, k: int) -> list[Placed]:
    """Relevance is the similarity in ``dense`` mode; elsewhere the strength, brought to 0 to 1 over the candidates."""
    settings = asked.settings
    candidates = asked.ranked(max(k, settings.candidates))
    vectors = asked.store.vectors([hit.sentence.id for hit in candidates])
    ranked = [hit for hit in candidates if hit.sentence.id in vectors]
    if not ranked:
        return []
    stacked = np.array([vectors[hit.sentence.id] for hit in ranked])
    core, context = np.hsplit(stacked, 2)
    strengths = np.array([hit.strength for hit in ranked])
    if settings.mode != "dense":
        strengths = (strengths - strengths.min()) / (np.ptp(strengths) or 1)
    blended = blend(core, context, sentence_weight=settings.sentence_weight)
    return shapes.diverse(ranked, blended, relevance=strengths, diversity=settings.diversity, k=k)


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
    scaled = shapes.standardised if settings.fusion == "zscore" else _reciprocal_ranks
    dense, lexical = (scaled(np.array(list(side.values()), dtype=np.float64)) for side in (similarity, bm25))
    strengths = (dense + settings.lexical_weight * lexical) / (1 + settings.lexical_weight)
    return dict(zip(similarity, strengths.tolist(), strict=True))


def _reciprocal_ranks(values: Vector) -> Vector:
    """1 / (constant + rank); equal values share the rank of the first of them."""
    larger = values.size - np.searchsorted(np.sort(values), values, side="right")
    return np.asarray(1.0 / (RRF_CONSTANT + 1 + larger))
