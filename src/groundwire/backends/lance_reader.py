"""Reading an archive on disk: documents and sentences by id, dense and full-text search."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from groundwire.backends import lance_rows as rows_of
from groundwire.backends import lance_tables as tables
from groundwire.backends.accepted import checked_query, no_passage_words, read_only
from groundwire.backends.memory_store import best_first, source_order
from groundwire.core.errors import ArchiveError
from groundwire.core.folding import folder
from groundwire.core.ports import Counts, Matrix, Vector
from groundwire.core.types import Document, Filter, Match, Sentence, Unit

if TYPE_CHECKING:
    from lancedb.table import Table

_PROBES = 64
_PROBES_OF_MANY = 128
_MANY_ROWS = 500_000
_REFINE = 4
_SPARE = 8
"""Rows asked for beyond k, to see whether the k-th value ties with the next."""
_WIDEST_TIE = 2_048
_TRIES = 3


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

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order."""
        names = list(document_ids)
        found: dict[str, list[Sentence]] = {}
        rows = tables.scan(self._open()[1], rows_of.SENTENCE_COLUMNS, where=tables.isin("document_id", names))
        for sentence in rows_of.sentences_of(rows):
            found.setdefault(sentence.document_id, []).append(sentence)
        if silent := [name for name in names if name not in found]:
            found |= {row["id"]: [] for row in self._current(["sentence_count"], silent) if row["sentence_count"] == 0}
        return {name: tuple(sorted(found[name], key=source_order)) for name in names if name in found}

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """The stored vectors of these sentences that are there; float32, shape (dimension,) each."""
        rows = tables.scan(self._open()[1], ["id", "vector"], where=tables.isin("id", sentence_ids))
        found = rows_of.vectors_of(rows)[:, : self.dimension]
        return dict(zip(rows["id"].to_pylist(), found, strict=True))

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids, exactly.

        Values are products of the float16 vectors with the query rounded to float16 (off by about 1e-4).

        Raises:
            ValueError: the query has another shape than (dimension,) or is not finite, or k is negative.
        """
        vector = rows_of.widened(checked_query(query, dimension=self.dimension))
        allowed = tables.condition(where, among)
        texts = self._open()[1]
        probes = _PROBES if texts.count_rows() < _MANY_ROWS else _PROBES_OF_MANY

        def ask(limit: int) -> list[Match]:
            search: Any = texts.search(vector, vector_column_name="vector")
            search = search.distance_type("dot").limit(limit)
            search = search.select([*rows_of.SENTENCE_COLUMNS, "_distance"])
            if allowed is not None:
                search = search.where(allowed, prefilter=True)
            if among is not None:
                search = search.bypass_vector_index()
            else:
                # with a narrow filter the other partitions are searched too, until there are enough
                search = search.minimum_nprobes(probes).maximum_nprobes(0).refine_factor(_REFINE)
            rows = search.to_arrow()
            return rows_of.matches_of(rows, values=[1.0 - distance for distance in rows["_distance"].to_pylist()])

        return _settled(ask, k=k)

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        """The k sentences with the largest BM25 value above 0, at most; ``among`` limits to these sentence ids.

        The query is plain text: any of its words may match, and no character has a meaning of its own. A restriction
        does not change values. With the unit ``passage`` the texts of passages are counted, and a match names one by
        its first sentence.

        Raises:
            ValueError: k is negative.
            ArchiveError: the unit is ``passage``, and the archive was made without the words of passages.
            MissingExtra: words are folded with something that is not installed.
        """
        from lancedb.query import MatchQuery

        if unit == "passage" and not self._layout.passage_words:
            raise no_passage_words(self._path)
        words = folder(self._layout.folding)(query)
        allowed = tables.condition(where, among)
        texts = self._open()[1]
        # beside an unindexed tail the engine counts only what a prefilter leaves; a postfilter keeps its counts true
        everything = texts.count_rows() if allowed is not None and tables.tail_length(texts) else 0
        column = self._layout.word_column if unit == "sentence" else rows_of.PASSAGE_TEXT
        terms = MatchQuery(words, column)  # type: ignore[call-arg]  # mypy does not see the defaults of pydantic fields

        def ask(limit: int) -> list[Match]:
            search = texts.search(terms, query_type="fts").limit(max(limit, everything))
            search = search.select([*rows_of.SENTENCE_COLUMNS, "_score"])
            if allowed is not None:
                search = search.where(allowed, prefilter=not everything)
            rows = search.to_arrow()
            found = rows_of.matches_of(rows, values=rows["_score"].to_pylist())
            return [match for match in found if match.value > 0]

        return _settled(ask, k=k)

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
