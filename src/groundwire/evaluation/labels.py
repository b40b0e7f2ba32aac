"""Means from few labels of people and many values of a judge: prediction-powered, with honest intervals.

The judge's values are cheap and biased, people's are dear and right. The mean of the judge is corrected by its mean
error on the items that people labelled. **Those items must be drawn at random from all**: where people label the
doubtful ones, or stop when they like what they see, the correction is wrong and more labels do not mend it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.evaluation.resampling import Floats
from groundwire.evaluation.tails import normal_beyond, normal_quantile


@dataclass(frozen=True, slots=True)
class Powered:
    """A prediction-powered mean, or difference of two, with its normal interval at ``level``.

    Attributes:
        mean: on the scale of the labels.
        error: its standard error.
        p: two-sided, of a mean of 0; of use for differences.
        weight: how much the judge counts (the papers' lambda): 0 not at all, 1 as in the first paper.
        labels: items labelled by people; ``judged`` more have the judge's value only.
        people_only: mean of the labels alone with its interval (mean, low, high), to see what the judge brings.
        saved: how many labels alone would give the same error, less those there are; below 0 where the judge costs.
    """

    mean: float
    low: float
    high: float
    error: float
    p: float
    weight: float
    labels: int
    judged: int
    people_only: tuple[float, float, float]
    saved: float
    level: float


@dataclass(frozen=True, slots=True)
class Share:
    """A share of yes corrected for a judge's errors, 0 to 1, with its interval."""

    share: float
    low: float
    high: float
    level: float


def powered_mean(
    labels: Sequence[float],
    judged: Sequence[float],
    *,
    unlabelled: Sequence[float],
    weight: float | None = None,
    level: float = 0.95,
) -> Powered:
    """The mean that people would give all items, from their labels of a random few and the judge's values of all.

    Args:
        labels: people's values of the labelled items, which were drawn at random.
        judged: the judge's values of the same items, in the same order.
        unlabelled: the judge's values of the other items; the judge is the same and has not seen the labels.
        weight: of the judge; None chooses the one with the smallest error (PPI++), from 0 to 1.
        level: of the interval.

    Raises:
        UsageError: there are fewer than 2 labels or unlabelled items, the lengths differ, a value is not finite, or a
            number is out of range.

    Source: Angelopoulos et al. 2023 (PPI) and Angelopoulos, Duchi and Zrnic 2023 (PPI++).
    """
    people, same, rest = (np.asarray(column, dtype=np.float64) for column in (labels, judged, unlabelled))
    _check(people, same, rest, weight=weight, level=level)
    chosen = _best_weight(people, same, rest) if weight is None else weight
    mean = chosen * rest.mean() + (people - chosen * same).mean()
    error = math.sqrt((people - chosen * same).var() / len(people) + chosen**2 * rest.var() / len(rest))
    return _powered(float(mean), error, people, weight=chosen, judged=len(rest), level=level)


def powered_difference(
    labels: tuple[Sequence[float], Sequence[float]],
    judged: tuple[Sequence[float], Sequence[float]],
    *,
    unlabelled: tuple[Sequence[float], Sequence[float]],
    weight: float | None = None,
    level: float = 0.95,
) -> Powered:
    """The mean difference of two systems, first less second, that people would find; paired by item.

    Args:
        labels: people's values of both systems on the same items, drawn at random.
        judged: the judge's values of both systems on these items.
        unlabelled: the judge's values of both systems on the other items.
        weight: as in ``powered_mean``, with ``level``.
        level: see there.

    Raises:
        UsageError: the two systems do not have equally many values, or as ``powered_mean`` says.
    """
    for one, other in (labels, judged, unlabelled):
        if len(one) != len(other):
            raise UsageError(f"{len(one)} values cannot be paired with {len(other)} others; give one of each an item")
    people, same, rest = (np.subtract(one, other).tolist() for one, other in (labels, judged, unlabelled))
    return powered_mean(people, same, unlabelled=rest, weight=weight, level=level)


def corrected_share(
    judged: tuple[int, int], *, found_yes: tuple[int, int], found_no: tuple[int, int], level: float = 0.95
) -> Share:
    """The true share of yes behind a judge that says yes or no and errs both ways.

    Args:
        judged: how often the judge said yes, of how many items.
        found_yes: how often it said yes, of how many items that people call yes.
        found_no: how often it said no, of how many items that people call no.
        level: of the interval, which holds the uncertainty of all three.

    Raises:
        UsageError: a count is out of range, or the judge is no better than a coin.

    Source: Rogan and Gladen 1978; the variance of Lee et al. 2025 (arXiv:2511.21140).
    """
    counts = (judged, found_yes, found_no)
    if any(not 0 <= part <= whole or whole < 1 for part, whole in counts) or not 0 < level < 1:
        raise UsageError(f"counts are {counts} and level {level}; parts of wholes of 1 or more, and between 0 and 1")
    said, sensitivity, specificity = (part / whole for part, whole in counts)
    skill = sensitivity + specificity - 1
    if skill <= 0:
        raise UsageError(
            f"the judge finds {sensitivity:.2f} of the yes and {specificity:.2f} of the no, no better than a coin; "
            "its answers cannot be corrected"
        )
    share = (said + specificity - 1) / skill
    spreads = [
        rate * (1 - rate) / whole for rate, (_, whole) in zip((said, sensitivity, specificity), counts, strict=True)
    ]
    error = math.sqrt(spreads[0] + share**2 * spreads[1] + (1 - share) ** 2 * spreads[2]) / skill
    reach = normal_quantile((1 + level) / 2) * error
    share = min(1.0, max(0.0, share))
    return Share(share=share, low=max(0.0, share - reach), high=min(1.0, share + reach), level=level)


def _best_weight(people: Floats, same: Floats, rest: Floats) -> float:
    spread = float(np.concatenate([same, rest]).var(ddof=1))
    if not spread:
        return 0.0
    together = float(((people - people.mean()) * (same - same.mean())).mean())
    return min(1.0, max(0.0, together / ((1 + len(people) / len(rest)) * spread)))


def _powered(mean: float, error: float, people: Floats, *, weight: float, judged: int, level: float) -> Powered:
    edge = normal_quantile((1 + level) / 2)
    alone = float(people.mean())
    reach = edge * math.sqrt(people.var() / len(people))
    return Powered(
        mean=mean,
        low=mean - edge * error,
        high=mean + edge * error,
        error=error,
        p=2 * normal_beyond(abs(mean) / error) if error else float(mean == 0),
        weight=weight,
        labels=len(people),
        judged=judged,
        people_only=(alone, alone - reach, alone + reach),
        saved=float(people.var()) / error**2 - len(people) if error else math.inf,
        level=level,
    )


def _check(people: Floats, same: Floats, rest: Floats, *, weight: float | None, level: float) -> None:
    if len(people) != len(same):
        raise UsageError(f"{len(people)} labels have {len(same)} values of the judge; give one of each an item")
    if len(people) < 2 or len(rest) < 2:
        raise UsageError(f"there are {len(people)} labelled and {len(rest)} other items; it takes 2 of each")
    if not all(np.isfinite(column).all() for column in (people, same, rest)):
        raise UsageError("a value is not finite; leave the item out, at random as the labels are")
    if not 0 < level < 1 or (weight is not None and not 0 <= weight <= 1):
        raise UsageError(f"level is {level} and weight {weight}; between 0 and 1")
