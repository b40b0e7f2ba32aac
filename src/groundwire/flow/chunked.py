"""Sources by the nearest chunks, as ScoreRAG finds its articles; the vectors of chunks are kept beside the archive.

They lie in one SQLite file in the archive's folder, a row a document, and are made at the first search and for new or
changed documents after that. It is a cache: deleted, it is made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundwire.backends.memory_store import allows
from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.ports import Embedder, Matrix, Progress, Vector
from groundwire.core.types import Document, Filter, Hit, Sentence, Source, Span
from groundwire.retrieval.chunks import CUT, sentences_in, split_chunks
from groundwire.retrieval.corpus import revision
from groundwire.retrieval.index import Archive

FILE = "chunks.sqlite3"

_TABLE = """
CREATE TABLE IF NOT EXISTS chunks (
    document TEXT NOT NULL, revision TEXT NOT NULL, made TEXT NOT NULL, spans BLOB NOT NULL, vectors BLOB NOT NULL,
    PRIMARY KEY (document, revision, made)) WITHOUT ROWID
"""
_WAIT_SECONDS = 30
_EMBEDDED_AT_ONCE = 64
_COMPARED_AT_ONCE = 2000
_EVERYTHING = Filter()

_Stored = tuple[str, str, str, bytes, bytes]
_Row = tuple[str, str, bytes, bytes]


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk of a document with its cosine to the query, -1 to 1."""

    document_id: str
    span: Span
    similarity: float


def chunk_sources(
    archive: Archive, topic: str, *, k: int, where: Filter = _EVERYTHING, progress: Progress | None = None
) -> tuple[Source, ...]:
    """The documents of the k chunks that lie nearest to a topic, in the order of their best chunk.

    The hits of a source are the sentences that lie in its chunks, each with the cosine of its best chunk as strength
    and similarity. Every chunk is compared; there is no index. Chunks without vectors are embedded first, and that is
    what it costs: about as many tokens as the documents have, once for an archive on disk, each time for one in memory.

    Args:
        archive: where to look.
        topic: what the article is about.
        k: how many chunks; 1 and up.
        where: the documents that are looked at.
        progress: is told how many documents of those without vectors are done.

    Raises:
        UsageError: the topic is blank, or k is below 1.
        ArchiveError: the file of vectors cannot be read or written.
    """
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    if k < 1:
        raise UsageError(f"k is {k}; it must be 1 or more")
    with _kept(archive.folder) as connection:
        wanted = _bring_up_to_date(connection, archive, progress)
        if where != _EVERYTHING:
            fitting = {head.id for head in archive.store.heads() if allows(where, head)}
            wanted = {name: content for name, content in wanted.items() if name in fitting}
        query = np.asarray(archive.embedder.embed([topic], role="query")[0], dtype=np.float32)
        found = _nearest(connection, query, k=k, wanted=wanted, made=_made(archive.embedder))
    return archive.documents(_hits(found, archive.sentences({chunk.document_id for chunk in found})))


@contextmanager
def _kept(folder: Path | None) -> Iterator[sqlite3.Connection]:
    place = ":memory:" if folder is None else folder / FILE
    try:
        with closing(sqlite3.connect(place, timeout=_WAIT_SECONDS)) as connection:
            connection.execute(_TABLE)
            yield connection
    except sqlite3.Error as error:
        raise ArchiveError(
            f"the vectors of chunks in {place} cannot be read or written ({error}). If no other process is writing "
            "there and the disk has room, delete the file: the next search makes it again"
        ) from error


def _made(embedder: Embedder) -> str:
    """What decides a document's row beside its content."""
    return f"{embedder.id} {CUT}"


def _bring_up_to_date(connection: sqlite3.Connection, archive: Archive, progress: Progress | None) -> Mapping[str, str]:
    """Drop what is gone and embed what is missing; returns the content hash of every document by id.

    A snapshot drops nothing: the archive itself needs what the snapshot does not.
    """
    made, current = _made(archive.embedder), archive.store.revisions()
    held = set(connection.execute("SELECT document, revision, made FROM chunks"))
    needed = {(name, content, made) for name, content in current.items()}
    if (gone := held - needed) and not archive.pinned:
        with connection:
            connection.executemany("DELETE FROM chunks WHERE document = ? AND revision = ? AND made = ?", gone)
    missing = sorted(name for name, _, _ in needed - held)
    for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
        names = missing[start : start + _EMBEDDED_AT_ONCE]
        rows = _rows(archive.store.documents(names).values(), archive.embedder)
        with connection:
            connection.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?)", rows)
        if progress is not None:
            progress(start + len(names), len(missing), "documents cut into chunks")
    return current


def _rows(documents: Iterable[Document], embedder: Embedder) -> list[_Stored]:
    """What is kept of documents: the offsets of their chunks, and a vector each in float16."""
    cut = [(document, split_chunks(document.text)) for document in documents]
    texts = [document.text[span.start : span.end] for document, spans in cut for span in spans]
    vectors, start = embedder.embed(texts, role="passage").astype("<f2"), 0
    rows: list[_Stored] = []
    for document, spans in cut:
        own, start = vectors[start : start + len(spans)], start + len(spans)
        offsets = np.array([(span.start, span.end) for span in spans], dtype="<i4")
        rows.append((document.id, revision(document), _made(embedder), offsets.tobytes(), own.tobytes()))
    return rows


def _nearest(
    connection: sqlite3.Connection, query: Vector, *, k: int, wanted: Mapping[str, str], made: str
) -> list[FoundChunk]:
    """The k best chunks of the wanted documents: by similarity down, then by document and place."""
    best: list[FoundChunk] = []
    cursor = connection.execute("SELECT document, revision, spans, vectors FROM chunks WHERE made = ?", (made,))
    while rows := cursor.fetchmany(_COMPARED_AT_ONCE):
        kept = [row for row in rows if wanted.get(row[0]) == row[1]]
        best = sorted([*best, *_best_of(kept, query, k=k)], key=_order)[:k]
    return best


def _best_of(rows: Sequence[_Row], query: Vector, *, k: int) -> list[FoundChunk]:
    """The chunks of these rows that can be among the k best."""
    offsets = np.frombuffer(b"".join(row[2] for row in rows), dtype="<i4").reshape(-1, 2)
    vectors: Matrix = np.frombuffer(b"".join(row[3] for row in rows), dtype="<f2").reshape(-1, query.size)
    if not len(offsets):
        return []
    values = np.clip(vectors.astype(np.float32) @ query, -1, 1)
    border = np.sort(values)[-min(k, values.size)]
    owners = np.repeat(np.arange(len(rows)), [len(row[2]) // 8 for row in rows])
    return [
        FoundChunk(rows[owners[place]][0], Span(*offsets[place].tolist()), float(values[place]))
        for place in np.flatnonzero(values >= border)
    ]


def _order(chunk: FoundChunk) -> tuple[float, str, int]:
    return (-chunk.similarity, chunk.document_id, chunk.span.start)


def _hits(found: Sequence[FoundChunk], sentences: Mapping[str, Sequence[Sentence]]) -> list[Hit]:
    """The sentences of the chunks, each once, best chunk first and in source order inside it."""
    best: dict[Sentence, float] = {}
    for chunk in found:
        for sentence in sentences_in(chunk.span, sentences.get(chunk.document_id, ())):
            best.setdefault(sentence, chunk.similarity)
    return [Hit(sentence, rank, value, value) for rank, (sentence, value) in enumerate(best.items(), 1)]
