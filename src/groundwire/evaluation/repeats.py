"""What repeating shows: how the spread of values splits over items, judges and repeats, and how often a run flips.

Judged again, the same answer gets another value; a difference between systems smaller than that is noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.resampling import Floats

_ROUNDING = 1e-12
"""Residues below this share of the values are rounding, not variance."""

Part = Literal["item", "judge", "item x judge", "repeat", "item x judge and repeat"]


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """How the variance of single values splits, by two-way random effects.

    Attributes:
        parts: (what, variance), in squared units of the measure. Without repeats the last two cannot be told apart and
            stand together; with one judge there are items and repeats only.
        shares: (what, share of their sum), 0 to 1; nan where nothing varies.
        below_zero: the parts whose estimate came out negative; they stand as 0, and are small rather than absent.
        reliability: of an item's mean over all its judges and repeats: the share of its variance that is the items',
            0 to 1; nan where nothing varies.
        items: complete ones, which counted; ``left_out`` had a gap.
        judges: how many.
        repeats: of each judge.
    """

    parts: tuple[tuple[Part, float], ...]
    shares: tuple[tuple[Part, float], ...]
    below_zero: tuple[Part, ...]
    reliability: float
    items: int
    left_out: int
    judges: int
    repeats: int

    @property
    def note(self) -> str:
        """What to say about estimates below 0, or nothing."""
        if not self.below_zero:
            return ""
        return f"estimated below 0 and set to 0: {', '.join(self.below_zero)}"


@dataclass(frozen=True, slots=True)
class Flips:
    """How often a yes or no turns between two repeats of a run.

    Attributes:
        rate: chance that two repeats of one item, drawn at random, disagree; mean over the items; 0 to 1, or nan.
        unstable: share of the items on which not all repeats agree.
        decided: how many pairs of repeats put the whole run on different sides of ``at_least``, of ``pairs``.
        items: with two scored repeats or more; ``left_out`` had fewer.
    """

    rate: float
    unstable: float
    decided: int
    pairs: int
    items: int
    left_out: int


def variance_parts(values: Matrix) -> VarianceParts:
    """Split the variance of judged values into items, judges, their interaction and repeats, by mean squares.

    Args:
        values: shape (items, judges, repeats); nan is unscored. An item with a gap is left out and counted. Several
            judges or several repeats, or both.

    Raises:
        UsageError: the shape does not fit, a value is infinite, or fewer than 2 items are complete.

    Source: Searle, Casella and McCulloch 1992, chapter 4; Brennan 2001 for the reliability.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 3 or given.shape[1] * given.shape[2] < 2:
        raise UsageError(
            f"values of shape {given.shape} were given; (items, judges, repeats), two values an item or more"
        )
    if np.isinf(given).any():
        raise UsageError("a value is infinite; give nan for what could not be scored")
    table = given[~np.isnan(given).any(axis=(1, 2))]
    if len(table) < 2:
        raise UsageError(f"{len(table)} of {len(given)} items are complete; it takes 2")
    items, judges, repeats = table.shape
    found = _estimates(table)
    parts = tuple((name, max(0.0, variance)) for name, variance in found)
    total = sum(variance for _, variance in parts)
    noise = {"item x judge": judges, "repeat": judges * repeats, "item x judge and repeat": judges}
    of_items = dict(parts)["item"]
    of_mean = of_items + sum(variance / noise[name] for name, variance in parts if name in noise)
    return VarianceParts(
        parts=parts,
        shares=tuple((name, variance / total if total else math.nan) for name, variance in parts),
        below_zero=tuple(name for name, variance in found if variance < 0),
        reliability=of_items / of_mean if of_mean else math.nan,
        items=items,
        left_out=len(given) - items,
        judges=judges,
        repeats=repeats,
    )


def _estimates(table: Floats) -> tuple[tuple[Part, float], ...]:
    items, judges, repeats = table.shape
    least = _ROUNDING**2 * float((table**2).sum())
    table = table - table.mean()
    by_item, by_judge, by_cell = table.mean(axis=(1, 2)), table.mean(axis=(0, 2)), table.mean(axis=2)
    of_items = judges * repeats * _squares(by_item, least) / (items - 1)
    within = _squares(table - by_cell[:, :, None], least)
    if judges == 1:
        residual = within / (items * (repeats - 1))
        return ("item", (of_items - residual) / repeats), ("repeat", residual)
    of_judges = items * repeats * _squares(by_judge, least) / (judges - 1)
    crossed = by_cell - by_item[:, None] - by_judge[None, :]
    of_both = repeats * _squares(crossed, least) / ((items - 1) * (judges - 1))
    mains: tuple[tuple[Part, float], ...] = (
        ("item", (of_items - of_both) / (judges * repeats)),
        ("judge", (of_judges - of_both) / (items * repeats)),
    )
    if repeats == 1:
        return *mains, ("item x judge and repeat", of_both)
    residual = within / (items * judges * (repeats - 1))
    return *mains, ("item x judge", (of_both - residual) / repeats), ("repeat", residual)


def _squares(residues: Floats, least: float) -> float:
    """The sum of squares, or 0 where it is but rounding."""
    found = float((residues**2).sum())
    return found if found > least else 0.0


def flips(runs: Sequence[Sequence[float | None]], *, at_least: float) -> Flips:
    """How often items, and the whole run, change sides of a bar between repeats of the same run.

    Args:
        runs: one sequence of values a repeat, all of the same items in the same order; None is unscored.
        at_least: the bar; a value at it is above it.

    Raises:
        UsageError: there are fewer than 2 repeats, or they are not of the same items.
    """
    if len(runs) < 2 or len({len(run) for run in runs}) > 1:
        raise UsageError(
            f"{len(runs)} repeats of {sorted({len(run) for run in runs})} items; 2 or more of the same items"
        )
    rates, unstable = [], 0
    for item in zip(*runs, strict=True):
        sides = [value >= at_least for value in item if value is not None]
        if len(sides) > 1:
            above = sum(sides)
            rates.append(2 * above * (len(sides) - above) / (len(sides) * (len(sides) - 1)))
            unstable += 0 < above < len(sides)
    means = [np.mean([value for value in run if value is not None]) for run in runs if any(v is not None for v in run)]
    pairs = list(combinations([bool(mean >= at_least) for mean in means], 2))
    return Flips(
        rate=math.fsum(rates) / len(rates) if rates else math.nan,
        unstable=unstable / len(rates) if rates else math.nan,
        decided=sum(one != other for one, other in pairs),
        pairs=len(pairs),
        items=len(rates),
        left_out=len(runs[0]) - len(rates),
    )
