"""Tails of the normal and of Student's t distribution, by the standard library and numpy alone."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_POINTS = 600
_NEGLIGIBLE = 45.0
"""Below e to the minus this, the density of the spread adds nothing to a double."""


def normal_beyond(z: float) -> float:
    """The chance that a standard normal value is above ``z``."""
    return math.erfc(z / math.sqrt(2)) / 2


def normal_quantile(chance: float) -> float:
    """The value that a standard normal one stays below with this chance, between 0 and 1."""
    return _NORMAL.inv_cdf(chance)


def student_beyond(t: float, *, freedom: float, shift: float = 0.0) -> float:
    """The chance that a value of Student's t distribution is above ``t``.

    Args:
        t: finite or infinite.
        freedom: degrees of freedom, above 0.
        shift: noncentrality, the true mean in standard errors; 0 is the ordinary distribution.

    Source: a normal value over an independent spread, integrated over the logarithm of the spread.
    """
    lowest, highest = -_NEGLIGIBLE / freedom - math.sqrt(_NEGLIGIBLE / freedom), math.sqrt(_NEGLIGIBLE / freedom)
    logs = np.linspace(lowest, highest, _POINTS)
    weights = np.exp(freedom * (logs - np.expm1(2 * logs) / 2))
    tails = [normal_beyond(t * spread - shift) for spread in np.exp(logs).tolist()]
    return float(weights @ np.array(tails) / weights.sum())


@lru_cache(maxsize=4096)
def student_quantile(chance: float, *, freedom: float) -> float:
    """The value that Student's t stays below with this chance, between 0 and 1."""
    if chance < 0.5:
        return -student_quantile(1 - chance, freedom=freedom)
    low, high = 0.0, max(1.0, normal_quantile(chance))
    while student_beyond(high, freedom=freedom) > 1 - chance:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if student_beyond(middle, freedom=freedom) > 1 - chance:
            low = middle
        else:
            high = middle
    return high
