"""Length as a covariate: how a value goes with the length of the answer, and the difference at equal length.

A system chooses how long it answers, so the difference at equal length does not replace the plain one. It stands beside
it: a lead that vanishes there may be the judge's taste for length.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.core.types import Interval
from groundwire.evaluation.resampling import Floats, cluster_numbers, drawn_weights, edges, product

_RESAMPLES = 2_000
_ROUNDING = 1e-18
_MOST = 0.95


@dataclass(frozen=True, slots=True)
class LengthControlled:
    """Differences of all pairs of systems at equal length.

    Attributes:
        slope: points that the value rises when an answer of the same system to the same item is twice as long. nan
            where hardly an item (5 % or fewer) has two answers of which one is twice as long: nobody has seen it.
        differences: row minus column; an Interval a pair with the systems' numbers, first below second. nan where the
            lengths do not vary apart from system and item, and no slope can be told.
        log2_lengths: mean over the items, by system.
    """

    slope: Interval
    differences: tuple[tuple[int, int, Interval], ...]
    log2_lengths: tuple[float, ...]

    def between(self, one: int, other: int) -> Interval:
        """The difference of two systems by their numbers, the first below the second."""
        return next(found for first, second, found in self.differences if (first, second) == (one, other))


def length_controlled(
    values: Matrix,
    *,
    lengths: Matrix,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> LengthControlled:
    """Compare systems on what the length of their answers does not explain.

    The value less slope times the logarithm of the length, with a constant for each item and each system, so that
    neither hard items nor talkative systems make the slope.

    Args:
        values: shape (items, systems), finite; 2 items and 2 systems or more.
        lengths: of the answers, in tokens or characters, 0 or more, same shape; counted as length + 1.
        clusters: one label an item, drawn together.
        level: of the intervals.
        seed: of 2,000 resamples, in each of which the slope is found anew.

    Raises:
        UsageError: shapes or labels do not fit, or a number is out of range.

    Source: analysis of covariance; for judges, Dubois et al. 2024 (length-controlled AlpacaEval) in another model.
    """
    return length_controlled_each([values], lengths=lengths, clusters=clusters, level=level, seed=seed)[0]


def length_controlled_each(
    values: Sequence[Matrix],
    *,
    lengths: Matrix,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[LengthControlled, ...]:
    """``length_controlled`` of several measures of the same answers, which see the same draws.

    Args:
        values: a matrix a measure, as there; with ``lengths``, ``clusters``, ``level`` and ``seed``.
        lengths: see there.
        clusters: see there.
        level: see there.
        seed: see there.

    Raises:
        UsageError: as there.
    """
    tables, long = [np.asarray(one, dtype=np.float64) for one in values], np.asarray(lengths, dtype=np.float64)
    for table in tables:
        _check(table, long, level=level)
    logs = np.log2(1 + long)
    of_item = cluster_numbers(clusters, rows=len(long))
    counts = np.bincount(of_item).astype(np.float64)
    sums = [_sums(table, logs, of_item) for table in tables]
    draws: list[list[tuple[Floats, Floats]]] = [[] for _ in tables]
    pieces = drawn_weights(len(counts), resamples=_RESAMPLES, seed=seed) if len(counts) > 1 else iter(())
    for weights in pieces:
        for found, one in zip(draws, _fits(weights.astype(np.float64), counts, sums), strict=True):
            found.append(one)
    fitted = _fits(np.ones((1, len(counts))), counts, sums)
    return tuple(_adjusted(one, drawn, logs, level=level, seed=seed) for one, drawn in zip(fitted, draws, strict=True))


def _adjusted(
    fitted: tuple[Floats, Floats], draws: Sequence[tuple[Floats, Floats]], logs: Floats, *, level: float, seed: int
) -> LengthControlled:
    """One measure from what was fitted to all items, and to each resample."""
    items, systems = logs.shape
    slope, adjusted = fitted
    slopes = np.concatenate([found for found, _ in draws]) if draws else np.full(1, math.nan)
    means = np.concatenate([found for _, found in draws]) if draws else np.full((1, systems), math.nan)
    seen = float(np.quantile(logs.max(axis=1) - logs.min(axis=1), _MOST)) >= 1

    def interval(value: float, drawn: Floats) -> Interval:
        good = drawn[~np.isnan(drawn)]
        low, high = edges(good, level=level).tolist() if good.size and not math.isnan(value) else (math.nan, math.nan)
        return Interval(mean=value, low=low, high=high, n=items, unscored=0, level=level, seed=seed)

    return LengthControlled(
        slope=interval(float(slope[0]) if seen else math.nan, slopes),
        differences=tuple(
            (one, other, interval(float(adjusted[0, one] - adjusted[0, other]), means[:, one] - means[:, other]))
            for one in range(systems)
            for other in range(one + 1, systems)
        ),
        log2_lengths=tuple(logs.mean(axis=0).tolist()),
    )


def _sums(table: Floats, logs: Floats, of_item: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """By cluster: the systems' values and log lengths, centred by item, and what their products need."""
    value, log = (column - column.mean(axis=1, keepdims=True) for column in (table, logs))
    rows = np.column_stack([value, log, (log * value).sum(axis=1), (log * log).sum(axis=1)])
    sums = np.zeros((int(of_item.max()) + 1, rows.shape[1]))
    np.add.at(sums, of_item, rows)
    return sums


def _fits(weights: Floats, counts: Floats, sums: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
    """By measure: slope and adjusted means of the systems in each resample, (resamples,) and (resamples, systems)."""
    items = weights @ counts
    return [_fit(product(weights, one), items) for one in sums]


def _fit(found: Floats, items: Floats) -> tuple[Floats, Floats]:
    systems = (found.shape[1] - 2) // 2
    value, log = found[:, :systems] / items[:, None], found[:, systems : 2 * systems] / items[:, None]
    together = found[:, -2] - items * (value * log).sum(axis=1)
    spread = found[:, -1] - items * (log * log).sum(axis=1)
    known = spread > _ROUNDING * np.maximum(1.0, found[:, -1]) * items
    slope = np.divide(together, spread, out=np.full(len(items), math.nan), where=known)
    return slope, value - slope[:, None] * log


def _check(table: Floats, long: Floats, *, level: float) -> None:
    if table.ndim != 2 or min(table.shape) < 2 or table.shape != long.shape:
        raise UsageError(
            f"values of shape {table.shape} and lengths of shape {long.shape} were given; one shape for both, with "
            "2 items and 2 systems or more"
        )
    if not np.isfinite(table).all() or not (np.isfinite(long) & (long >= 0)).all() or not 0 < level < 1:
        raise UsageError(f"values are finite, lengths 0 or more and level between 0 and 1 (it is {level})")
