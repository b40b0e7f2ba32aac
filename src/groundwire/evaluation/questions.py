"""Read labelled questions from JSON Lines: a row becomes a Question, or it is unscored or a reject and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.types import Gold, Question
from groundwire.evaluation.measures import answer_tokens
from groundwire.evaluation.rows import RejectedRow, RowError, kind_of, numbered, parsed, refuse_absent, value_of, whole

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "qid", "query_id", "_id"),
    "question": ("question", "query", "user_input", "input"),
    "gold": ("gold",),
    "answers": ("answers", "answer", "reference", "expected_output", "ground_truth"),
    "sentence_ids": ("sentence_ids",),
    "cluster": ("cluster", "article", "group"),
}
"""Question field -> the names under which rows may hold it."""

_PLACE: Mapping[str, tuple[str, ...]] = {
    "document": ("document", "document_id", "doc", "doc_id", "pid"),
    "start": ("start",),
    "end": ("end",),
    "text": ("text",),
}
"""What an entry of ``gold`` may hold, and under which names."""

Texts = Callable[[str], str | None]
"""Document id -> the text of the document, or None where there is none."""


@dataclass(frozen=True, slots=True)
class Unscored:
    """A question that no value can be computed for, and why."""

    question_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """What was read: ``rows`` lines that were not blank; each is a question, unscored, or a reject."""

    questions: tuple[Question, ...]
    unscored: tuple[Unscored, ...]
    rejects: tuple[RejectedRow, ...]
    rows: int


class _NotFound(Exception):  # noqa: N818 - an outcome rather than a fault
    """The row is in order, but its gold is not where it says; the message says why."""


def read_questions(
    source: Path | str | Iterable[str | bytes], *, texts: Texts, mapping: Mapping[str, str] | None = None
) -> QuestionReading:
    """Read labelled questions, one JSON object a line.

    ``gold`` is a list of places: a document with ``start`` and ``end`` (code points), with the exact ``text``, with
    both (which must then agree), or alone (all of it). ``sentence_ids`` are sentences of the archive, ``answers`` a
    text or a list of texts. One of the three is enough; a question with none is unscored, and so is one whose gold is
    not in the documents.

    Args:
        source: a path, or the lines themselves.
        texts: looks up the text of a document, so that gold can be found in it.
        mapping: question field -> name in the rows, for fields under names of their own; the others are recognised.

    Returns:
        ``rows == len(questions) + len(unscored) + len(rejects)``. The second row of the same id is a reject.

    Raises:
        UsageError: the mapping names a field that questions do not have, or a name that no row has.
        UnreadableInput: the file is not there or is not a file.
    """
    wanted = mapping or {}
    unknown = [field for field in wanted if field not in NAMES]
    if unknown:
        raise UsageError(f"questions have no field {', '.join(map(repr, unknown))}; map one of: {', '.join(NAMES)}.")
    questions: list[Question] = []
    unscored: list[Unscored] = []
    rejects: list[RejectedRow] = []
    first_lines: dict[str, int] = {}
    seen: dict[str, None] = {}
    rows = 0
    for number, line in numbered(source):
        rows += 1
        try:
            row = parsed(line)
            seen.update(dict.fromkeys(row))
            name = _identity(row, wanted)
            before = first_lines.setdefault(name, number)
            if before != number:
                raise RowError(f"the id '{name}' was already read on line {before}")
            questions.append(_question(row, wanted, name=name, texts=texts))
        except RowError as unfit:
            rejects.append(RejectedRow(line=number, reason=str(unfit)))
        except _NotFound as lost:
            unscored.append(Unscored(name, str(lost)))
    refuse_absent(wanted, seen)
    return QuestionReading(tuple(questions), tuple(unscored), tuple(rejects), rows)


def _identity(row: Mapping[str, object], mapping: Mapping[str, str]) -> str:
    name = _text(_value(row, mapping, field="id"), "id")
    if not name.strip():
        raise RowError(f"there is no id; it stands under one of: {', '.join(NAMES['id'])}")
    return name


def _question(row: Mapping[str, object], mapping: Mapping[str, str], *, name: str, texts: Texts) -> Question:
    asked = _text(_value(row, mapping, field="question"), "question")
    if not asked.strip():
        raise RowError(f"there is no question; it stands under one of: {', '.join(NAMES['question'])}")
    places = [
        _place(entry, number) for number, entry in enumerate(_list(_value(row, mapping, field="gold"), "gold"), start=1)
    ]
    sentence_ids = _texts(_value(row, mapping, field="sentence_ids"), "sentence_ids")
    answers = tuple(one for one in _texts(_value(row, mapping, field="answers"), "answers") if answer_tokens(one))
    cluster = _text(_value(row, mapping, field="cluster"), "cluster")
    if not (places or sentence_ids or answers):
        raise _NotFound("it has no gold: no place, no sentence and no answer with a word or number")
    gold = tuple(_found(place, texts) for place in places)
    return Question(name, asked, gold, answers, cluster, sentence_ids)


@dataclass(frozen=True, slots=True)
class _Place:
    document: str
    start: int | None
    end: int | None
    text: str


def _place(entry: object, number: int) -> _Place:
    where = f"gold {number}"
    if isinstance(entry, str):
        return _Place(whole(entry, where), None, None, "")
    if not isinstance(entry, dict):
        raise RowError(f"{where} is {kind_of(entry)}, not an object with document, start and end, or text")
    values = {
        field: next((entry[name] for name in names if entry.get(name) is not None), None)
        for field, names in _PLACE.items()
    }
    document = _text(values["document"], f"{where}'s document")
    if not document:
        raise RowError(f"{where} has no document; it stands under one of: {', '.join(_PLACE['document'])}")
    start, end = (_offset(values[field], f"{where}'s {field}") for field in ("start", "end"))
    if (start is None) != (end is None):
        raise RowError(f"{where} has {'an end' if start is None else 'a start'} alone; give both, or the exact text")
    if start is not None and end is not None and start >= end:
        raise RowError(f"{where} runs from {start} to {end}; the end is exclusive and lies after the start")
    return _Place(document, start, end, _text(values["text"], f"{where}'s text"))


def _found(place: _Place, texts: Texts) -> Gold:
    text = texts(place.document)
    if text is None:
        raise _NotFound(f"the document '{place.document}' is not in the archive")
    if place.start is not None and place.end is not None:
        if place.end > len(text):
            raise _NotFound(f"'{place.document}' has {len(text)} characters, its gold ends at {place.end}")
        if place.text and text[place.start : place.end] != place.text:
            raise _NotFound(f"'{place.document}' holds other words from {place.start} to {place.end} than its gold")
        return Gold(place.document, place.start, place.end)
    if not place.text.strip():
        return Gold(place.document)
    words = place.text.strip()
    at = text.find(words)
    if at < 0:
        raise _NotFound(f"'{place.document}' does not hold its gold text word for word")
    if text.find(words, at + 1) >= 0:
        raise _NotFound(f"'{place.document}' holds its gold text more than once; give start and end")
    return Gold(place.document, at, at + len(words))


def _value(row: Mapping[str, object], mapping: Mapping[str, str], *, field: str) -> object:
    return value_of(row, (mapping[field],) if field in mapping else NAMES[field], field=field)


def _text(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"the {where} is {kind_of(value)}, not a text")
    return whole(value, where)


def _list(value: object, where: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowError(f"the {where} is {kind_of(value)}, not a list")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else _list(value, where)
    found = (_text(one, f"entry {place} of {where}") for place, one in enumerate(listed, start=1))
    return tuple(dict.fromkeys(one for one in found if one.strip()))


def _offset(value: object, where: str) -> int | None:
    """A count of characters; numbers arrive as they are written."""
    if value is None:
        return None
    if not (isinstance(value, str) and value.isascii() and value.isdecimal()):
        raise RowError(
            f"{where} is {value if isinstance(value, str) else kind_of(value)}, not a whole number from 0 up"
        )
    return int(value)
