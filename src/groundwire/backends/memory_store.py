"""A store in memory: exact dot products and BM25 in numpy, the reference that every other store is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundwire.backends.accepted import (
    checked_query,
    checked_vectors,
    new_snapshot_name,
    no_passage_words,
    read_only,
    require_snapshot,
)
from groundwire.core.folding import Folding, folder
from groundwire.core.ports import Counts, Head, Matrix, Snapshot, Vector
from groundwire.core.text import words
from groundwire.core.types import Document, Filter, Match, Sentence, Unit

_SATURATION = 1.2
"""BM25's k1: how soon more of the same word stops to count."""
_LENGTH_SHARE = 0.75
"""BM25's b: how much a long sentence pays for its length."""
Precision = Literal["float16", "float32"]


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
    query counted once; N, n and the mean length are those of the whole store, whatever a filter leaves. With a
    ``folding`` (see ``core.folding``) the words of texts and queries are folded first. A snapshot shares what it holds.

    Source:
        Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Lucene's BM25Similarity.
    """

    def __init__(
        self,
        dimension: int,
        *,
        precision: Precision = "float16",
        folding: Folding = "",
        passage_words: bool = True,
    ) -> None:
        """Make an empty store; without ``passage_words`` the words of whole passages are not counted."""
        if dimension < 1:
            raise ValueError(f"a store needs vectors of 1 number or more, got dimension {dimension}")
        self._dimension = dimension
        self._precision: Precision = precision
        self._folding: Folding = folding
        self._passage_words = passage_words
        self._pinned = ""
        self._snapshots: dict[str, tuple[Snapshot, dict[str, _Kept]]] = {}
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
            MissingExtra: words are folded with something that is not installed.
        """
        self._require_writable()
        folder(self._folding)
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
        self._require_writable()
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
        self._require_writable()
        for name in origins.keys() & self._kept.keys():
            kept = self._kept[name]
            self._kept[name] = replace(kept, document=replace(kept.document, origin=origins[name]))

    def heads(self) -> tuple[Head, ...]:
        """What is said about every document, by id."""
        held = (self._kept[name].document for name in sorted(self._kept))
        return tuple(Head(one.id, one.title, one.published, one.source, one.language) for one in held)

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

        With the unit ``passage`` the texts of passages are counted, a match names one by its first sentence, and
        ``among`` limits to the passages of these sentences.

        Raises:
            ValueError: k is negative.
            ArchiveError: the unit is ``passage``, and the words of passages are not counted.
            MissingExtra: words are folded with something that is not installed.
        """
        if unit == "passage" and not self._passage_words:
            raise no_passage_words("the store in memory")
        values = self._bm25(query, unit)
        if unit == "passage" and among is not None:
            among = self._in_passages_of(among)
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

    def compact(self) -> None:
        """There is nothing to tidy up in memory; as ``finish``."""
        self._require_writable()
        self.finish()

    def snapshot(self, name: str) -> Snapshot:
        """Keep what the store holds now under a name.

        Raises:
            UsageError: the name is not one, or is taken.
        """
        self._require_writable()
        counts = self.counts()
        name = new_snapshot_name(name, self.snapshots())
        taken = Snapshot(name, datetime.now(tz=UTC), counts.documents, counts.sentences)
        self._snapshots[name] = (taken, dict(self._kept))
        return taken

    def snapshots(self) -> Mapping[str, Snapshot]:
        """All snapshots by name, in order of name."""
        return {name: self._snapshots[name][0] for name in sorted(self._snapshots)}

    def forget_snapshot(self, name: str) -> None:
        """Give a snapshot up.

        Raises:
            ArchiveError: there is no such snapshot.
        """
        self._require_writable()
        require_snapshot(name, self.snapshots())
        del self._snapshots[name]

    def at(self, name: str) -> MemoryStore:
        """The store as it was when the snapshot was taken; to write to it raises ArchiveError.

        Raises:
            ArchiveError: there is no such snapshot.
        """
        require_snapshot(name, self.snapshots())
        then = MemoryStore(
            self._dimension, precision=self._precision, folding=self._folding, passage_words=self._passage_words
        )
        then._kept = self._snapshots[name][1]
        then._pinned = name
        return then

    def facts(self) -> Mapping[str, str | int]:
        """What can be said about its state; ``bytes`` counts the vectors and the texts of the sentences."""
        kept = self._kept.values()
        texts = sum(len(sentence.text.encode()) for one in kept for sentence in one.sentences)
        return {
            "folding": self._folding,
            "passage_words": int(self._passage_words),
            "bytes": sum(one.vectors.nbytes for one in kept) + texts,
            "versions": 1,
            "snapshots": len(self._snapshots),
            "unindexed": 0,
            "vector_index": "none",
        }

    def _require_writable(self) -> None:
        if self._pinned:
            raise read_only(self._pinned)

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
            texts, fold = self._texts(unit), folder(self._folding)
            found: dict[str, tuple[list[int], list[int]]] = {}
            lengths = []
            for number, text in enumerate(texts.values()):
                counts = Counter(words(fold(text)))
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
        for word in sorted(set(words(folder(self._folding)(query)))):
            if word not in postings.texts_of:
                continue
            texts, often = postings.texts_of[word]
            rarity = np.log1p((total - len(texts) + 0.5) / (len(texts) + 0.5))
            penalty = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * postings.lengths[texts] / mean)
            values[texts] += rarity * often * (_SATURATION + 1) / (often + penalty)
        of_rows = np.zeros(len(self._searchable().sentences))
        of_rows[postings.rows] = values
        return of_rows

    def _in_passages_of(self, names: Iterable[str]) -> list[str]:
        """The ids of all sentences of the passages of these sentences."""
        table = self._searchable()
        named = (table.sentences[table.row_of[name]] for name in names if name in table.row_of)
        places = {(sentence.document_id, sentence.passage) for sentence in named}
        owners = {document_id for document_id, _ in places}
        held = (sentence for owner in owners for sentence in self._kept[owner].sentences)
        return [sentence.id for sentence in held if (sentence.document_id, sentence.passage) in places]

    def _allowed(self, where: Filter, among: Sequence[str] | None) -> NDArray[np.int64]:
        table = self._searchable()
        rows: Iterable[int] = range(len(table.sentences))
        if among is not None:
            rows = sorted({table.row_of[name] for name in among if name in table.row_of})
        fitting = {name for name, kept in self._kept.items() if allows(where, kept.document)}
        return np.array([row for row in rows if table.sentences[row].document_id in fitting], dtype=np.int64)

    def _best(self, rows: NDArray[np.int64], values: NDArray[np.floating], *, k: int) -> tuple[Match, ...]:
        table = self._searchable()
        found = (Match(table.sentences[row], float(value)) for row, value in zip(rows, values, strict=True))
        return best_first(found, k=k)


def best_first(matches: Iterable[Match], *, k: int) -> tuple[Match, ...]:
    """The k best matches by value down, then by sentence id up.

    Raises:
        ValueError: k is negative.
    """
    if k < 0:
        raise ValueError(f"k is how many sentences to return, 0 or more, got {k}")
    return tuple(sorted(matches, key=lambda match: (-match.value, match.sentence.id))[:k])


def passage_texts(sentences: Sequence[Sentence], *, texts: Sequence[str] | None = None) -> dict[int, str]:
    """The text of every passage, its sentences joined in source order, by the place of its first sentence.

    ``texts`` are what is joined in place of the sentences' own.
    """
    if texts is None:
        texts = [sentence.text for sentence in sentences]
    starts = [sentence.start for sentence in sentences]
    groups: dict[tuple[str, int], list[int]] = {}
    for place, sentence in enumerate(sentences):
        groups.setdefault((sentence.document_id, sentence.passage), []).append(place)
    for places in groups.values():
        places.sort(key=starts.__getitem__)
    return {places[0]: " ".join([texts[place] for place in places]) for places in groups.values()}


def source_order(sentence: Sentence) -> tuple[int, int, str]:
    """The sort key that puts the sentences of one document into source order."""
    return (sentence.start, sentence.end, sentence.id)


def allows(where: Filter, document: Document | Head) -> bool:
    """Whether a filter lets a document through."""
    if (where.published_from or where.published_to) and document.published is None:
        return False
    return (
        (where.published_from is None or (document.published or where.published_from) >= where.published_from)
        and (where.published_to is None or (document.published or where.published_to) <= where.published_to)
        and (not where.sources or document.source in where.sources)
        and (not where.languages or document.language in where.languages)
    )
