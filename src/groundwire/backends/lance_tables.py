"""The two tables behind ``LanceStore``: how they are opened, asked, indexed, folded and cleaned.

Every write of a document has a number of its own (``write``), drawn at random, in its row of the documents table and in
all rows of its sentences. The sentences' commit decides: the document row that counts is the one whose number the
sentences carry, so a document and its sentences change over in one instant although two tables hold them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.backends.lance_rows import PASSAGE_TEXT, Layout, documents_schema, layout_of, sentences_schema
from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.ports import Snapshot
from groundwire.core.types import Filter

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.expr import Expr
    from lancedb.index import IndexConfig
    from lancedb.table import Table

DOCUMENTS = "documents"
SENTENCES = "sentences"
EXACT_BELOW = 10_000
"""Rows below which no vector index is built: an exact scan is as fast there and misses nothing."""
_RQ_BITS = 5
_MOST_SEGMENTS = 20
"""Parts of the vector index above which it is built anew: every fold adds one, and each is searched."""
_AT_ONCE = timedelta(milliseconds=1)
"""The least age that the engine takes without a warning."""
_MARGIN = timedelta(hours=12)
"""For how long the engine may fold before it cleans, where a tag must not come of age in the meantime."""
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


def open_tables(path: str, *, layout: Layout) -> tuple[Table, Table]:
    """The documents and the sentences table of an archive, made where they are not there yet.

    Tables that are there keep the folding and the passages that they were made with, whatever ``layout`` says. A start
    that was cut off half-way (documents without sentences, a table without its index) is completed.

    Raises:
        ArchiveError: the archive is broken, or holds vectors of another dimension.
    """
    try:
        database = connect(path)
        present = set(database.list_tables().tables)
        if SENTENCES in present and DOCUMENTS not in present:
            raise ArchiveError(f"{path} holds sentences but no documents: restore {DOCUMENTS}.lance, or build it anew")
        documents = _open(database, DOCUMENTS, present, schema=documents_schema())
        if SENTENCES not in present and documents.count_rows():
            raise ArchiveError(f"{path} holds documents but no sentences: restore {SENTENCES}.lance, or build it anew")
        sentences = _open(database, SENTENCES, present, schema=sentences_schema(layout))
        held, dimension = layout_of(sentences.schema).dimension, layout.dimension
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
    from lancedb.index import BTree

    for table, column in ((documents, "id"), (sentences, "id"), (sentences, "document_id")):
        if index_of(table, column) is None:
            table.create_index(column, config=BTree())
    index_words(sentences, anew=False)


def index_words(sentences: Table, *, anew: bool) -> None:
    """Build the full-text indexes, those that are missing or all ``anew``.

    An index goes on counting the words of removed rows, however often it is folded; one made anew counts what is there.
    """
    from lancedb.index import FTS

    # the engine's list of stop words is that of all languages at once: it would lose "war", "man", "dog" and "AI"
    by_words = FTS(base_tokenizer="icu", with_position=False, remove_stop_words=False)
    for column in (layout_of(sentences.schema).word_column, PASSAGE_TEXT):
        if column in sentences.schema.names and (anew or index_of(sentences, column) is None):
            sentences.create_index(column, config=by_words)


def index_of(table: Table, column: str) -> IndexConfig | None:
    """What the engine says of the index on a column, or None."""
    return next((index for index in table.list_indices() if list(index.columns) == [column]), None)


def tail_length(sentences: Table) -> int:
    """How many sentences the full-text index does not hold yet."""
    index = index_of(sentences, layout_of(sentences.schema).word_column)
    return sentences.count_rows() if index is None else int(index.num_unindexed_rows or 0)


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


def scan(table: Table, columns: Sequence[str], *, where: Expr | None = None, row_numbers: bool = False) -> pa.Table:
    """All rows of a table that a typed expression allows, as an Arrow table of these columns.

    With ``row_numbers`` the engine's own stand in the column ``_rowid``.
    """
    search = table.search().select(list(columns)).with_row_id(row_numbers)
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


def fold(table: Table, *, keep_versions_for: timedelta | None) -> None:
    """Merge small files, add the tail to the indexes and delete versions older than ``keep_versions_for``.

    With None all but the last version are deleted, and what a killed writer left with them. Branches keep the version
    that they were made from. The engine refuses to clean past a tag, so a tag keeps its version and all later ones.
    """
    age = _AT_ONCE if keep_versions_for is None else keep_versions_for
    if tags := table.tags.list():
        written = {version["version"]: version["timestamp"] for version in table.list_versions()}
        oldest = min(written[tag["version"]] for tag in tags.values())
        age = max(age, datetime.now(tz=oldest.tzinfo) - oldest + _MARGIN)
    table.optimize(cleanup_older_than=age, delete_unverified=keep_versions_for is None)


def index_vectors(sentences: Table, *, most_segments: int | None = None) -> None:
    """Build the vector index where there are rows enough for one and none yet, or one of too many parts."""
    from lancedb.index import IvfRq

    index = index_of(sentences, "vector")
    most_segments = _MOST_SEGMENTS if most_segments is None else most_segments
    if sentences.count_rows() < EXACT_BELOW or (index is not None and (index.num_segments or 0) <= most_segments):
        return
    _logger.info("building the vector index over %d sentences", sentences.count_rows())
    sentences.create_index("vector", config=IvfRq(distance_type="dot", num_bits=_RQ_BITS))


def branch(table: Table, name: str) -> None:
    """Keep the last version of a table under a name; what was left half-way of an earlier try is made anew.

    Raises:
        ArchiveError: it cannot be made.
    """
    if name in table.branches.list():
        table.branches.delete(name)
    try:
        table.branches.create(name)
    except RuntimeError as error:
        raise ArchiveError(f"the snapshot '{name}' cannot be made ({error}); take another name") from error


def branches(opened: tuple[Table, Table]) -> list[str]:
    """The names of the branches that both tables have, sorted."""
    documents, sentences = (set(table.branches.list()) for table in opened)
    return sorted(documents & sentences)


def drop_half_branches(opened: tuple[Table, Table]) -> None:
    """Delete the branches that only one table has: what is left of a snapshot that was cut off, made or forgotten."""
    whole = branches(opened)
    for table in opened:
        for name in set(table.branches.list()).difference(whole):
            table.branches.delete(name)


def snapshot_of(name: str, opened: tuple[Table, Table]) -> Snapshot:
    """What a snapshot holds, and when its second branch was made."""
    documents, sentences = (table.branches.checkout(name) for table in opened)
    made = max(version["timestamp"] for version in sentences.list_versions())
    return Snapshot(name, made.astimezone(UTC), documents.count_rows(), sentences.count_rows())


def size_on_disk(path: str) -> int | None:
    """The bytes of all files below a directory of this machine; None for an address elsewhere."""
    if "://" in path:
        return None
    return sum(_size(Path(folder) / file) for folder, _, files in os.walk(path) for file in files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a writer in another process deleted it in between
        return 0
