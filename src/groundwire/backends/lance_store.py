"""The archive on disk: documents and sentences in two LanceDB tables, with dense and full-text search."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from groundwire.backends import lance_tables as tables
from groundwire.backends.accepted import checked_vectors, new_snapshot_name, require_snapshot
from groundwire.backends.lance_reader import LanceReader, complete
from groundwire.backends.lance_rows import Layout, rows_to_write
from groundwire.core.folding import Folding
from groundwire.core.ports import Matrix, Snapshot
from groundwire.core.types import Document, Sentence

_LONGEST_TAIL = 5_000
"""Sentences outside the full-text index above which ``put`` folds them in: 20,000 make BM25 50 times slower."""
_FOLD_SHARE = 0.1
"""The share of a fast writer's time that folding in ``put`` may take; ``finish`` folds the rest."""


class LanceStore(LanceReader):
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
    index of 5-bit codes proposes 2 to 4 times k and their float16 vectors decide. **Words.** BM25 over words as ICU
    segments them, the English ones stemmed, none left out. A Chinese query finds the dictionary words it holds: one
    character finds sentences in which it stands alone as a word, not every word with it. Until ``finish`` the counts
    behind BM25 are slightly behind, and until ``compact`` they hold the words of what was removed. **Ties** are settled
    by sentence id, also across the k-th place, unless more than 2,048 sentences tie there: then which of them come is
    the engine's choice.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        dimension: int,
        folding: Folding = "",
        passage_words: bool = True,
        keep_versions_for: timedelta = timedelta(hours=1),
    ) -> None:
        """Open an archive, or make one.

        Args:
            path: a directory, made where it is not there, or an ``s3://``, ``gs://`` or ``az://`` address.
            dimension: how many numbers a vector has.
            folding: how words are folded before they are counted (see ``core.folding``); an archive that is there keeps
                the folding it was made with.
            passage_words: whether the words of whole passages are kept; an archive that is there stays as it was made.
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
        opened = tables.open_tables(str(path), layout=Layout(dimension, folding, passage_words))
        super().__init__(str(path), opened)
        self._keep_versions_for = keep_versions_for
        self._tail = tables.tail_length(opened[1])
        self._folded_at = self._fold_seconds_a_row = 0.0
        self._ids: set[str] = set()
        self._ids_version = -1
        self._finished: tuple[int, int] | None = None

    def put(
        self, documents: Sequence[Document], sentences: Sequence[Sentence], *, vectors: Matrix, revisions: Sequence[str]
    ) -> None:
        """Insert documents, or replace those of the same id with all their sentences: one commit on each table.

        Raises:
            ValueError: as ``checked_vectors`` says.
            MissingExtra: words are folded with something that is not installed.
        """
        halves = checked_vectors(documents, sentences, vectors=vectors, revisions=revisions, dimension=self.dimension)
        if not documents:
            return
        held, texts = self._open()
        about, rows = rows_to_write(documents, sentences, vectors=halves, revisions=revisions, layout=self._layout)
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

    def set_origins(self, origins: Mapping[str, str]) -> None:
        """Give documents, by id, another origin: one commit on the documents table; unknown ids are passed over."""
        rows = self._current(["id", "write"], list(origins))
        if rows:
            held = self._open()[0]
            known = self._ids_version == held.version
            tables.set_origins(held, {row["write"]: origins[row["id"]] for row in rows})
            self._ids_version = held.version if known else -1

    def compact(self) -> None:
        """Fold all into few files, index anew what lies in many parts, delete every version but the last and snapshots.

        A query of another process that has begun fails; its next one does not.
        """
        held, texts = self._open()
        self._remove_leftovers()
        tables.drop_half_branches((held, texts))
        tables.fold(texts, keep_versions_for=self._keep_versions_for)
        tables.index_words(texts, anew=True)
        tables.index_vectors(texts, most_segments=1)
        tables.fold(held, keep_versions_for=None)
        tables.fold(texts, keep_versions_for=None)
        self._tail = 0
        self._finished = (held.version, texts.version)

    def snapshot(self, name: str) -> Snapshot:
        """Keep what the archive holds now under a name: a branch on each table, made from its last version.

        The engine also knows tags, but refuses to delete any version that is older than a table's last and younger than
        its oldest tag; a branch keeps its one version and nothing else. A snapshot is there when both branches are.

        Raises:
            UsageError: the name is not one, or is taken.
        """
        name = new_snapshot_name(name, self.snapshots())
        self.finish()
        for table in self._open():
            tables.branch(table, name)
        return self.snapshots()[name]

    def snapshots(self) -> Mapping[str, Snapshot]:
        """All snapshots by name, in order of name."""
        return {name: tables.snapshot_of(name, self._open()) for name in tables.branches(self._open())}

    def forget_snapshot(self, name: str) -> None:
        """Give a snapshot up.

        Raises:
            ArchiveError: there is no such snapshot.
        """
        self._require(name)
        for table in reversed(self._open()):
            table.branches.delete(name)

    def at(self, name: str) -> LanceReader:
        """The archive as it was when the snapshot was taken; to write to it raises ArchiveError.

        Raises:
            ArchiveError: there is no such snapshot.
        """
        self._require(name)
        held, texts = (table.branches.checkout(name) for table in self._open())
        return LanceReader(self._path, (held, texts), pinned=name)

    def facts(self) -> Mapping[str, str | int]:
        """What can be said about its state; ``bytes`` is absent where the archive is not a directory of this machine.

        ``versions`` are those of the sentences that can still be read, ``vector_parts`` those of the vector index, each
        of which a search reads.
        """
        texts = self._open()[1]
        index = tables.index_of(texts, "vector")
        size = tables.size_on_disk(self._path)
        return {
            "folding": self._layout.folding,
            "passage_words": int(self._layout.passage_words),
            **({} if size is None else {"bytes": size}),
            "versions": len(texts.list_versions()),
            "snapshots": len(tables.branches(self._open())),
            "unindexed": tables.tail_length(texts),
            "vector_index": "none" if index is None else str(index.index_type),
            "vector_parts": 0 if index is None else int(index.num_segments or 0),
        }

    def _require(self, snapshot: str) -> None:
        if snapshot not in tables.branches(self._open()):
            require_snapshot(snapshot, self.snapshots())

    def _remove_leftovers(self) -> None:
        held, texts = self._open()
        living = set(tables.scan(texts, ["write"])["write"].unique().to_pylist())
        rows = tables.scan(held, ["id", "write", "sentence_count"]).to_pylist()
        current = {row["write"] for row in complete(rows, living)}
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
