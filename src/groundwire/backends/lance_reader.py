"""Reading an archive on disk: documents and sentences by id, dense and full-text search."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundwire.backends import lance_rows as rows_of
from groundwire.backends import lance_tables as tables
from groundwire.backends.accepted import checked_query, no_passage_words, read_only
from groundwire.backends.memory_store import best_first, source_order
from groundwire.core.errors import ArchiveError
from groundwire.core.folding import folder
from groundwire.core.ports import Counts, Head, Matrix, Vector
from groundwire.core.types import Document, Filter, Match, Sentence, Unit

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.expr import Expr
    from lancedb.table import Table

_PROBES = 64
_PROBES_OF_MANY = 128
_MANY_ROWS = 500_000
_REFINE, _REFINE_MANY = 4, 2
"""How many times the limit are compared by their vectors after the codes: that of few sentences, and of many."""
_FEW = 50
_SPARE = 8
"""Rows asked for beyond k, to see whether the k-th value ties with the next."""
_WIDEST_TIE = 2_048
_TRIES = 3
_DOCUMENTS_AT_ONCE = 500
_EVERYTHING = Filter()
_SENTENCES = rows_of.SENTENCE_COLUMNS
_WITH_VECTOR = (*_SENTENCES, "vector")
_PASSAGES = rows_of.PASSAGE_TEXT


class LanceReader:
    """The two tables of an archive, read; by itself a snapshot, to which nothing is written.

    ``LanceStore`` says what a search promises, and adds writing.
    """

    def __init__(self, path: str, opened: tuple[Table, Table], *, pinned: str = "") -> None:
        """Read the tables of the archive at ``path``; ``pinned`` names the snapshot that they are."""
        self._path = path
        self._tables: tuple[Table, Table] | None = opened
        self._layout = rows_of.layout_of(opened[1].schema)
        self._pinned = pinned
        self._seen, self._seen_at = rows_of.Seen(), -1
        self._process = os.getpid()

    @property
    def dimension(self) -> int:
        """How many numbers a stored vector has."""
        return self._layout.dimension

    # What a store is written with takes its arguments to refuse them.

    def put(
        self,
        documents: Sequence[Document],  # noqa: ARG002
        sentences: Sequence[Sentence],  # noqa: ARG002
        *,
        vectors: Matrix,  # noqa: ARG002
        revisions: Sequence[str],  # noqa: ARG002
    ) -> None:
        """Refused.

        Raises:
            ArchiveError: a snapshot stays as it is.
        """
        raise read_only(self._pinned)

    def remove(self, document_ids: Iterable[str]) -> int:  # noqa: ARG002
        """Refused, as ``put``."""
        raise read_only(self._pinned)

    def set_origins(self, origins: Mapping[str, str]) -> None:  # noqa: ARG002
        """Refused, as ``put``."""
        raise read_only(self._pinned)

    def finish(self) -> None:
        """Nothing is new, so nothing is done."""

    def revisions(self) -> Mapping[str, str]:
        """Id -> content hash of every document that is completely there, by id."""
        return {row["id"]: row["revision"] for row in self._current(["id", "revision"])}

    def origins(self) -> Mapping[str, str]:
        """Id -> origin of every such document that has an origin, by id."""
        return {row["id"]: row["origin"] for row in self._current(["id", "origin"]) if row["origin"]}

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """The documents of these ids that are there, in the order asked."""
        names = list(ids)
        found = {row["id"]: rows_of.document_of(row) for row in self._current(rows_of.DOCUMENT_COLUMNS, names)}
        return {name: found[name] for name in names if name in found}

    def heads(self) -> tuple[Head, ...]:
        """What is said about every document that is completely there, by id; its text is not read."""
        rows = self._current(rows_of.HEAD_COLUMNS)
        return tuple(Head(**{name: row[name] for name in rows_of.HEAD_COLUMNS}) for row in rows)

    def every_document(self) -> Iterator[Document]:
        """Every document that is completely there, in the order of the table; works also where indexes are damaged."""
        held = self._open()[0]
        current = {row["write"] for row in self._current(["write"])}
        for rows in held.search().select([*rows_of.DOCUMENT_COLUMNS, "write"]).to_batches(_DOCUMENTS_AT_ONCE):
            yield from (rows_of.document_of(row) for row in rows.to_pylist() if row["write"] in current)

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order."""
        names = list(document_ids)
        found: dict[str, list[Sentence]] = {}
        for sentence in self._seen.note(self._rows(_SENTENCES, where=tables.isin("document_id", names))):
            found.setdefault(sentence.document_id, []).append(sentence)
        if silent := [name for name in names if name not in found]:
            found |= {row["id"]: [] for row in self._current(["sentence_count"], silent) if row["sentence_count"] == 0}
        return {name: tuple(sorted(found[name], key=source_order)) for name in names if name in found}

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """The stored vectors of these sentences that are there; float32, shape (dimension,) each."""
        return {sentence.id: vector for sentence, vector in self._with_vectors(sentence_ids)}

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids, exactly.

        Values are products of the stored vectors (float16) with the query in float32, however a sentence was found.

        Raises:
            ValueError: the query has another shape than (dimension,) or is not finite, or k is negative.
        """
        vector = checked_query(query, dimension=self.dimension)
        if among is None:
            return _settled(lambda limit: self._nearest(vector, limit, where=where), k=k)
        if where == _EVERYTHING:
            return best_first(_measured(self._with_vectors(among), vector), k=k)
        rows = self._rows(_WITH_VECTOR, where=tables.condition(where, among))
        return best_first(_measured(self._noted(rows), vector), k=k)

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        """The k sentences with the largest BM25 value above 0, at most; ``among`` limits to these sentence ids.

        The query is plain text: any of its words may match, and no character has a meaning of its own. A restriction
        does not change values. With the unit ``passage`` the texts of passages are counted, a match names one by its
        first sentence, and ``among`` limits to the passages of these sentences.

        Raises:
            ValueError: k is negative.
            ArchiveError: the unit is ``passage``, and the archive was made without the words of passages.
            MissingExtra: words are folded with something that is not installed.
        """
        if unit == "passage" and not self._layout.passage_words:
            raise no_passage_words(self._path)
        words = folder(self._layout.folding)(query)
        if unit == "passage" and among is not None:
            return self._passages_among(words, among, k=k, where=where)
        column = _PASSAGES if unit == "passage" else self._layout.word_column
        allowed = tables.condition(where, among)
        met = among is not None and len(self._lately().numbers(among)) == len(set(among))
        return _settled(lambda limit: self._worded(words, limit, column=column, allowed=allowed, met=met), k=k)

    def counts(self) -> Counts:
        """How much is there."""
        return Counts(documents=len(self._current(["id"])), sentences=int(self._open()[1].count_rows()))

    def close(self) -> None:
        """Give back files and memory; the store is not used afterwards."""
        self._tables = None

    def _open(self) -> tuple[Table, Table]:
        if self._tables is None:
            raise ArchiveError(f"{self._path} was closed; open it again to use it")
        if os.getpid() != self._process:
            raise ArchiveError(f"{self._path} was opened before this process was forked off: spawn processes instead")
        return self._tables

    def _lately(self) -> rows_of.Seen:
        """The sentences that were met since the last commit."""
        version = self._open()[1].version
        if version != self._seen_at:
            self._seen, self._seen_at = rows_of.Seen(), version
        return self._seen

    def _rows(self, columns: Sequence[str], *, where: Expr | None) -> pa.Table:
        """Rows of the sentences table with their numbers."""
        return tables.scan(self._open()[1], columns, where=where, row_numbers=True)

    def _numbers(self, rows: pa.Table) -> Matrix:
        """The stored vectors of rows, without what fills them up; float32, shape (rows, dimension)."""
        return rows_of.vectors_of(rows)[:, : self.dimension]

    def _noted(self, rows: pa.Table) -> list[tuple[Sentence, Vector]]:
        """The sentences of rows with their vectors."""
        return list(zip(self._seen.note(rows), self._numbers(rows), strict=True))

    def _with_vectors(self, ids: Iterable[str]) -> list[tuple[Sentence, Vector]]:
        """Those of these sentences that are there, each once; those that were met lately are read by their place."""
        wanted = dict.fromkeys(ids)
        found: list[tuple[Sentence, Vector]] = []
        seen = self._lately()
        if numbers := seen.numbers(wanted):
            met = {sentence.id: sentence for sentence in seen.at(numbers.values())}
            rows = self._open()[1].take_row_ids(list(numbers.values())).select(["id", "vector"]).to_arrow()
            pairs = zip(rows["id"].to_pylist(), self._numbers(rows), strict=True)
            found = [(met[name], vector) for name, vector in pairs if name in met]
        # what was not met, and what another process has folded into another place in between
        if others := wanted.keys() - {sentence.id for sentence, _ in found}:
            rows = self._rows(_WITH_VECTOR, where=tables.isin("id", others))
            found += self._noted(rows)
        return found

    def _nearest(self, query: NDArray[np.float32], limit: int, *, where: Filter) -> list[Match]:
        """The sentences nearest to a query, as the engine finds them, with their values."""
        texts = self._open()[1]
        search: Any = texts.search(rows_of.widened(query), vector_column_name="vector")
        search = (
            search.distance_type("dot").limit(limit).select([*_WITH_VECTOR, "_distance"]).with_row_id(with_row_id=True)
        )
        if (allowed := tables.condition(where, None)) is not None:
            search = search.where(allowed, prefilter=True)
        # with a narrow filter the other partitions are searched too, until there are enough
        probes = _PROBES if texts.count_rows() < _MANY_ROWS else _PROBES_OF_MANY
        search = search.minimum_nprobes(probes).maximum_nprobes(0)
        rows = search.refine_factor(_REFINE if limit <= _FEW else _REFINE_MANY).to_arrow()
        return _measured(self._noted(rows), query)

    def _worded(self, words: str, limit: int, *, column: str, allowed: Expr | None, met: bool = False) -> list[Match]:
        """The rows whose column holds words, best first as the engine counts.

        With ``met``, all rows that are allowed were met lately, and their sentences are not read again.
        """
        from lancedb.query import MatchQuery

        texts = self._open()[1]
        # beside an unindexed tail the engine counts only what a prefilter leaves; a postfilter keeps its counts true
        everything = texts.count_rows() if allowed is not None and tables.tail_length(texts) else 0
        terms = MatchQuery(words, column)  # type: ignore[call-arg]  # mypy does not see the defaults of pydantic fields
        search = texts.search(terms, query_type="fts").limit(max(limit, everything))
        search = search.select(["_score"] if met else [*_SENTENCES, "_score"]).with_row_id(with_row_id=True)
        if allowed is not None:
            search = search.where(allowed, prefilter=not everything)
        rows = search.to_arrow()
        sentences = self._seen.at(rows[rows_of.ROW].to_pylist()) if met else self._seen.note(rows)
        if len(sentences) < len(rows):  # another process has folded some into another place in between
            return self._worded(words, limit, column=column, allowed=allowed)
        matches = map(Match, sentences, rows["_score"].to_pylist())
        return [match for match in matches if match.value > 0]

    def _passages_among(self, words: str, among: Sequence[str], *, k: int, where: Filter) -> tuple[Match, ...]:
        """The passages of these sentences that hold words, each by its first sentence."""
        seen = self._lately()
        sentences = {one.id: one for one in seen.at(seen.numbers(among).values())}
        if others := set(among) - sentences.keys():
            found = seen.note(self._rows(_SENTENCES, where=tables.isin("id", others)))
            sentences |= {sentence.id: sentence for sentence in found}
        places = {(sentence.document_id, sentence.passage) for sentence in sentences.values()}
        allowed = tables.isin("document_id", {document_id for document_id, _ in places})
        if (filtered := tables.condition(where, None)) is not None:
            allowed = allowed & filtered
        limit = 4 * len(places) + _SPARE
        while True:
            matches = self._worded(words, limit, column=_PASSAGES, allowed=allowed)
            own = [one for one in matches if (one.sentence.document_id, one.sentence.passage) in places]
            if len(own) == len(places) or len(matches) < limit:
                return best_first(own, k=k)
            limit *= 4

    def _current(self, columns: Sequence[str], names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The rows of all documents, or of those named, that are completely there, by id.

        Sentences are read first and written last, so that a sentence's document is found unless it was replaced and
        cleaned away in between; then both are read again.
        """
        held, texts = self._open()
        of_document = None if names is None else tables.isin("document_id", names)
        of_id = None if names is None else tables.isin("id", names)
        rows: list[dict[str, Any]] = []
        for _ in range(_TRIES):
            living = set(tables.scan(texts, ["write"], where=of_document)["write"].unique().to_pylist())
            rows = tables.scan(held, sorted({*columns, "id", "write", "sentence_count"}), where=of_id).to_pylist()
            if living <= {row["write"] for row in rows}:
                break
        return complete(rows, living)


def complete(rows: Iterable[dict[str, Any]], living: set[int]) -> list[dict[str, Any]]:
    """Of document rows, by id: those whose sentences live, and those that have none and no living successor."""
    chosen: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["write"] in living or (row["sentence_count"] == 0 and row["id"] not in chosen):
            chosen[row["id"]] = row
    return [chosen[name] for name in sorted(chosen)]


def _settled(ask: Callable[[int], list[Match]], *, k: int) -> tuple[Match, ...]:
    """The k best, ties by id; asks for more while the k-th value ties with the last one seen."""
    limit = k + _SPARE
    while True:
        found = best_first(ask(limit), k=limit) if k > 0 else best_first((), k=k)
        if len(found) < limit or found[k - 1].value > found[-1].value or limit >= _WIDEST_TIE:
            return found[:k]
        limit *= 4


def _measured(found: Sequence[tuple[Sentence, Vector]], query: NDArray[np.float32]) -> list[Match]:
    """Sentences with the dot products of their vectors and a query, in float32.

    ``einsum`` adds every row up in the same order, so equal vectors tie exactly; a BLAS product does not promise that.
    """
    vectors = np.array([vector for _, vector in found], dtype=np.float32).reshape(-1, query.size)
    values = np.einsum("ij,j->i", vectors, query)
    return [Match(sentence, float(value)) for (sentence, _), value in zip(found, values, strict=True)]
