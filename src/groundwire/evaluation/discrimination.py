"""How well a measure tells systems apart: discriminative power, the difference it takes, and the curve over items.

Discriminative power says how sensitive a measure is, not whether it is right: a count of words has plenty. With many
items it nears 1 for any measure, so it is given as a curve over the number of items.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.evaluation.permutation import PairwiseTest, false_alarms, randomised_tukey_hsd

_FIRST_SIZE = 25


@dataclass(frozen=True, slots=True)
class Discrimination:
    """How many pairs of systems a measure tells apart at ``test.level``.

    Attributes:
        power: share of the pairs with p below ``1 - level``, 0 to 1.
        told_apart: how many of ``pairs`` these are.
        curve: p of all pairs, falling; the closer it hugs the axes, the better (the curve of achieved significance).
        test: the randomised Tukey HSD behind it; ``test.threshold`` is the smallest difference that is told apart.
    """

    power: float
    told_apart: int
    pairs: int
    curve: tuple[float, ...]
    test: PairwiseTest


@dataclass(frozen=True, slots=True)
class PowerAtItems:
    """Discriminative power with fewer items: mean over samples of ``items`` and the span that holds ``level`` of them.

    ``threshold`` is the median difference that is told apart, in units of the measure; inf where mostly none is.
    """

    items: int
    power: float
    low: float
    high: float
    threshold: float
    samples: int


def discriminative_power(
    values: Matrix,
    *,
    clusters: Sequence[Hashable] | None = None,
    permutations: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Discrimination:
    """The share of the pairs of systems that randomised Tukey HSD tells apart.

    Args and errors: as ``randomised_tukey_hsd``.

    Source: Sakai 2006, 2012.
    """
    test = randomised_tukey_hsd(values, clusters=clusters, permutations=permutations, level=level, seed=seed)
    return discrimination(test)


def discrimination(test: PairwiseTest) -> Discrimination:
    """Discriminative power of a test that was made before."""
    p = test.p[np.triu_indices(len(test.p), 1)]
    told_apart = int((p < false_alarms(test.level)).sum())
    return Discrimination(
        power=told_apart / len(p),
        told_apart=told_apart,
        pairs=len(p),
        curve=tuple(sorted(p.tolist(), reverse=True)),
        test=test,
    )


def power_curve(
    values: Matrix,
    *,
    sizes: Sequence[int] | None = None,
    samples: int = 20,
    permutations: int = 1_000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[PowerAtItems, ...]:
    """Discriminative power over the number of items, by samples of items without replacement.

    Args:
        values: shape (items, systems), as for ``randomised_tukey_hsd``.
        sizes: numbers of items; 25, 50, 100, … and all of them where none are named. All items make one sample.
        samples: samples a size.
        permutations: draws a sample.
        level: of the test and of the span.
        seed: of samples and draws.

    Raises:
        UsageError: a size or the number of samples is out of range, or as ``randomised_tukey_hsd`` says.
    """
    table = np.asarray(values, dtype=np.float64)
    items = len(table)
    if samples < 1 or any(not 1 <= size <= items for size in sizes or ()):
        raise UsageError(f"sizes are {sizes} and samples {samples}; 1 to {items} items, and 1 sample or more")
    rng = np.random.default_rng(seed)
    points = []
    for size in sizes if sizes is not None else doubled_sizes(items):
        turns = 1 if size == items else samples
        tests = [
            randomised_tukey_hsd(
                table[np.sort(rng.choice(items, size, replace=False))],
                permutations=permutations,
                level=level,
                tail=False,
                seed=int(rng.integers(2**32)),
            )
            for _ in range(turns)
        ]
        powers = np.array([discrimination(test).power for test in tests])
        low, high = np.quantile(powers, [(1 - level) / 2, (1 + level) / 2])
        points.append(
            PowerAtItems(
                items=size,
                power=float(powers.mean()),
                low=float(low),
                high=float(high),
                threshold=sorted(test.threshold for test in tests)[turns // 2],
                samples=turns,
            )
        )
    return tuple(points)


def doubled_sizes(items: int) -> tuple[int, ...]:
    """25, 50, 100 and so on below the number of items, and that number."""
    sizes = []
    size = _FIRST_SIZE
    while size < items:
        sizes.append(size)
        size *= 2
    return (*sizes, items)
