"""Paired differences whose signs are tossed: the distribution of their sum, exact where values lie on a grid.

Many pairs of systems on the same items share their tosses, so that the tests of all pairs cost little more than one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.resampling import Floats, cluster_numbers
from groundwire.evaluation.steps import step_of

Integers = NDArray[np.int64]

SMALLEST = 1e-12
"""An exact p below this is given as this: it lies within the rounding of the transform that finds it."""
_MOST_SUMS = 1 << 20
"""Sums that a transform may tell apart: 8 MB."""
_MOST_WORK = 20_000_000
"""Additions, or values of a cosine, that an exact distribution may cost: a tenth of a second."""
_PLAIN = 2_000_000
"""Additions up to which the distribution is summed up plainly, without any rounding to speak of."""
_CHUNK = 4_000_000
"""Tosses held at a time: 16 MB."""
_EXACT_FLOAT = 1 << 24
"""Sums of whole numbers below this are exact in single precision."""


def exact_sums(differences: Integers) -> tuple[Integers, Floats] | None:
    """Every absolute sum of differences whose signs are tossed, rising, with its chance; None where it costs too much.

    Args:
        differences: whole numbers, 0 or more.
    """
    divisor = math.gcd(*differences.tolist()) or 1
    sizes, counts = np.unique(differences[differences > 0] // divisor, return_counts=True)
    most = int(sizes @ counts)
    if most * int(counts.sum()) <= _PLAIN:
        chances = _summed_up(np.repeat(sizes, counts).tolist(), most)
    elif most < _MOST_SUMS and (most + 1) * len(sizes) <= _MOST_WORK:
        chances = _transformed(sizes, counts, most)
    else:
        return None
    return np.arange(most + 1) * divisor, chances


def _summed_up(steps: Sequence[int], most: int) -> Floats:
    """One difference after the other; chances of 0 to ``most``, both signs together."""
    chances: Floats = np.zeros(2 * most + 1)
    chances[most] = 1.0
    for step in steps:
        moved: Floats = np.zeros(len(chances))
        moved[step:] += chances[: len(chances) - step]
        moved[: len(chances) - step] += chances[step:]
        chances = moved / 2
    folded = chances[most:].copy()
    folded[1:] += chances[:most][::-1]
    return folded


def _transformed(sizes: Integers, counts: Integers, most: int) -> Floats:
    """By the characteristic function, a product of cosines; every other sum, of the other parity, has no chance."""
    points = np.arange(most + 1)
    part = math.pi / (most + 1)

    def turned(steps: int) -> Floats:
        """Angles of so many steps, brought within one turn as whole numbers."""
        return np.asarray((points * steps) % (2 * (most + 1)) * part)

    spectrum = np.ones(most + 1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        spectrum *= np.cos(turned(size)) ** count
    phased = spectrum * np.exp(1j * turned(most))
    both = np.maximum(np.fft.fft(phased).real / (most + 1), 0.0)
    places = np.arange(-most, most + 1, 2)
    folded = np.zeros(most + 1)
    np.add.at(folded, np.abs(places), both)
    return np.asarray(folded / folded.sum())


def tossed(
    differences: Matrix,
    *,
    clusters: Sequence[Hashable] | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Two-sided p of the paired randomisation test of every column; exact where that is cheap, else by shared tosses.

    Args:
        differences: shape (items, pairs), finite; each column the values of one system less those of another.
        clusters: one label an item; the differences of a cluster keep or change their signs together.
        permutations: tosses of all signs, where a column has no cheap exact distribution.
        seed: of the tosses.

    Returns:
        Shape (pairs,); at least 1 / (permutations + 1), or ``SMALLEST`` where exact. Each p is that of its pair alone:
        adjust them for their number.

    Raises:
        UsageError: there are no items, a value is not finite, there is not one label an item, or permutations is below
            1.

    Source: Fisher 1935; as ``two_system``.
    """
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2 or not len(table) or permutations < 1 or not np.isfinite(table).all():
        raise UsageError(
            f"differences of shape {table.shape} and {permutations} permutations were given; it takes finite values of "
            "1 item or more, and 1 permutation or more"
        )
    of_item = cluster_numbers(clusters, rows=len(table))
    p = np.ones(table.shape[1])
    drawn: list[tuple[int, Floats, float]] = []
    for place, column in enumerate(table.T):
        step, fits = step_of(column)
        whole, slack = np.rint(column / (step or 1.0)), 0 if fits else len(column)
        sums = np.asarray(np.bincount(of_item, weights=whole), np.float64)
        gap = max(0.0, abs(float(whole.sum())) - slack)
        exact = exact_sums(np.abs(sums).astype(np.int64))
        if exact is None:
            drawn.append((place, sums, gap))
        else:
            sizes, chances = exact
            p[place] = min(1.0, max(SMALLEST, float(chances[sizes >= gap].sum())))
    if drawn:
        columns = np.column_stack([sums for _, sums, _ in drawn])
        reached = _reached(columns, np.array([gap for *_, gap in drawn]), permutations=permutations, seed=seed)
        p[[place for place, *_ in drawn]] = (1 + reached) / (permutations + 1)
    return p


def _reached(columns: Floats, gaps: Floats, *, permutations: int, seed: int) -> Integers:
    """How many tosses have a sum at least as large as the gap, a number a column; all columns see the same tosses."""
    rng = np.random.default_rng(seed)
    totals = columns.sum(axis=0)
    plain = np.abs(columns).sum(axis=0).max() < _EXACT_FLOAT
    kind: type[np.float32 | np.float64] = np.float32 if plain else np.float64
    factors = columns.astype(kind)
    units = len(columns)
    rows = max(1, _CHUNK // units)
    counted = np.zeros(columns.shape[1], dtype=np.int64)
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        bits = np.unpackbits(np.frombuffer(rng.bytes(count * -(-units // 8)), np.uint8).reshape(count, -1), axis=1)
        kept = np.matmul(bits[:, :units].astype(kind), factors)
        counted += (np.abs(2 * kept.astype(np.float64) - totals) >= gaps).sum(axis=0)
    return counted
