"""Folders of Chroma to rows: the documents of its collections, chunks of one article joined where they overlap.

Read with ``sqlite3`` alone, and only read. Written against the tables of Chroma 1.5 (``collections``, ``segments``,
``embeddings``, ``embedding_metadata``), which are those of 0.4 and later. Vectors are not taken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from groundwire.retrieval.fields import Reader
from groundwire.retrieval.formats import Found, Refused, Row, excerpt

LEAST_OVERLAP = 10
"""Characters that the end of a chunk and the start of the next share, at least, when they are joined."""
MOST_OF_A_TITLE = 200
"""Chunks above which a title alone names no article: it may be the same on all of a collection."""
_SEAM = "\n\n"
_A_QUERY = 500
_DOCUMENT = "chroma:document"
_ARTICLE_IDS = ("ref_doc_id", "doc_id", "document_id", "article_id", "news_id")
"""Names under which chunks carry the id of their article; a plain ``id`` may be the chunk's own."""
_PLACES = ("start_index", "chunk_index", "chunk_number", "chunk_id", "chunk", "part")
"""Names under which chunks carry their place in the article."""

_COLLECTIONS = "SELECT id, name FROM collections ORDER BY name, id"
_WAITING = """
    SELECT count(*) FROM embeddings_queue AS queue JOIN segments ON queue.topic LIKE '%/' || segments.collection
    JOIN max_seq_id AS done ON done.segment_id = segments.id
    WHERE segments.collection = ? AND segments.scope = 'METADATA' AND queue.seq_id > done.seq_id"""
_RECORDS = f"""
    SELECT record.id, record.embedding_id, about.key,
           coalesce(about.string_value, about.int_value, about.float_value, about.bool_value)
    FROM embeddings AS record JOIN segments ON record.segment_id = segments.id
    LEFT JOIN embedding_metadata AS about ON about.id = record.id AND about.key <> '{_DOCUMENT}'
    WHERE segments.collection = ? AND segments.scope = 'METADATA' ORDER BY record.id"""  # noqa: S608 - a constant
_VALUES = "SELECT id, key, coalesce(string_value, int_value, float_value, bool_value) FROM embedding_metadata "

Values = dict[str, object]


class Article(NamedTuple):
    """What the metadata of a chunk say about the article that it is of, as text."""

    title: str = ""
    published: str = ""
    source: str = ""
    url: str = ""
    identity: str = ""


@dataclass(frozen=True, slots=True)
class _Record:
    """A record without its text: its number in the tables, its id, and its place in the article if it says so."""

    number: int
    name: str
    place: float | None


@dataclass(frozen=True, slots=True)
class _Chunk:
    record: _Record
    text: str
    about: Values


@dataclass(frozen=True, slots=True)
class Run:
    """Chunks joined to one text; ``first`` is the place of the first, ``seams`` counts joins without an overlap."""

    first: int
    chunks: int
    text: str
    seams: int = 0


def read_chroma(database: Path, collection: str = "", *, reader: Reader) -> Iterator[Found]:
    """Rows of the collections in a Chroma folder, in order of name; in each, articles in order of their first chunk.

    Chunks are of one article when their title, date, outlet, address and article id are the same and there is any of
    these. Each is joined to the one before it where its start repeats that one's end. Where nothing overlaps (splitters
    that prefer the ends of paragraphs), it is set below as a new paragraph if there is an address, an article id, a
    path as outlet or a title that names the article; else it stays a document of its own. The notes say which. An id is
    that of the article where the metadata hold one and the article came out whole, else ``COLLECTION/`` and the id of
    the first chunk. The folder is not locked while rows are taken.

    Args:
        database: the file ``chroma.sqlite3`` of the folder.
        collection: the name of one; empty: all.
        reader: knows under which names the metadata hold the fields of a document.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(database.absolute()))}?mode=ro", uri=True)) as tables:
            # What is no UTF-8 becomes lone surrogates, so that its row is refused and the others are read.
            tables.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            names = tables.execute(_COLLECTIONS).fetchall()
            chosen = [(key, name) for key, name in names if collection in ("", name)]
            if collection and not chosen:
                known = ", ".join(repr(excerpt(name)) for _, name in names) or "none"
                yield Refused("missing", f"has no collection {collection!r}; there are: {known}")
            for key, name in chosen:
                yield from _read_collection(tables, key, name=name, reader=reader)
    except sqlite3.Error as error:
        yield Refused("bad_database", f"cannot be read as a database of Chroma: {error}")


def _read_collection(tables: sqlite3.Connection, key: str, *, name: str, reader: Reader) -> Iterator[Found]:
    waiting = tables.execute(_WAITING, (key,)).fetchone()[0]
    if waiting:
        yield Refused(
            "bad_database",
            f"collection {name!r} has {waiting} changes that Chroma has not brought into its tables yet; open the "
            "folder once with Chroma and query it, then add it again",
        )
    for is_article, group in _groups(tables, key, reader=reader):
        chunks = yield from _chunks(tables, group, name=name)
        yield from _rows(chunks, name=name, reader=reader, is_article=is_article)


def _groups(tables: sqlite3.Connection, key: str, *, reader: Reader) -> list[tuple[bool, list[_Record]]]:
    """The records of a collection by article, in order of the first, each group with whether it is surely one article.

    They are held in memory, but for their texts.
    """
    groups: dict[Article | int, list[_Record]] = {}
    for number, name, about in _abouts(tables.execute(_RECORDS, (key,))):
        article = _article(_with_address(about, reader), reader)
        place = next((about[known] for known in _PLACES if isinstance(about.get(known), int | float)), None)
        record = _Record(number, name, place if isinstance(place, int | float) else None)
        groups.setdefault(article or number, []).append(record)
    return [(_names_an_article(key, len(group)), _in_order(group)) for key, group in groups.items()]


def _abouts(rows: Iterable[tuple[int, str, str | None, object]]) -> Iterator[tuple[int, str, Values]]:
    """Number, id and metadata of each record, from one row a value."""
    current: tuple[int, str, Values] | None = None
    for number, name, key, value in rows:
        if current is None or current[0] != number:
            if current is not None:
                yield current
            current = (number, name, {})
        if key is not None:
            current[2][key] = value
    if current is not None:
        yield current


def _article(about: Values, reader: Reader) -> Article | None:
    """What says of which article a chunk is, or None where nothing does."""
    title, published, source, url = (
        _plain(reader.value(field, about)) for field in ("title", "published", "source", "url")
    )
    identity = next((_plain(about[known]) for known in _ARTICLE_IDS if about.get(known) is not None), "")
    article = Article(title, published, source, url, identity)
    return None if article == Article() else article


def _plain(value: object) -> str:
    return "" if value is None else str(value).strip()


def _names_an_article(key: Article | int, chunks: int) -> bool:
    if isinstance(key, int):
        return False
    is_path = "/" in key.source or "\\" in key.source
    return bool(key.url or key.identity or is_path or (key.title and chunks <= MOST_OF_A_TITLE))


def _in_order(group: list[_Record]) -> list[_Record]:
    """By their place in the article where all of them have one of their own, else as they were put in."""
    places = {record.place for record in group}
    if None in places or len(places) < len(group):
        return group
    return sorted(group, key=lambda record: (record.place or 0.0, record.number))


def _chunks(
    tables: sqlite3.Connection, group: Sequence[_Record], *, name: str
) -> Generator[Refused, None, list[_Chunk]]:
    """The records of a group with text and metadata; those without a text are refused."""
    values = _values(tables, [record.number for record in group])
    held: list[_Chunk] = []
    for record in group:
        about = values.get(record.number, {})
        text = about.pop(_DOCUMENT, None)
        if isinstance(text, str) and text:
            held.append(_Chunk(record, text, about))
        else:
            yield Refused(
                "no_text", f"record {excerpt(record.name)!r} of collection {excerpt(name)!r} holds no document"
            )
    return held


def _rows(chunks: Sequence[_Chunk], *, name: str, reader: Reader, is_article: bool) -> Iterator[Row]:
    first: dict[str, _Chunk] = {}
    for chunk in chunks:
        first.setdefault(chunk.text, chunk)  # a folder may be filled twice
    held = list(first.values())
    runs = join_chunks([chunk.text for chunk in held], whole=is_article)
    identity = _one_id([chunk.about for chunk in held], reader) if len(runs) == 1 else ""
    for run in runs:
        record, about = held[run.first].record, _with_address(held[run.first].about, reader)
        named = _named(reader, text=run.text, identity=identity or f"{name}/{record.name}")
        notes = _notes(run, parts=len(runs), repeated=len(chunks) - len(held))
        yield Row({**about, **named}, place=f"[{record.number}]", notes=tuple(notes))


def _values(tables: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Values]:
    found: dict[int, Values] = {}
    for start in range(0, len(numbers), _A_QUERY):
        some = numbers[start : start + _A_QUERY]
        marks = ",".join("?" * len(some))
        for number, key, value in tables.execute(f"{_VALUES} WHERE id IN ({marks})", some).fetchall():
            found.setdefault(number, {})[key] = value
    return found


def join_chunks(texts: Sequence[str], *, whole: bool) -> list[Run]:
    """Texts with each joined to the one before it where that one's end and its start are the same characters.

    The longest such stretch counts, so that a text of nothing but repetition may come out shorter than it was.

    Args:
        texts: the chunks, in order.
        whole: whether a text that overlaps with nothing is set below the one before it, as a new paragraph.
    """
    runs: list[Run] = []
    for place, text in enumerate(texts):
        shared = _overlap(texts[place - 1], text) if place else 0
        if place and (shared or whole):
            last = runs.pop()
            joined = last.text + (text[shared:] if shared else _SEAM + text)
            runs.append(Run(last.first, last.chunks + 1, joined, last.seams + (not shared)))
        else:
            runs.append(Run(place, 1, text))
    return runs


def _overlap(before: str, text: str) -> int:
    """How many characters the end of one text and the start of another share; 0 below ``LEAST_OVERLAP``."""
    probe = text[:LEAST_OVERLAP]
    if len(probe) < LEAST_OVERLAP:
        return 0
    at = before.find(probe, max(0, len(before) - len(text)))
    while at >= 0 and not text.startswith(before[at:]):
        at = before.find(probe, at + 1)
    return len(before) - at if at >= 0 else 0


def _one_id(abouts: Sequence[Values], reader: Reader) -> str:
    """The id that the metadata of all chunks agree on, or nothing."""
    ids = {_plain(reader.value("id", about)) or _plain(about.get("ref_doc_id")) for about in abouts}
    return ids.pop() if len(ids) == 1 else ""


def _with_address(about: Values, reader: Reader) -> Values:
    """Metadata in which a "source" that is a web address is the address, as loaders of web pages name it."""
    source = about.get("source")
    if isinstance(source, str) and source.startswith(("http://", "https://")) and not reader.value("url", about):
        return {**{key: value for key, value in about.items() if key != "source"}, "url": source}
    return about


def _named(reader: Reader, *, text: str, identity: str) -> Mapping[str, object]:
    """The text and the id under the names where the reader looks for them first."""
    return {reader.mapping.get("text", "text"): text, reader.mapping.get("id", "id"): identity}


def _notes(run: Run, *, parts: int, repeated: int) -> Iterator[str]:
    if run.chunks > 1:
        seams = f"; {run.seams} of them begin a paragraph: they share no words with the one before" if run.seams else ""
        yield f"joined from {run.chunks} chunks{seams}"
    if parts > 1:
        yield f"one of {parts} parts with the same metadata, which share no words"
    if repeated:
        yield f"{repeated} chunks of the same words as another were left out"
