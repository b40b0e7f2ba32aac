"""Judgements of several systems, joined by item id into one table a measure; what does not fit is named."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.core.types import Judgement

_FEWEST = 20
"""Values that it takes to say what is odd among them."""
_ODD = 0.05
"""The largest share of them that can be odd."""
_ENDS = (10, 5, 1)
"""Where other scales end."""
_GAP = 20
"""How many usual distances between neighbours part a few odd values from the next one."""

_MOST_COUNTED = 20
"""Whole numbers up to this may be counts."""

Misfit = Literal["missing", "twice", "twice and different"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An item that others have and a system lacks, or has twice.

    ``twice`` counts once, since both rows say the same; ``twice and different`` is left out.
    """

    measure: str
    system: str
    item_id: str
    what: Misfit


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of the items of a measure under one system; the four counts add up to all items of the measure."""

    system: str
    scored: int
    unscored: int
    missing: int
    ambiguous: int

    @property
    def share(self) -> float:
        """Share of the items that have a value, 0 to 1."""
        return self.scored / (self.scored + self.unscored + self.missing + self.ambiguous)


@dataclass(frozen=True, slots=True)
class Scale:
    """On what scale the values of a measure look to be.

    Attributes:
        measure: its name.
        words: ``0 to 1``, ``0 to 100``, or from the least to the largest value.
        n: how many values there are.
        odd: those that look to be on another scale; they are taken as they stand.
        note: what to say about them, or nothing.
    """

    measure: str
    words: str
    n: int
    odd: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """One measure: the items that every system has a value of, sorted by id.

    Attributes:
        measure: its name.
        judge: fingerprint of who judged.
        systems: in order of name.
        items: ids of the complete items.
        values: shape (items, systems).
        coverage: by system.
        mismatches: sorted by system and item.
    """

    measure: str
    judge: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    values: Matrix
    coverage: tuple[Coverage, ...]
    mismatches: tuple[Mismatch, ...]


def scales(judgements: Sequence[Judgement]) -> tuple[Scale, ...]:
    """The scale of every measure, by first appearance, and whether a few values, or a whole system, look off it."""
    found: dict[str, dict[str, list[float]]] = {}
    for one in judgements:
        if one.value is not None:
            found.setdefault(one.rubric, {}).setdefault(one.system, []).append(one.value)
    return tuple(_scale(measure, by_system) for measure, by_system in found.items())


def _scale(measure: str, by_system: Mapping[str, Sequence[float]]) -> Scale:
    values = sorted(value for of_system in by_system.values() for value in of_system)
    small = [name for name, own in sorted(by_system.items()) if 0 < max(own) <= 1]
    large = [name for name, own in sorted(by_system.items()) if median([abs(one) for one in own if one] or [0]) > 1]
    words = _span(values)
    if small and large and not _counts(values):
        note = (
            f"{measure}: the values of {', '.join(small)} run to 1, those of {', '.join(large)} to {values[-1]:g}: "
            "they look to be on two scales, and their difference says nothing"
        )
        return Scale(measure, words, len(values), tuple(one for name in small for one in sorted(by_system[name])), note)
    odd = _off_scale(values)
    if not odd:
        return Scale(measure, words, len(values), ())
    most = [value for value in values if value not in odd]
    shown = ", ".join(f"{value:g}" for value in odd[:5])
    note = (
        f"{measure}: {len(odd)} of {len(values)} values ({shown}) look to be on another scale than the others "
        f"({most[0]:g} to {most[-1]:g}); they were taken as they stand"
    )
    return Scale(measure, _span(most), len(values), odd, note)


def _counts(values: Sequence[float]) -> bool:
    """Whether values are small whole numbers, of which one system may have 0 and 1 and another more."""
    return values[-1] <= _MOST_COUNTED and all(value == round(value) for value in values)


def _span(values: Sequence[float]) -> str:
    low, high = values[0], values[-1]
    if low >= 0 and high <= 100:
        return "0 to 1" if high <= 1 else "0 to 100" if high > 10 else f"{low:g} to {high:g}"
    return f"{low:g} to {high:g}"


def _off_scale(values: Sequence[float]) -> tuple[float, ...]:
    """Few values far above 1 among shares, or few far below the others on a scale to 100; 0 is at home on both.

    Far is what the distances between the others do not explain. 1 and the multiples of 5 are what judges give to the
    worst answers on a scale to 100, so they alone are not odd there; a fraction among whole numbers is.
    """
    told = values[bisect_right(values, 0.0) :]
    few = _ODD * len(told)
    if len(values) < _FEWEST or not told or values[0] < 0:
        return ()
    shares = bisect_right(told, 1)
    if 0 < len(told) - shares <= few and told[shares] >= 2 and told[0] < 1:
        above = tuple(told[shares:])
        strange = any(one > 10 or one == round(one) for one in above)
        return above if strange and _apart(above[0], told[:shares][::-1]) else ()
    if told[-1] <= 10:
        return ()
    for end in _ENDS:
        count = bisect_right(told, end)
        below, rest = tuple(told[:count]) if count <= few else (), told[count:]
        strange = any(one % 5 and one != 1 for one in below)
        if strange and rest[0] > 2 * end and _apart(below[-1], rest):
            return below
    fractions = bisect_left(told, 1)
    whole = 0 < fractions <= few and all(one == round(one) for one in told[fractions:])
    return tuple(told[:fractions]) if whole else ()


def _apart(value: float, others: Sequence[float]) -> bool:
    """Whether a value is too far from the others, which begin with the nearest, to be the next of them."""
    tenth = max(1, len(others) // 10)
    return abs(value - others[0]) > _GAP * abs(others[tenth] - others[0]) / tenth


def judges_of(judgements: Sequence[Judgement]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Measure -> judge -> the systems that it judged, all sorted by name; measures by first appearance."""
    found: dict[str, dict[str, set[str]]] = {}
    for measure, judge, system in dict.fromkeys((one.rubric, one.judge, one.system) for one in judgements):
        found.setdefault(measure, {}).setdefault(judge, set()).add(system)
    return {
        measure: {judge: tuple(sorted(judges[judge])) for judge in sorted(judges)} for measure, judges in found.items()
    }


def refuse_two_judges(measure: str, judges: Mapping[str, tuple[str, ...]]) -> None:
    """Values of different judges are on different scales.

    Raises:
        UsageError: there are two judges or more.
    """
    if len(judges) > 1:
        who = "; ".join(f"'{judge}' judged {', '.join(systems)}" for judge, systems in judges.items())
        raise UsageError(
            f"'{measure}' was judged by {len(judges)} judges, whose values are not on one scale: {who}. Judge all "
            "systems with one of them, or name one to bridge to through items that both have judged. If they "
            "are one judge, say so in a field 'judge' of the rows."
        )


def join(judgements: Sequence[Judgement]) -> tuple[Joined, ...]:
    """Join judgements by item id, whatever their order.

    Args:
        judgements: of any number of measures and systems, one judge a measure.

    Returns:
        One table a measure, in order of first appearance. Its items are those that any system has.

    Raises:
        UsageError: a measure has two judges, or a value is not finite.
    """
    for measure, judges in judges_of(judgements).items():
        refuse_two_judges(measure, judges)
    by_measure: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        by_measure.setdefault(judgement.rubric, []).append(judgement)
    return tuple(_joined(measure, group) for measure, group in by_measure.items())


def _joined(measure: str, group: Sequence[Judgement]) -> Joined:
    rows, again = _by_system(measure, group)
    systems = tuple(sorted(rows))
    items = tuple(sorted({item for held in rows.values() for item in held}))
    table = np.full((len(items), len(systems)), math.nan)
    place = {item: row for row, item in enumerate(items)}
    coverage, mismatches = [], []
    for column, system in enumerate(systems):
        held, twice = rows[system], again.get(system, {})
        values = [held.get(item) for item in items]
        table[:, column] = [math.nan if value is None else value for value in values]
        misfits: dict[str, Misfit] = {item: _misfit(found) for item, found in twice.items()}
        if len(held) < len(items):
            misfits |= dict.fromkeys((item for item in items if item not in held), "missing")
        for item, what in misfits.items():
            if what == "twice and different":
                table[place[item], column] = math.nan
        scored = int((~np.isnan(table[:, column])).sum())
        coverage.append(_coverage(system, list(misfits.values()), scored=scored, items=len(items)))
        mismatches += [Mismatch(measure, system, item, misfits[item]) for item in sorted(misfits)]
    complete = ~np.isnan(table).any(axis=1)
    return Joined(
        measure=measure,
        judge=group[0].judge,
        systems=systems,
        items=tuple(item for item, kept in zip(items, complete.tolist(), strict=True) if kept),
        values=table[complete],
        coverage=tuple(coverage),
        mismatches=tuple(mismatches),
    )


Rows = dict[str, dict[str, float | None]]


def _by_system(measure: str, group: Sequence[Judgement]) -> tuple[Rows, dict[str, dict[str, list[float | None]]]]:
    """System -> item -> its first value, and for items that a system has again, all values."""
    rows: Rows = {}
    again: dict[str, dict[str, list[float | None]]] = {}
    for judgement in group:
        value, item = judgement.value, judgement.item_id
        if value is not None and not math.isfinite(value):
            raise UsageError(
                f"'{measure}' has the value {value} for item '{item}' of system '{judgement.system}'; give None for "
                "what could not be scored"
            )
        held = rows.setdefault(judgement.system, {})
        if item in held:
            again.setdefault(judgement.system, {}).setdefault(item, [held[item]]).append(value)
        else:
            held[item] = value
    return rows, again


def _coverage(system: str, misfits: Sequence[Misfit], *, scored: int, items: int) -> Coverage:
    missing, ambiguous = misfits.count("missing"), misfits.count("twice and different")
    return Coverage(
        system=system,
        scored=scored,
        unscored=items - scored - missing - ambiguous,
        missing=missing,
        ambiguous=ambiguous,
    )


def _misfit(values: Sequence[float | None]) -> Misfit:
    return "twice" if len(set(values)) == 1 else "twice and different"
