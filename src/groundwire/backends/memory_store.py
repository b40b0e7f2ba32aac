"""A store in memory: exact dot products and BM25 in numpy, the reference that every other store is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundwire.core.ports import Counts, Matrix, Vector
from groundwire.core.text import words
from groundwire.core.types import Document, Filter, Match, Sentence, Unit

_SATURATION = 1.2
"""BM25's k1: how soon more of the same word stops to count."""
_LENGTH_SHARE = 0.75
"""BM25's b: how much a long sentence pays for its length."""
Precision = Literal["float16", "float32"]
_HALF_MAX = float(np.finfo(np.float16).max)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A document as it lies in the store; ``vectors`` has one row a sentence."""

    document: Document
    revision: str
    sentences: tuple[Sentence, ...]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class _Table:
    """All sentences in one row order, for dense search."""

    sentences: tuple[Sentence, ...]
    vectors: Matrix
    row_of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Postings:
    """For each word the texts that hold it and how often, what length each text has, and which row it stands for."""

    texts_of: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
    lengths: NDArray[np.float64]
    rows: NDArray[np.int64]


class MemoryStore:
    """Keeps everything in memory and computes every value; nothing is approximated and nothing is saved.

    Vectors are kept in float16, as the store on disk keeps them, or in float32, and multiplied in float32. BM25 is
    Lucene's (k1 1.2, b 0.75, ln(1 + (N - n + 0.5) / (n + 0.5))) over the words of ``core.text.words``, each word of the
    query counted once; N, n and the mean length are those of the whole store, whatever a filter leaves.

    Source:
        Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Lucene's BM25Similarity.
    """

    def __init__(self, dimension: int, *, precision: Precision = "float16") -> None:
        if dimension < 1:
            raise ValueError(f"a store needs vectors of 1 number or more, got dimension {dimension}")
        self._dimension = dimension
        self._precision: Precision = precision
        self._kept: dict[str, _Kept] = {}
        self._table: _Table | None = None
        self._postings: dict[Unit, _Postings] = {}

    @property
    def dimension(self) -> int:
        """How many numbers a stored vector has."""
        return self._dimension

    def put(
        self, documents: Sequence[Document], sentences: Sequence[Sentence], *, vectors: Matrix, revisions: Sequence[str]
    ) -> None:
        """Insert documents, or replace those of the same id with all their sentences.

        Raises:
            ValueError: as ``checked_vectors`` says.
        """
        halves = checked_vectors(documents, sentences, vectors=vectors, revisions=revisions, dimension=self._dimension)
        kept = halves if self._precision == "float16" else np.asarray(vectors, dtype=np.float32)
        rows: dict[str, list[int]] = {document.id: [] for document in documents}
        for row, sentence in enumerate(sentences):
            rows[sentence.document_id].append(row)
        for document, revision in zip(documents, revisions, strict=True):
            own = sorted(rows[document.id], key=lambda row: source_order(sentences[row]))
            self._kept[document.id] = _Kept(document, revision, tuple(sentences[row] for row in own), kept[own])
        self._forget()

    def remove(self, document_ids: Iterable[str]) -> int:
        """Remove documents with their sentences; returns how many there were."""
        gone = [self._kept.pop(name) for name in set(document_ids) if name in self._kept]
        self._forget()
        return len(gone)

    def finish(self) -> None:
        """Build what the searches read, so that the first query does not pay for it."""
        self._searchable()
        self._counted("sentence")

    def revisions(self) -> Mapping[str, str]:
        """Id -> content hash of every document."""
        return {name: self._kept[name].revision for name in sorted(self._kept)}

    def origins(self) -> Mapping[str, str]:
        """Id -> origin of every document that has an origin."""
        kept = (self._kept[name].document for name in sorted(self._kept))
        return {document.id: document.origin for document in kept if document.origin}

    def set_origins(self, origins: Mapping[str, str]) -> None:
        """Give documents, by id, another origin and leave all else as it is; unknown ids are passed over."""
        for name in origins.keys() & self._kept.keys():
            kept = self._kept[name]
            self._kept[name] = replace(kept, document=replace(kept.document, origin=origins[name]))

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """The documents of these ids that are there, in the order asked."""
        return {name: self._kept[name].document for name in ids if name in self._kept}

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order."""
        return {name: self._kept[name].sentences for name in document_ids if name in self._kept}

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """The stored vectors of these sentences that are there; float32, shape (dimension,) each."""
        table = self._searchable()
        names = (name for name in sentence_ids if name in table.row_of)
        return {name: table.vectors[table.row_of[name]].astype(np.float32) for name in names}

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids.

        Raises:
            ValueError: the query has another shape than (dimension,) or is not finite, or k is negative.
        """
        vector = checked_query(query, dimension=self._dimension)
        table = self._searchable()
        rows = self._allowed(where, among)
        # einsum adds every row up in the same order, so equal vectors tie exactly; a BLAS product does not promise that
        values = np.einsum("ij,j->i", table.vectors[rows].astype(np.float32), vector)
        return self._best(rows, values, k=k)

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        """The k sentences with the largest BM25 value above 0, at most; ``among`` limits to these sentence ids.

        With the unit ``passage`` the texts of passages are counted, and a match names one by its first sentence.

        Raises:
            ValueError: k is negative.
        """
        values = self._bm25(query, unit)
        rows = self._allowed(where, among)
        rows = rows[values[rows] > 0]
        return self._best(rows, values[rows], k=k)

    def counts(self) -> Counts:
        """How much is there."""
        return Counts(documents=len(self._kept), sentences=sum(len(kept.sentences) for kept in self._kept.values()))

    def close(self) -> None:
        """Give back the memory."""
        self._kept = {}
        self._forget()

    def _forget(self) -> None:
        self._table = None
        self._postings = {}

    def _searchable(self) -> _Table:
        if self._table is None:
            kept = [self._kept[name] for name in sorted(self._kept)]
            sentences = tuple(sentence for one in kept for sentence in one.sentences)
            blank = np.zeros((0, self._dimension), dtype=self._precision)
            vectors = np.concatenate([blank, *(one.vectors for one in kept)])
            self._table = _Table(sentences, vectors, {sentence.id: row for row, sentence in enumerate(sentences)})
        return self._table

    def _counted(self, unit: Unit) -> _Postings:
        if unit not in self._postings:
            texts = self._texts(unit)
            found: dict[str, tuple[list[int], list[int]]] = {}
            lengths = []
            for number, text in enumerate(texts.values()):
                counts = Counter(words(text))
                lengths.append(counts.total())
                for word, times in counts.items():
                    numbers, often = found.setdefault(word, ([], []))
                    numbers.append(number)
                    often.append(times)
            self._postings[unit] = _Postings(
                {word: (np.array(texts), np.array(often, dtype=np.float64)) for word, (texts, often) in found.items()},
                np.array(lengths, dtype=np.float64),
                np.array(list(texts), dtype=np.int64),
            )
        return self._postings[unit]

    def _texts(self, unit: Unit) -> Mapping[int, str]:
        """What is counted, by the row that it stands for: every sentence, or every passage at its first sentence."""
        sentences = self._searchable().sentences
        if unit == "sentence":
            return {row: sentence.text for row, sentence in enumerate(sentences)}
        return passage_texts(sentences)

    def _bm25(self, query: str, unit: Unit) -> NDArray[np.float64]:
        postings = self._counted(unit)
        total = len(postings.lengths)
        values = np.zeros(total)
        mean = postings.lengths.mean() if total else 0.0
        for word in sorted(set(words(query))):
            if word not in postings.texts_of:
                continue
            texts, often = postings.texts_of[word]
            rarity = np.log1p((total - len(texts) + 0.5) / (len(texts) + 0.5))
            penalty = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * postings.lengths[texts] / mean)
            values[texts] += rarity * often * (_SATURATION + 1) / (often + penalty)
        of_rows = np.zeros(len(self._searchable().sentences))
        of_rows[postings.rows] = values
        return of_rows

    def _allowed(self, where: Filter, among: Sequence[str] | None) -> NDArray[np.int64]:
        table = self._searchable()
        rows: Iterable[int] = range(len(table.sentences))
        if among is not None:
            rows = sorted({table.row_of[name] for name in among if name in table.row_of})
        fitting = {name for name, kept in self._kept.items() if _allows(where, kept.document)}
        return np.array([row for row in rows if table.sentences[row].document_id in fitting], dtype=np.int64)

    def _best(self, rows: NDArray[np.int64], values: NDArray[np.floating], *, k: int) -> tuple[Match, ...]:
        table = self._searchable()
        found = (Match(table.sentences[row], float(value)) for row, value in zip(rows, values, strict=True))
        return best_first(found, k=k)


def checked_vectors(
    documents: Sequence[Document],
    sentences: Sequence[Sentence],
    *,
    vectors: Matrix,
    revisions: Sequence[str],
    dimension: int,
) -> NDArray[np.float16]:
    """What a store accepts in one ``put``, checked; the vectors as they are kept.

    Returns:
        float16, shape (len(sentences), dimension).

    Raises:
        ValueError: counts or shapes differ, an id comes twice, a sentence belongs to none of the documents, or a number
            of a vector is not finite or beyond float16 (65504).
    """
    if len(revisions) != len(documents):
        raise ValueError(f"{len(documents)} documents need as many revisions, got {len(revisions)}")
    if np.shape(vectors) != (len(sentences), dimension):
        raise ValueError(
            f"{len(sentences)} sentences need vectors of shape ({len(sentences)}, {dimension}), got {np.shape(vectors)}"
        )
    names = [document.id for document in documents]
    _refuse_twice("document", names)
    _refuse_twice("sentence", [sentence.id for sentence in sentences])
    if strangers := {sentence.document_id for sentence in sentences}.difference(names):
        raise ValueError(f"sentences belong to {min(strangers)!r}, which is not among the documents of this put")
    numbers = np.asarray(vectors)
    largest = max(np.max(numbers, initial=0), -np.min(numbers, initial=0))
    if not largest <= _HALF_MAX:  # NaN, too, is not at most this
        row = int(np.argmin((np.abs(numbers) <= _HALF_MAX).all(axis=1)))
        raise ValueError(f"the vector of sentence {sentences[row].id!r} holds a number that float16 cannot hold")
    return numbers.astype(np.float16)


def checked_query(query: Vector, *, dimension: int) -> NDArray[np.float32]:
    """The query vector as float32, shape (dimension,).

    Raises:
        ValueError: it has another shape, or a number that is not finite.
    """
    vector = np.asarray(query, dtype=np.float32)
    if vector.shape != (dimension,):
        raise ValueError(f"the store holds vectors of {dimension} numbers, the query has the shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("the query vector holds a number that is not finite")
    return vector


def best_first(matches: Iterable[Match], *, k: int) -> tuple[Match, ...]:
    """The k best matches by value down, then by sentence id up.

    Raises:
        ValueError: k is negative.
    """
    if k < 0:
        raise ValueError(f"k is how many sentences to return, 0 or more, got {k}")
    return tuple(sorted(matches, key=lambda match: (-match.value, match.sentence.id))[:k])


def passage_texts(sentences: Sequence[Sentence]) -> dict[int, str]:
    """The text of every passage, its sentences joined in source order, by the place of its first sentence."""
    groups: dict[tuple[str, int], list[int]] = {}
    for place in sorted(range(len(sentences)), key=lambda place: source_order(sentences[place])):
        groups.setdefault((sentences[place].document_id, sentences[place].passage), []).append(place)
    return {places[0]: " ".join(sentences[place].text for place in places) for places in groups.values()}


def source_order(sentence: Sentence) -> tuple[int, int, str]:
    """The sort key that puts the sentences of one document into source order."""
    return (sentence.start, sentence.end, sentence.id)


def _refuse_twice(kind: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise ValueError(f"{kind} {name!r} comes {times} times in one put; each id may come once")


def _allows(where: Filter, document: Document) -> bool:
    if (where.published_from or where.published_to) and document.published is None:
        return False
    return (
        (where.published_from is None or (document.published or where.published_from) >= where.published_from)
        and (where.published_to is None or (document.published or where.published_to) <= where.published_to)
        and (not where.sources or document.source in where.sources)
        and (not where.languages or document.language in where.languages)
    )
