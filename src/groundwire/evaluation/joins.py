"""Judgements of several systems, joined by item id into one table a measure; what does not fit is named."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.core.types import Judgement

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
            "systems with one of them, or name one to bridge to through items that both have judged."
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
