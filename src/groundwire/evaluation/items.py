"""Read questions with their answers from JSON Lines: a row becomes an Item, or a reject with its line and reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "question_id", "qid", "query_id", "_id"),
    "question": ("question", "query", "user_input", "input"),
    "contexts": ("contexts", "retrieved_contexts", "retrieved_context", "retrieval_context", "passages", "context"),
    "answer": ("answer", "response", "prediction", "actual_output", "output"),
    "reference": (
        "reference",
        "ground_truth",
        "ground_truths",
        "gt_answer",
        "expected_output",
        "gold",
        "gold_answer",
        "references",
    ),
    "system": ("system", "model", "pipeline"),
}
"""Item field -> the names under which rows may hold it; those of RAGAS, DeepEval and RAGChecker are among them."""

_CONTEXT_NAMES = ("text", "content", "page_content", "passage", "snippet", "body")


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that did not become an item; ``line`` counts from 1, blank lines included."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ItemReading:
    """What was read: ``rows`` lines that were not blank, each either an item or a reject."""

    items: tuple[Item, ...]
    rejects: tuple[RejectedRow, ...]
    rows: int


class _RowError(Exception):
    """The row cannot be an item; the message says why."""


def read_items(source: Path | str | Iterable[str | bytes], *, mapping: Mapping[str, str] | None = None) -> ItemReading:
    """Read items, one JSON object a line.

    A missing or null answer is the empty answer. Contexts are a list of texts, a list of objects with a text field, or
    one text; missing or null contexts are none. Numbers are taken as they are written (an answer ``3.50`` stays
    ``3.50``). Bytes are read as strict UTF-8, with or without a byte order mark.

    Args:
        source: a path, or the lines themselves.
        mapping: item field -> name in the rows, for fields under names of their own; the others are recognised.

    Returns:
        Items in order, rejects in order, and the number of rows: ``rows == len(items) + len(rejects)``. The second row
        of the same system and id is a reject.

    Raises:
        UsageError: the mapping names a field that items do not have, or a name that no row has.
        UnreadableInput: the file is not there or is not a file.
    """
    wanted = mapping or {}
    unknown = [field for field in wanted if field not in NAMES]
    if unknown:
        raise UsageError(f"items have no field {', '.join(map(repr, unknown))}; map one of: {', '.join(NAMES)}.")
    items: list[Item] = []
    rejects: list[RejectedRow] = []
    first_lines: dict[tuple[str, str], int] = {}
    seen: dict[str, None] = {}
    rows = 0
    for number, line in enumerate(_lines(source), start=1):
        if not line.strip():
            continue
        rows += 1
        try:
            row = _row(line)
            seen.update(dict.fromkeys(row))
            item = _item(row, wanted)
            before = first_lines.setdefault((item.system, item.id), number)
            if before != number:
                of = f" of system '{item.system}'" if item.system else ""
                raise _RowError(f"the id '{item.id}'{of} was already read on line {before}")
            items.append(item)
        except _RowError as unfit:
            rejects.append(RejectedRow(line=number, reason=str(unfit)))
    _refuse_absent(wanted, seen)
    return ItemReading(items=tuple(items), rejects=tuple(rejects), rows=rows)


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


def _row(line: str | bytes) -> dict[str, object]:
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        text.removeprefix("\ufeff").encode("utf-8")
        row: object = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=str,
            parse_int=str,
        )
    except UnicodeDecodeError as error:
        raise _RowError(f"not UTF-8 at byte {error.start} of the line; convert the file") from error
    except UnicodeEncodeError as error:
        raise _RowError(f"half a surrogate pair at character {error.start} of the line") from error
    except json.JSONDecodeError as error:
        raise _RowError(f"not JSON: {error.msg} at character {error.pos} of the line") from error
    except RecursionError as error:
        raise _RowError("not an item: nested too deeply") from error
    if not isinstance(row, dict):
        raise _RowError(f"the line holds {_kind(row)}, not an object; write one object a line")
    return row


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RowError(f"the name '{twice}' stands twice in one object")
    return found


def _no_constant(constant: str) -> NoReturn:
    raise _RowError(f"{constant} is not JSON; write null or a number")


def _item(row: dict[str, object], mapping: Mapping[str, str]) -> Item:
    identity = _text(row, mapping, field="id")
    question = _text(row, mapping, field="question")
    if not identity or not identity.strip():
        raise _RowError(f"there is no id; it stands under one of: {', '.join(NAMES['id'])}")
    if not question or not question.strip():
        raise _RowError(f"there is no question; it stands under one of: {', '.join(NAMES['question'])}")
    return Item(
        id=identity,
        question=question,
        contexts=_contexts(_value(row, mapping, field="contexts")),
        answer=_text(row, mapping, field="answer") or "",
        reference=_text(row, mapping, field="reference"),
        system=_text(row, mapping, field="system") or "",
    )


def _value(row: dict[str, object], mapping: Mapping[str, str], *, field: str) -> object:
    """The value of a field, or None; two recognised names with different values are refused, not chosen between."""
    names = (mapping[field],) if field in mapping else NAMES[field]
    held = [(name, row[name]) for name in names if row.get(name) is not None]
    if not held:
        return None
    name, value = held[0]
    for other, another in held[1:]:
        if another != value:
            raise _RowError(f"'{name}' and '{other}' both hold the {field} and differ; map one of them")
    return value


def _text(row: dict[str, object], mapping: Mapping[str, str], *, field: str) -> str | None:
    value = _value(row, mapping, field=field)
    if field == "reference" and isinstance(value, list):
        if len(value) > 1:
            raise _RowError(f"there are {len(value)} references; an item has one")
        value = value[0] if value else None
    if value is None:
        return None
    if not isinstance(value, str):
        raise _RowError(f"the {field} is {_kind(value)}, not a text")
    return _whole(value, field)


def _contexts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (_whole(value, "contexts"),)
    if not isinstance(value, list):
        raise _RowError(f"the contexts are {_kind(value)}, not a list of texts")
    return tuple(_context(entry, place) for place, entry in enumerate(value, start=1))


def _context(entry: object, place: int) -> str:
    text = entry
    if isinstance(entry, dict):
        text = next((entry[name] for name in _CONTEXT_NAMES if entry.get(name) is not None), None)
        if text is None:
            raise _RowError(f"context {place} has none of the fields: {', '.join(_CONTEXT_NAMES)}")
    if not isinstance(text, str):
        raise _RowError(f"context {place} is {_kind(text)}, not a text")
    return _whole(text, f"context {place}")


def _whole(text: str, where: str) -> str:
    """The text, when it can be written as UTF-8: JSON may escape half a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _RowError(f"half a surrogate pair at character {error.start} of {where}") from error
    return text


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else "a text"


def _refuse_absent(mapping: Mapping[str, str], seen: Iterable[str]) -> None:
    names = tuple(seen)
    absent = [f"'{name}' ({field})" for field, name in mapping.items() if name not in names]
    if absent and names:
        raise UsageError(f"no row has {', '.join(absent)}; the rows have: {', '.join(names[:20])}.")
