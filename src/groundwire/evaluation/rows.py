"""Rows of JSON Lines for the readers of items, questions and pairs: what is unfit says why, and the rest goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from groundwire.core.errors import UnreadableInput, UsageError


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not taken; ``line`` counts from 1, blank lines included."""

    line: int
    reason: str


class RowError(Exception):
    """The row cannot be taken; the message says why."""


def numbered(source: Path | str | Iterable[str | bytes]) -> Iterator[tuple[int, str | bytes]]:
    """The lines of a file, or those given, that are not blank, with their numbers from 1.

    Raises:
        UnreadableInput: the file is not there or is not a file.
    """
    return ((number, line) for number, line in enumerate(_lines(source), start=1) if line.strip())


def _lines(source: Path | str | Iterable[str | bytes]) -> Iterable[str | bytes]:
    if not isinstance(source, (str, Path)):
        return source
    path = Path(source)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise UnreadableInput(f"{path} {what}; items are read from a file with one JSON object a line.")
    try:
        return path.read_bytes().split(b"\n")
    except OSError as error:
        raise UnreadableInput(f"{path} could not be read: {error.strerror}.") from error


def parsed(line: str | bytes, *, constants: bool = False) -> dict[str, object]:
    """The object of a line; numbers stay texts, as they are written.

    Args:
        line: with or without a byte order mark.
        constants: take NaN and Infinity, which Python writes though they are no JSON, as floats.

    Raises:
        RowError: it is not UTF-8, not JSON, or not an object with every name once.
    """
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        text = text.removeprefix("\ufeff")
        text.encode("utf-8")
        row: object = (_WITH_CONSTANTS if constants else _STRICT).decode(text)
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start} of the line; convert the file") from error
    except UnicodeEncodeError as error:
        raise RowError(f"half a surrogate pair at character {error.start} of the line") from error
    except json.JSONDecodeError as error:
        raise RowError(f"not JSON: {error.msg} at character {error.pos} of the line") from error
    except RecursionError as error:
        raise RowError("not an item: nested too deeply") from error
    if not isinstance(row, dict):
        raise RowError(f"the line holds {kind_of(row)}, not an object; write one object a line")
    return row


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RowError(f"the name '{twice}' stands twice in one object")
    return found


def _no_constant(constant: str) -> NoReturn:
    raise RowError(f"{constant} is not JSON; write null or a number")


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=str, parse_int=str)
_WITH_CONSTANTS = json.JSONDecoder(object_pairs_hook=_object, parse_float=str, parse_int=str)


def value_of(row: Mapping[str, object], names: Sequence[str], *, field: str) -> object:
    """The value under one of these names, or None; two of them with different values are refused, not chosen between.

    Raises:
        RowError: they differ.
    """
    held = [(name, row[name]) for name in names if row.get(name) is not None]
    if not held:
        return None
    name, value = held[0]
    for other, another in held[1:]:
        if another != value:
            raise RowError(f"'{name}' and '{other}' both hold the {field} and differ; map one of them")
    return value


def whole(text: str, where: str) -> str:
    """The text, when it can be written as UTF-8: JSON may escape half a surrogate pair.

    Raises:
        RowError: it cannot.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RowError(f"half a surrogate pair at character {error.start} of {where}") from error
    return text


def kind_of(value: object) -> str:
    """What a value of JSON is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else "a text"


def refuse_absent(mapping: Mapping[str, str], seen: Iterable[str]) -> None:
    """Refuse a mapping to names that no row has.

    Raises:
        UsageError: there is such a name, and there are rows.
    """
    names = tuple(seen)
    absent = [f"'{name}' ({field})" for field, name in mapping.items() if name not in names]
    if absent and names:
        raise UsageError(f"no row has {', '.join(absent)}; the rows have: {', '.join(names[:20])}.")
