"""How large a difference is: effect sizes by name, and the paired t test beside the randomisation tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.resampling import mean_error
from groundwire.evaluation.tails import student_beyond, student_quantile


@dataclass(frozen=True, slots=True)
class Effects:
    """Effect sizes of all pairs of systems, row minus column; three numbers that differ, so print which one it is.

    Each has shape (systems, systems): 0 where the means are equal, inf where the means differ and nothing spreads.

    Attributes:
        difference: of the means, in units of the measure.
        d_z: difference over the deviation of the paired differences.
        d_av: difference over the root mean square of the two systems' deviations.
        tukey: difference over ``residual``.
        residual: deviation of what neither item nor system explains (two-way, without replication).
    """

    difference: Matrix
    d_z: Matrix
    d_av: Matrix
    tukey: Matrix
    residual: float


@dataclass(frozen=True, slots=True)
class PairedT:
    """The paired t test of two systems: statistic, two-sided p, and the interval of the difference at ``level``."""

    difference: float
    t: float
    p: float
    low: float
    high: float
    freedom: int
    level: float


def effect_sizes(values: Matrix) -> Effects:
    """Effect sizes of all pairs of systems on the same items.

    Args:
        values: shape (items, systems), finite, 2 of each or more.

    Raises:
        UsageError: there are too few items or systems, or a value is not finite.

    Source:
        Lakens 2013 for d_z and d_av; Sakai 2014 for the effect size after Tukey HSD.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise UsageError(f"values of shape {table.shape} were given; effect sizes take 2 items and 2 systems or more")
    if not np.isfinite(table).all():
        raise UsageError("a value is not finite; leave out the items that a system has no value for")
    items, systems = table.shape
    means = table.mean(axis=0)
    centred = table - means
    products = centred.T @ centred / (items - 1)
    variances = products.diagonal()
    both = variances[:, None] + variances[None, :]
    paired = np.maximum(both - 2 * products, 0)
    paired[paired <= 1e-12 * both] = 0
    rest = table - table.mean(axis=1, keepdims=True) - means + table.mean()
    residual = math.sqrt(float((rest**2).sum()) / ((items - 1) * (systems - 1)))
    difference = means[:, None] - means[None, :]
    return Effects(
        difference=difference,
        d_z=_over(difference, np.sqrt(paired)),
        d_av=_over(difference, np.sqrt(both / 2)),
        tukey=_over(difference, np.full_like(difference, 0 if residual <= 1e-12 * np.abs(table).max() else residual)),
        residual=residual,
    )


def _over(difference: Matrix, spread: Matrix) -> Matrix:
    found = np.where(difference == 0, 0.0, np.copysign(math.inf, difference))
    return np.asarray(np.divide(difference, spread, out=found, where=spread > 0))


def paired_t(one: Sequence[float], other: Sequence[float], *, level: float = 0.95) -> PairedT:
    """The paired t test, for comparison with the tests that need no normal distribution.

    Raises:
        UsageError: there are fewer than 2 pairs, as many of one as of the other are missing, or a value is not finite.
    """
    if len(one) != len(other) or len(one) < 2:
        raise UsageError(f"{len(one)} and {len(other)} values were given; a paired test takes 2 pairs or more")
    found = mean_error([first - second for first, second in zip(one, other, strict=True)])
    freedom = found.n - 1
    reach = student_quantile((1 + level) / 2, freedom=freedom) * found.error
    t = found.mean / found.error if found.error else math.copysign(math.inf, found.mean) if found.mean else 0.0
    return PairedT(
        difference=found.mean,
        t=t,
        p=min(1.0, 2 * student_beyond(abs(t), freedom=freedom)),
        low=found.mean - reach,
        high=found.mean + reach,
        freedom=freedom,
        level=level,
    )
