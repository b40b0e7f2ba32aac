"""Means with their intervals: percentile bootstrap, clustered where rows belong together, and tables of judgements.

Source: percentile bootstrap as in Efron and Tibshirani 1993, chapter 13.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval, Judgement, Outcome

Kind = TypeVar("Kind", bound=str)

_CHUNK = 200_000
"""Random indices drawn at a time: 0.8 MB, so that they stay in the cache of one core."""


def bootstrap_interval(
    values: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Mean of the scored values with its percentile bootstrap interval.

    Args:
        values: None is unscored: left out of the mean, counted in the result.
        clusters: one label a value; whole clusters are drawn, so rows of one question or document stay together.
        level: 0.95 leaves 2.5 % of the resampled means on either side.
        resamples: how many times a sample is drawn (B).
        seed: of the generator that draws; it is part of the result.

    Returns:
        The interval. ``mean`` is nan without a scored value; ``low`` and ``high`` are nan with fewer than two clusters
        (without labels: values) that hold a scored value, since one draw says nothing about spread.

    Raises:
        ValueError: a value is not finite, there is not one label a value, level is not between 0 and 1, or resamples
            is below 1.
    """
    _check_request(values, clusters, level=level, resamples=resamples)
    labels = range(len(values)) if clusters is None else clusters
    sums: dict[Hashable, float] = {}
    counts: Counter[Hashable] = Counter()
    for value, label in zip(values, labels, strict=True):
        if value is not None:
            sums[label] = sums.get(label, 0.0) + value
            counts[label] += 1
    n = counts.total()
    mean = math.fsum(value for value in values if value is not None) / n if n else math.nan
    low = high = math.nan
    if len(sums) > 1:
        drawn = _resampled_means(
            np.array(list(sums.values())),
            np.array(list(counts.values())),
            resamples=resamples,
            rng=np.random.default_rng(seed),
        )
        low, high = (float(edge) for edge in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return Interval(mean=mean, low=low, high=high, n=n, unscored=len(values) - n, level=level, seed=seed)


def paired_difference(
    values: Sequence[float | None],
    others: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Mean of ``values`` minus ``others``, pair by pair, with its percentile bootstrap interval.

    A pair counts where both are scored; the others are counted as unscored. The rest is as in ``bootstrap_interval``.

    Raises:
        ValueError: there are not as many values as others, or as ``bootstrap_interval`` says.
    """
    if len(values) != len(others):
        raise ValueError(f"{len(values)} values cannot be paired with {len(others)} others; give one of each a row")
    _check_request(values, clusters, level=level, resamples=resamples)
    _check_request(others, clusters, level=level, resamples=resamples)
    differences = [
        None if one is None or other is None else one - other for one, other in zip(values, others, strict=True)
    ]
    return bootstrap_interval(differences, clusters=clusters, level=level, resamples=resamples, seed=seed)


def holds_zero(difference: Interval) -> bool | None:
    """Whether the interval of a difference holds 0; None where there is no interval to tell by."""
    return None if math.isnan(difference.low) else difference.low <= 0 <= difference.high


def in_words(difference: Interval, other: str) -> str:
    """What an interval of a difference to ``other`` allows to say."""
    zero = holds_zero(difference)
    if zero is None:
        return f"undecided against {other}: too few clusters"
    if zero:
        return f"no difference from {other}"
    return f"{'above' if difference.low > 0 else 'below'} {other}"


def _check_request(
    values: Sequence[float | None], clusters: Sequence[Hashable] | None, *, level: float, resamples: int
) -> None:
    for place, value in enumerate(values):
        if value is not None and not math.isfinite(value):
            raise ValueError(f"value {place} is {value}; give None for what could not be scored")
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(values)} values have {len(clusters)} cluster labels; give one label a value")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it lies between 0 and 1, both excluded")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; draw at least 1")


def _resampled_means(
    sums: NDArray[np.float64], counts: NDArray[np.int64], *, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Means of samples of clusters drawn with replacement; shape (resamples,)."""
    clusters = len(sums)
    rows = max(1, _CHUNK // clusters)
    means = np.empty(resamples)
    one_each = bool((counts == 1).all())
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        drawn = rng.integers(0, clusters, size=(stop - start, clusters), dtype=np.int32)
        weight = clusters if one_each else counts[drawn].sum(axis=1)
        means[start:stop] = sums[drawn].sum(axis=1) / weight
    return means


@dataclass(frozen=True, slots=True)
class Summary:
    """One system under one rubric.

    ``outcomes`` and ``reasons`` count every judgement, most frequent first; ``wrong_refusals`` counts abstentions
    where the reference shows that there was an answer.
    """

    rubric: str
    system: str
    interval: Interval
    outcomes: tuple[tuple[Outcome, int], ...]
    reasons: tuple[tuple[str, int], ...]
    wrong_refusals: int
    judge: str

    @property
    def coverage(self) -> float:
        """Share of the judgements that have a value, 0 to 1."""
        return self.interval.n / (self.interval.n + self.interval.unscored)

    @property
    def mean_counting_refusals(self) -> float:
        """The mean with 0 for each wrong refusal, so that staying silent on hard questions does not pay; or nan."""
        n = self.interval.n + self.wrong_refusals
        if not n:
            return math.nan
        return (self.interval.mean * self.interval.n if self.interval.n else 0.0) / n


def summarise(
    judgements: Sequence[Judgement],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[Summary, ...]:
    """Mean, interval, coverage and outcome counts of every rubric and system, in that order of first appearance.

    Args:
        judgements: of one judge for each rubric.
        clusters: item id -> what its rows share (a document, a conversation); without it every item stands alone.
        level: of the intervals.
        resamples: draws for each interval.
        seed: the same for every interval, so that systems on the same items see the same draws.

    Raises:
        UsageError: one rubric was judged by two judges, one item was judged twice, or an item has no cluster.
    """
    rubrics = dict.fromkeys(judgement.rubric for judgement in judgements)
    systems = dict.fromkeys(judgement.system for judgement in judgements)
    groups: dict[tuple[str, str], list[Judgement]] = {(rubric, system): [] for rubric in rubrics for system in systems}
    for judgement in judgements:
        groups[judgement.rubric, judgement.system].append(judgement)
    for rubric in rubrics:
        _refuse_two_judges(rubric, {judgement.judge for judgement in judgements if judgement.rubric == rubric})
    return tuple(
        _summary(group, clusters=clusters, level=level, resamples=resamples, seed=seed)
        for group in groups.values()
        if group
    )


def _refuse_two_judges(rubric: str, judges: set[str]) -> None:
    if len(judges) > 1:
        raise UsageError(
            f"'{rubric}' was judged by {len(judges)} judges ({', '.join(sorted(judges))}), whose values are not on one "
            "scale. Summarise each judge's values alone, or judge all items with one of them."
        )


def _summary(
    group: Sequence[Judgement],
    *,
    clusters: Mapping[str, Hashable] | None,
    level: float,
    resamples: int,
    seed: int,
) -> Summary:
    first = group[0]
    ids = [judgement.item_id for judgement in group]
    twice = sorted(name for name, times in Counter(ids).items() if times > 1)
    if twice:
        raise UsageError(f"'{first.rubric}' has two values of system '{first.system}' for: {', '.join(twice[:5])}")
    lost = sorted(set(ids) - clusters.keys()) if clusters is not None else []
    if lost:
        raise UsageError(f"{len(lost)} items have no cluster: {', '.join(lost[:5])}. Give every item one, or none.")
    return Summary(
        rubric=first.rubric,
        system=first.system,
        interval=bootstrap_interval(
            [judgement.value for judgement in group],
            clusters=None if clusters is None else [clusters[name] for name in ids],
            level=level,
            resamples=resamples,
            seed=seed,
        ),
        outcomes=_counted([judgement.outcome for judgement in group]),
        reasons=_counted([judgement.reason for judgement in group if judgement.value is None]),
        wrong_refusals=sum(("answerable", 1.0) in judgement.parts for judgement in group if judgement.value is None),
        judge=first.judge,
    )


def _counted(found: Sequence[Kind]) -> tuple[tuple[Kind, int], ...]:
    return tuple(sorted(Counter(found).items(), key=lambda pair: (-pair[1], pair[0])))
