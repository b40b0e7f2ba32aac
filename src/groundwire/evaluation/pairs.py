"""Read labelled pairs of topic and article from JSON Lines: a row becomes a pair, or a reject that says why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from groundwire.core.types import Document
from groundwire.evaluation.rows import RejectedRow, RowError, kind_of, numbered, parsed, whole

Documents = Callable[[str], Document | None]
"""Document id -> the document, or None where there is none."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A topic and an article, with what people said of how well the two fit (``relevant``, larger is better).

    Pairs of one ``cluster`` (by custom of one topic) are drawn together for intervals.
    """

    id: str
    topic: str
    document: Document
    relevant: float
    cluster: str


@dataclass(frozen=True, slots=True)
class PairReading:
    """What was read: ``rows`` lines that were not blank, each a pair or a reject."""

    pairs: tuple[LabelledPair, ...]
    rejects: tuple[RejectedRow, ...]
    rows: int


def read_pairs(source: Path | str | Iterable[str | bytes], *, documents: Documents) -> PairReading:
    """Read labelled pairs, one JSON object a line.

    A row has ``topic``, ``relevant`` (0 or 1, or a grade), and the article: its text under ``article``, with ``title``
    and ``published`` (YYYY-MM-DD) where it has them, or the id of a document under ``document``. ``id`` and
    ``cluster`` are optional: the number of the line, and the topic.

    Args:
        source: a path, or the lines themselves.
        documents: looks up a document that a row names.

    Returns:
        ``rows == len(pairs) + len(rejects)``. The second row of the same id is a reject.

    Raises:
        UnreadableInput: the file is not there or is not a file.
    """
    pairs: list[LabelledPair] = []
    rejects: list[RejectedRow] = []
    lines: dict[str, int] = {}
    rows = 0
    for number, line in numbered(source):
        rows += 1
        try:
            pair = _pair(parsed(line), number, documents=documents)
            if lines.setdefault(pair.id, number) != number:
                raise RowError(f"the id '{pair.id}' was already read on line {lines[pair.id]}")
            pairs.append(pair)
        except RowError as unfit:
            rejects.append(RejectedRow(line=number, reason=str(unfit)))
    return PairReading(tuple(pairs), tuple(rejects), rows)


def _pair(row: Mapping[str, object], number: int, *, documents: Documents) -> LabelledPair:
    topic, name = _text(row, "topic"), _text(row, "id") or f"line {number}"
    if not topic.strip():
        raise RowError("there is no topic")
    named, text = _text(row, "document"), _text(row, "article")
    if bool(named) == bool(text.strip()):
        raise RowError("give the article's text (article) or the id of a document (document), one of the two")
    if named:
        document = documents(named)
        if document is None:
            raise RowError(f"the document '{named}' is not in the archive")
    else:
        document = Document(name, text, title=_text(row, "title"), published=_day(row), language=_text(row, "language"))
    return LabelledPair(name, topic, replace(document, id=name), _grade(row), _text(row, "cluster") or topic)


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"the {name} is {kind_of(value)}, not a text")
    return whole(value, name)


def _day(row: Mapping[str, object]) -> date | None:
    written = _text(row, "published")
    try:
        return date.fromisoformat(written) if written else None
    except ValueError as error:
        raise RowError(f"published is '{written}', not a day such as 2024-05-31") from error


def _grade(row: Mapping[str, object]) -> float:
    value = row.get("relevant")
    try:
        grade = float(value) if isinstance(value, str | bool) else math.nan
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        raise RowError("relevant is no number; write 0 or 1, or a grade, larger is better")
    return grade
