"""Which systems differ: randomisation tests on items that every system answered, exact where that can be afforded.

Values are brought to whole numbers first, so that equal sums are equal: compared as floating-point numbers, ties are
lost and p comes out too small.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations as orders
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.flips import SMALLEST, exact_sums
from groundwire.evaluation.resampling import cluster_numbers
from groundwire.evaluation.steps import step_of
from groundwire.evaluation.tails import range_quantile, range_tail

How = Literal["exact", "monte carlo"]
Integers = NDArray[np.int64]

_MOST_WORK = 10_000_000
"""Additions that an exact distribution may cost, a quarter of a second."""
_TABLE_SYSTEMS = 7
"""With more systems the table of all orders of a row is larger than the caches, and keys are drawn instead."""
_WORD = 64
_ROWS = 32
"""Rows that are dealt at a time, and that a word must take before it is emptied."""


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """The p-values of all pairs of systems, and how they were found.

    Attributes:
        p: shape (systems, systems), symmetric, 1 on the diagonal: the chance that systems which are all alike show a
            difference this large somewhere; never 0, and where exact never below ``flips.SMALLEST``.
        differences: row minus column of the means; shape (systems, systems).
        threshold: the smallest difference of two means that has p below ``false_alarms(level)``; inf where none has.
        how: ``exact``, or ``monte carlo`` with ``permutations`` draws, where the smallest p is 1 / (permutations + 1).
        tail: analytic p-values, for what lies below the smallest that was drawn; nan where exact or not asked for.
        items: rows that counted; ``tied`` of them are the same for all systems.
        level: of the threshold, 0.95 by custom.
    """

    p: Matrix
    differences: Matrix
    threshold: float
    how: How
    permutations: int
    tail: Matrix
    items: int
    tied: int
    level: float
    seed: int


def randomised_tukey_hsd(
    values: Matrix,
    *,
    clusters: Sequence[Hashable] | None = None,
    permutations: int = 10_000,
    level: float = 0.95,
    tail: bool = True,
    seed: int = 0,
) -> PairwiseTest:
    """Compare all systems at once: randomised Tukey HSD, which bounds the chance of any false alarm in the family.

    In every draw the values of each item are dealt to the systems anew; p of a pair is the share of draws whose largest
    difference of means is at least that of the pair. With two systems it is the paired randomisation test.

    Args:
        values: shape (items, systems), finite; an item that a system has no value for is left out before.
        clusters: one label an item; the items of a cluster are dealt together, since they are not independent.
        permutations: draws, where the exact distribution costs too much.
        level: for ``threshold``.
        tail: whether to find the analytic p-values too.
        seed: of the draws.

    Raises:
        UsageError: there are fewer than 2 systems or no items, a value is not finite, or a number is out of range.

    Source:
        Carterette 2012 (TOIS 30:1) and Sakai 2014; (1 + b) / (B + 1) as in Davison and Hinkley 1997, chapter 4.
    """
    table = np.asarray(values, dtype=np.float64)
    _check(table, clusters, permutations=permutations, level=level)
    whole, step = as_integers(table)
    slack = 0 if step_of(table)[1] else len(table)  # what rounding to steps can add up to is a tie
    rows = whole if clusters is None else _summed(whole, clusters)
    spread = rows[rows.min(axis=1) < rows.max(axis=1)]
    sums = whole.sum(axis=0)
    gaps = np.maximum(np.abs(sums[:, None] - sums[None, :]) - slack, 0)
    exact = exact_ranges(spread)
    if exact is not None:
        sizes, chances = exact
        beyond = np.cumsum(chances[::-1])[::-1]
        p = np.maximum(beyond[np.searchsorted(sizes, gaps)], SMALLEST)
        drawn, threshold = 0, _threshold(sizes, beyond, below=false_alarms(level))
    else:
        ranges = np.sort(_drawn_ranges(spread, permutations=permutations, rng=np.random.default_rng(seed)))
        p = (1 + permutations - np.searchsorted(ranges, gaps)) / (permutations + 1)
        beyond = (1 + np.arange(permutations, 0, -1)) / (permutations + 1)
        drawn, threshold = permutations, _threshold(ranges, beyond, below=false_alarms(level))
    p = np.minimum(p, 1.0)
    np.fill_diagonal(p, 1.0)
    return PairwiseTest(
        p=p,
        differences=(sums[:, None] - sums[None, :]) * step / len(table),
        threshold=threshold * step / len(table),
        how="monte carlo" if exact is None else "exact",
        permutations=drawn,
        tail=_analytic(rows, gaps) if tail and exact is None else np.full(gaps.shape, math.nan),
        items=len(table),
        tied=int((whole.min(axis=1) == whole.max(axis=1)).sum()),
        level=level,
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class TwoSystemTest:
    """The paired randomisation test of two systems: two-sided ``p``, and how it was found as in ``PairwiseTest``."""

    p: float
    difference: float
    how: How
    permutations: int
    tail: float
    items: int
    tied: int
    seed: int


def two_system(
    one: Sequence[float],
    other: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> TwoSystemTest:
    """Fisher's paired randomisation test of two systems alone: which of the two had which value is tossed, by item.

    Args and errors: as ``randomised_tukey_hsd``; one and other have one value an item, in the same order.

    Raises:
        UsageError: there are not as many values of one as of the other, or as ``randomised_tukey_hsd`` says.

    Source: Fisher 1935; Smucker, Allan and Carterette 2007 for its use on systems.
    """
    if len(one) != len(other):
        raise UsageError(f"{len(one)} values cannot be paired with {len(other)} others; give one of each an item")
    table = np.column_stack([np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)])
    found = randomised_tukey_hsd(table, clusters=clusters, permutations=permutations, seed=seed)
    return TwoSystemTest(
        p=float(found.p[0, 1]),
        difference=float(found.differences[0, 1]),
        how=found.how,
        permutations=found.permutations,
        tail=float(found.tail[0, 1]),
        items=found.items,
        tied=found.tied,
        seed=seed,
    )


def false_alarms(level: float) -> float:
    """The chance of a false alarm that a level leaves: 0.05 for 0.95 and not a hair more; p = 0.05 is not below it."""
    return round(1 - level, 12)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """p-values adjusted for their number by Holm's step-down method, in the order given; each 0 to 1.

    Source: Holm 1979.
    """
    order = sorted(range(len(p)), key=lambda place: p[place])
    adjusted = [0.0] * len(p)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def as_integers(table: Matrix) -> tuple[Integers, float]:
    """Values as whole numbers of steps from each item's least value, and the size of a step (see ``steps``)."""
    step, fits = step_of(table)
    whole = np.rint(table * round(1 / step) if fits else (table - table.min()) / step)
    return _from_least(whole), step


def _from_least(whole: NDArray[np.float64]) -> Integers:
    """What all systems have of an item makes no difference between them."""
    return np.asarray(whole - whole.min(axis=1, keepdims=True), dtype=np.int64)


def _summed(whole: Integers, clusters: Sequence[Hashable]) -> Integers:
    of_item = cluster_numbers(clusters, rows=len(whole))
    sums = np.zeros((int(of_item.max()) + 1, whole.shape[1]), dtype=np.int64)
    np.add.at(sums, of_item, whole)
    return np.asarray(sums - sums.min(axis=1, keepdims=True))


def _threshold(sizes: Integers, tails: NDArray[np.float64], *, below: float) -> float:
    good = np.flatnonzero(tails < below)
    return float(sizes[good[0]]) if good.size else math.inf


def exact_ranges(rows: Integers) -> tuple[Integers, NDArray[np.float64]] | None:
    """All sizes that the largest difference of sums can have, rising, with their chances; None where it costs too much.

    Dealing a row to the systems in every order is the same whichever system has which sum so far, so sums are kept
    sorted and counted from the least of them.
    """
    systems = rows.shape[1]
    if systems == 2 and (found := exact_sums(np.abs(rows[:, 0] - rows[:, 1]))):
        return found
    bits = int(rows.max(axis=1, initial=0).sum()).bit_length()
    if systems > _TABLE_SYSTEMS or bits * (systems - 1) >= _WORD:
        return None
    shifts, order = bits * np.arange(systems - 1), _orders(systems)
    keys: Integers = np.zeros(1, dtype=np.int64)
    chances: NDArray[np.float64] = np.ones(1)
    work = 0
    for number, row in enumerate(rows[np.argsort(rows.sum(axis=1), kind="stable")]):
        dealt = row[order]
        if work + len(keys) * len(dealt) * systems * (len(rows) - number) > _MOST_WORK:  # keys become no fewer
            return None
        work += len(keys) * len(dealt) * systems
        states = np.pad((keys[:, None] >> shifts) & ((1 << bits) - 1), ((0, 0), (1, 0)))
        sums = np.sort((states[:, None, :] + dealt[None, :, :]).reshape(-1, systems), axis=1)
        packed = ((sums[:, 1:] - sums[:, :1]) << shifts).sum(axis=1)
        keys, place = np.unique(packed, return_inverse=True)
        chances = np.asarray(np.bincount(place, weights=np.repeat(chances / len(dealt), len(dealt))), np.float64)
    sizes, place = np.unique(keys >> shifts[-1], return_inverse=True)
    return np.asarray(sizes, np.int64), np.asarray(np.bincount(place, weights=chances), np.float64)


@cache
def _orders(systems: int) -> Integers:
    """Every order of so many systems, a row each."""
    return np.array(list(orders(range(systems))), dtype=np.int64)


def _drawn_ranges(rows: Integers, *, permutations: int, rng: np.random.Generator) -> Integers:
    """The largest difference of the systems' sums in every draw; shape (permutations,)."""
    systems = rows.shape[1]
    if systems > _TABLE_SYSTEMS:
        sums = np.zeros((permutations, systems), dtype=np.int64)
        for row in rows:
            sums += rng.permuted(np.broadcast_to(row, sums.shape), axis=1)
        return np.asarray(sums.max(axis=1) - sums.min(axis=1))
    return _packed_ranges(rows, permutations, rng=rng)


def _packed_ranges(rows: Integers, permutations: int, *, rng: np.random.Generator) -> Integers:
    """Sums of several systems share a word, so that one addition serves them all; no sum reaches its neighbour's bits.

    Words that are nearly full are emptied into sums of their own. The last system's sum is what is left of the total.
    """
    unit = max(1, int(np.gcd.reduce(rows, axis=None)))
    dealt = np.sort(rows // unit, axis=1)
    dealt = dealt[np.lexsort(dealt.T)]  # neither the order of the items nor that of the systems matters
    systems = dealt.shape[1]
    held, bits = _layout(int(dealt.max(initial=0)), systems)
    words = [range(first, min(first + held, systems - 1)) for first in range(0, systems - 1, held)]
    shifts = np.array([bits * place for place in range(held)], dtype=np.uint64)
    packings = [_packing(systems, word, shifts) for word in words]
    full = [np.zeros(permutations, dtype=np.uint64) for _ in words]
    sums = np.zeros((systems, permutations), dtype=np.int64)
    room = 0
    for start in range(0, len(dealt), _ROWS):
        some = dealt[start : start + _ROWS]
        most = int(some[:, -1].sum())
        if room < most:
            _empty(full, words, into=sums, shifts=shifts)
            room = (1 << bits) - 1
        room -= most
        drawn = rng.integers(0, packings[0].shape[1], size=(len(some), permutations), dtype=np.uint16)
        for word, packing in zip(full, packings, strict=True):
            for table, choice in zip(some.astype(np.uint64) @ packing, drawn, strict=True):
                np.add(word, table.take(choice), out=word)
    _empty(full, words, into=sums, shifts=shifts)
    sums[-1] = int(dealt.sum()) - sums[:-1].sum(axis=0)
    return np.asarray(sums.max(axis=0) - sums.min(axis=0)) * unit


def _packing(systems: int, word: range, shifts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """By value of a row and order in which it is dealt: what the value weighs in a word that holds some systems."""
    order = _orders(systems)
    weights = np.zeros((systems, len(order)), dtype=np.uint64)
    for system, shift in zip(word, shifts, strict=False):
        weights[order[:, system], np.arange(len(order))] = np.uint64(1) << shift
    return weights


def _layout(most: int, systems: int) -> tuple[int, int]:
    """How many sums share a word, and the bits of each: as many as leave room for rows of values up to ``most``."""
    for held in range(systems - 1, 1, -1):
        if most * _ROWS < 1 << (_WORD // held):
            return held, _WORD // held
    return 1, _WORD - 1


def _empty(
    full: Sequence[NDArray[np.uint64]], words: Sequence[range], *, into: Integers, shifts: NDArray[np.uint64]
) -> None:
    """Add what the words hold to the sums, and set them to 0."""
    bits = shifts[1] if len(shifts) > 1 else np.uint64(_WORD - 1)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    for word, systems in zip(full, words, strict=True):
        for system, shift in zip(systems, shifts, strict=False):
            into[system] += ((word >> shift) & mask).astype(np.int64)
        word[:] = 0


def _analytic(rows: Integers, gaps: Integers) -> Matrix:
    """p-values for many items: the range of independent normal sums with the variance that dealing gives them."""
    variance = _dealt_variance(rows)
    systems = rows.shape[1]
    sizes, place = np.unique(gaps, return_inverse=True)
    tails = [range_tail(size / math.sqrt(variance), systems=systems) if variance else 1.0 for size in sizes.tolist()]
    return np.array(tails)[place].reshape(gaps.shape)


def _dealt_variance(rows: NDArray[np.int64] | Matrix) -> float:
    """Of a system's sum, apart from what all systems share, where every row is dealt anew."""
    return float(rows.var(axis=1, ddof=1).sum())


def critical_difference(test: PairwiseTest, values: Matrix, *, clusters: Sequence[Hashable] | None = None) -> float:
    """About the smallest difference of means that as many items can tell apart, also where the draws show none.

    Args:
        test: of these values; its threshold is given where it has one.
        values: shape (items, systems), as they were tested, with their clusters.
        clusters: see there.

    Returns:
        In units of the measure; 0 where the systems do not differ on any item.
    """
    if math.isfinite(test.threshold):
        return test.threshold
    table = np.asarray(values, dtype=np.float64)
    of_row = cluster_numbers(clusters, rows=len(table))
    sums = np.zeros((int(of_row.max()) + 1, table.shape[1]))
    np.add.at(sums, of_row, table)
    return range_quantile(test.level, systems=table.shape[1]) * math.sqrt(_dealt_variance(sums)) / len(table)


def fewest_items(systems: int, *, level: float) -> int:
    """With fewer items, or clusters of them, no difference is told apart: there are too few ways to deal them."""
    # The widest difference takes the largest value of every item to one system and the least to another.
    return math.floor(1 + math.log(1 / false_alarms(level)) / math.log(systems * (systems - 1))) + 1


def _check(table: Matrix, clusters: Sequence[Hashable] | None, *, permutations: int, level: float) -> None:
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] < 1:
        raise UsageError(f"values of shape {table.shape} were given; it takes 2 systems or more and 1 item or more")
    if not np.isfinite(table).all():
        item, system = np.argwhere(~np.isfinite(table))[0].tolist()
        raise UsageError(f"item {item} has no finite value for system {system}; leave it out and count it")
    if clusters is not None and len(clusters) != len(table):
        raise UsageError(f"{len(table)} items have {len(clusters)} cluster labels; give one label an item")
    if permutations < 1 or not 0 < level < 1:
        raise UsageError(f"permutations is {permutations} and level {level}; 1 or more, and between 0 and 1")
