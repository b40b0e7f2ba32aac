"""Read the result files of others into items and judgements: RAGAS, DeepEval, RAGChecker, TREC, and tables of numbers.

What a file is follows from its content. A row becomes an ``Item`` where it holds a question and an answer, and a
``Judgement`` for each of its values. A value that is missing or no number is unscored, with the reason. Nothing is
rescaled: 0.83 stays 0.83. A row without an id is called by its question.

Fields that are read: those of ``items.NAMES``; RAGAS ``user_input, retrieved_contexts, response, reference`` and the
older ``question, contexts, answer, ground_truth`` (CSV, JSON by row or by column, JSON Lines); DeepEval ``testCases``,
``testRunData``, ``test_results`` or its cache, with ``input, actualOutput, expectedOutput, retrievalContext,
metricsData`` (also in snake case) and of each metric ``name, score, reason, error, evaluationModel``; RAGChecker
``results`` with ``query_id, query, gt_answer, response, retrieved_context, metrics``; our own judgements ``item_id,
system, rubric, value, outcome, judge``; the columns of TREC runs and qrels. In all other rows a column of numbers is a
measure, and ``judge`` or ``evaluation_model`` says who judged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from groundwire.core.encodings import decode
from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation.items import NAMES, item_of
from groundwire.evaluation.result_rows import COSTS, Fields, Given, Kind, ResultRow, read_rows
from groundwire.evaluation.rows import RejectedRow, RowError, whole
from groundwire.evaluation.trec import Grades, Ranking, kind_of_lines, read_qrels, read_run

FEWER_IS_BETTER: Mapping[str, frozenset[str]] = {
    "RAGAS": frozenset({"noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant",
                        "noise_sensitivity(mode=relevant)", "noise_sensitivity(mode=irrelevant)"}),
    "DeepEval": frozenset({"Hallucination", "Bias", "Toxicity"}),
    "RAGChecker": frozenset({"hallucination", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"}),
}  # fmt: skip
"""Measures of which these tools say that less is better."""

GIVEN = "as given"
"""The judge of values in rows that do not say who judged."""

_JUDGES = ("judge", "evaluation_model", "judge_model")
_NOT_MEASURES = {name for names in NAMES.values() for name in names} | set(COSTS) | set(_JUDGES) | {
    "reference_contexts", "multi_responses", "rubrics", "metadata", "index", "name", "run_duration", "threshold",
    "success", "persona_name", "query_style", "query_length", "synthesizer_name", "order", "evaluation_cost", "tags",
    "flaky", "cluster", "",
}  # fmt: skip
_PLACE = re.compile(r"Unnamed: \d+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_POINT_ZERO = re.compile(r"[0-9]+\.0")
_GAPS = ("", "nan", "none", "null", "n/a", "na", "inf", "-inf", "infinity", "-infinity")
_OTHERS = {
    b"PK\x03\x04": "a workbook (Excel, Numbers) or another ZIP file",
    b"\xd0\xcf\x11\xe0": "an old workbook (Excel)",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a packed file (gzip)",
}
_OUTCOMES = get_args(Outcome)
_TRUTHS = {"true": 1.0, "false": 0.0}

Answered = tuple[str, str]
"""A system and the id of an item that it answered."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How rows are read.

    Attributes:
        system: what rows are called that name no system of their own.
        mapping: item field -> name in the rows; a name that no row of the file has is passed over.
        measures: only these are values, and a column of this name always is one; none: all columns of numbers.
        cluster: the field that names the group of an item.
    """

    system: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    cluster: str = "cluster"


@dataclass(frozen=True, slots=True)
class ResultFile:
    """What was read out of a file.

    Attributes:
        kind: what it was taken for.
        items: questions with answers; an id that a system has twice stands twice.
        judgements: the values that it holds, the unscored among them.
        costs: (system, item id) -> what the answer cost, by name of ``COSTS``.
        clusters: item id -> the groups that its rows name; two where they differ.
        unnamed: the ids that are questions, for their rows have none.
        rankings: of a TREC run.
        grades: of TREC qrels.
        names: of all fields of the rows.
        rejects: rows that could not be taken.
        rows: how many there were; each is taken or rejected.
        notes: what was assumed.
    """

    kind: Kind
    items: tuple[Item, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    costs: Mapping[Answered, Mapping[str, float]] = field(default_factory=dict)
    clusters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unnamed: frozenset[str] = frozenset()
    rankings: Mapping[Ranking, tuple[str, ...]] = field(default_factory=dict)
    grades: Grades = field(default_factory=dict)
    names: tuple[str, ...] = ()
    rejects: tuple[RejectedRow, ...] = ()
    rows: int = 0
    notes: tuple[str, ...] = ()


def read_results(data: bytes, *, name: str, how: Reading | None = None) -> ResultFile:
    """Read a result file of any known kind.

    Args:
        data: all of it, in any encoding that ``core.encodings`` knows.
        name: of the file, for errors.
        how: names and choices.

    Raises:
        UnreadableInput: it holds no rows of a known kind.
        UsageError: the mapping names a field that items do not have.
    """
    wanted = how or Reading()
    unknown = [one for one in wanted.mapping if one not in NAMES]
    if unknown:
        raise UsageError(f"items have no field {', '.join(map(repr, unknown))}; map one of: {', '.join(NAMES)}.")
    for start, what in _OTHERS.items():
        if data.startswith(start):
            raise UnreadableInput(f"{name} is {what}; save it as JSON Lines or CSV")
    try:
        text = decode(data).text
    except UnreadableInput as error:
        raise UnreadableInput(f"{name} could not be read: {error}") from error
    if not text.strip():
        raise UnreadableInput(f"{name} is empty; it should have one JSON object a line, or be a table (CSV)")
    kind = kind_of_lines(text)
    if kind is not None:
        read = (read_run if kind == "TREC run" else read_qrels)(text)
        return ResultFile(kind, rankings=read.rankings, grades=read.grades, rejects=read.rejects, rows=read.rows)
    rows = read_rows(text, name=name)
    if rows.kind == "judgements":
        return _of_judgements(rows.taken, rows.rejects, how=wanted)
    names = dict.fromkeys(one for row in rows.taken for one in row.fields)
    wanted = replace(wanted, mapping={ours: theirs for ours, theirs in wanted.mapping.items() if theirs in names})
    return replace(_of_rows(rows.taken, rows.rejects, kind=rows.kind, how=wanted), names=tuple(names))


@dataclass(slots=True)
class _Found:
    """What is gathered row by row."""

    items: list[Item] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    costs: dict[Answered, dict[str, float]] = field(default_factory=dict)
    clusters: dict[str, set[str]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)


def _of_rows(rows: Sequence[ResultRow], rejects: Sequence[RejectedRow], *, kind: Kind, how: Reading) -> ResultFile:
    rows, spelt = _tidied(rows, how)
    columns = _columns(rows, how)
    apart = dict.fromkeys(name for row in rows for name in row.given if not how.measures or name in how.measures)
    found, refused = _Found(), list(rejects)
    for row in rows:
        values = {name: row.given.get(name, Given(None)) for name in apart}
        values |= {name: Given(row.fields.get(name)) for name in columns}
        try:
            _take(found, row.fields, values=values, kind=kind, how=how)
        except RowError as error:
            refused.append(RejectedRow(row.number, str(error)))
    measures = (*apart, *columns)
    notes = [*([f"values were taken from: {', '.join(measures)}"] if measures else []), *spelt]
    if found.unnamed:
        notes.append(f"rows without an id are joined by their question: {len(found.unnamed)}")
    return ResultFile(
        kind="items" if kind == "table" and found.items else kind,
        items=tuple(found.items),
        judgements=tuple(found.judgements),
        costs=found.costs,
        clusters={item: frozenset(groups) for item, groups in found.clusters.items()},
        unnamed=frozenset(found.unnamed),
        rejects=tuple(sorted(refused, key=lambda reject: reject.line)),
        rows=len(rows) + len(rejects),
        notes=tuple(notes),
    )


def _tidied(rows: Sequence[ResultRow], how: Reading) -> tuple[Sequence[ResultRow], list[str]]:
    """Rows whose numbers are as others write them, column by column, and what was done about it.

    A column of ``0,62`` has decimal commas, one of ``62%`` is in per cent, and ids of ``12.0`` were made by a table
    that took them for numbers. Columns of texts stay as they are.
    """
    texts = (_NOT_MEASURES - set(COSTS)) | set(how.mapping.values()) | {how.cluster}
    ids, notes = _names(how, "id"), []
    new: dict[str, Mapping[int, str]] = {}
    signs = {name: "." if name in ids else ",%" for row in rows for name in row.fields
             if name in ids or name not in texts}  # fmt: skip
    for name, sign in signs.items():
        if not any(one in told for row in rows if isinstance(told := row.fields.get(name), str) for one in sign):
            continue
        column = {
            place: told.strip()
            for place, row in enumerate(rows)
            if isinstance(told := row.fields.get(name), str) and not _is_gap(told)
        }
        plain, said = _whole_ids(column) if name in ids else _plain_numbers(column)
        if said:
            new[name] = plain
            notes.append(f"{name}: {said}")
    if not new:
        return rows, []
    changed = [
        {**row.fields, **{name: column[place] for name, column in new.items() if place in column}}
        for place, row in enumerate(rows)
    ]
    return [replace(row, fields=fields) for row, fields in zip(rows, changed, strict=True)], notes


def _whole_ids(column: Mapping[int, str]) -> tuple[Mapping[int, str], str]:
    """Ids that were all made ``12.0`` as they were before."""
    if not column or not all(map(_POINT_ZERO.fullmatch, column.values())):
        return column, ""
    return {place: told[:-2] for place, told in column.items()}, "12.0 is read as the id 12"


def _plain_numbers(column: Mapping[int, str]) -> tuple[Mapping[int, str], str]:
    """A column without signs of per cent and decimal commas, and what was there; as it is where that is in doubt."""
    found, said = dict(column), []
    if found and all(told.endswith("%") for told in found.values()):
        found, said = {place: told[:-1].strip() for place, told in found.items()}, ["in per cent"]
    commas = [told for told in found.values() if _COMMA.fullmatch(told)]
    if commas and not all(map(_THOUSANDS.fullmatch, commas)):
        found = {place: told.replace(",", ".") if _COMMA.fullmatch(told) else told for place, told in found.items()}
        said.append("the comma is read as a decimal point")
    if not said or 2 * sum(number_in(told) is not None for told in found.values()) <= len(found):
        return column, ""
    return found, ", ".join(said)


def _take(found: _Found, row: Fields, *, values: Mapping[str, Given], kind: Kind, how: Reading) -> None:
    """Add what a row holds.

    Raises:
        RowError: it has neither id nor question, or a field is not what it should be.
    """
    item = _item(row, how)
    identity = item.id if item else _plain_id(row, how)
    system = (item.system if item else whole(_name(row, how, "system"), "system")) or how.system
    if item is not None:
        found.items.append(Item(identity, item.question, item.contexts, item.answer, item.reference, system))
    if not _name(row, how, "id"):
        found.unnamed.add(identity)
    judge = next((str(row[name]) for name in _JUDGES if row.get(name)), "")
    found.judgements += [
        _judgement(name, given, place=(system, identity), judge=_who(kind, of_value=given.judge, of_row=judge))
        for name, given in values.items()
    ]
    _add_costs(found.costs, (system, identity), row)
    group = row.get(how.cluster)
    if group not in (None, ""):
        found.clusters.setdefault(identity, set()).add(str(group))


def _who(kind: Kind, *, of_value: str, of_row: str) -> str:
    tool = kind if kind in FEWER_IS_BETTER else GIVEN
    return f"{tool}, {of_value}" if of_value else of_row or tool


def _add_costs(costs: dict[Answered, dict[str, float]], place: Answered, row: Fields) -> None:
    spent = {name: value for name in COSTS if (value := number_in(row.get(name))) is not None}
    before = costs.get(place)
    if spent:
        costs[place] = spent if before is None else max(before, spent, key=lambda one: sorted(one.items()))


def _item(row: Fields, how: Reading) -> Item | None:
    """The item of a row; None where it has no question or no answer. Without an id its question names it."""
    question = _name(row, how, "question")
    if not question or not any(name in row for name in _names(how, "answer")):
        return None
    named = row if _name(row, how, "id") else {**row, _names(how, "id")[0]: question}
    return item_of(named, how.mapping)


def _plain_id(row: Fields, how: Reading) -> str:
    found = _name(row, how, "id") or _name(row, how, "question")
    if not found:
        raise RowError(
            f"there is neither an id nor a question, by one of which rows are joined; they stand under: "
            f"{', '.join(_names(how, 'id'))}, {', '.join(_names(how, 'question'))}"
        )
    return whole(found, "id")


def _names(how: Reading, name: str) -> tuple[str, ...]:
    return (how.mapping[name],) if name in how.mapping else NAMES[name]


def _name(row: Fields, how: Reading, name: str) -> str:
    return next((str(row[one]) for one in _names(how, name) if row.get(one) not in (None, "")), "")


def _columns(rows: Sequence[ResultRow], how: Reading) -> tuple[str, ...]:
    """The columns that are values: those asked for, or all that hold mostly numbers, in order of appearance."""
    names = dict.fromkeys(name for row in rows for name in row.fields)
    if how.measures:
        return tuple(name for name in how.measures if name in names)
    taken = _NOT_MEASURES | set(how.mapping.values()) | {how.cluster}
    return tuple(
        name
        for name in names
        if name not in taken and not _PLACE.fullmatch(name) and _is_measure([row.fields.get(name) for row in rows])
    )


def _is_measure(column: Sequence[object]) -> bool:
    """Whether most of what a column says is numbers; what is none among them will be unscored."""
    told = [value for value in column if not _is_gap(value)]
    return 2 * sum(number_in(value) is not None for value in told) > len(told)


def _is_gap(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in _GAPS)


def number_in(value: object) -> float | None:
    """A finite number, also one that is written as a text, and 1 for true; None for anything else."""
    if value is None:
        return None
    text = str(value).strip() if isinstance(value, str | int | float) else ""
    if not _NUMBER.fullmatch(text):
        return _TRUTHS.get(text.lower())
    number = float(text)
    return number if math.isfinite(number) else None


def _judgement(name: str, given: Given, *, place: Answered, judge: str) -> Judgement:
    system, identity = place
    number = number_in(given.value)
    if number is not None:
        return Judgement(identity, system, name, number, "read", judge, given.reason)
    why = "the file has no value" if _is_gap(given.value) else f"no number: {str(given.value)[:80]!r}"
    return Judgement(identity, system, name, None, "unreadable", judge, given.error or why)


def _of_judgements(rows: Sequence[ResultRow], rejects: Sequence[RejectedRow], *, how: Reading) -> ResultFile:
    """Our own judgements, as ``judge --out`` writes them."""
    found: list[Judgement] = []
    refused = list(rejects)
    for row in rows:
        try:
            one = _own_judgement(row.fields, how.system)
        except RowError as error:
            refused.append(RejectedRow(row.number, str(error)))
        else:
            found.append(one)
    kept = tuple(one for one in found if not how.measures or one.rubric in how.measures)
    rejected = tuple(sorted(refused, key=lambda reject: reject.line))
    return ResultFile("judgements", judgements=kept, rejects=rejected, rows=len(rows) + len(rejects))


def _own_judgement(row: Fields, system: str) -> Judgement:
    outcome = str(row.get("outcome"))
    if outcome not in _OUTCOMES:
        raise RowError(f"the outcome is {outcome!r}, none of: {', '.join(_OUTCOMES)}")
    if not row.get("item_id") or not row.get("rubric"):
        raise RowError("there is no item_id or no rubric; a judgement has both")
    value = number_in(row.get("value"))
    if value is None and not _is_gap(row.get("value")):
        raise RowError(f"the value is {row.get('value')!r}, neither a number nor null")
    if value is None and outcome in ("read", "recovered"):
        outcome = "unreadable"
    return Judgement(
        item_id=whole(str(row["item_id"]), "item_id"),
        system=whole(str(row.get("system") or ""), "system") or system,
        rubric=whole(str(row["rubric"]), "rubric"),
        value=value,
        outcome=outcome,  # type: ignore[arg-type]  # one of them, as was just seen
        judge=str(row.get("judge") or "") or GIVEN,
        reason=str(row.get("reason") or ""),
        parts=tuple(_parts(row.get("parts"))),
    )


def _parts(found: object) -> Iterator[tuple[str, float]]:
    for pair in found if isinstance(found, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and (value := number_in(pair[1])) is not None:
            yield str(pair[0]), value
