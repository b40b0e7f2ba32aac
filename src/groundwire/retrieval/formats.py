"""Text of a file to rows of raw fields: JSONL, JSON, CSV and TSV, and plain text.

A row that cannot be read becomes a ``Refused`` with its line, and reading goes on. Nothing here knows what a document
is; ``fields`` turns rows into documents.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from reprlib import repr as shortened
from typing import Literal

from groundwire.retrieval.exported import SCHEMA

RejectKind = Literal[
    "missing", "unopened", "skipped", "no_reader", "binary", "undecodable", "empty", "missing_extra", "bad_html",
    "bad_json", "not_an_object", "ragged", "bad_table", "bad_feed", "bad_pdf", "bad_mail", "encrypted",
    "scanned", "no_text", "unstorable", "bad_id", "id_clash", "own_export", "bad_database",
]  # fmt: skip
"""Why something was not taken; ``skipped`` are hidden files, linked folders and archives inside a folder."""

LONGEST_FIELD = 2**31 - 1
"""Characters in one CSV field; the largest limit that every platform can hold."""
_LONGEST_INTEGER = 4000
_TITLE_CHARACTERS = 120
_EXCERPT_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Row:
    """Raw fields of one document. ``place`` follows the path in its origin: ``:12``, ``[3]`` or ``""``.

    ``named`` says that the reader itself named the fields, so that a mapping of the user does not apply. ``exported``
    rows were written by groundwire: nothing in them is guessed anew.
    """

    values: Mapping[str, object]
    line: int | None = None
    place: str = ""
    named: bool = False
    notes: tuple[str, ...] = ()
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not become a document; ``line`` counts from 1."""

    kind: RejectKind
    reason: str
    line: int | None = None
    excerpt: str = ""


Found = Row | Refused


@dataclass(frozen=True, slots=True)
class Clash:
    """Stands for the value of a name that occurs twice in one row with different values."""


def excerpt(text: str) -> str:
    """The first characters of something refused, in a form that can be stored and printed on one line."""
    short = " ".join(text[: 2 * _EXCERPT_CHARACTERS].split())[:_EXCERPT_CHARACTERS]
    return short.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def read_lines(lines: Iterable[str]) -> Iterator[Found]:
    """Rows of JSONL; blank lines are passed over, every other line is a row or is refused."""
    for number, line in enumerate(lines, start=1):
        content = line.strip(" \t\r\n")
        if not content:
            continue
        if not storable(content):
            yield Refused("undecodable", "the line cannot be decoded", number, excerpt(content))
            continue
        try:
            value = _DECODER.decode(content)
        except RecursionError:
            yield Refused("bad_json", "nested too deeply", number, excerpt(content))
        except json.JSONDecodeError as error:
            reason = f"not JSON: {error.msg} at character {error.pos + 1}"
            yield Refused("bad_json", reason, number, excerpt(content))
        else:
            yield _as_row(value, line=number, place=f":{number}")


def read_json(text: str, *, holds_text: Callable[[Mapping[str, object]], bool]) -> Iterator[Found]:
    """Rows of a JSON file: an array of objects, an object that holds one, one object, or JSONL under a wrong name.

    The elements of an array are decoded one by one: memory stays at the text plus one row, and a cut file still gives
    the rows before the cut.

    Args:
        text: the whole file.
        holds_text: says whether an object is itself a document.
    """
    start = _skip(text, 0)
    if start == len(text):
        return
    if text[start] == "[":
        yield from _read_array(text, start)
        return
    value, end, problem = _decode(text, start)
    if problem is None and _skip(text, end) < len(text):
        if isinstance(value, dict):
            yield from read_lines(StringIO(text, newline=""))
            return
        problem = f"text after the value at character {end}"
    if problem is not None:
        yield Refused("bad_json", f"not JSON: {problem}", 1 + text.count("\n", 0, start), excerpt(text[start:]))
        return
    yield from _read_value(value, holds_text)


def read_table(lines: Iterable[str], *, delimiters: str = ",;\t|") -> Iterator[Found]:
    """Rows of CSV or TSV with a header line.

    Args:
        lines: the lines with their line ends, as the ``csv`` module wants them.
        delimiters: the candidates; the one that splits the header into most columns is taken, the first on a tie.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    source = iter(lines)
    blank, first = 0, next(source, None)
    while first is not None and not first.strip():
        blank, first = blank + 1, next(source, None)
    if first is None:
        return
    rows = csv.reader(chain((first,), source), delimiter=_find_delimiter(first, delimiters), strict=True)
    header: tuple[str, ...] = ()
    ended = blank
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            what = "not CSV" if header else "the header is not CSV"
            yield Refused("bad_table", f"{what} from here to line {rows.line_num + blank}: {error}", ended + 1)
            cells = [] if header else None
        if cells is None:
            return
        if cells and header:
            yield _as_table_row(header, cells, line=ended + 1)
        elif cells:
            header = tuple(cell.strip() or f"column {number}" for number, cell in enumerate(cells, start=1))
        ended = rows.line_num + blank


def read_plain(text: str) -> Row:
    """One document; a short first line before a blank line, not ended like a sentence, is its title and stays in it."""
    values: dict[str, object] = {"text": text}
    found = _FIRST_LINE.match(text)
    if found and len(found["title"]) <= _TITLE_CHARACTERS and found["title"][-1] not in _FINAL:
        values["title"] = found["title"]
    return Row(values, named=True)


def storable(text: str) -> bool:
    """False when a lone surrogate keeps the text from being written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


_FIRST_LINE = re.compile(r"\s*(?P<title>[^\r\n]*[^\s])[ \t]*\r?\n[ \t]*\r?\n")
_FINAL = ".!?。！？…;；:：,，"
_BLANK = re.compile(r"[ \t\n\r]*")


def _merge(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Names and values as a dict, with a mark where one name has two values."""
    merged: dict[str, object] = {}
    for name, value in pairs:
        merged[name] = Clash() if name in merged and merged[name] != value else value
    return merged


def _integer(digits: str) -> int | str:
    """Python refuses to convert more digits than this; such a number is kept as it is written."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else digits


# NaN and Infinity are no JSON, but pandas and others write them for "no value".
_DECODER = json.JSONDecoder(object_pairs_hook=_merge, parse_int=_integer, parse_constant=lambda _: None)


def _decode(text: str, position: int) -> tuple[object, int, str | None]:
    """A value, where it ends, and what was wrong (then without a value)."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except RecursionError:
        return None, position, "nested too deeply"
    except json.JSONDecodeError as error:
        return None, position, f"{error.msg} at line {error.lineno}"
    return value, end, None


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _as_row(value: object, *, line: int | None = None, place: str = "") -> Found:
    if isinstance(value, dict):
        exported = value.get("schema") == SCHEMA
        return Row(value, line, place, named=exported, notes=_own_notes(value) if exported else (), exported=exported)
    hint = "; if the file is one JSON array, name it .json" if isinstance(value, list) else ""
    return Refused("not_an_object", f"{describe(value)}, not an object{hint}", line, excerpt(shortened(value)))


def _own_notes(values: Mapping[str, object]) -> tuple[str, ...]:
    """The notes of a document that was exported, each on one line."""
    notes = values.get("notes")
    held = notes if isinstance(notes, list) else []
    return tuple(" ".join(note.split()) for note in held if isinstance(note, str) and storable(note))


def describe(value: object) -> str:
    """What a raw value is, in words of JSON."""
    if value is None:
        return "null"
    kinds = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), f"a {type(value).__name__}")


def _read_array(text: str, start: int) -> Iterator[Found]:
    line = 1 + text.count("\n", 0, start)
    position, index = _skip(text, start + 1), 0
    counted = start
    closed = text[position : position + 1] == "]"
    while not closed:
        line += text.count("\n", counted, position)
        counted = position
        value, end, problem = _decode(text, position)
        if problem is None:
            yield _as_row(value, line=line, place=f"[{index}]")
            end = _skip(text, end)
            closed = text[end : end + 1] == "]"
            if not closed and text[end : end + 1] != ",":
                problem = "expected ',' or ']' " + (f"after item {index}" if end < len(text) else "but the file ends")
        if problem is not None:
            reason = f"not JSON from item {index} on: {problem}; the rest of the file was not read"
            yield Refused("bad_json", reason, line, excerpt(text[position : position + 1000]))
            return
        position, index = (end, index) if closed else (_skip(text, end + 1), index + 1)
    after = _skip(text, position + 1)
    if after < len(text):
        place = 1 + text.count("\n", 0, after)
        yield Refused("bad_json", "text after the end of the array", place, excerpt(text[after : after + 1000]))


def _read_value(value: object, holds_text: Callable[[Mapping[str, object]], bool]) -> Iterator[Found]:
    if not isinstance(value, dict) or holds_text(value):
        yield _as_row(value, line=1)
        return
    level: list[tuple[str, object]] = list(value.items())
    for _ in range(3):
        lists = [(name, held) for name, held in level if isinstance(held, list) and _holds_objects(held)]
        if len(lists) == 1:
            for index, item in enumerate(lists[0][1]):
                yield _as_row(item, place=f"[{index}]")
            return
        if lists:
            names = ", ".join(repr(excerpt(name)) for name, _ in lists)
            yield Refused("bad_json", f"several lists of objects ({names}); keep one of them in the file", 1)
            return
        level = [
            (f"{name}.{key}", deep) for name, held in level if isinstance(held, dict) for key, deep in held.items()
        ]
    yield _as_row(value, line=1)


def _holds_objects(items: list[object]) -> bool:
    return any(isinstance(item, dict) for item in items)


def _find_delimiter(line: str, candidates: str) -> str:
    """The candidate that splits the line, quotes respected, into most columns; the first on a tie."""
    return max(candidates, key=lambda candidate: len(next(csv.reader([line], delimiter=candidate))))


def _as_table_row(header: tuple[str, ...], cells: list[str], *, line: int) -> Found:
    shown = excerpt(" | ".join(cells))
    if not all(storable(cell) for cell in cells):
        return Refused("undecodable", "the row cannot be decoded", line, shown)
    if len(cells) != len(header):
        return Refused("ragged", f"{len(cells)} fields, but the header has {len(header)}", line, shown)
    return Row(_merge(list(zip(header, cells, strict=True))), line, f":{line}")
