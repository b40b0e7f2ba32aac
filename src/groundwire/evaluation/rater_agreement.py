"""Do raters agree beyond chance? Cohen's and Fleiss' kappa, and Krippendorff's coefficient for gaps and scales.

1 is full agreement, 0 what chance gives, below 0 less than that; nan where all ratings are the same and chance cannot
be told from agreement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.resampling import Floats, drawn_weights, edges

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["none", "linear", "quadratic"]
Label = str | float
Ratings = Sequence[Sequence[Label | None]]

_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement with its percentile bootstrap interval over the units.

    Attributes:
        value: up to 1; nan where it is not defined.
        low: of the interval at ``level``; nan with fewer than two units that count, like ``high``.
        units: with two ratings or more; ``left_out`` had fewer and say nothing about agreement.
        ratings: of the units that count.
    """

    value: float
    low: float
    high: float
    units: int
    left_out: int
    ratings: int
    level: float
    seed: int


def cohen(one: Sequence[Label | None], other: Sequence[Label | None], *, weights: Weights = "none") -> float:
    """Cohen's kappa of two raters; units that one of them left open do not count.

    Args:
        one: labels of the first rater, one a unit; None is a gap.
        other: those of the second.
        weights: ``linear`` or ``quadratic`` for ordered categories: how far apart two labels are, in sorted order.

    Raises:
        UsageError: the lengths differ, or no unit was rated by both.

    Source: Cohen 1960, 1968.
    """
    if len(one) != len(other):
        raise UsageError(f"{len(one)} ratings cannot be paired with {len(other)} others; give one of each a unit")
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        raise UsageError("no unit was rated by both; agreement takes units that both have seen")
    place = {label: number for number, label in enumerate(_sorted_labels(pairs))}
    table = np.zeros((len(place), len(place)))
    for first, second in pairs:
        table[place[first], place[second]] += 1
    gaps = np.abs(np.subtract.outer(np.arange(len(place)), np.arange(len(place)))).astype(float)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    costs = np.where(gaps > 0, gaps**power, 0.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return _beyond_chance(float((costs * table).sum()), float((costs * expected).sum()))


def fleiss(ratings: Ratings) -> float:
    """Fleiss' kappa: units rated by the same number of raters each, who may be different people.

    Args:
        ratings: one row a unit with the labels it got; all rows as long as the first, 2 or more, without gaps.

    Raises:
        UsageError: rows differ in length, hold gaps, or there is none. Krippendorff's coefficient takes gaps.

    Source: Fleiss 1971.
    """
    raters = len(ratings[0]) if ratings else 0
    if raters < 2 or any(len(row) != raters or None in row for row in ratings):
        raise UsageError("Fleiss' kappa takes units with equally many ratings, 2 or more; for gaps use krippendorff")
    counts, _ = _counted(ratings)
    disagreeing = float((raters**2 - (counts**2).sum(axis=1)).sum()) / (raters * (raters - 1) * len(ratings))
    shares = counts.sum(axis=0) / counts.sum()
    return _beyond_chance(disagreeing, 1 - float((shares**2).sum()))


def krippendorff(ratings: Ratings, *, scale: Scale = "nominal", level: float = 0.95, seed: int = 0) -> Agreement:
    """Krippendorff's coefficient of any number of raters, with gaps, on a scale; with an interval.

    Args:
        ratings: one row a unit, one place a rater; None is a gap. Labels are numbers but for the nominal scale.
        scale: how far apart two labels are: same or not, by rank, by difference, or by difference over sum.
        level: of the interval, by drawing units.
        seed: of the 1,000 draws.

    Raises:
        UsageError: a label does not fit the scale, or the level is out of range.

    Source: Krippendorff 2019, chapter 12.
    """
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; it lies between 0 and 1, both excluded")
    rated = [[label for label in row if label is not None] for row in ratings]
    paired = [row for row in rated if len(row) > 1]
    value = low = high = math.nan
    if paired:
        counts, labels = _counted(paired)
        values = _numbers(labels, scale)
        value = _coefficient(counts, np.ones(len(paired)), values=values, scale=scale)
    if len(paired) > 1 and not math.isnan(value):
        draws = np.array(
            [
                _coefficient(counts, weights.astype(float), values=values, scale=scale)
                for piece in drawn_weights(len(paired), resamples=_RESAMPLES, seed=seed)
                for weights in piece
            ]
        )
        low, high = edges(draws[~np.isnan(draws)], level=level).tolist()
    return Agreement(
        value=value,
        low=low,
        high=high,
        units=len(paired),
        left_out=len(ratings) - len(paired),
        ratings=sum(map(len, paired)),
        level=level,
        seed=seed,
    )


def _sorted_labels(rows: Sequence[Sequence[Label]]) -> list[Label]:
    """Numbers by size, then texts by letters."""
    return sorted({label for row in rows for label in row}, key=lambda label: (isinstance(label, str), label))


def _counted(rows: Ratings) -> tuple[Floats, list[Label]]:
    """How many ratings of each label each unit got; shape (units, labels)."""
    known = [[label for label in row if label is not None] for row in rows]
    labels = _sorted_labels(known)
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(rows), len(labels)))
    for unit, row in enumerate(known):
        for label in row:
            counts[unit, place[label]] += 1
    return counts, labels


def _numbers(labels: Sequence[Label], scale: Scale) -> Floats:
    if scale == "nominal":
        return np.arange(len(labels), dtype=np.float64)
    numbers = [label for label in labels if not isinstance(label, str)]
    if len(numbers) < len(labels) or not all(map(math.isfinite, numbers)):
        raise UsageError(f"the {scale} scale takes finite numbers; the labels are: {', '.join(map(str, labels[:8]))}")
    if scale == "ratio" and min(numbers) < 0:
        raise UsageError(f"the ratio scale starts at 0; a label is {min(numbers)}")
    return np.array(numbers, dtype=np.float64)


def _coefficient(counts: Floats, weights: Floats, *, values: Floats, scale: Scale) -> float:
    """From coincidences: within a unit of m ratings, each of its pairs of ratings weighs 1 / (m - 1)."""
    sizes = counts.sum(axis=1)
    each = weights / (sizes - 1)
    together = counts.T @ (counts * each[:, None]) - np.diag(each @ counts)
    totals = weights @ counts
    costs = _costs(values, totals, scale)
    n = float(totals.sum())
    return _beyond_chance(float((costs * together).sum()), float((costs * np.outer(totals, totals)).sum()) / (n - 1))


def _costs(values: Floats, totals: Floats, scale: Scale) -> Matrix:
    if scale == "ordinal":
        values = np.cumsum(totals) - totals / 2
    gaps = np.abs(np.subtract.outer(values, values))
    if scale == "nominal":
        return np.asarray((gaps > 0).astype(np.float64))
    if scale == "ratio":
        sums = np.add.outer(values, values)
        gaps = np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0)
    return np.asarray(gaps**2)


def _beyond_chance(observed: float, expected: float) -> float:
    return 1 - observed / expected if expected > 0 else math.nan
