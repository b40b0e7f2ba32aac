"""Blind sheets as files for people, the answers read back as labels, and labels beside a judge.

A sheet is CSV for a spreadsheet program or one self-contained page; how they look is ``sheet_page``'s.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import ClassVar, TypeVar

from groundwire.core.encodings import decode
from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.text import detect_language
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.articles import unmarked
from groundwire.evaluation.people import JudgeAgreement, RaterAgreement, judge_agreement, rater_agreement
from groundwire.evaluation.sheets import SCHEMA, Key, Label, SheetPlan, draw_tasks, read_answers
from groundwire.flow.sheet_page import GUIDE, Sheet
from groundwire.flow.wording import words_language

ANSWERS = "groundwire.answers/1"
KINDS = (".csv", ".html")

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Made:
    """The files of a sheet: one an annotator, and the key, to be kept from them."""

    sheets: tuple[Path, ...]
    key_file: Path
    key: Key
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Labels with how far people agree; ``notes`` name the annotators whose sheet did not come back."""

    labels: tuple[Label, ...]
    agreement: tuple[RaterAgreement, ...]
    notes: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write one JSON object a label."""
        rows = (json.dumps(asdict(label), ensure_ascii=False) for label in self.labels)
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Beside:
    """People and a judge, a rubric each, with what must be said about how the labels were drawn."""

    rubrics: tuple[JudgeAgreement, ...]
    notes: tuple[str, ...]


def make_sheets(
    items: Sequence[Item], *, form: str, out: Path, plan: SheetPlan, language: str = "", without_marks: bool = False
) -> Made:
    """Draw items and write a sheet an annotator, and the key.

    Args:
        items: of all systems.
        form: see ``sheets.questions``.
        out: ``NAME.csv`` or ``NAME.html``; with several annotators ``NAME.1.csv`` and so on. The key is
            ``NAME.key.json``.
        plan: how many, of whom, and the seed.
        language: of the fixed words; empty: that of the texts.
        without_marks: marks of citations and lists of sources are taken out of the texts.

    Raises:
        UsageError: another suffix, no items, or a file is already there.
    """
    if out.suffix.lower() not in KINDS:
        raise UsageError(f"'{out}' ends in none of {', '.join(KINDS)}, so it is not known what sheet to make")
    key = draw_tasks(items, form=form, plan=plan)
    several = plan.annotators > 1
    paths = [out.with_name(f"{out.stem}.{n}{out.suffix}") if several else out for n in range(1, plan.annotators + 1)]
    key_file = out.with_name(f"{out.stem}.key.json")
    there = [path for path in (*paths, key_file) if path.exists()]
    if there:
        raise UsageError(f"{there[0]} is already there, and may hold answers; move it, or give the sheet another name")
    texts = {(item.id, item.system): unmarked(item.answer) if without_marks else item.answer for item in items}
    sheet = Sheet(key, {(item.id, item.system): item for item in items}, texts,
                   words_language(language or _main_language(items)))  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    for annotator, path in enumerate(paths, 1):
        made = sheet.table(annotator) if out.suffix.lower() == ".csv" else sheet.page(annotator, name=path.stem)
        path.write_text(made, encoding="utf-8", newline="")
    key_file.write_text(json.dumps(asdict(key), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return Made(tuple(paths), key_file, key, sheet.notes(table=out.suffix.lower() == ".csv"))


def read_sheets(paths: Sequence[Path], *, key_file: Path, level: float = 0.95, seed: int = 0) -> ReadBack:
    """Read filled-in sheets (CSV, or the JSON or CSV that the page gave) into labels.

    Raises:
        UsageError: an id is unknown, or a column is missing.
        UnreadableInput: a file cannot be read.
    """
    key = read_key(key_file)
    rows = [row for path in paths for row in _rows(path)]
    labels = read_answers(key, rows)
    came = {label.annotator for label in labels}
    notes = [f"no sheet of annotator {n} was read" for n in range(1, key.plan.annotators + 1) if n not in came]
    return ReadBack(labels, rater_agreement(labels, level=level, seed=seed), tuple(notes))


def read_key(path: Path) -> Key:
    """The key that ``make_sheets`` wrote.

    Raises:
        UnreadableInput: it is not there or is no key.
    """
    (key,) = _records(Key, [_text(path)], path)
    if key.schema != SCHEMA:
        raise UnreadableInput(f"{path} has the schema '{key.schema}'; this version reads '{SCHEMA}'")
    return key


def read_labels(path: Path) -> tuple[Label, ...]:
    """Labels that ``ReadBack.save`` wrote.

    Raises:
        UnreadableInput: the file is not there, or a line is no label.
    """
    return _records(Label, [line for line in _text(path).splitlines() if line.strip()], path)


def read_judgements(path: Path) -> tuple[Judgement, ...]:
    """Judgements, one a line, as ``judge`` and ``score`` write them.

    Raises:
        UnreadableInput: the file is not there, or a line is no judgement.
    """
    return _records(Judgement, [line for line in _text(path).splitlines() if line.strip()], path)


def agree(
    labels: Sequence[Label],
    judgements: Sequence[Judgement],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Beside:
    """A judge beside people, and whether the labels may stand for all items.

    Args:
        labels: as people gave them.
        judgements: of the judge.
        clusters: item id -> what its items share, where they share something.
        level: of the intervals.
        seed: of the draws.

    Raises:
        UsageError: as ``people.judge_agreement``.
    """
    draws = list(dict.fromkeys(label.draw for label in labels))
    odd = [draw for draw in draws if not draw.startswith("at random")]
    notes = [f"drawn {draw}" for draw in draws if draw not in odd]
    if odd:
        notes.append(
            "some labels were not drawn at random, so means that lean on the judge do not stand for all items:"
            f" {', '.join(odd)}"
        )
    return Beside(judge_agreement(labels, judgements, clusters=clusters, level=level, seed=seed), tuple(notes))


def _main_language(items: Sequence[Item]) -> str:
    """The language of the first text that has one."""
    return next(filter(None, (detect_language(item.answer) for item in items)), "en")


def _text(path: Path) -> str:
    try:
        return decode(path.read_bytes()).text.removeprefix("\ufeff")
    except OSError as error:
        raise UnreadableInput(f"{path} cannot be read: {error.strerror}") from error


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a filled-in sheet, whatever mark parts its cells; the guide and empty rows are left out."""
    text = _text(path)
    if text.lstrip().startswith("{"):
        return _answers(text, path)
    head = text.partition("\n")[0]
    mark = max((",", ";", "\t"), key=head.count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    names = [name.strip().casefold() for name in rows[0]] if rows else []
    if "id" not in names:
        raise UnreadableInput(f"{path} has no column 'id'; give the sheet as CSV, or the answers that its page saved")
    read = [dict(zip(names, row, strict=False)) for row in rows[1:] if any(cell.strip() for cell in row)]
    return [row | {"id": row.get("id", "").strip()} for row in read if row.get("id", "").strip() != GUIDE]


@dataclass(frozen=True, slots=True)
class _Answered:
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "strict": True}
    id: str
    values: dict[str, str]
    comment: str


@dataclass(frozen=True, slots=True)
class _Answers:
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "strict": True}
    schema: str
    sheet: str
    annotator: int
    answers: tuple[_Answered, ...]


def _answers(text: str, path: Path) -> list[dict[str, str]]:
    (held,) = _records(_Answers, [text], path)
    if held.schema != ANSWERS:
        raise UnreadableInput(f"{path} has the schema '{held.schema}'; this version reads '{ANSWERS}'")
    return [{**answer.values, "id": answer.id} for answer in held.answers]


def _records(kind: type[Row], lines: Sequence[str], path: Path) -> tuple[Row, ...]:
    """Each of these JSON texts as a record of this kind; unknown keys and other types are refused."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(kind)
    known = set(signature(kind).parameters)
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(adapter.validate_json(line, strict=True))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            raise UnreadableInput(
                f"{path}: record {number} is no {kind.__name__.strip('_').lower()}"
                f"{f' at {place!r}' if place else ''}: {first['msg']}"
            ) from error
        unknown = sorted(set(json.loads(line)) - known)
        if unknown:
            raise UnreadableInput(f"{path}: record {number} has '{unknown[0]}', which is not known here")
    return tuple(found)
