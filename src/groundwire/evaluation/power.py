"""How many items a comparison needs, and what one with so many items can see; all paired, by the t distribution."""

from __future__ import annotations

import math

from groundwire.core.errors import UsageError
from groundwire.evaluation.tails import normal_quantile, student_beyond, student_quantile

_ROUGH_FROM = 100
"""With more items the corrected normal approximation names the same number as the t distribution."""


def chance_to_see(d_z: float, *, items: int, level: float = 0.95) -> float:
    """The chance that a two-sided paired t test sees a true effect: its power, 0 to 1.

    Args:
        d_z: true mean difference over the deviation of the differences.
        items: pairs of values, 2 or more.
        level: 0.95, or 1 - 0.05 / pairs where several pairs share the false alarms.

    Raises:
        UsageError: a number is out of range.
    """
    _check(level=level, power=0.5)
    if items < 2 or not math.isfinite(d_z):
        raise UsageError(f"items is {items} and d_z {d_z}; power takes 2 items or more and a finite effect")
    freedom = items - 1
    edge = student_quantile((1 + level) / 2, freedom=freedom)
    shift = abs(d_z) * math.sqrt(items)
    return student_beyond(edge, freedom=freedom, shift=shift) + student_beyond(edge, freedom=freedom, shift=-shift)


def items_needed(d_z: float, *, level: float = 0.95, power: float = 0.8) -> int | None:
    """The fewest items with which a true effect is seen with the chance ``power``; None where no number would do.

    Raises:
        UsageError: a number is out of range.

    Source: Guenther 1981 for the start, the noncentral t distribution below 100 items.
    """
    _check(level=level, power=power)
    if math.isnan(d_z):
        raise UsageError("d_z is nan; an effect size takes values that spread")
    if d_z == 0:
        return None
    edge = normal_quantile((1 + level) / 2)
    items = max(2, math.ceil(((edge + normal_quantile(power)) / d_z) ** 2 + edge * edge / 2))
    if items > _ROUGH_FROM or math.isinf(d_z):
        return items
    while items > 2 and chance_to_see(d_z, items=items - 1, level=level) >= power:
        items -= 1
    while chance_to_see(d_z, items=items, level=level) < power:
        items += 1
    return items


def smallest_effect(*, items: int, level: float = 0.95, power: float = 0.8) -> float:
    """The smallest true d_z that so many items show with the chance ``power``.

    Raises:
        UsageError: a number is out of range.
    """
    _check(level=level, power=power)
    low, high = 0.0, 1.0
    while chance_to_see(high, items=items, level=level) < power:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if chance_to_see(middle, items=items, level=level) < power:
            low = middle
        else:
            high = middle
    return high


def _check(*, level: float, power: float) -> None:
    if not 0 < level < 1 or not 0 < power < 1:
        raise UsageError(f"level is {level} and power {power}; both lie between 0 and 1")
