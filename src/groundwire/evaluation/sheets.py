"""Blind sheets for people: which texts are shown under which code, drawn at random, and the answers read back.

A sheet shows no system by name. Texts come in an order of their own for each annotator, some of them twice, so that it
shows how far one person agrees with themselves. The key says what each code stands for and is kept apart.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.numerals import flatten
from groundwire.core.types import Item, Outcome
from groundwire.evaluation.articles import CRITERIA, HIGHEST, LOWEST
from groundwire.evaluation.rubrics import CCRS

SCHEMA = "groundwire.sheet/1"
PREFERENCE = "preference"
LEFT, RIGHT, TIE = "left", "right", "tie"

_SIDES: Mapping[str, str] = {
    LEFT: LEFT, "l": LEFT, "左": LEFT, "左邊": LEFT, "左边": LEFT,
    RIGHT: RIGHT, "r": RIGHT, "右": RIGHT, "右邊": RIGHT, "右边": RIGHT,
    TIE: TIE, "t": TIE, "same": TIE, "equal": TIE, "平手": TIE, "相当": TIE, "相當": TIE, "一样": TIE, "一樣": TIE,
}  # fmt: skip
_NUMBER = re.compile(r"-?\d{1,4}(?:[.,]\d{1,4})?")
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a sheet: the column's name, the rubric among judgements, and the scale from 1, or 0, up.

    ``steps`` is True where only the whole numbers of the scale are offered (and for a preference, its three words).
    """

    name: str
    rubric: str
    lowest: float
    highest: float
    steps: bool


@dataclass(frozen=True, slots=True)
class SheetPlan:
    """What is drawn.

    Attributes:
        n: items, each with the texts of all its systems; 1 and up. All, where there are fewer.
        seed: of items, orders, sides and repeats.
        annotators: each gets a sheet with all texts that were drawn; 1 to 9.
        repeated: share of the texts that are shown a second time, 0 to 0.5.

    Raises:
        UsageError: a number is out of range.
    """

    n: int = 50
    seed: int = 0
    annotators: int = 1
    repeated: float = 0.1

    def __post_init__(self) -> None:
        if self.n < 1 or not 1 <= self.annotators <= 9 or not 0 <= self.repeated <= 0.5:
            raise UsageError(
                f"n is {self.n}, annotators {self.annotators} and repeated {self.repeated}; n is 1 or more, annotators"
                " 1 to 9, repeated 0 to 0.5"
            )


@dataclass(frozen=True, slots=True)
class Task:
    """One row of a sheet: a code, and what it stands for; two systems as they stand left and right."""

    id: str
    annotator: int
    item_id: str
    systems: tuple[str, ...]
    repeat_of: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """What the codes of all sheets stand for, and how they were drawn.

    ``drawn`` of ``population`` items were drawn at random, each as likely as any other.
    """

    sheet: str
    form: str
    population: int
    drawn: int
    plan: SheetPlan
    tasks: tuple[Task, ...]
    schema: str = SCHEMA

    @property
    def draw(self) -> str:
        """How the items were drawn, in words; it travels with every label."""
        return f"at random: {self.drawn} of {self.population} items, seed {self.plan.seed}"

    def of(self, annotator: int) -> tuple[Task, ...]:
        """The rows of one annotator's sheet, in order."""
        return tuple(task for task in self.tasks if task.annotator == annotator)


@dataclass(frozen=True, slots=True)
class Label:
    """What a person said of one text, or pair of texts, under one rubric.

    Attributes:
        item_id: with ``systems`` (two for a preference, in order of name) what was judged.
        rubric: as among judgements.
        value: 0 to 100; of a preference 100 where the first system is preferred, 50 for a tie; None where ``outcome``
            is not ``read``.
        outcome: ``abstained`` where the answer is empty or its row is missing.
        given: the answer as it was written.
        annotator: from 1.
        repeat: whether the text was shown for the second time.
        draw: how the items were drawn.
    """

    item_id: str
    systems: tuple[str, ...]
    rubric: str
    value: float | None
    outcome: Outcome
    given: str
    annotator: int
    task: str
    repeat: bool
    draw: str


def questions(form: str) -> tuple[Asked, ...]:
    """The questions of a form: ``scorerag``, ``preference``, ``ccrs`` for its five, or names of its rubrics by commas.

    Raises:
        UsageError: there is no such form.
    """
    if form == "scorerag":
        return tuple(Asked(one.name, one.rubric, LOWEST, HIGHEST, steps=True) for one in CRITERIA)
    if form == PREFERENCE:
        return (Asked(PREFERENCE, PREFERENCE, 0, 100, steps=True),)
    known = {
        rubric.name: Asked(rubric.name, rubric.name, rubric.lowest, rubric.highest, steps=False) for rubric in CCRS
    }
    names = tuple(known) if form == "ccrs" else tuple(filter(None, map(str.strip, form.split(","))))
    unknown = [name for name in names if name not in known]
    if unknown or not names or len(set(names)) < len(names):
        raise UsageError(
            f"there is no form '{form}'; there are scorerag, preference, ccrs, and these, alone or by commas:"
            f" {', '.join(known)}"
        )
    return tuple(known[name] for name in names)


def draw_tasks(items: Sequence[Item], *, form: str, plan: SheetPlan) -> Key:
    """Draw items at random and lay out a sheet for each annotator.

    Args:
        items: of all systems, each system and id once; empty answers are shown too.
        form: see ``questions``. A preference shows each pair of systems of an item, once.
        plan: how many, and the seed.

    Returns:
        The key, with the tasks of the first annotator first.

    Raises:
        UsageError: there is no item, or for a preference none of two systems.
    """
    questions(form)
    by_item: dict[str, list[str]] = {}
    for item in items:
        by_item.setdefault(item.id, []).append(item.system)
    units = {name: _units(sorted(systems), form) for name, systems in by_item.items()}
    population = [name for name in sorted(units) if units[name]]
    if not population:
        need = "with texts of two systems" if form == PREFERENCE else "with a text"
        raise UsageError(f"{len(by_item)} items were read, and none is {need}; a sheet for '{form}' takes such")
    rng = np.random.default_rng(plan.seed)
    chosen = sorted(rng.permutation(len(population))[: plan.n].tolist())
    drawn = [population[place] for place in chosen]
    shown = [(name, unit) for name in drawn for unit in units[name]]
    held = sorted((asdict(item) for item in items), key=lambda row: (row["id"], row["system"]))
    sheet = _digest(held, form, asdict(plan))
    tasks = [task for number in range(1, plan.annotators + 1) for task in _laid_out(shown, number, sheet, plan, rng)]
    return Key(sheet, form, len(population), len(drawn), plan, tuple(tasks))


def read_answers(key: Key, rows: Sequence[Mapping[str, str]]) -> tuple[Label, ...]:
    """Labels of the rows that came back, in the order of the key; each row has ``id`` and the columns of the form.

    A row that is missing from a sheet of which others came back is without a value, like an empty answer; of
    annotators with no row at all there is nothing.

    Raises:
        UsageError: an id is unknown, or stands there twice with different answers, or a column is missing.
    """
    asked = questions(key.form)
    given = _by_id(key, rows, asked)
    came = {task.annotator for task in key.tasks if task.id in given}
    return tuple(
        _label(key, task, question, given.get(task.id, {}).get(question.name))
        for task in key.tasks
        if task.annotator in came
        for question in asked
    )


def read_value(text: str, asked: Asked) -> tuple[float | None, Outcome]:
    """An answer as a value from 0 to 100 (of a preference: for the left text), or why there is none."""
    plain = flatten(text).strip().casefold()
    if not plain:
        return None, "abstained"
    if asked.rubric == PREFERENCE:
        side = _SIDES.get(text.strip().casefold(), _SIDES.get(plain))
        return ({LEFT: 100.0, TIE: 50.0, RIGHT: 0.0}[side], "read") if side else (None, "unreadable")
    if not _NUMBER.fullmatch(plain):
        return None, "unreadable"
    value = float(plain.replace(",", "."))
    if not asked.lowest <= value <= asked.highest:
        return None, "out_of_range"
    return (value - asked.lowest) * 100 / (asked.highest - asked.lowest), "read"


def _units(systems: Sequence[str], form: str) -> list[tuple[str, ...]]:
    """What is shown of an item: each text alone, or each pair."""
    return list(combinations(systems, 2)) if form == PREFERENCE else [(system,) for system in systems]


def _laid_out(
    shown: Sequence[tuple[str, tuple[str, ...]]], annotator: int, sheet: str, plan: SheetPlan, rng: np.random.Generator
) -> list[Task]:
    """One annotator's tasks: shuffled, sides drawn, some of the first half once more in the second, sides turned."""
    order = [shown[place] for place in rng.permutation(len(shown))]
    tasks = [Task("", annotator, name, unit[:: 1 if rng.integers(2) else -1]) for name, unit in order]
    codes = [f"s{annotator}-{_digest(sheet, annotator, place)[:8]}" for place in range(2 * len(tasks))]
    tasks = [replace(task, id=code) for task, code in zip(tasks, codes, strict=False)]
    half = max(1, len(tasks) // 2)
    wanted = min(half, math.ceil(plan.repeated * len(tasks)))
    for again, code in zip(rng.permutation(half)[:wanted], codes[len(tasks) :], strict=False):
        first = tasks[again]  # what is put in stands in the second half
        place = int(rng.integers(half + 1, len(tasks) + 1)) if half < len(tasks) else len(tasks)
        tasks.insert(place, replace(first, id=code, repeat_of=first.id, systems=first.systems[::-1]))
    return tasks


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, sort_keys=True).encode()).hexdigest()[:16]


def _by_id(key: Key, rows: Sequence[Mapping[str, str]], asked: Sequence[Asked]) -> dict[str, Mapping[str, str]]:
    known = {task.id for task in key.tasks}
    unknown = [row.get("id", "") for row in rows if row.get("id", "") not in known]
    if unknown:
        listed = ", ".join(repr(name) for name in unknown[:_LISTED])
        raise UsageError(
            f"{len(unknown)} of {len(rows)} rows have an id that the key does not know: {listed}. Read the sheet with"
            " its own key, and leave the column 'id' as it is"
        )
    found: dict[str, Mapping[str, str]] = {}
    for row in rows:
        lacking = [question.name for question in asked if question.name not in row]
        if lacking:
            raise UsageError(f"the row '{row['id']}' has no column {', '.join(lacking)}; leave the columns as they are")
        answers = {question.name: row[question.name] for question in asked}
        if found.setdefault(row["id"], answers) != answers:
            raise UsageError(f"the id '{row['id']}' stands there twice with different answers; leave one of them")
    return found


def _label(key: Key, task: Task, asked: Asked, given: str | None) -> Label:
    value, outcome = read_value(given or "", asked)
    systems = tuple(sorted(task.systems))
    if value is not None and systems != task.systems:
        value = 100 - value
    return Label(
        item_id=task.item_id,
        systems=systems,
        rubric=asked.rubric,
        value=value,
        outcome=outcome,
        given=given or "",
        annotator=task.annotator,
        task=task.id,
        repeat=bool(task.repeat_of),
        draw=key.draw,
    )
