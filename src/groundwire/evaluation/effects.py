"""How large a difference is: effect sizes by name, and the older paired tests beside the randomisation tests.

The older tests are for comparison with what others report: t, sign, signed rank, and the bootstrap of a shifted mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.flips import exact_sums
from groundwire.evaluation.resampling import Floats, mean_error, resampled_means
from groundwire.evaluation.steps import settled
from groundwire.evaluation.tails import normal_beyond, student_beyond, student_quantile

_EXACT_BELOW = 50
"""Pairs that differ below which the signed rank test is exact, as it is in R."""


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


@dataclass(frozen=True, slots=True)
class Tails:
    """p-values of a paired test, 0 to 1: the chance of what is seen, or more, where the two systems are alike.

    Attributes:
        two_sided: either way.
        greater: one as far above the other, or further.
        less: one as far below the other, or further.
    """

    two_sided: float
    greater: float
    less: float


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
    difference = settled(means[:, None] - means[None, :], largest=float(np.abs(table).max()))
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


def sign_test(one: Sequence[float], other: Sequence[float], *, tolerance: float = 0.0) -> Tails:
    """The exact sign test: on how many items one is above the other, of those on which they differ.

    Args:
        one: finite values; ``other`` has as many, of the same items.
        other: see there.
        tolerance: pairs that differ by no more than this are tied, and left out.

    Raises:
        UsageError: there is not one value of each an item, a value is not finite, or the tolerance is below 0.

    Source: Arbuthnott 1710; the tolerance as in Urbano, Lima and Hanjalic 2019 (SIGIR), who take 0.01.
    """
    gaps = _gaps(one, other)
    if not tolerance >= 0:
        raise UsageError(f"the tolerance is {tolerance}; 0 or more")
    apart = gaps[np.abs(gaps) > tolerance]
    n, above = len(apart), int((apart > 0).sum())
    ways = [1]
    for k in range(n):
        ways.append(ways[-1] * (n - k) // (k + 1))
    greater, less = sum(ways[above:]) / 2**n, sum(ways[: above + 1]) / 2**n
    return Tails(min(1.0, 2 * min(greater, less)), greater, less)


def signed_rank(one: Sequence[float], other: Sequence[float]) -> Tails:
    """Wilcoxon's signed rank test; pairs that are equal are left out, others that tie share their ranks.

    Exact below 50 pairs, also with ties; else by the normal distribution with corrections for ties and continuity.

    Args and errors: as ``sign_test``.

    Source: Wilcoxon 1945; Lehmann 1975 for ties.
    """
    gaps = _gaps(one, other)
    gaps = gaps[gaps != 0]
    _, place, ties = np.unique(np.abs(gaps), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(ties) - ties + 1)[place]  # twice the mid-rank, a whole number
    signed = int((np.sign(gaps) * doubled).sum())
    exact = exact_sums(doubled) if len(gaps) < _EXACT_BELOW else None
    if exact is not None:
        sizes, chances = exact
        reached, beyond = (float(chances[sizes >= bound].sum()) / 2 for bound in (abs(signed), abs(signed) + 1))
        lead, trail = (reached, 1 - beyond) if signed else (1 - beyond, 1 - beyond)
    else:
        deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum()))
        lead, trail = (normal_beyond((side * abs(signed) - 2) / deviation) for side in (1, -1))
    greater, less = (lead, trail) if signed >= 0 else (trail, lead)
    return Tails(min(1.0, 2 * lead), min(1.0, greater), min(1.0, less))


def shifted_bootstrap(one: Sequence[float], other: Sequence[float], *, resamples: int = 10_000, seed: int = 0) -> Tails:
    """How often the mean difference of resampled items lies as far from that of all items as that one does from 0.

    Args:
        one: finite values; ``other`` has as many, of the same items.
        other: see there.
        resamples: draws of all items; the smallest p is 1 / (resamples + 1).
        seed: of the draws.

    Raises:
        UsageError: as ``sign_test``, or resamples is below 1.

    Source: Savoy 1997; Sakai 2006 for its use in discriminative power.
    """
    gaps = _gaps(one, other)
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}; 1 or more")
    mean = float(gaps.mean())
    moved = resampled_means(gaps[:, None], resamples=resamples, seed=seed)[:, 0] - mean
    slack = 1e-12 * float(np.abs(gaps).max())  # sums that are equal but for rounding are equal
    reached = [np.abs(moved) >= abs(mean) - slack, moved >= mean - slack, moved <= mean + slack]
    return Tails(*((1 + int(hits.sum())) / (resamples + 1) for hits in reached))


def _gaps(one: Sequence[float], other: Sequence[float]) -> Floats:
    if len(one) != len(other) or not len(one):
        raise UsageError(f"{len(one)} and {len(other)} values were given; a paired test takes one of each an item")
    gaps = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    if not np.isfinite(gaps).all():
        raise UsageError("a value is not finite; leave out the items that a system has no value for")
    return gaps
