"""Whether values put things into the right order: concordance with grades (AUC), and Kendall's tau-b, with intervals.

Both compare all pairs of items. Intervals draw whole clusters (all articles of a topic), as the items of one topic are
not independent of each other; a pair of items counts as often as both were drawn.

Source: AUC as the share of ordered pairs (Hanley and McNeil 1982), for grades in place of two classes the share of all
pairs of unequal grade; tau-b as in ``correlation``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval
from groundwire.evaluation.correlation import kendall
from groundwire.evaluation.resampling import Floats, cluster_numbers

MOST_ITEMS = 4000
"""All pairs are compared, so that memory and time grow with the square."""

_WEIGHTS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Drawing:
    """How an interval is drawn: its level, the number of samples, and the seed."""

    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0


def separation(
    values: Sequence[float | None],
    grades: Sequence[float],
    *,
    clusters: Sequence[Hashable],
    drawing: Drawing | None = None,
    within: bool = False,
) -> Interval:
    """The chance that of two items of unequal grade the better one has the larger value; equal values count half.

    Args:
        values: None is unscored: left out, and counted.
        grades: what people said, such as 0 and 1 (then it is the AUC); larger is better.
        clusters: one label an item.
        drawing: of the interval.
        within: compare only items of the same cluster.

    Returns:
        0 to 1; ``mean`` is nan where no two scored items have unequal grades, the interval where fewer than two
        clusters have any.

    Raises:
        UsageError: the numbers of values, grades and labels differ, or there are too many.
    """
    kept, x, of_item = _scored(values, clusters, grades)
    y = np.array([grades[place] for place in kept], dtype=float)
    better = y[:, None] > y[None, :]
    right = better * ((x[:, None] > x[None, :]) + 0.5 * (x[:, None] == x[None, :]))
    top, bottom = _by_cluster(right, of_item), _by_cluster(better.astype(float), of_item)
    if within:
        top, bottom = np.diag(top), np.diag(bottom)

    def share(weights: Floats) -> Floats:
        below, found = _summed(bottom, weights), np.full(len(weights), math.nan)
        np.divide(_summed(top, weights), below, out=found, where=below > 0)
        return found

    return _interval(share, _groups(of_item), n=len(kept), unscored=len(values) - len(kept), drawing=drawing)


def rank_agreement(
    values: Sequence[float | None],
    others: Sequence[float | None],
    *,
    clusters: Sequence[Hashable],
    drawing: Drawing | None = None,
) -> Interval:
    """Kendall's tau-b of two values of the same items, -1 to 1.

    Items that either leaves unscored are left out, and counted. ``mean`` is nan where one of them puts all items level.

    Raises:
        UsageError: the numbers of values and labels differ, or there are too many.
    """
    one = [None if other is None else value for value, other in zip(values, others, strict=True)]
    kept, x, of_item = _scored(one, clusters, values)
    tau = kendall(x, np.array([others[place] for place in kept], dtype=float)) if kept else _nothing
    rows = max(1, _WEIGHTS_AT_ONCE // max(1, len(kept)))

    def agreement(weights: Floats) -> Floats:
        return np.concatenate([tau(weights[at : at + rows][:, of_item]) for at in range(0, len(weights), rows)])

    return _interval(agreement, _groups(of_item), n=len(kept), unscored=len(values) - len(kept), drawing=drawing)


def _nothing(weights: Floats) -> Floats:
    return np.full(len(weights), math.nan)


def _scored(
    values: Sequence[float | None], clusters: Sequence[Hashable], same: Sequence[object]
) -> tuple[list[int], Floats, NDArray[np.int64]]:
    """Places, values and numbers of the clusters of the items that have a value."""
    if not len(values) == len(clusters) == len(same):
        raise UsageError(f"{len(values)} values, {len(same)} grades and {len(clusters)} labels: give one each an item")
    if len(values) > MOST_ITEMS:
        raise UsageError(f"{len(values)} items are too many to compare all pairs; give up to {MOST_ITEMS}")
    kept = [place for place, value in enumerate(values) if value is not None]
    found = np.array([values[place] for place in kept], dtype=float)
    return kept, found, cluster_numbers([clusters[place] for place in kept], rows=len(kept))


def _groups(of_item: NDArray[np.int64]) -> int:
    return int(of_item.max(initial=-1)) + 1


def _by_cluster(pairs: Floats, of_item: NDArray[np.int64]) -> Floats:
    """A matrix of items summed up to one of clusters."""
    member = np.zeros((len(of_item), _groups(of_item)))
    member[np.arange(len(of_item)), of_item] = 1
    summed: Floats = member.T @ pairs @ member
    return summed


def _summed(pairs: Floats, weights: Floats) -> Floats:
    """A sum over pairs for each row of weights of clusters.

    A matrix holds sums over pairs of clusters, a vector those inside each: a cluster drawn twice counts twice there.
    """
    inner = weights @ pairs
    return np.asarray(inner if pairs.ndim == 1 else np.einsum("rc,rc->r", inner, weights))


def _interval(
    value: Callable[[Floats], Floats], clusters: int, *, n: int, unscored: int, drawing: Drawing | None
) -> Interval:
    """A value of weighted clusters with its percentile bootstrap interval."""
    how = drawing or Drawing()
    mean = float(value(np.ones((1, clusters)))[0])
    low = high = math.nan
    if clusters > 1 and not math.isnan(mean):
        rng = np.random.default_rng(how.seed)
        drawn = value(rng.multinomial(clusters, [1 / clusters] * clusters, size=how.resamples).astype(float))
        if not np.isnan(drawn).all():
            tail = (1 - how.level) / 2
            low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return Interval(mean, float(low), float(high), n, unscored, how.level, how.seed)
