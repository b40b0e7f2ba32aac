"""The two tables behind ``LanceStore``: how rows are laid out, quoted, indexed, folded and cleaned.

Every write of a document has a number of its own (``write``), drawn at random, in its row of the documents table and in
all rows of its sentences. The sentences' commit decides: the document row that counts is the one whose number the
sentences carry, so a document and its sentences change over in one instant although two tables hold them.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundwire.backends.memory_store import passage_texts
from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.types import Document, Filter, Match, Sentence

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.expr import Expr
    from lancedb.index import IndexConfig
    from lancedb.table import Table

DOCUMENTS = "documents"
SENTENCES = "sentences"
SENTENCE_COLUMNS = ("id", "document_id", "passage", "start", "end", "text")
DOCUMENT_COLUMNS = ("id", "text", "title", "published", "source", "url", "language", "origin", "notes")

PASSAGE_TEXT = "passage_text"
"""The column that holds the text of a passage in the row of its first sentence; null elsewhere, which BM25 skips."""

EXACT_BELOW = 10_000
"""Rows below which no vector index is built: an exact scan is as fast there and misses nothing."""
_RQ_BITS = 5
_MOST_SEGMENTS = 20
"""Parts of the vector index above which it is built anew: every fold adds one, and each is searched."""
_DIMENSION_KEY = b"groundwire.dimension"
_VECTOR_STEP = 8
"""The vector index takes widths that this divides; vectors are filled up with zeros, which no dot product sees."""
_INDEX_CACHE_BYTES = 1 << 30
_METADATA_CACHE_BYTES = 128 << 20

_logger = logging.getLogger(__name__)


def engine() -> ModuleType:
    """The lancedb package, loaded at first use (2 to 3 seconds).

    Its log of routine warnings is off unless ``LANCE_LOG`` or ``LANCEDB_LOG`` in the environment says otherwise.

    Raises:
        MissingExtra: it, or pyarrow, is not installed.
    """
    for variable in ("LANCE_LOG", "LANCEDB_LOG"):
        os.environ.setdefault(variable, "error")
    try:
        import lancedb
        import pyarrow  # noqa: F401 (asked for here so that its absence is named here)
    except ImportError as error:
        raise MissingExtra("an archive on disk", extra="archive") from error
    return lancedb


def connect(path: str) -> DBConnection:
    """A connection with bounded caches that sees the commits of other processes at every read."""
    session = engine().Session(_INDEX_CACHE_BYTES, _METADATA_CACHE_BYTES)
    database: DBConnection = engine().connect(path, read_consistency_interval=timedelta(0), session=session)
    return database


def open_tables(path: str, *, dimension: int) -> tuple[Table, Table]:
    """The documents and the sentences table of an archive, made where they are not there yet.

    A start that was cut off half-way (documents without sentences, a table without its index) is completed.

    Raises:
        ArchiveError: the archive is broken, or holds vectors of another dimension.
    """
    try:
        database = connect(path)
        present = set(database.list_tables().tables)
        if SENTENCES in present and DOCUMENTS not in present:
            raise ArchiveError(f"{path} holds sentences but no documents: restore {DOCUMENTS}.lance, or build it anew")
        documents = _open(database, DOCUMENTS, present, schema=_documents_schema())
        if SENTENCES not in present and documents.count_rows():
            raise ArchiveError(f"{path} holds documents but no sentences: restore {SENTENCES}.lance, or build it anew")
        sentences = _open(database, SENTENCES, present, schema=_sentences_schema(dimension))
        held = int((sentences.schema.metadata or {}).get(_DIMENSION_KEY, b"0"))
        if held != dimension:
            raise ArchiveError(
                f"{path} holds vectors of {held} numbers, but {dimension} were asked for. Open it with the embedder it "
                "was built with, or build it anew in another place"
            )
        _complete_indexes(documents, sentences)
    except (ValueError, RuntimeError, OSError) as error:
        raise ArchiveError(f"{path} cannot be opened as an archive: {error}") from error
    return documents, sentences


def _open(database: DBConnection, name: str, present: set[str], *, schema: pa.Schema) -> Table:
    return database.open_table(name) if name in present else database.create_table(name, schema=schema, exist_ok=True)


def _complete_indexes(documents: Table, sentences: Table) -> None:
    from lancedb.index import FTS, BTree

    # the engine's list of stop words is that of all languages at once: it would lose "war", "man", "dog" and "AI"
    by_words = FTS(base_tokenizer="icu", with_position=False, remove_stop_words=False)
    wanted = (
        (documents, "id", BTree()),
        (sentences, "id", BTree()),
        (sentences, "document_id", BTree()),
        (sentences, "text", by_words),
        (sentences, PASSAGE_TEXT, by_words),
    )
    for table, column, config in wanted:
        if column in table.schema.names and index_of(table, column) is None:
            table.create_index(column, config=config)


def index_of(table: Table, column: str) -> IndexConfig | None:
    """What the engine says of the index on a column, or None."""
    return next((index for index in table.list_indices() if list(index.columns) == [column]), None)


def tail_length(sentences: Table) -> int:
    """How many sentences the full-text index does not hold yet."""
    index = index_of(sentences, "text")
    return sentences.count_rows() if index is None else int(index.num_unindexed_rows or 0)


def _documents_schema() -> pa.Schema:
    import pyarrow as pa

    text = [pa.field(name, pa.string()) for name in ("revision", "text", "title", "source", "url", "language")]
    return pa.schema(
        [
            pa.field("write", pa.int64()),
            pa.field("sentence_count", pa.int32()),
            pa.field("id", pa.string()),
            *text,
            pa.field("origin", pa.string()),
            pa.field("published", pa.date32()),
            pa.field("notes", pa.list_(pa.string())),
        ]
    )


def _sentences_schema(dimension: int) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("write", pa.int64()),
            pa.field("id", pa.string()),
            pa.field("document_id", pa.string()),
            pa.field("passage", pa.int32()),
            pa.field("start", pa.int32()),
            pa.field("end", pa.int32()),
            pa.field("text", pa.string()),
            pa.field(PASSAGE_TEXT, pa.string()),
            pa.field("published", pa.date32()),
            pa.field("source", pa.string()),
            pa.field("language", pa.string()),
            pa.field("vector", pa.list_(pa.float16(), _width(dimension))),
        ],
        metadata={_DIMENSION_KEY: str(dimension).encode()},
    )


def _width(dimension: int) -> int:
    return -(-dimension // _VECTOR_STEP) * _VECTOR_STEP


def widened(vectors: NDArray[Any]) -> NDArray[Any]:
    """Rows filled up with zeros to the width that the table holds."""
    missing = _width(vectors.shape[-1]) - vectors.shape[-1]
    return np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, missing)]) if missing else vectors


def rows_to_write(
    documents: Sequence[Document],
    sentences: Sequence[Sentence],
    *,
    vectors: NDArray[np.float16],
    revisions: Sequence[str],
) -> tuple[pa.Table, pa.Table]:
    """The rows of one put for the documents and for the sentences table."""
    import pyarrow as pa

    place = {document.id: number for number, document in enumerate(documents)}
    columns: dict[str, Any] = {name: list(map(attrgetter(name), sentences)) for name in SENTENCE_COLUMNS}
    owners = np.fromiter(map(place.__getitem__, columns["document_id"]), np.int64, len(sentences))
    of_documents: dict[str, Any] = {
        "write": np.array([secrets.randbits(62) for _ in documents], dtype=np.int64),
        "sentence_count": np.bincount(owners, minlength=len(documents)).astype(np.int32),
        "revision": list(revisions),
    }
    of_documents |= {name: list(map(attrgetter(name), documents)) for name in DOCUMENT_COLUMNS}
    about = pa.table(of_documents, schema=_documents_schema())
    of_owner = pa.array(owners)
    columns |= {name: about[name].take(of_owner) for name in ("write", "published", "source", "language")}
    of_passages = passage_texts(sentences)
    columns[PASSAGE_TEXT] = [of_passages.get(number) for number in range(len(sentences))]
    flat = pa.array(widened(vectors).reshape(-1))
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, _width(vectors.shape[1]))
    schema = _sentences_schema(vectors.shape[1])
    return about, pa.table(columns, schema=schema)


def document_of(row: Mapping[str, Any]) -> Document:
    """The document of a row that holds all ``DOCUMENT_COLUMNS``."""
    return Document(**{name: row[name] for name in DOCUMENT_COLUMNS} | {"notes": tuple(row["notes"])})


def sentences_of(rows: pa.Table) -> list[Sentence]:
    """The sentences of rows that hold all ``SENTENCE_COLUMNS``."""
    return list(map(Sentence, *(rows[name].to_pylist() for name in SENTENCE_COLUMNS)))


def vectors_of(rows: pa.Table) -> NDArray[np.float32]:
    """The vectors of rows that hold the column ``vector``, as wide as the table holds them; shape (rows, width)."""
    column = rows["vector"].combine_chunks()
    numbers = np.asarray(column.flatten(), dtype=np.float32)
    return numbers.reshape(len(column), column.type.list_size)


def matches_of(rows: pa.Table, *, values: Sequence[float]) -> list[Match]:
    """Matches from rows and their values."""
    return list(map(Match, sentences_of(rows), values))


def isin(column: str, values: Iterable[str] | Iterable[int]) -> Expr:
    """A typed expression: the column holds one of these values; the engine quotes them."""
    from lancedb.expr import col

    return col(column).isin(list(values))


def condition(where: Filter, among: Sequence[str] | None) -> Expr | None:
    """The typed expression of a filter and of a limit to sentence ids, or None where everything is allowed."""
    from lancedb.expr import col, lit

    parts = []
    if where.published_from is not None:
        parts.append(col("published") >= lit(where.published_from))
    if where.published_to is not None:
        parts.append(col("published") <= lit(where.published_to))
    if where.sources:
        parts.append(isin("source", where.sources))
    if where.languages:
        parts.append(isin("language", where.languages))
    if among is not None:
        parts.append(isin("id", among))
    whole = None
    for part in parts:
        whole = part if whole is None else whole & part
    return whole


def scan(table: Table, columns: Sequence[str], *, where: Expr | None = None) -> pa.Table:
    """All rows of a table that a typed expression allows, as an Arrow table of these columns."""
    search = table.search().select(list(columns))
    if where is not None:
        search = search.where(where)
    return search.limit(None).to_arrow()


def swap(table: Table, rows: pa.Table, *, delete: Expr) -> None:
    """Append rows and delete those that a typed expression names, in one commit.

    The rows carry write numbers that the table does not hold, so the join matches nothing; it reads the numbers and the
    columns of the expression only. (A merge on the sentence id that updates what matches reads every vector: 1.1
    seconds at 50,000 rows of 768 numbers, against 0.1.)
    """
    merge = table.merge_insert("write").when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete(delete).execute(rows)


def set_origins(documents: Table, origins: Mapping[int, str]) -> None:
    """Write another origin into the rows of these write numbers, in one commit; no other column is read or written."""
    import pyarrow as pa

    schema = pa.schema([documents.schema.field("write"), documents.schema.field("origin")])
    rows = pa.table({"write": list(origins), "origin": list(origins.values())}, schema=schema)
    documents.merge_insert("write").when_matched_update_all().execute(rows)


def fold(table: Table, *, keep_versions_for: timedelta) -> None:
    """Merge small files, add the tail to the indexes and delete versions older than ``keep_versions_for``.

    The engine refuses to clean past a tag, so a tag keeps its version and all later ones.
    """
    age = keep_versions_for
    if tags := table.tags.list():
        written = {version["version"]: version["timestamp"] for version in table.list_versions()}
        oldest = min(written[tag["version"]] for tag in tags.values())
        age = max(age, datetime.now(tz=oldest.tzinfo) - oldest + keep_versions_for)
    table.optimize(cleanup_older_than=age)


def index_vectors(sentences: Table) -> None:
    """Build the vector index where there are rows enough for one and none yet, or one of too many parts."""
    from lancedb.index import IvfRq

    index = index_of(sentences, "vector")
    if sentences.count_rows() < EXACT_BELOW or (index is not None and (index.num_segments or 0) <= _MOST_SEGMENTS):
        return
    _logger.info("building the vector index over %d sentences", sentences.count_rows())
    sentences.create_index("vector", config=IvfRq(distance_type="dot", num_bits=_RQ_BITS))
