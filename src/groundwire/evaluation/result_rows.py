"""Rows of result files of others: JSON, JSON Lines or a table in text -> rows with numbers, and what kind they are.

What a file is follows from its content, never from its name. Nothing in it is run: a list that was written into a cell
is read by its tokens.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from groundwire.core.errors import UnreadableInput
from groundwire.evaluation.items import NAMES
from groundwire.evaluation.rows import RejectedRow, RowError, kind_of, parsed

Kind = Literal["items", "judgements", "RAGAS", "DeepEval", "RAGChecker", "TREC run", "TREC qrels", "table"]
Fields = dict[str, object]

COSTS = ("cost", "tokens", "input_tokens", "output_tokens", "seconds", "calls")
"""Fields that say what an answer cost."""

_LONGEST_CELL = 1 << 30
_DELIMITERS = ",;\t"
_OLD_RAGAS = {"ground_truth", "ground_truths"}
_RAGAS = {"user_input", "retrieved_contexts", "response"}
_RAGCHECKER = {"query_id", "query", "gt_answer", "response", "retrieved_context", "system", "cluster", *COSTS}
_OF_ANSWER = {"precision", "f1", "hallucination", "self_knowledge", "faithfulness"}
_OF_REFERENCE = {"recall", "f1", "claim_recall", "context_precision", "context_utilization"}
_OF_BOTH = {"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"}
_NO_CLAIMS = (
    ("response_claims", _OF_ANSWER | _OF_BOTH, "the answer has no claims, for which RAGChecker writes 0"),
    ("gt_answer_claims", _OF_REFERENCE | _OF_BOTH, "the reference has no claims, for which RAGChecker writes 0"),
)
"""Where a list of claims is empty, the zeros of these measures are made up."""
_TEST_CASES = ("test_cases", "test_results")
_LOOKUP = "test_cases_lookup_map"
_DEEPEVAL_COSTS = {
    "token_cost": "cost",
    "completion_time": "seconds",
    "input_token_count": "input_tokens",
    "output_token_count": "output_tokens",
}
_OUTPUTS = {"actual_output", "actualOutput", "metrics_data", "metricsData"}
_OF_TEST_CASE = {"input", "actual_output", "expected_output", "retrieval_context", "context", "system", "id", "cluster"}
_HOLDERS = ("results", "data", "rows", "items", "samples", "judgements")
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Given:
    """A value as a file gives it, with what the file says about it."""

    value: object
    reason: str = ""
    error: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row with its number, counted from 1, and the values that the file itself sets apart from the fields."""

    number: int
    fields: Fields
    given: Mapping[str, Given] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a file: each is taken or rejected."""

    kind: Kind
    taken: tuple[ResultRow, ...]
    rejects: tuple[RejectedRow, ...]


def read_rows(text: str, *, name: str) -> Rows:
    """The rows of a file.

    Args:
        text: all of it.
        name: of the file, for errors.

    Raises:
        UnreadableInput: it holds no rows of a known kind.
    """
    start = text.lstrip()[:1]
    whole = _as_json(text) if start in ("{", "[") else None
    if whole is not None:
        kind, found = _of_json(whole, name)
        numbered, rejects = _objects(found)
    else:
        numbered, rejects = _of_lines(text) if start in ("{", "[") else _of_table(text, name)
        kind = _kind_of([row for _, row in numbered])
    if start in ("{", "[") and rejects and not numbered:
        why = f"row {rejects[0].line}: {rejects[0].reason}"
        raise UnreadableInput(f"{name} is neither one JSON value nor one JSON object a line; {why}")
    if not numbered and not rejects:
        raise UnreadableInput(f"{name} holds no rows. It should have one JSON object a line, or be a table (CSV)")
    return Rows(kind, tuple(_row(kind, number, row) for number, row in numbered), tuple(rejects))


Numbered = list[tuple[int, Fields]]


def _as_json(text: str) -> object | None:
    """The file as one JSON value; None where it is not one, as JSON Lines are not. Numbers stay as written."""
    try:
        found: object = json.loads(text, parse_float=str, parse_int=str)
    except (json.JSONDecodeError, RecursionError):
        return None
    return found


def _of_json(whole: object, name: str) -> tuple[Kind, Sequence[object]]:
    if isinstance(whole, dict):
        return _of_object(whole, name)
    rows = whole if isinstance(whole, list) else []
    return _kind_of([row for row in rows if isinstance(row, dict)]), rows


def _of_object(whole: Fields, name: str) -> tuple[Kind, Sequence[object]]:
    plain = _snake(whole)
    if isinstance(run := plain.get("test_run_data"), dict):
        plain = _snake(run)
    for key in _TEST_CASES:
        if isinstance(cases := plain.get(key), list):
            return "DeepEval", cases
    if isinstance(lookup := plain.get(_LOOKUP), dict):
        return "DeepEval", [_cached(key, case) for key, case in lookup.items()]
    columns, data = whole.get("columns"), whole.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        return _of_split(columns, data, name)
    held = [rows for key in _HOLDERS if isinstance(rows := whole.get(key), list)]
    rows = held[0] if held else _from_columns(whole) or [whole]
    return _kind_of([row for row in rows if isinstance(row, dict)]), rows


def _of_split(columns: Sequence[object], data: Sequence[object], name: str) -> tuple[Kind, Sequence[object]]:
    """A table as head and rows apart, as pandas writes one with ``orient="split"``."""
    if any(not isinstance(row, list) or len(row) != len(columns) for row in data):
        raise UnreadableInput(f"{name} has {len(columns)} columns, but not every row of its data has as many cells")
    rows = [dict(zip(map(str, columns), row, strict=True)) for row in data if isinstance(row, list)]
    return _kind_of(rows), rows


def _from_columns(whole: Fields) -> list[Fields] | None:
    """Rows of a table written by column, each a mapping from row numbers; None where it was not."""
    columns = {name: column for name, column in whole.items() if isinstance(column, dict)}
    if not columns or len(columns) < len(whole) or not all(map(_is_numbered, columns.values())):
        return None
    numbers = dict.fromkeys(number for column in columns.values() for number in column)
    return [{name: column.get(number) for name, column in columns.items()} for number in numbers]


def _is_numbered(column: Fields) -> bool:
    return bool(column) and all(_DIGITS.fullmatch(key) for key in column)


def _objects(found: Iterable[object]) -> tuple[Numbered, list[RejectedRow]]:
    rows: Numbered = []
    rejects = []
    for number, row in enumerate(found, start=1):
        if isinstance(row, dict):
            rows.append((number, row))
        else:
            rejects.append(RejectedRow(number, f"the row is {kind_of(row)}, not an object"))
    return rows, rejects


def _of_lines(text: str) -> tuple[Numbered, list[RejectedRow]]:
    rows: Numbered = []
    rejects = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append((number, parsed(line, constants=True)))
            except RowError as error:
                rejects.append(RejectedRow(number, str(error)))
    return rows, rejects


def _of_table(text: str, name: str) -> tuple[Numbered, list[RejectedRow]]:
    head = text.lstrip().partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    if not head.count(delimiter):
        raise UnreadableInput(
            f"{name} is neither JSON, nor a table with a head line, nor a TREC run or qrels, so nothing can be read"
        )
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: Numbered = []
    rejects = []
    names = next(reader)
    twice = next((one for one in names if one and names.count(one) > 1), "")
    if twice:
        raise UnreadableInput(f"{name} has the column '{twice}' twice; name them apart to say which counts")
    for cells in reader:
        if len(cells) == len(names):
            rows.append((reader.line_num, dict(zip(names, (cell or None for cell in cells), strict=True))))
        elif cells:
            short = f"the row has {len(cells)} cells, the head line {len(names)}"
            rejects.append(RejectedRow(reader.line_num, short))
    return rows, rejects


def _kind_of(rows: Sequence[Fields]) -> Kind:
    """What rows are, by the names that they have."""
    names = {name for row in rows[:50] for name in row}
    if {"item_id", "rubric", "value", "outcome"} <= names:
        return "judgements"
    if {"query", "gt_answer", "response"} <= names:
        return "RAGChecker"
    if "input" in names and names & _OUTPUTS:
        return "DeepEval"
    if names >= _RAGAS or (names & _OLD_RAGAS and "contexts" in names):
        return "RAGAS"
    return "items" if names & set(NAMES["question"]) and names & set(NAMES["answer"]) else "table"


def _row(kind: Kind, number: int, row: Fields) -> ResultRow:
    if kind == "DeepEval":
        return _of_test_case(number, _snake(row))
    if kind == "judgements":
        return ResultRow(number, row)
    metrics = row.get("metrics")
    if kind == "RAGChecker" and isinstance(metrics, dict):
        fields = {name: value for name, value in row.items() if name in _RAGCHECKER}
        given = {name: Given(value) for name, value in metrics.items()}
        return ResultRow(number, fields, given | dict(_made_up(row, given)))
    listed = {
        name: _listed(text)
        for name in (*NAMES["contexts"], "ground_truths")
        if isinstance(text := row.get(name), str) and text.lstrip().startswith("[")
    }
    return ResultRow(number, {**row, **listed})


def _made_up(row: Fields, given: Mapping[str, Given]) -> Iterator[tuple[str, Given]]:
    for claims, measures, why in _NO_CLAIMS:
        if row.get(claims) == []:
            yield from ((name, Given(None, error=why)) for name in given if name in measures)


def _of_test_case(number: int, case: Fields) -> ResultRow:
    apart = "metrics_data" in case
    fields = {name: value for name, value in case.items() if name in _OF_TEST_CASE or not apart}
    if fields.get("retrieval_context") is not None:
        fields.pop("context", None)  # what should have been retrieved, beside what was
    fields |= {ours: case[theirs] for theirs, ours in _DEEPEVAL_COSTS.items() if case.get(theirs) is not None}
    given: dict[str, Given] = {}
    metrics = case.get("metrics_data")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, dict):
            _add(given, _snake(metric))
    return ResultRow(number, fields, given)


def _add(given: dict[str, Given], metric: Fields) -> None:
    name = base = str(metric.get("name") or metric.get("metric") or "value")
    times = 1
    while name in given:
        times += 1
        name = f"{base} ({times})"
    said = {part: str(metric.get(part) or "") for part in ("reason", "error")}
    given[name] = Given(metric.get("score"), judge=str(metric.get("evaluation_model") or ""), **said)


def _cached(key: str, case: object) -> Fields:
    """A test case of DeepEval's cache: its key holds the texts, its value the metrics."""
    texts = _as_json(key)
    held = _snake(case) if isinstance(case, dict) else {}
    cached = held.get("cached_metrics_data")
    metrics = [
        one.get("metric_data") or one.get("metric_metadata")
        for one in map(_snake, cached if isinstance(cached, list) else ())
    ]
    return {**(texts if isinstance(texts, dict) else {}), "metrics_data": metrics}


def _snake(row: object) -> Fields:
    """The fields of an object with their names in snake case; none where it is no object."""
    return {_CAMEL.sub(r"_\1", name).lower(): value for name, value in row.items()} if isinstance(row, dict) else {}


def _listed(text: str) -> object:
    """The texts of a list that was written into a cell, as JSON, Python or numpy write one; else the cell as it is.

    numpy writes no commas, and Python would join what stands side by side into one text.
    """
    whole = _as_json(text)
    if isinstance(whole, list):
        return whole
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            if token.type == tokenize.STRING:
                found.append(ast.literal_eval(token.string))
            elif token.string.strip() not in ("", "[", "]", ","):
                return text
    except (tokenize.TokenError, ValueError, SyntaxError):
        return text
    return found if all(isinstance(one, str) for one in found) else text
