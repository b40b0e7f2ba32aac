"""Bootstrap draws that all columns of a table share, and standard errors of means; both by cluster where asked.

Pairs of systems that see the same draws have intervals that can be set side by side, at the price of one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError

Floats = NDArray[np.float64]
Real = TypeVar("Real", np.float32, np.float64)

_CHUNK = 30_000
"""Weights held at a time: 0.2 MB, which stay in the cache of a core."""
_PRODUCT = 500_000
"""Multiplications up to which a product of matrices stays on one core; many small ones cost more on several."""


@dataclass(frozen=True, slots=True)
class MeanError:
    """A mean with its standard error; ``n`` values in ``clusters`` independent groups. Both nan without values."""

    mean: float
    error: float
    n: int
    clusters: int


def cluster_numbers(clusters: Sequence[Hashable] | None, *, rows: int) -> NDArray[np.int64]:
    """A number from 0 for the cluster of each row, in order of first appearance; without labels each row has its own.

    Raises:
        UsageError: there is not one label a row.
    """
    if clusters is None:
        return np.arange(rows)
    if len(clusters) != rows:
        raise UsageError(f"{rows} rows have {len(clusters)} cluster labels; give one label a row")
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in clusters], dtype=np.int64)


def drawn_weights(clusters: int, *, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each cluster is drawn in each resample, in pieces of shape (some resamples, clusters)."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // clusters)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = rng.integers(0, clusters, size=(count, clusters))
        drawn += np.arange(count)[:, None] * clusters
        yield np.bincount(drawn.ravel(), minlength=count * clusters).reshape(count, clusters)


def resampled_means(
    table: Floats, *, clusters: Sequence[Hashable] | None = None, resamples: int = 10_000, seed: int = 0
) -> Floats:
    """Means of every column in samples of rows, or of whole clusters, drawn with replacement.

    Args:
        table: shape (rows, columns), finite, at least one row.
        clusters: one label a row.
        resamples: how many samples (B).
        seed: of the draws; all columns see the same ones.

    Returns:
        Shape (resamples, columns).
    """
    of_row = cluster_numbers(clusters, rows=len(table))
    counts = np.bincount(of_row)
    sums = np.zeros((len(counts), table.shape[1]))
    np.add.at(sums, of_row, table)
    pieces = [
        product(weights, sums) / (weights @ counts)[:, None]
        for weights in map(_as_floats, drawn_weights(len(counts), resamples=resamples, seed=seed))
    ]
    return np.concatenate(pieces)


def _as_floats(weights: NDArray[np.int64]) -> Floats:
    return weights.astype(np.float64)


def product(weights: NDArray[Real], columns: NDArray[Real]) -> NDArray[Real]:
    """``weights @ columns``, in products so small that they are not spread over the cores of a busy machine.

    Args:
        weights: shape (draws, units), a few of many draws.
        columns: shape (units, columns).
    """
    width = max(1, _PRODUCT // weights.size)
    parts = [weights @ columns[:, at : at + width] for at in range(0, columns.shape[1], width)]
    return np.concatenate(parts, axis=1)


def edges(draws: Floats, *, level: float) -> Floats:
    """The two percentiles that hold ``level`` of the draws between them; shape (2, columns) or (2,)."""
    return np.asarray(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0))


def mean_error(values: Sequence[float | None], *, clusters: Sequence[Hashable] | None = None) -> MeanError:
    """Mean of the scored values and its standard error, of which the clusters are the independent units.

    Without clusters the error is the deviation over the root of n. It is nan with fewer than two clusters.

    Raises:
        UsageError: there is not one label a value, or a value is not finite.

    Source: the linearised ratio of sums over clusters (Cochran 1977, chapter 2).
    """
    of_row = cluster_numbers(clusters, rows=len(values))
    kept = [place for place, value in enumerate(values) if value is not None]
    found = np.array([value for value in values if value is not None], dtype=np.float64)
    if not np.isfinite(found).all():
        raise UsageError("a value is not finite; give None for what could not be scored")
    if not kept:
        return MeanError(mean=math.nan, error=math.nan, n=0, clusters=0)
    mean = math.fsum(found.tolist()) / len(found)
    _, group = np.unique(of_row[kept], return_inverse=True)
    residues = np.bincount(group, weights=found - mean)
    groups = len(residues)
    error = math.nan
    if groups > 1:
        error = math.sqrt(groups / (groups - 1) * float(residues @ residues)) / len(found)
    return MeanError(mean=mean, error=error, n=len(found), clusters=groups)
