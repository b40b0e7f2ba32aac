"""What paired differences allow to say: better, worse, equivalent within a margin, or undecided and how many more.

Undecided is a result of its own: too few items to tell is not the same as no difference.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval
from groundwire.evaluation.power import items_needed
from groundwire.evaluation.resampling import MeanError, edges, mean_error, resampled_means
from groundwire.evaluation.tails import normal_quantile, student_beyond, student_quantile

Decision = Literal["better", "worse", "equivalent", "undecided"]
Passing = Literal["passed", "failed", "undecided"]
How = Literal["t", "bootstrap"]

POWER = 0.8
"""The chance to see a difference as large as the one at hand, for which more items are counted."""
_RESAMPLES = 10_000
_MOST = 10**12
"""A number of items above which none is named."""
_FEW = 100
"""Clusters up to which the t distribution counts noticeably more items than the normal one."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a mean difference allows to say, and what that rests on.

    Attributes:
        decision: equivalence comes first: a difference can be there and still be smaller than what matters.
        difference: its mean with the interval at ``level``.
        inner: the interval at ``2 * level - 1``, which lies within the margin where the decision is equivalent.
        p: two-sided, of no difference; 1 where there is nothing to tell by.
        p_equivalent: of a difference of the margin or more (the larger of two one-sided tests); nan without margin.
        margin: the largest difference that does not matter, in units of the measure; None where none was named.
        more: about how many more values would decide, if mean and spread stay; None where decided or unknown.
        how: ``t`` by Student's distribution over clusters, ``bootstrap`` by percentiles.
    """

    decision: Decision
    difference: Interval
    inner: Interval
    p: float
    p_equivalent: float
    margin: float | None
    more: int | None
    how: How


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a mean keeps a bar: ``passed``, ``failed`` or ``undecided``, three different results.

    ``value`` is the mean with its interval; ``more`` is about how many more values would decide, or None.
    """

    outcome: Passing
    value: Interval
    at_least: float
    more: int | None


def decide(
    differences: Sequence[float | None],
    *,
    margin: float | None = None,
    clusters: Sequence[Hashable] | None = None,
    how: How = "t",
    level: float = 0.95,
    seed: int = 0,
) -> Ruling:
    """Decide on paired differences: better or worse than 0, equivalent within a margin (TOST), or undecided.

    Args:
        differences: one an item, None where one side is unscored.
        margin: above 0; without one nothing is called equivalent.
        clusters: one label a difference; the clusters are the independent units.
        how: ``t`` also for very few values; ``bootstrap`` for many values that are far from normal.
        level: 0.95 bounds false alarms at 5 % and false claims of equivalence at 5 %.
        seed: of the bootstrap.

    Raises:
        UsageError: a value is not finite, the labels do not fit, or margin or level is out of range.

    Source: Schuirmann 1987 for the two one-sided tests.
    """
    if (margin is not None and not 0 < margin < math.inf) or not 0.5 < level < 1:
        raise UsageError(f"margin is {margin} and level {level}; above 0, and between 0.5 and 1")
    found = mean_error(differences, clusters=clusters)
    unscored = len(differences) - found.n
    if found.clusters < 2:
        nothing = _interval(found, unscored, (math.nan, math.nan), level=level, seed=seed)
        inner = _interval(found, unscored, (math.nan, math.nan), level=2 * level - 1, seed=seed)
        return Ruling("undecided", nothing, inner, 1.0, math.nan, margin, None, how)
    if how == "t":
        (outer, within), (p, p_equivalent) = _by_t(found, margin, level=level)
    else:
        (outer, within), (p, p_equivalent) = _by_draws(differences, clusters, margin=margin, level=level, seed=seed)
    decision: Decision = "undecided"
    if margin is not None and -margin < within[0] and within[1] < margin:
        decision = "equivalent"
    elif outer[0] > 0 or outer[1] < 0:
        decision = "better" if outer[0] > 0 else "worse"
    return Ruling(
        decision=decision,
        difference=_interval(found, unscored, outer, level=level, seed=seed),
        inner=_interval(found, unscored, within, level=2 * level - 1, seed=seed),
        p=p,
        p_equivalent=p_equivalent,
        margin=margin,
        more=more_items(found, margin=margin, level=level) if decision == "undecided" else None,
        how=how,
    )


def hold_to(
    values: Sequence[float | None],
    *,
    at_least: float,
    clusters: Sequence[Hashable] | None = None,
    how: How = "t",
    level: float = 0.95,
    seed: int = 0,
) -> Gate:
    """Hold a mean to a bar: passed where its whole interval is at or above it, failed where it is below, or undecided.

    Args:
        values: of items, or of repeats of a run; None is unscored.
        at_least: the bar, in units of the values.
        clusters: as in ``decide``, with ``how``, ``level`` and ``seed``.
        how: see there.
        level: see there.
        seed: see there.

    Raises:
        UsageError: the bar is not finite, or as ``decide`` says.
    """
    if not math.isfinite(at_least):
        raise UsageError(f"the bar is {at_least}; give a finite number")
    above = [None if value is None else value - at_least for value in values]
    ruling = decide(above, clusters=clusters, how=how, level=level, seed=seed)
    gap = ruling.difference
    outcome: Passing = "undecided"
    if gap.low >= 0:
        outcome = "passed"
    elif gap.high < 0:
        outcome = "failed"
    return Gate(
        outcome=outcome,
        value=Interval(
            mean=gap.mean + at_least,
            low=gap.low + at_least,
            high=gap.high + at_least,
            n=gap.n,
            unscored=gap.unscored,
            level=level,
            seed=seed,
        ),
        at_least=at_least,
        more=ruling.more if outcome == "undecided" else None,
    )


def more_items(
    found: MeanError,
    *,
    margin: float | None = None,
    level: float = 0.95,
    critical: float | None = None,
    fewest: int = 0,
) -> int | None:
    """About how many more values would decide, if mean and spread stay as they are; at least 1, or None.

    Counted for a chance of 0.8 to see a difference as large as this one, and where a margin is given and the mean lies
    within it, to show that the difference is smaller; the fewer of the two. None also where that many are there
    already, so that what stands in the way is not their number.

    Args:
        found: the mean difference with its error.
        margin: of equivalence.
        level: of the test.
        critical: the smallest mean that the test tells from 0 with as many values; None: by the t distribution.
        fewest: clusters below which the test tells nothing apart.
    """
    if found.clusters < 2:
        return None
    size, error = abs(found.mean), found.error
    needed = []
    if size:
        edge = normal_quantile((1 + level) / 2) * error if critical is None else critical
        times = ((edge + normal_quantile(POWER) * error) / size) ** 2
        if critical is None and 0 < times * found.clusters <= _FEW:
            times = _times_by_t(found, level=level)
        needed.append(_at_least(times * found.n, found, fewest=fewest))
    if margin is not None and size < margin:
        reach = (normal_quantile(level) + normal_quantile((1 + POWER) / 2)) * error
        needed.append(_at_least((reach / (margin - size)) ** 2 * found.n, found))
    known = [number for number in needed if number is not None]
    return min(known) - found.n if known and min(known) <= _MOST else None


def _at_least(items: float, found: MeanError, *, fewest: int = 0) -> int | None:
    """So many items, or as many as the fewest clusters have; None where they are there already."""
    number = max(items, fewest * found.n / found.clusters)
    return math.ceil(min(number, 2 * _MOST)) if number > found.n else None


def _times_by_t(found: MeanError, *, level: float) -> float:
    """How many times the clusters a t test takes; with few of them it takes more than the normal distribution says."""
    clusters = items_needed(found.mean / (found.error * math.sqrt(found.clusters)), level=level, power=POWER)
    return (clusters or 0) / found.clusters


Edges = tuple[float, float]
Found = tuple[tuple[Edges, Edges], tuple[float, float]]


def _by_t(found: MeanError, margin: float | None, *, level: float) -> Found:
    freedom = found.clusters - 1
    outer = student_quantile((1 + level) / 2, freedom=freedom) * found.error
    inner = student_quantile(level, freedom=freedom) * found.error
    p = 2 * student_beyond(_ratio(abs(found.mean), found.error), freedom=freedom)
    p_equivalent = math.nan
    if margin is not None:
        p_equivalent = student_beyond(_ratio(margin - abs(found.mean), found.error), freedom=freedom)
    around = tuple((found.mean - reach, found.mean + reach) for reach in (outer, inner))
    return (around[0], around[1]), (min(1.0, p), p_equivalent)


def _ratio(distance: float, error: float) -> float:
    if error:
        return distance / error
    return math.copysign(math.inf, distance) if distance else 0.0


def _by_draws(
    differences: Sequence[float | None],
    clusters: Sequence[Hashable] | None,
    *,
    margin: float | None,
    level: float,
    seed: int,
) -> Found:
    kept = [place for place, value in enumerate(differences) if value is not None]
    column = np.array([[differences[place]] for place in kept], dtype=np.float64)
    labels = None if clusters is None else [clusters[place] for place in kept]
    draws = resampled_means(column, clusters=labels, resamples=_RESAMPLES, seed=seed)[:, 0]
    outer, inner = edges(draws, level=level), edges(draws, level=2 * level - 1)
    p = min(1.0, 2 * min(_share(draws <= 0), _share(draws >= 0)))
    p_equivalent = math.nan if margin is None else max(_share(draws <= -margin), _share(draws >= margin))
    return ((float(outer[0]), float(outer[1])), (float(inner[0]), float(inner[1]))), (p, p_equivalent)


def _share(draws: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    return (1 + int(draws.sum())) / (1 + draws.size)


def _interval(found: MeanError, unscored: int, around: Edges, *, level: float, seed: int) -> Interval:
    return Interval(
        mean=found.mean, low=around[0], high=around[1], n=found.n, unscored=unscored, level=level, seed=seed
    )
