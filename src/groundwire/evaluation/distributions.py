"""How the values of a measure lie: quantiles, shares at the bounds, and how often systems are tied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_ROUNDING = 1e-9
"""Two values that differ by less than this share of the largest one are the same value written twice."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the values of one system under one measure lie.

    Attributes:
        n: scored values; ``unscored`` could not be read.
        mean: nan without values, like all that follows.
        deviation: standard deviation, n - 1; nan with fewer than 2 values.
        quantiles: (share, value) for ``QUANTILES``.
        at_lowest: share of the values at the lower bound, 0 to 1.
        at_highest: share at the upper bound: the ceiling, above which nothing can be told apart.
        distinct: how many different values there are.
    """

    n: int
    unscored: int
    mean: float
    deviation: float
    quantiles: tuple[tuple[float, float], ...]
    at_lowest: float
    at_highest: float
    distinct: int


@dataclass(frozen=True, slots=True)
class Ties:
    """How often systems have the same value of an item.

    Attributes:
        rates: of each pair, shape (systems, systems), 1 on the diagonal.
        rate: mean over the pairs, 0 to 1.
        all_tied: share of the items on which all systems are tied; they tell no systems apart.
        tolerance: differences up to this count as ties, in units of the measure.
    """

    rates: Matrix
    rate: float
    all_tied: float
    tolerance: float


def describe(values: Sequence[float | None], *, lowest: float = 0.0, highest: float = 100.0) -> Distribution:
    """Describe the values of one system under one measure, whose bounds are ``lowest`` and ``highest``.

    Raises:
        UsageError: the bounds are the wrong way round, or a value is not finite or lies outside them.
    """
    found = np.array([value for value in values if value is not None], dtype=np.float64)
    if not lowest < highest:
        raise UsageError(f"the lowest value is {lowest} and the highest {highest}; give the lower one first")
    if not ((found >= lowest) & (found <= highest)).all():
        wrong = found[~((found >= lowest) & (found <= highest))][0]
        raise UsageError(
            f"a value is {wrong}, but the bounds are {lowest} and {highest}; name the bounds of the measure"
        )
    n = len(found)
    return Distribution(
        n=n,
        unscored=len(values) - n,
        mean=float(found.mean()) if n else math.nan,
        deviation=float(found.std(ddof=1)) if n > 1 else math.nan,
        quantiles=tuple((share, float(np.quantile(found, share)) if n else math.nan) for share in QUANTILES),
        at_lowest=float((found == lowest).mean()) if n else math.nan,
        at_highest=float((found == highest).mean()) if n else math.nan,
        distinct=len(np.unique(found)),
    )


def tie_rates(values: Matrix, *, tolerance: float = 0.0) -> Ties:
    """How often each pair of systems is tied.

    Args:
        values: shape (items, systems), finite, 1 item and 2 systems or more.
        tolerance: 0 or more, in units of the measure.

    Raises:
        UsageError: the shape or the tolerance does not fit, or a value is not finite.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise UsageError(f"values of shape {table.shape} were given; ties take 1 item and 2 systems or more")
    if not np.isfinite(table).all() or not 0 <= tolerance < math.inf:
        raise UsageError(f"a value is not finite, or the tolerance of {tolerance} is not; 0 or more")
    systems = table.shape[1]
    rates = np.ones((systems, systems))
    for place in range(systems):
        rates[place] = tied(table, table[:, [place]], tolerance=tolerance).mean(axis=0)
    spread = tied(table.max(axis=1), table.min(axis=1), tolerance=tolerance)
    return Ties(
        rates=rates,
        rate=float(rates[np.triu_indices(systems, 1)].mean()),
        all_tied=float(spread.mean()),
        tolerance=tolerance,
    )


def tied(one: Matrix, other: Matrix, *, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Where two arrays hold the same value, but for rounding and a tolerance; their shapes are broadcast."""
    slack = tolerance + _ROUNDING * max(float(np.abs(one).max(initial=0)), float(np.abs(other).max(initial=0)))
    return np.asarray(np.abs(one - other) <= slack)
