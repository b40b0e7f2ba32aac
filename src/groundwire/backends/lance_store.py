"""The archive on disk: documents and sentences in two LanceDB tables, with dense and full-text search."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundwire.backends import lance_tables as tables
from groundwire.backends.memory_store import best_first, checked_query, checked_vectors, source_order
from groundwire.core.errors import ArchiveError
from groundwire.core.ports import Counts, Matrix, Vector
from groundwire.core.types import Document, Filter, Match, Sentence, Unit

if TYPE_CHECKING:
    from lancedb.table import Table

_LONGEST_TAIL = 5_000
"""Sentences outside the full-text index above which ``put`` folds them in: 20,000 make BM25 50 times slower."""
_FOLD_SHARE = 0.1
"""The share of a fast writer's time that folding in ``put`` may take; ``finish`` folds the rest."""
_PROBES = 64
_PROBES_OF_MANY = 128
_MANY_ROWS = 500_000
_REFINE = 4
_SPARE = 8
"""Rows asked for beyond k, to see whether the k-th value ties with the next."""
_WIDEST_TIE = 2_048
_TRIES = 3


class LanceStore:
    """A directory with ``documents.lance`` and ``sentences.lance``; many readers, one writer at a time.

    **Writing.** A put commits the documents, then the sentences; the second commit decides (see ``lance_tables``).
    Killed at any moment, the store opens again and holds each document whole, as it was or as it was to be; a put of
    the same documents gives the same content, and ``finish`` removes what was left over. Give ``put`` 1,000 sentences
    or more at a time: every call is two commits, a commit adds files, and memory grows by about 3 MB a commit.
    ``put``, ``remove`` and ``finish`` of two processes at once on one archive are not supported. A process that opened
    a store must not be forked: spawn.

    **Reading.** Each query sees the latest commit of any process (``read_consistency_interval`` 0). Versions of the
    tables are deleted by ``finish`` when they are older than ``keep_versions_for``; a query that runs longer fails.

    **Dense.** Vectors are float16. Below 10,000 sentences, and with ``among``, every vector is compared; above, an IVF
    index of 5-bit codes proposes four times k and their float16 vectors decide. **Words.** BM25 over words as ICU
    segments them, the English ones stemmed, none left out. A Chinese query finds the dictionary words it holds: one
    character finds sentences in which it stands alone as a word, not every word with it. Until ``finish`` the counts
    behind BM25 are slightly behind. **Ties** are settled by sentence id, also across the k-th place, unless more than
    2,048 sentences tie there: then which of them come is the engine's choice.
    """

    def __init__(self, path: str | Path, *, dimension: int, keep_versions_for: timedelta = timedelta(hours=1)) -> None:
        """Open an archive, or make one.

        Args:
            path: a directory, made where it is not there, or an ``s3://``, ``gs://`` or ``az://`` address.
            dimension: how many numbers a vector has.
            keep_versions_for: how long a version of a table can still be read after the next one was written.

        Raises:
            ValueError: the dimension is below 1, or the time is not positive.
            MissingExtra: the extra 'archive' is not installed.
            ArchiveError: what is there is no archive, is broken, or holds vectors of another dimension.
        """
        if dimension < 1:
            raise ValueError(f"a store needs vectors of 1 number or more, got dimension {dimension}")
        if keep_versions_for <= timedelta(0):
            raise ValueError(f"keep_versions_for must be longer than 0, got {keep_versions_for}: readers need the time")
        self._path = str(path)
        self._dimension = dimension
        self._keep_versions_for = keep_versions_for
        self._process = os.getpid()
        self._tables: tuple[Table, Table] | None = tables.open_tables(self._path, dimension=dimension)
        self._tail = tables.tail_length(self._tables[1])
        self._folded_at = self._fold_seconds_a_row = 0.0
        self._ids: set[str] = set()
        self._ids_version = -1
        self._finished: tuple[int, int] | None = None

    @property
    def dimension(self) -> int:
        """How many numbers a stored vector has."""
        return self._dimension

    def put(
        self, documents: Sequence[Document], sentences: Sequence[Sentence], *, vectors: Matrix, revisions: Sequence[str]
    ) -> None:
        """Insert documents, or replace those of the same id with all their sentences: one commit on each table.

        Raises:
            ValueError: as ``checked_vectors`` says.
        """
        halves = checked_vectors(documents, sentences, vectors=vectors, revisions=revisions, dimension=self._dimension)
        if not documents:
            return
        held, texts = self._open()
        about, rows = tables.rows_to_write(documents, sentences, vectors=halves, revisions=revisions)
        if tables.PASSAGE_TEXT not in texts.schema.names:  # an archive of format 1 stays as it was made
            rows = rows.drop_columns([tables.PASSAGE_TEXT])
        names = [document.id for document in documents]
        if known := self._known(names):
            living = set(tables.scan(texts, ["write"], where=tables.isin("document_id", names))["write"].to_pylist())
            counts = dict(zip(names, about["sentence_count"].to_pylist(), strict=True))
            stale = [row["write"] for row in known if row["write"] not in living and not _stays(row, counts)]
            tables.swap(held, about, delete=tables.isin("write", stale))
            tables.swap(texts, rows, delete=tables.isin("document_id", names))
        else:
            held.add(about)
            if sentences:
                texts.add(rows)
        self._ids.update(names)
        self._ids_version = held.version
        self._tail += len(sentences)
        self._fold_tail()

    def remove(self, document_ids: Iterable[str]) -> int:
        """Remove documents with their sentences; returns how many there were."""
        names = sorted(set(document_ids))
        there = self._current(["id"], names)
        if names:
            held, texts = self._open()
            # sentences first: a reader finds no sentence whose document is gone
            texts.delete(tables.isin("document_id", names))
            held.delete(tables.isin("id", names))
        return len(there)

    def finish(self) -> None:
        """Remove what a killed writer left, fold, clean old versions; index the vectors from 10,000 sentences on."""
        held, texts = self._open()
        if self._finished == (held.version, texts.version):
            return
        self._remove_leftovers()
        tables.fold(held, keep_versions_for=self._keep_versions_for)
        tables.fold(texts, keep_versions_for=self._keep_versions_for)
        tables.index_vectors(texts)
        self._tail = 0
        self._finished = (held.version, texts.version)

    def revisions(self) -> Mapping[str, str]:
        """Id -> content hash of every document that is completely there, by id."""
        return {row["id"]: row["revision"] for row in self._current(["id", "revision"])}

    def origins(self) -> Mapping[str, str]:
        """Id -> origin of every such document that has an origin, by id."""
        return {row["id"]: row["origin"] for row in self._current(["id", "origin"]) if row["origin"]}

    def set_origins(self, origins: Mapping[str, str]) -> None:
        """Give documents, by id, another origin: one commit on the documents table; unknown ids are passed over."""
        rows = self._current(["id", "write"], list(origins))
        if rows:
            held = self._open()[0]
            known = self._ids_version == held.version
            tables.set_origins(held, {row["write"]: origins[row["id"]] for row in rows})
            self._ids_version = held.version if known else -1

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """The documents of these ids that are there, in the order asked."""
        names = list(ids)
        found = {row["id"]: tables.document_of(row) for row in self._current(tables.DOCUMENT_COLUMNS, names)}
        return {name: found[name] for name in names if name in found}

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order."""
        names = list(document_ids)
        found: dict[str, list[Sentence]] = {}
        rows = tables.scan(self._open()[1], tables.SENTENCE_COLUMNS, where=tables.isin("document_id", names))
        for sentence in tables.sentences_of(rows):
            found.setdefault(sentence.document_id, []).append(sentence)
        if silent := [name for name in names if name not in found]:
            found |= {row["id"]: [] for row in self._current(["sentence_count"], silent) if row["sentence_count"] == 0}
        return {name: tuple(sorted(found[name], key=source_order)) for name in names if name in found}

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """The stored vectors of these sentences that are there; float32, shape (dimension,) each."""
        rows = tables.scan(self._open()[1], ["id", "vector"], where=tables.isin("id", sentence_ids))
        found = tables.vectors_of(rows)[:, : self._dimension]
        return dict(zip(rows["id"].to_pylist(), found, strict=True))

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids, exactly.

        Values are products of the float16 vectors with the query rounded to float16 (off by about 1e-4).

        Raises:
            ValueError: the query has another shape than (dimension,) or is not finite, or k is negative.
        """
        vector = tables.widened(checked_query(query, dimension=self._dimension))
        allowed = tables.condition(where, among)
        texts = self._open()[1]
        probes = _PROBES if texts.count_rows() < _MANY_ROWS else _PROBES_OF_MANY

        def ask(limit: int) -> list[Match]:
            search: Any = texts.search(vector, vector_column_name="vector")
            search = search.distance_type("dot").limit(limit)
            search = search.select([*tables.SENTENCE_COLUMNS, "_distance"])
            if allowed is not None:
                search = search.where(allowed, prefilter=True)
            if among is not None:
                search = search.bypass_vector_index()
            else:
                # with a narrow filter the other partitions are searched too, until there are enough
                search = search.minimum_nprobes(probes).maximum_nprobes(0).refine_factor(_REFINE)
            rows = search.to_arrow()
            return tables.matches_of(rows, values=[1.0 - distance for distance in rows["_distance"].to_pylist()])

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
            ArchiveError: the archive was made before the texts of passages were kept.
        """
        from lancedb.query import MatchQuery

        allowed = tables.condition(where, among)
        texts = self._open()[1]
        # beside an unindexed tail the engine counts only what a prefilter leaves; a postfilter keeps its counts true
        everything = texts.count_rows() if allowed is not None and tables.tail_length(texts) else 0

        column = "text" if unit == "sentence" else tables.PASSAGE_TEXT
        if column not in texts.schema.names:
            raise ArchiveError(
                f"{self._path} was made before groundwire counted the words of passages: leave search.passage_words at "
                "0, or add the documents to a new archive"
            )
        terms = MatchQuery(query, column)  # type: ignore[call-arg]  # mypy does not see the defaults of pydantic fields

        def ask(limit: int) -> list[Match]:
            search = texts.search(terms, query_type="fts").limit(max(limit, everything))
            search = search.select([*tables.SENTENCE_COLUMNS, "_score"])
            if allowed is not None:
                search = search.where(allowed, prefilter=not everything)
            rows = search.to_arrow()
            found = tables.matches_of(rows, values=rows["_score"].to_pylist())
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
        return _complete(rows, living)

    def _remove_leftovers(self) -> None:
        held, texts = self._open()
        living = set(tables.scan(texts, ["write"])["write"].unique().to_pylist())
        rows = tables.scan(held, ["id", "write", "sentence_count"]).to_pylist()
        current = {row["write"] for row in _complete(rows, living)}
        if stale := {row["write"] for row in rows} - current:
            held.delete(tables.isin("write", sorted(stale)))
        if orphans := living - current:
            texts.delete(tables.isin("write", sorted(orphans)))

    def _known(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of those documents that the table holds, finished or not.

        All ids are remembered between puts, for as long as nobody else has written.
        """
        held = self._open()[0]
        if self._ids_version != held.version:
            self._ids = set(tables.scan(held, ["id"])["id"].to_pylist())
        known = self._ids.intersection(names)
        if not known:
            return []
        return list(tables.scan(held, ["write", "id", "sentence_count"], where=tables.isin("id", known)).to_pylist())

    def _fold_tail(self) -> None:
        """Fold when the tail is long, or longer than what is indexed, in about a tenth of a fast writer's time."""
        started = time.perf_counter()
        texts = self._open()[1]
        rows = texts.count_rows()
        soon = (started - self._folded_at) * _FOLD_SHARE < self._fold_seconds_a_row * rows
        if self._tail <= min(_LONGEST_TAIL, rows - self._tail) or soon:
            return
        tables.fold(texts, keep_versions_for=self._keep_versions_for)
        self._tail = 0
        self._folded_at = time.perf_counter()
        self._fold_seconds_a_row = (self._folded_at - started) / rows


def _stays(row: Mapping[str, Any], counts: Mapping[str, int]) -> bool:
    """Whether a document without sentences stays readable until the sentences of its successor are committed."""
    return row["sentence_count"] == 0 and counts[row["id"]] > 0


def _complete(rows: Iterable[dict[str, Any]], living: set[int]) -> list[dict[str, Any]]:
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
