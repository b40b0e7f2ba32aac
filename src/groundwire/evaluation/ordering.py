"""Whether values put things into the right order: concordance with grades (AUC), and Kendall's tau-b, with intervals.

Both compare all pairs of items. Intervals draw whole clusters (all articles of a topic), as the items of one topic are
not independent of each other; a pair of items counts as often as both were drawn.

Source: AUC as the share of ordered pairs (Hanley and McNeil 1982), for grades in place of two classes the share of all
pairs of unequal grade; tau-b (Kendall 1945).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval

MOST_ITEMS = 4000
"""All pairs are compared, so that memory and time grow with the square."""

_Floats = NDArray[np.float64]


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
    kept, x, labels = _scored(values, clusters, grades)
    y = np.array([grades[place] for place in kept], dtype=float)
    better = y[:, None] > y[None, :]
    right = better * ((x[:, None] > x[None, :]) + 0.5 * (x[:, None] == x[None, :]))
    top, bottom = _by_cluster(right, labels), _by_cluster(better.astype(float), labels)
    if within:
        top, bottom = np.diag(top), np.diag(bottom)
    return _interval((top,), (bottom,), n=len(kept), unscored=len(values) - len(kept), drawing=drawing or Drawing())


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
    kept, x, labels = _scored(
        [None if other is None else value for value, other in zip(values, others, strict=True)], clusters, values
    )
    y = np.array([others[place] for place in kept], dtype=float)
    one, two = np.sign(x[:, None] - x[None, :]), np.sign(y[:, None] - y[None, :])
    top = (_by_cluster(one * two, labels),)
    bottom = (_by_cluster(one * one, labels), _by_cluster(two * two, labels))
    return _interval(top, bottom, n=len(kept), unscored=len(values) - len(kept), drawing=drawing or Drawing())


def _scored(
    values: Sequence[float | None], clusters: Sequence[Hashable], same: Sequence[object]
) -> tuple[list[int], _Floats, list[Hashable]]:
    """Places, values and labels of the items that have a value."""
    if not len(values) == len(clusters) == len(same):
        raise UsageError(f"{len(values)} values, {len(same)} grades and {len(clusters)} labels: give one each an item")
    if len(values) > MOST_ITEMS:
        raise UsageError(f"{len(values)} items are too many to compare all pairs; give up to {MOST_ITEMS}")
    kept = [place for place, value in enumerate(values) if value is not None]
    return kept, np.array([values[place] for place in kept], dtype=float), [clusters[place] for place in kept]


def _by_cluster(pairs: _Floats, labels: Sequence[Hashable]) -> _Floats:
    """A matrix of items summed up to one of clusters."""
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    member = np.zeros((len(labels), len(places)))
    member[np.arange(len(labels)), [places[label] for label in labels]] = 1
    summed: _Floats = member.T @ pairs @ member
    return summed


def _interval(
    top: tuple[_Floats, ...], bottom: tuple[_Floats, ...], *, n: int, unscored: int, drawing: Drawing
) -> Interval:
    """The ratio of a sum over pairs to the geometric mean of others, with its percentile bootstrap interval."""
    clusters = len(top[0])
    whole = _ratios(top, bottom, np.ones((1, clusters)))
    low = high = math.nan
    if clusters > 1:
        rng = np.random.default_rng(drawing.seed)
        drawn = rng.multinomial(clusters, [1 / clusters] * clusters, size=drawing.resamples).astype(float)
        ratios = _ratios(top, bottom, drawn)
        if not math.isnan(whole[0]) and not np.isnan(ratios).all():
            tail = (1 - drawing.level) / 2
            low, high = np.nanquantile(ratios, [tail, 1 - tail])
    return Interval(float(whole[0]), float(low), float(high), n, unscored, drawing.level, drawing.seed)


def _ratios(top: tuple[_Floats, ...], bottom: tuple[_Floats, ...], weights: _Floats) -> _Floats:
    """One ratio a row of weights; nan where nothing could be compared.

    A matrix holds sums over pairs of clusters, a vector those inside each: a cluster drawn twice counts twice there.
    """
    sums = [
        weights @ each if each.ndim == 1 else np.einsum("rc,rc->r", weights @ each, weights) for each in (*top, *bottom)
    ]
    below = np.prod(sums[1:], axis=0) ** (1 / len(bottom))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, sums[0] / below, math.nan)
