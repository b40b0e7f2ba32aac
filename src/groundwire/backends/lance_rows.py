"""The rows behind ``LanceStore``: which columns there are, how they are made and how they are read."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundwire.backends.memory_store import passage_texts
from groundwire.core.folding import Folding, folder
from groundwire.core.types import Document, Sentence

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "_rowid"
"""The engine's number of a row. It never names another row: what is written or folded anew gets new numbers."""
SENTENCE_COLUMNS = ("id", "document_id", "passage", "start", "end", "text")
HEAD_COLUMNS = ("id", "title", "published", "source", "language")
DOCUMENT_COLUMNS = ("id", "text", "title", "published", "source", "url", "language", "origin", "notes")
FOLDED = "folded"
"""The column that holds the folded text of a sentence: its words are counted, it is never shown."""
PASSAGE_TEXT = "passage_text"
"""The column that holds the text of a passage, folded where words are, in the row of its first sentence.

It is null in the other rows, which BM25 skips.
"""

_PLAIN = {"lance-encoding:compression": "none"}
"""Of the hidden columns: compressing them took an eighth of a put's CPU seconds and saved a thirtieth of the disk."""
_DIMENSION_KEY = b"groundwire.dimension"
_FOLDING_KEY = b"groundwire.folding"
_MOST_SEEN = 8_192
"""Sentences that are remembered: a few MB."""
_VECTOR_STEP = 8
"""The vector index takes widths that this divides; vectors are filled up with zeros, which no dot product sees."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the sentences table is laid out; it is written into the table and stays as it was made."""

    dimension: int
    folding: Folding = ""
    passage_words: bool = True

    @property
    def word_column(self) -> str:
        """The column whose words are counted for a sentence."""
        return FOLDED if self.folding else "text"


def layout_of(schema: pa.Schema) -> Layout:
    """The layout of a table that is there; one of an older format has neither folded words nor, perhaps, passages."""
    about = schema.metadata or {}
    folding: Any = about.get(_FOLDING_KEY, b"").decode() if FOLDED in schema.names else ""
    return Layout(int(about.get(_DIMENSION_KEY, b"0")), folding, PASSAGE_TEXT in schema.names)


def documents_schema() -> pa.Schema:
    """The columns of the documents table."""
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


def sentences_schema(layout: Layout) -> pa.Schema:
    """The columns of the sentences table."""
    import pyarrow as pa

    hidden = [FOLDED] * bool(layout.folding) + [PASSAGE_TEXT] * layout.passage_words
    return pa.schema(
        [
            pa.field("write", pa.int64()),
            pa.field("id", pa.string()),
            pa.field("document_id", pa.string()),
            pa.field("passage", pa.int32()),
            pa.field("start", pa.int32()),
            pa.field("end", pa.int32()),
            pa.field("text", pa.string()),
            *(pa.field(name, pa.string(), metadata=_PLAIN) for name in hidden),
            pa.field("published", pa.date32()),
            pa.field("source", pa.string()),
            pa.field("language", pa.string()),
            pa.field("vector", pa.list_(pa.float16(), _width(layout.dimension))),
        ],
        metadata={_DIMENSION_KEY: str(layout.dimension).encode(), _FOLDING_KEY: layout.folding.encode()},
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
    layout: Layout,
) -> tuple[pa.Table, pa.Table]:
    """The rows of one put for the documents and for the sentences table.

    Raises:
        MissingExtra: words are folded with something that is not installed.
    """
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
    about = pa.table(of_documents, schema=documents_schema())
    of_owner = pa.array(owners)
    columns |= {name: about[name].take(of_owner) for name in ("write", "published", "source", "language")}
    fold = folder(layout.folding)
    if layout.folding:
        columns[FOLDED] = list(map(fold, columns["text"]))
    if layout.passage_words:
        of_passages = passage_texts(sentences, texts=columns[layout.word_column])
        columns[PASSAGE_TEXT] = [of_passages.get(number) for number in range(len(sentences))]
    flat = pa.array(widened(vectors).reshape(-1))
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, _width(vectors.shape[1]))
    return about, pa.table(columns, schema=sentences_schema(layout))


def document_of(row: Mapping[str, Any]) -> Document:
    """The document of a row that holds all ``DOCUMENT_COLUMNS``."""
    return Document(**{name: row[name] for name in DOCUMENT_COLUMNS} | {"notes": tuple(row["notes"])})


def sentences_of(rows: pa.Table) -> list[Sentence]:
    """The sentences of rows that hold all ``SENTENCE_COLUMNS``."""
    return list(map(Sentence, *(rows[name].to_pylist() for name in SENTENCE_COLUMNS)))


class Seen:
    """The sentences that a reader met lately and the numbers of their rows, so that they are not looked for again."""

    def __init__(self) -> None:
        """Nothing was met yet."""
        self._numbers: dict[str, int] = {}
        self._sentences: dict[int, Sentence] = {}

    def note(self, rows: pa.Table) -> list[Sentence]:
        """The sentences of rows with ``SENTENCE_COLUMNS`` and ``_rowid``; they are met."""
        sentences, numbers = sentences_of(rows), rows[ROW].to_pylist()
        if len(self._sentences) + len(sentences) > _MOST_SEEN:
            self._numbers, self._sentences = {}, {}
        if len(sentences) <= _MOST_SEEN:
            self._sentences.update(zip(numbers, sentences, strict=True))
            self._numbers.update((sentence.id, number) for number, sentence in zip(numbers, sentences, strict=True))
        return sentences

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """The row numbers of those sentences that were met."""
        known = self._numbers
        return {name: known[name] for name in ids if name in known}

    def at(self, numbers: Iterable[int]) -> list[Sentence]:
        """The sentences of those rows that were met, in this order."""
        known = self._sentences
        return [known[number] for number in numbers if number in known]


def vectors_of(rows: pa.Table) -> NDArray[np.float32]:
    """The vectors of rows that hold the column ``vector``, as wide as the table holds them; shape (rows, width)."""
    column = rows["vector"].combine_chunks()
    numbers = np.asarray(column.flatten(), dtype=np.float32)
    return numbers.reshape(len(column), column.type.list_size)
