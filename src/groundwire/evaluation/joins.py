"""Judgements of several systems, joined by item id into one table a measure; what does not fit is named."""

from __future__ import annotations

import math
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
_ENDS = ((10, 4), (5, 2), (1, 2))
"""Where other scales end, and how many times larger the next value must be to say that few below are of that scale."""

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
    if small and large:
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


def _span(values: Sequence[float]) -> str:
    low, high = values[0], values[-1]
    if low >= 0 and high <= 100:
        return "0 to 1" if high <= 1 else "0 to 100" if high > 10 else f"{low:g} to {high:g}"
    return f"{low:g} to {high:g}"


def _off_scale(values: Sequence[float]) -> tuple[float, ...]:
    """Few values above 1 among shares, or few and far below the others on a scale to 100; 0 is at home on both."""
    told = [value for value in values if value]
    few = _ODD * len(told)
    if len(values) < _FEWEST or not told or told[0] < 0:
        return ()
    above = tuple(value for value in told if value > 1)
    if above and len(above) <= few and above[0] >= 2 and told[0] < 1:
        return above
    for end, gap in _ENDS if told[-1] > 10 else ():
        below = tuple(value for value in told if value <= end)
        if below and len(below) <= few and told[len(below)] > gap * below[-1]:
            return below
    return ()


def judges_of(judgements: Sequence[Judgement]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Measure -> judge -> the systems that it judged, all sorted by name; measures by first appearance."""
    found: dict[str, dict[str, set[str]]] = {}
    for judgement in judgements:
        found.setdefault(judgement.rubric, {}).setdefault(judgement.judge, set()).add(judgement.system)
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
    rows: dict[tuple[str, str], list[float | None]] = {}
    for judgement in group:
        if judgement.value is not None and not math.isfinite(judgement.value):
            raise UsageError(
                f"'{measure}' has the value {judgement.value} for item '{judgement.item_id}' of system "
                f"'{judgement.system}'; give None for what could not be scored"
            )
        rows.setdefault((judgement.system, judgement.item_id), []).append(judgement.value)
    systems = tuple(sorted({judgement.system for judgement in group}))
    items = tuple(sorted({judgement.item_id for judgement in group}))
    table = np.full((len(items), len(systems)), math.nan)
    coverage, mismatches = [], []
    for column, system in enumerate(systems):
        found = [rows.get((system, item), []) for item in items]
        misfits = [_misfit(values) for values in found]
        for row, values in enumerate(found):
            if values and misfits[row] != "twice and different" and values[0] is not None:
                table[row, column] = values[0]
        coverage.append(_coverage(system, misfits, scored=int((~np.isnan(table[:, column])).sum())))
        mismatches += [
            Mismatch(measure, system, item, what) for item, what in zip(items, misfits, strict=True) if what is not None
        ]
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


def _coverage(system: str, misfits: Sequence[Misfit | None], *, scored: int) -> Coverage:
    missing, ambiguous = misfits.count("missing"), misfits.count("twice and different")
    return Coverage(
        system=system,
        scored=scored,
        unscored=len(misfits) - scored - missing - ambiguous,
        missing=missing,
        ambiguous=ambiguous,
    )


def _misfit(values: Sequence[float | None]) -> Misfit | None:
    if not values:
        return "missing"
    if len(values) == 1:
        return None
    return "twice" if len(set(values)) == 1 else "twice and different"
