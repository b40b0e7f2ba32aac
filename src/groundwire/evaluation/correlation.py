"""Correlation of measures with each other and with people: Pearson, Spearman, Kendall's tau-b, by clustered bootstrap.

A resample is a weight for each row, so that nothing is sorted twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.resampling import Floats, cluster_numbers, drawn_weights, edges

Kind = Literal["pearson", "spearman", "kendall"]
Integers = NDArray[np.int64]

_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation from -1 to 1 with its percentile bootstrap interval.

    nan where one side does not vary; the interval is nan with fewer than two clusters or without a value.

    Attributes:
        n: pairs of which both are scored, in ``clusters`` groups; ``unscored`` pairs were left out.
        undrawn: resamples in which one side did not vary; they are left out of the interval.
    """

    kind: Kind
    value: float
    low: float
    high: float
    n: int
    clusters: int
    unscored: int
    level: float
    seed: int
    undrawn: int


@dataclass(frozen=True, slots=True)
class CorrelationMatrix:
    """Correlations of all pairs of columns; ``values``, ``low`` and ``high`` have shape (columns, columns).

    Attributes:
        convergent: mean absolute correlation of two columns of one group: what should measure the same.
        discriminant: mean absolute correlation of columns of different groups. Both nan where there is no such pair.
    """

    names: tuple[str, ...]
    kind: Kind
    values: Matrix
    low: Matrix
    high: Matrix
    n: Matrix
    convergent: float
    discriminant: float


def correlation(
    one: Sequence[float | None],
    other: Sequence[float | None],
    *,
    kind: Kind = "spearman",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Correlation:
    """Correlate two columns of values, pair by pair; a pair counts where both are scored.

    Args:
        one: finite values; None is unscored.
        other: as many.
        kind: ``spearman`` of mid-ranks, ``kendall`` for tau-b, ``pearson`` of the values themselves.
        clusters: one label a pair; whole clusters are drawn (the answers of all systems to one question, for example).
        level: of the interval.
        seed: of the 1,000 resamples.

    Raises:
        UsageError: the lengths differ, a value is not finite, or the level is out of range.

    Source: Kendall 1945 for tau-b; Efron and Tibshirani 1993, chapter 13 for the interval.
    """
    if len(one) != len(other) or not 0 < level < 1:
        raise UsageError(f"{len(one)} and {len(other)} values, level {level}; as many of one as of the other, 0 to 1")
    numbers = cluster_numbers(clusters, rows=len(one))
    kept = [place for place in range(len(one)) if one[place] is not None and other[place] is not None]
    first, second = (np.array([column[place] for place in kept], dtype=np.float64) for column in (one, other))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UsageError("a value is not finite; give None for what could not be scored")
    _, group = np.unique(numbers[kept], return_inverse=True)
    groups = int(group.max(initial=-1)) + 1
    value = low = high = math.nan
    undrawn = 0
    if len(kept) > 1:
        weighted = _WEIGHTED[kind](first, second)
        value = weighted(np.ones(len(kept)))
    if groups > 1 and not math.isnan(value):
        draws = np.array(
            [
                weighted(weights[group].astype(np.float64))
                for piece in drawn_weights(groups, resamples=_RESAMPLES, seed=seed)
                for weights in piece
            ]
        )
        good = draws[~np.isnan(draws)]
        undrawn = len(draws) - len(good)
        low, high = edges(good, level=level).tolist()
    return Correlation(
        kind=kind,
        value=value,
        low=low,
        high=high,
        n=len(kept),
        clusters=groups,
        unscored=len(one) - len(kept),
        level=level,
        seed=seed,
        undrawn=undrawn,
    )


def correlation_matrix(
    columns: Mapping[str, Sequence[float | None]],
    *,
    groups: Mapping[str, str] | None = None,
    kind: Kind = "spearman",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> CorrelationMatrix:
    """Correlate measures with each other: those meant to measure the same, and those meant to measure something else.

    Args:
        columns: name -> values, all of the same rows.
        groups: name -> what it is meant to measure; a name without a group stands alone.
        kind: as in ``correlation``, with ``clusters``, ``level`` and ``seed``.
        clusters: see there.
        level: see there.
        seed: see there.

    Raises:
        UsageError: a group names no column, or as ``correlation`` says.

    Source: Campbell and Fiske 1959 for the distinction of convergent and discriminant.
    """
    names, meant = tuple(columns), groups or {}
    unknown = sorted(set(meant) - set(names))
    if unknown:
        raise UsageError(f"there is no column {', '.join(unknown)}; the columns are: {', '.join(names)}")
    values, low, high = (np.eye(len(names)) for _ in range(3))
    n = np.array([[sum(value is not None for value in columns[name]) for name in names]] * len(names), dtype=float)
    same: list[float] = []
    different: list[float] = []
    for (row, one), (column, other) in combinations(enumerate(names), 2):
        found = correlation(columns[one], columns[other], kind=kind, clusters=clusters, level=level, seed=seed)
        for matrix, number in ((values, found.value), (low, found.low), (high, found.high), (n, found.n)):
            matrix[row, column] = matrix[column, row] = number
        alike = one in meant and meant[one] == meant.get(other)
        (same if alike else different).append(abs(found.value))
    return CorrelationMatrix(
        names=names,
        kind=kind,
        values=values,
        low=low,
        high=high,
        n=n,
        convergent=_mean(same),
        discriminant=_mean(different),
    )


def _mean(found: Sequence[float]) -> float:
    known = [value for value in found if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


Weighted = Callable[[Floats], float]


def _pearson(first: Floats, second: Floats) -> Weighted:
    first, second = (_centred(column) for column in (first, second))
    return lambda weights: _product_moment(first, second, weights)


def _centred(column: Floats) -> Floats:
    """Values of a few deviations: what is taken off and divided by makes no difference but to rounding."""
    centred = column - column.mean()
    return np.asarray(centred / (np.abs(centred).max() or 1.0))


def _product_moment(first: Floats, second: Floats, weights: Floats) -> float:
    total = weights.sum()
    one, other = first - (weights * first).sum() / total, second - (weights * second).sum() / total
    spread = float((weights * one**2).sum()) * float((weights * other**2).sum())
    if spread <= 1e-24 * total**2 * float((first**2).max() * (second**2).max()):
        return math.nan
    return min(1.0, max(-1.0, float((weights * one * other).sum()) / math.sqrt(spread)))


def _codes(column: Floats) -> Integers:
    return np.asarray(np.unique(column, return_inverse=True)[1], dtype=np.int64)


def _spearman(first: Floats, second: Floats) -> Weighted:
    one, other = _codes(first), _codes(second)

    def weighted(weights: Floats) -> float:
        return _product_moment(_midranks(one, weights), _midranks(other, weights), weights)

    return weighted


def _midranks(codes: Integers, weights: Floats) -> Floats:
    counts = np.bincount(codes, weights=weights)
    ranks = np.cumsum(counts) - counts / 2
    return np.asarray((ranks - weights.sum() / 2)[codes])


def _kendall(first: Floats, second: Floats) -> Weighted:
    tau = kendall(first, second)
    return lambda weights: float(tau(weights[None])[0])


def kendall(first: Floats, second: Floats) -> Callable[[Floats], Floats]:
    """Kendall's tau-b of two columns as a function of weights: each row counts as often as its weight says.

    Returns:
        From weights of shape (draws, rows) to values of shape (draws,), -1 to 1; nan where a column does not vary.

    Source: Kendall 1945.
    """
    one, other = _codes(first), _codes(second)
    order = np.lexsort((other, one))
    both = _codes(np.asarray(one * (len(other) + 1) + other, dtype=np.float64))
    levels = _partitions(other[order])
    tied = [_tied(codes) for codes in (one, other, both)]

    def weighted(weights: Floats) -> Floats:
        total = _pairs(weights.sum(axis=1, keepdims=True))
        tied_one, tied_other, tied_both = (count(weights) for count in tied)
        scale = (total - tied_one) * (total - tied_other)
        agreeing = total - tied_one - tied_other + tied_both - 2 * _crossings(levels, weights[:, order])
        found = np.full(len(weights), math.nan)
        np.divide(agreeing, np.sqrt(scale), out=found, where=scale > 0)
        return found

    return weighted


def _tied(codes: Integers) -> Callable[[Floats], Floats]:
    """The weight of the pairs of one code, shape (draws,)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return lambda weights: _pairs(np.asarray(np.add.reduceat(weights[:, order], starts, axis=1)))


def _pairs(counts: Floats) -> Floats:
    return np.asarray((counts * (counts - 1)).sum(axis=1) / 2)


Partition = tuple[Integers, NDArray[np.bool_], Integers]


def _partitions(codes: Integers) -> list[Partition]:
    """For each bit from the highest: rows in order of the bits above it, if they have it, where their group starts.

    Two rows cross where the bits above are equal, the earlier one has the bit and the later one does not.
    """
    levels = []
    for bit in reversed(range(int(codes.max()).bit_length())):
        above = codes >> (bit + 1)
        order = np.argsort(above, kind="stable")
        has = ((codes[order] >> bit) & 1).astype(bool)
        start = np.searchsorted(above[order], above[order], side="left")
        levels.append((order, has, start))
    return levels


def _crossings(levels: Sequence[Partition], weights: Floats) -> Floats:
    """The weight of the pairs whose order in one column is against that in the other, shape (draws,)."""
    total = np.zeros(len(weights))
    for order, has, start in levels:
        weight = weights[:, order]
        before = np.zeros((len(weights), len(order) + 1))
        np.cumsum(weight * has, axis=1, out=before[:, 1:])
        total += (weight * (before[:, :-1] - before[:, start]))[:, ~has].sum(axis=1)
    return total


_WEIGHTED: Mapping[Kind, Callable[[Floats, Floats], Weighted]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
