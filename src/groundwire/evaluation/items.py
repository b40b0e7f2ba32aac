"""Read questions with their answers from JSON Lines: a row becomes an Item, or a reject with its line and reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.types import Item
from groundwire.evaluation.rows import RejectedRow, RowError, kind_of, numbered, parsed, refuse_absent, value_of, whole

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
class ItemReading:
    """What was read: ``rows`` lines that were not blank, each either an item or a reject."""

    items: tuple[Item, ...]
    rejects: tuple[RejectedRow, ...]
    rows: int


def read_items(source: Path | str | Iterable[str | bytes], *, mapping: Mapping[str, str] | None = None) -> ItemReading:
    """Read items, one JSON object a line.

    A missing or null answer is the empty answer. Contexts are a list of texts, a list of objects with a text field, or
    one text; missing, null or wholly blank contexts are none. Numbers are taken as they are written (an answer ``3.50``
    stays ``3.50``). Bytes are read as strict UTF-8, with or without a byte order mark.

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
    for number, line in numbered(source):
        rows += 1
        try:
            row = parsed(line)
            seen.update(dict.fromkeys(row))
            item = item_of(row, wanted)
            before = first_lines.setdefault((item.system, item.id), number)
            if before != number:
                of = f" of system '{item.system}'" if item.system else ""
                raise RowError(f"the id '{item.id}'{of} was already read on line {before}")
            items.append(item)
        except RowError as unfit:
            rejects.append(RejectedRow(line=number, reason=str(unfit)))
    refuse_absent(wanted, seen)
    return ItemReading(items=tuple(items), rejects=tuple(rejects), rows=rows)


def item_of(row: Mapping[str, object], mapping: Mapping[str, str]) -> Item:
    """The item of a row.

    Raises:
        RowError: the row lacks id or question, or a field is not what it should be.
    """
    identity = _text(row, mapping, field="id")
    question = _text(row, mapping, field="question")
    if not identity or not identity.strip():
        raise RowError(f"there is no id; it stands under one of: {', '.join(NAMES['id'])}")
    if not question or not question.strip():
        raise RowError(f"there is no question; it stands under one of: {', '.join(NAMES['question'])}")
    return Item(
        id=identity,
        question=question,
        contexts=_contexts(_value(row, mapping, field="contexts")),
        answer=_text(row, mapping, field="answer") or "",
        reference=_text(row, mapping, field="reference"),
        system=_text(row, mapping, field="system") or "",
    )


def _text(row: Mapping[str, object], mapping: Mapping[str, str], *, field: str) -> str | None:
    value = _value(row, mapping, field=field)
    if field == "reference" and isinstance(value, list):
        if len(value) > 1:
            raise RowError(f"there are {len(value)} references; an item has one")
        value = value[0] if value else None
    if value is None:
        return None
    if not isinstance(value, str):
        raise RowError(f"the {field} is {kind_of(value)}, not a text")
    return whole(value, field)


def _contexts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (whole(value, "contexts"),) if value.strip() else ()
    if not isinstance(value, list):
        raise RowError(f"the contexts are {kind_of(value)}, not a list of texts")
    found = tuple(_context(entry, place) for place, entry in enumerate(value, start=1))
    return found if any(context.strip() for context in found) else ()


def _context(entry: object, place: int) -> str:
    text = entry
    if isinstance(entry, dict):
        text = next((entry[name] for name in _CONTEXT_NAMES if entry.get(name) is not None), None)
        if text is None:
            raise RowError(f"context {place} has none of the fields: {', '.join(_CONTEXT_NAMES)}")
    if not isinstance(text, str):
        raise RowError(f"context {place} is {kind_of(text)}, not a text")
    return whole(text, f"context {place}")


def _value(row: Mapping[str, object], mapping: Mapping[str, str], *, field: str) -> object:
    return value_of(row, (mapping[field],) if field in mapping else NAMES[field], field=field)
