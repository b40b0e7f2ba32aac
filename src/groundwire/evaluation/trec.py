"""TREC runs and qrels: rankings and grades read line by line, and the values of every query.

A run has six columns: query, Q0, document, rank, value, tag; what follows is passed over. Its order is that of the
values, larger first; where they are equal, of the document ids, larger first, and never that of the rank column: so
trec_eval orders them. Qrels have four: query, iteration, document, grade. A grade of 0 or less is not relevant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.measures import ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank
from groundwire.evaluation.rows import RejectedRow

MEASURES = ("ndcg@10", "recall@10", "recall@100", "reciprocal_rank", "average_precision")
JUDGE = "TREC qrels"

_LOOKED_AT = 20
_WHOLE = re.compile(r"-?[0-9]+")
_AT = re.compile(r"(ndcg|recall|precision)@([1-9][0-9]*)")

Ranking = tuple[str, str]
"""A system (its run tag) and a query."""
Grades = Mapping[str, Mapping[str, float]]
"""Query -> document -> grade."""


@dataclass(frozen=True, slots=True)
class TrecFile:
    """A run or qrels: ``rankings`` of a run, best first, or ``grades`` of qrels; ``rows`` lines were not blank."""

    rankings: Mapping[Ranking, tuple[str, ...]]
    grades: Grades
    rejects: tuple[RejectedRow, ...]
    rows: int


def kind_of_lines(text: str) -> Literal["TREC run", "TREC qrels"] | None:
    """What a text is by its first lines; None where it is neither run nor qrels."""
    lines = islice((line.split() for line in text.splitlines() if line.strip()), _LOOKED_AT)
    found = {_kind_of(columns) for columns in lines}
    return found.pop() if len(found) == 1 else None


def _kind_of(columns: Sequence[str]) -> Literal["TREC run", "TREC qrels"] | None:
    if len(columns) >= 6 and columns[1].upper() == "Q0" and _value(columns[4]) is not None:
        return "TREC run"
    return "TREC qrels" if len(columns) == 4 and _WHOLE.fullmatch(columns[3]) else None


def read_run(text: str) -> TrecFile:
    """Read a run; a document that a query has twice keeps its larger value, and the other row is rejected."""
    values: dict[Ranking, dict[str, float]] = {}
    rejects = []
    rows = 0
    for number, line in enumerate(text.splitlines(), start=1):
        columns = line.split()
        if not columns:
            continue
        rows += 1
        value = _value(columns[4]) if len(columns) >= 6 else None
        if value is None:
            rejects.append(RejectedRow(number, "the line is not: query, Q0, document, rank, value, tag"))
            continue
        query, _, document, _, _, tag = columns[:6]
        ranked = values.setdefault((tag, query), {})
        if document in ranked:
            rejects.append(RejectedRow(number, f"query {query} ranks document {document} twice"))
        ranked[document] = max(value, ranked.get(document, value))
    return TrecFile({key: _ordered(ranked) for key, ranked in values.items()}, {}, tuple(rejects), rows)


def _ordered(values: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(sorted(values, reverse=True), key=lambda name: -values[name]))


def read_qrels(text: str) -> TrecFile:
    """Read qrels; a second grade of a document is a reject where it says something else, and the larger one holds."""
    grades: dict[str, dict[str, float]] = {}
    rejects = []
    rows = 0
    for number, line in enumerate(text.splitlines(), start=1):
        columns = line.split()
        if not columns:
            continue
        rows += 1
        if len(columns) != 4 or not _WHOLE.fullmatch(columns[3]):
            rejects.append(RejectedRow(number, "the line is not: query, iteration, document, grade (a whole number)"))
            continue
        query, _, document, grade = columns[0], columns[1], columns[2], max(0.0, float(columns[3]))
        graded = grades.setdefault(query, {})
        if graded.get(document, grade) != grade:
            rejects.append(RejectedRow(number, f"document {document} has two grades for query {query}"))
        graded[document] = max(grade, graded.get(document, grade))
    return TrecFile({}, grades, tuple(rejects), rows)


def judge_rankings(
    rankings: Mapping[Ranking, Sequence[str]], grades: Grades, *, measures: Sequence[str] = MEASURES
) -> tuple[Judgement, ...]:
    """The values of rankings, 0 to 1, a query an item; unscored where nothing is relevant to a query.

    Args:
        rankings: (system, query) -> documents, best first.
        grades: of all queries that were judged.
        measures: ``ndcg@K`` (linear gain), ``recall@K``, ``precision@K``, ``reciprocal_rank``, ``average_precision``.

    Raises:
        UsageError: a measure is unknown.
    """
    computed = [(name, _measure(name)) for name in measures]
    found = []
    for (system, query), ranked in sorted(rankings.items()):
        graded = grades.get(query, {})
        if any(grade > 0 for grade in graded.values()):
            values = [(name, value(ranked, graded)) for name, value in computed]
            found += [Judgement(query, system, name, value, "read", JUDGE) for name, value in values]
        else:
            why = "no document is relevant to this query" if graded else "nobody has judged this query"
            found += [Judgement(query, system, name, None, "unreadable", JUDGE, why) for name, _ in computed]
    return tuple(found)


def is_measure(name: str) -> bool:
    """Whether ``judge_rankings`` knows a measure of this name."""
    return name in ("reciprocal_rank", "average_precision") or _AT.fullmatch(name) is not None


def average_precision(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Mean over the relevant documents of the precision at their rank; 0 for those that are not ranked."""
    found, total = 0, 0.0
    for rank, name in enumerate(ranked, start=1):
        if name in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


Value = Callable[[Sequence[str], Mapping[str, float]], float]


def _measure(name: str) -> Value:
    if name == "reciprocal_rank":
        return lambda ranked, graded: reciprocal_rank(ranked, _relevant(graded))
    if name == "average_precision":
        return lambda ranked, graded: average_precision(ranked, _relevant(graded))
    at = _AT.fullmatch(name)
    if at is None:
        raise UsageError(
            f"'{name}' is no measure of a ranking. There are: ndcg@K, recall@K, precision@K, reciprocal_rank and "
            "average_precision."
        )
    k = int(at[2])
    if at[1] == "ndcg":
        return lambda ranked, graded: ndcg_at_k(ranked, graded, k=k)
    share = recall_at_k if at[1] == "recall" else precision_at_k
    return lambda ranked, graded: share(ranked, _relevant(graded), k=k)


def _relevant(graded: Mapping[str, float]) -> frozenset[str]:
    return frozenset(name for name, grade in graded.items() if grade > 0)


def _value(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
