"""What ranked sentences become: whole passages, windows, the best part of passages, or sentences unlike each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from groundwire.core.ports import Matrix, Vector
from groundwire.core.types import Hit, Passage, Sentence

Held = Mapping[str, Sequence[Sentence]]
"""All sentences of documents, in source order, by document id."""
Placed = tuple[Sentence, float]
"""A sentence in its place of the order, with the strength that put it there."""

VALUE_DECIMALS = 6
"""Values are compared to this many decimals: what differs by less is a tie, however an engine rounds its sums."""


def best_passages(ranked: Sequence[Hit], held: Held) -> list[tuple[Passage, float]]:
    """The passages of ranked sentences in the order of their best sentence, each with that sentence's strength.

    A passage whose document is not in ``held`` (another process removed it) is passed over.
    """
    strengths: dict[tuple[str, int], float] = {}
    for hit in ranked:
        strengths.setdefault((hit.sentence.document_id, hit.sentence.passage), hit.strength)
    passages = {(one.document_id, one.number): one for name in held for one in _passages(name, held[name])}
    return [(passages[place], strength) for place, strength in strengths.items() if place in passages]


def whole(passages: Sequence[tuple[Passage, float]]) -> list[Placed]:
    """Every sentence of the passages, in the order of the passages and inside each in source order."""
    return [(sentence, strength) for passage, strength in passages for sentence in passage.sentences]


def windows(ranked: Sequence[Hit], held: Held, *, neighbours: int) -> list[Placed]:
    """Each ranked sentence with its ``neighbours`` on either side in the document, in source order, each once.

    A sentence stands where the first window that holds it stands.
    """
    places = {one.id: place for sentences in held.values() for place, one in enumerate(sentences)}
    taken: dict[str, Placed] = {}
    for hit in ranked:
        if hit.sentence.id in places:
            place = places[hit.sentence.id]
            first, end = max(0, place - neighbours), place + neighbours + 1
            for sentence in held[hit.sentence.document_id][first:end]:
                taken.setdefault(sentence.id, (sentence, hit.strength))
    return list(taken.values())


def sifted(placed: Sequence[Placed], similarities: Mapping[str, float], *, threshold: float) -> list[Placed]:
    """The sentences whose similarity is at least ``threshold`` standard deviations above the mean of all, in order.

    Where all are equally similar each counts as the mean. One without a similarity is left out.

    Source:
        DSLR (arXiv:2407.03627) drops the sentences of retrieved passages below a fixed relevance of a reranker and
        keeps the order of the rest. A cosine has no scale that two encoders share, hence the deviations.
    """
    known = [(sentence, strength) for sentence, strength in placed if sentence.id in similarities]
    values = np.array([similarities[sentence.id] for sentence, _ in known])
    scores = standardised(values) >= threshold
    return [item for item, good in zip(known, scores.tolist(), strict=True) if good]


def diverse(ranked: Sequence[Hit], vectors: Matrix, *, relevance: Vector, diversity: float, k: int) -> list[Placed]:
    """Up to k sentences by maximal marginal relevance.

    Each step takes the sentence with the largest ``(1 - diversity) relevance - diversity s``, where s is its largest
    cosine with one that was taken (0 while there is none, and where it is negative). Ties: the better ranked.

    Args:
        ranked: the candidates, best first.
        vectors: theirs, shape (len(ranked), dim).
        relevance: theirs to the query, shape (len(ranked),).
        diversity: 0 (the order of relevance) to 1 (unlike what was taken, and nothing else).
        k: how many to take at most.

    Returns:
        Sentences with the value that they had when they were taken, which never grows.

    Source:
        Carbonell and Goldstein, The use of MMR (SIGIR 1998); their lambda is ``1 - diversity``.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(norms > 0, norms, 1)
    nearest = np.zeros(len(ranked))
    free = np.ones(len(ranked), dtype=bool)
    taken: list[Placed] = []
    while len(taken) < min(k, len(ranked)):
        values = np.round((1 - diversity) * relevance - diversity * nearest, VALUE_DECIMALS)
        best = int(np.argmax(np.where(free, values, -np.inf)))
        taken.append((ranked[best].sentence, float(values[best])))
        free[best] = False
        nearest = np.maximum(nearest, units @ units[best])
    return taken


def standardised(values: Vector) -> Vector:
    """How many standard deviations above the mean each value lies; 0 where all are equal."""
    if values.size == 0 or np.ptp(values) == 0:
        return np.zeros(values.size)
    return np.asarray((values - values.mean()) / values.std())


def _passages(document_id: str, sentences: Sequence[Sentence]) -> list[Passage]:
    groups = groupby(sentences, key=lambda sentence: sentence.passage)
    return [Passage(document_id, number, tuple(group)) for number, group in groups]
