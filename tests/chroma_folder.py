"""Folders as Chroma 1.5.9 writes them: the tables that hold collections and documents, with the same declarations.

What only Chroma itself reads (tenants, full text, queues' settings, vectors) is left out.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

_TABLES = """
CREATE TABLE "collections" (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER, database_id TEXT NOT NULL,
    config_json_str TEXT, schema_str TEXT, UNIQUE (name, database_id)
);
CREATE TABLE "segments" (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT REFERENCES collection(id) NOT NULL
);
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id)
);
CREATE TABLE embedding_metadata (
    id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL, string_value TEXT, int_value INTEGER, float_value REAL,
    bool_value INTEGER, PRIMARY KEY (id, key)
);
CREATE TABLE max_seq_id (segment_id TEXT PRIMARY KEY, seq_id INTEGER);
CREATE TABLE embeddings_queue (
    seq_id INTEGER PRIMARY KEY, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, operation INTEGER NOT NULL,
    topic TEXT NOT NULL, id TEXT NOT NULL, vector BLOB, encoding TEXT, metadata TEXT
);
"""

Value = str | int | float | bool


@dataclass(frozen=True)
class Record:
    """One record of a collection; without a document it has a vector alone."""

    name: str
    document: str | bytes | None
    about: Mapping[str, Value] = field(default_factory=dict)


def write_chroma(folder: Path, collections: Mapping[str, Sequence[Record]], *, unwritten: int = 0) -> Path:
    """A folder with these collections; the last ``unwritten`` records are still in the queue alone."""
    folder.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(folder / "chroma.sqlite3") as tables:
        tables.executescript(_TABLES)
        sequence = 0
        for number, (name, records) in enumerate(collections.items(), start=1):
            key, about, vectors = (str(UUID(int=number * 16 + offset)) for offset in range(3))
            tables.execute("INSERT INTO collections VALUES (?, ?, 3, 'default', '{}', '{}')", (key, name))
            tables.execute("INSERT INTO segments VALUES (?, 'metadata/sqlite', 'METADATA', ?)", (about, key))
            tables.execute("INSERT INTO segments VALUES (?, 'hnsw', 'VECTOR', ?)", (vectors, key))
            (folder / vectors).mkdir()
            (folder / vectors / "data_level0.bin").write_bytes(bytes(64))
            written = records[: len(records) - unwritten]
            for record in records:
                sequence += 1
                _queue(tables, record, sequence, topic=f"persistent://default/default/{key}")
                if record in written:
                    _write(tables, record, sequence, segment=about)
            tables.execute("INSERT INTO max_seq_id VALUES (?, ?)", (about, sequence - unwritten))
    tables.close()
    return folder


def _queue(tables: sqlite3.Connection, record: Record, sequence: int, *, topic: str) -> None:
    text = record.document.decode("latin-1") if isinstance(record.document, bytes) else record.document
    about = json.dumps({**record.about, "chroma:document": text})
    row = (sequence, 0, topic, record.name, bytes(12), "FLOAT32", about)
    tables.execute(
        "INSERT INTO embeddings_queue (seq_id, operation, topic, id, vector, encoding, metadata) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        row,
    )


def _write(tables: sqlite3.Connection, record: Record, sequence: int, *, segment: str) -> None:
    tables.execute(
        "INSERT INTO embeddings (id, segment_id, embedding_id, seq_id) VALUES (?, ?, ?, ?)",
        (sequence, segment, record.name, sequence),
    )
    columns = {bool: "bool_value", int: "int_value", float: "float_value", str: "string_value"}
    for key, value in record.about.items():
        column = columns[type(value)]
        tables.execute(f"INSERT INTO embedding_metadata (id, key, {column}) VALUES (?, ?, ?)", (sequence, key, value))  # noqa: S608
    if record.document is not None:
        tables.execute(
            "INSERT INTO embedding_metadata (id, key, string_value) VALUES (?, 'chroma:document', CAST(? AS TEXT))",
            (sequence, record.document),
        )


def cut(text: str, *, size: int = 500, overlap: int = 50) -> list[str]:
    """A text in pieces of ``size`` characters, each beginning ``overlap`` characters before the end of the last."""
    step = size - overlap
    return [text[at : at + size] for at in range(0, max(1, len(text) - overlap), step)]
