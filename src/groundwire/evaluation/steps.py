"""The grid that values lie on: tests compare whole numbers of its steps, so that equal sums are equal.

And what is left of equal values by rounding, which is shown as 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundwire.core.ports import Matrix

_PARTS = (*range(1, 13), 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000)
"""Parts of 1 that are tried as a grid: means of up to twelve whole numbers, and decimals."""
_FIXED_POINT = 1 << 20
"""Values that lie on none of these grids are rounded to so many steps over their range."""
_ROUNDING = 1e-12


def step_of(values: Matrix) -> tuple[float, bool]:
    """The size of the grid's step, and whether all values are multiples of it.

    The step is the largest of 1, 1/2, 1/3, … 1/12, 0.01, … 0.000001 that all values are multiples of; else a 2^20th of
    their range.
    """
    largest = float(np.abs(values).max())
    for parts in _PARTS:
        if np.abs(values * parts - np.rint(values * parts)).max() <= 1e-9 * largest * parts:
            return 1 / parts, True
    return float(np.ptp(values)) / _FIXED_POINT, False


def settled(differences: NDArray[np.float64], *, largest: float) -> NDArray[np.float64]:
    """Differences of means, where those that are but rounding are 0.

    Args:
        differences: of any shape.
        largest: the largest of the values behind them, whatever its sign; a 1e12th of it is rounding.
    """
    return np.asarray(np.where(np.abs(differences) <= _ROUNDING * largest, 0.0, differences), dtype=np.float64)
