"""What people's labels say: whether people agree, with each other, with themselves and with a judge.

Also the means of systems that few labels and many values of a judge give together.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import get_args

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval, Judgement
from groundwire.evaluation.correlation import Correlation, Kind, correlation
from groundwire.evaluation.joins import judges_of, refuse_two_judges
from groundwire.evaluation.labels import Powered, powered_mean
from groundwire.evaluation.rater_agreement import Agreement, Scale, Weights, cohen, krippendorff
from groundwire.evaluation.resampling import cluster_numbers, drawn_weights, edges
from groundwire.evaluation.sheets import PREFERENCE, Label
from groundwire.evaluation.stats import bootstrap_interval

Unit = tuple[str, tuple[str, ...]]
"""An item and the system, or pair of systems, whose text was judged."""

_RESAMPLES = 1_000
_CHOICES = 5
"""Up to so many different values a kappa is given; on finer scales equal labels are chance."""


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One annotator's first and second answers to texts shown twice.

    ``same`` is the share of equal answers (0 to 1), ``apart`` the mean distance in points of 100; both with intervals
    by drawing items.
    """

    annotator: int
    same: Interval
    apart: Interval


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far people agree under one rubric.

    Attributes:
        rubric: its name.
        labels: first answers with a value, of all annotators; ``unscored`` had none.
        between: Krippendorff's coefficient, on an ordered scale (nominal for a preference).
        scale: of it.
        kappas: Cohen's kappa of two annotators, with quadratic weights on an ordered scale of few values: both
            numbers, and the coefficient with its interval by drawing items; n counts the texts that both labelled.
        itself: by annotator with repeats.
    """

    rubric: str
    labels: int
    unscored: int
    between: Agreement
    scale: Scale
    kappas: tuple[tuple[int, int, Interval], ...]
    itself: tuple[SelfAgreement, ...]


@dataclass(frozen=True, slots=True)
class PoweredOf:
    """A prediction-powered mean of one system, or difference of two; None with the reason where there is none."""

    systems: tuple[str, ...]
    found: Powered | None
    unscored: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge beside people under one rubric.

    ``correlations`` are Pearson's, Spearman's and Kendall's, by drawing items. ``powered`` are the means of the systems
    and the differences of their pairs, on 0 to 100; a preference has none.
    """

    rubric: str
    judge: str
    correlations: tuple[Correlation, ...]
    powered: tuple[PoweredOf, ...]


def rater_agreement(labels: Sequence[Label], *, level: float = 0.95, seed: int = 0) -> tuple[RaterAgreement, ...]:
    """How far annotators agree, a rubric each, in order of first appearance.

    Args:
        labels: as ``read_answers`` gives them; what was shown twice counts once between people, by its first answer.
        level: of the intervals.
        seed: of their 1,000 draws.
    """
    rubrics = dict.fromkeys(label.rubric for label in labels)
    return tuple(
        _agreement([label for label in labels if label.rubric == rubric], level=level, seed=seed) for rubric in rubrics
    )


def people_values(labels: Sequence[Label], rubric: str) -> dict[Unit, float | None]:
    """What people say of each text under a rubric: the mean of the annotators' first answers, 0 to 100, or None."""
    given: dict[Unit, list[float]] = {}
    for label in labels:
        if label.rubric == rubric and not label.repeat:
            values = given.setdefault((label.item_id, label.systems), [])
            if label.value is not None:
                values.append(label.value)
    return {unit: fmean(values) if values else None for unit, values in given.items()}


Clusters = Mapping[str, Hashable]


def judge_agreement(
    labels: Sequence[Label],
    judgements: Sequence[Judgement],
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[JudgeAgreement, ...]:
    """A judge beside people: under the rubrics that both have; preferences beside the judge's differences under each.

    Args:
        labels: of people.
        judgements: of one judge a rubric, also of items that nobody labelled.
        clusters: item id -> what its items share (a document, a conversation); drawn and counted together.
        level: of the intervals.
        seed: of the 1,000 draws of items.

    Raises:
        UsageError: no rubric has both, a rubric has two judges, a text has two values of it, or an item has no cluster.
    """
    for rubric, judges in judges_of(judgements).items():
        refuse_two_judges(rubric, judges)
    items = {one.item_id for one in judgements} | {label.item_id for label in labels}
    group = {item: item for item in items} if clusters is None else clusters
    lost = sorted(items - group.keys())
    if lost:
        raise UsageError(f"{len(lost)} items have no cluster: {', '.join(lost[:5])}. Give every item one, or none.")
    labelled = tuple(dict.fromkeys(label.rubric for label in labels))
    found = []
    for rubric, judges in judges_of(judgements).items():
        values = _values(judgements, rubric)
        asked = rubric if rubric in labelled else PREFERENCE if PREFERENCE in labelled else ""
        if not asked:
            continue
        people = people_values(labels, asked)
        correlations = _correlations(people, values, clusters=group, level=level, seed=seed)
        powered = _powered(people, values, clusters=clusters, level=level) if asked == rubric else ()
        found.append(JudgeAgreement(rubric, next(iter(judges)), correlations, powered))
    if not found:
        raise UsageError(
            f"people labelled {', '.join(labelled) or 'nothing'}, and the judge judged"
            f" {', '.join(judges_of(judgements)) or 'nothing'}: no rubric has both"
        )
    return tuple(found)


def _agreement(labels: Sequence[Label], *, level: float, seed: int) -> RaterAgreement:
    first = [label for label in labels if not label.repeat]
    annotators = sorted({label.annotator for label in labels})
    units: dict[Unit, dict[int, float | None]] = {}
    for label in first:
        units.setdefault((label.item_id, label.systems), {})[label.annotator] = label.value
    ratings = [[row.get(annotator) for annotator in annotators] for row in units.values()]
    few = len({label.value for label in first if label.value is not None}) <= _CHOICES
    nominal = labels[0].rubric == PREFERENCE
    scale: Scale = "nominal" if nominal else "ordinal" if few else "interval"
    items = [item for item, _ in units]
    columns = [[row[place] for row in ratings] for place in range(len(annotators))]
    return RaterAgreement(
        rubric=labels[0].rubric,
        labels=sum(label.value is not None for label in first),
        unscored=sum(label.value is None for label in first),
        between=krippendorff(ratings, scale=scale, level=level, seed=seed),
        scale=scale,
        kappas=tuple(
            (annotators[one], annotators[other],
             _kappa(columns[one], columns[other], items, weights="none" if nominal else "quadratic",
                    level=level, seed=seed))
            for one, other in combinations(range(len(annotators)), 2)
            if few or nominal
        ),
        itself=tuple(
            found for annotator in annotators if (found := _itself(labels, annotator, level=level, seed=seed))
        ),
    )  # fmt: skip


def _kappa(
    one: Sequence[float | None],
    other: Sequence[float | None],
    /,
    items: Sequence[str],
    *,
    weights: Weights,
    level: float,
    seed: int,
) -> Interval:
    """Cohen's kappa with its interval, items drawn whole; nan where no text was labelled by both."""
    both = [(a, b, item) for a, b, item in zip(one, other, items, strict=True) if a is not None and b is not None]
    value = low = high = math.nan
    if both:
        value = cohen([a for a, _, _ in both], [b for _, b, _ in both], weights=weights)
    of_item = cluster_numbers([item for *_, item in both], rows=len(both))
    clusters = int(of_item.max(initial=-1)) + 1
    if clusters > 1 and not math.isnan(value):
        draws = []
        for piece in drawn_weights(clusters, resamples=_RESAMPLES, seed=seed):
            for counts in piece:
                rows = np.repeat(np.arange(len(both)), counts[of_item]).tolist()
                draws.append(cohen([both[row][0] for row in rows], [both[row][1] for row in rows], weights=weights))
        known = np.array([draw for draw in draws if not math.isnan(draw)])
        low, high = edges(known, level=level).tolist()
    return Interval(value, low, high, n=len(both), unscored=len(one) - len(both), level=level, seed=seed)


def _itself(labels: Sequence[Label], annotator: int, *, level: float, seed: int) -> SelfAgreement | None:
    """First against second answers of one annotator; None where nothing was shown twice."""
    own = [label for label in labels if label.annotator == annotator]
    first = {(label.item_id, label.systems): label.value for label in own if not label.repeat}
    gaps: list[float | None] = []
    items = []
    for label in own:
        if label.repeat:
            before = first[label.item_id, label.systems]
            gaps.append(None if before is None or label.value is None else abs(label.value - before))
            items.append(label.item_id)
    if not gaps:
        return None
    same = [None if gap is None else float(gap == 0) for gap in gaps]
    return SelfAgreement(
        annotator,
        bootstrap_interval(same, clusters=items, level=level, resamples=_RESAMPLES, seed=seed),
        bootstrap_interval(gaps, clusters=items, level=level, resamples=_RESAMPLES, seed=seed),
    )


def _values(judgements: Sequence[Judgement], rubric: str) -> dict[tuple[str, str], float | None]:
    values: dict[tuple[str, str], float | None] = {}
    for one in judgements:
        if one.rubric == rubric:
            place = (one.item_id, one.system)
            if values.setdefault(place, one.value) != one.value:
                raise UsageError(f"'{rubric}' has two values of system '{one.system}' for item '{one.item_id}'")
    return values


def _correlations(
    people: Mapping[Unit, float | None],
    values: Mapping[tuple[str, str], float | None],
    *,
    clusters: Clusters,
    level: float,
    seed: int,
) -> tuple[Correlation, ...]:
    judged = [_of_unit(unit, values) for unit in people]
    groups = [clusters[item] for item, _ in people]
    return tuple(
        correlation(list(people.values()), judged, kind=kind, clusters=groups, level=level, seed=seed)
        for kind in get_args(Kind)
    )


def _of_unit(unit: Unit, values: Mapping[tuple[str, str], float | None]) -> float | None:
    """The judge's value of a text, or its difference of a pair, first less second."""
    item, systems = unit
    found = [values.get((item, system)) for system in systems]
    known = [value for value in found if value is not None]
    if len(known) < len(found):
        return None
    return _less(known)


def _powered(
    people: Mapping[Unit, float | None],
    values: Mapping[tuple[str, str], float | None],
    *,
    clusters: Clusters | None,
    level: float,
) -> tuple[PoweredOf, ...]:
    systems = sorted({system for _, (system, *_) in people})
    units = [(system,) for system in systems] + list(combinations(systems, 2))
    return tuple(_powered_of(unit, people, values, clusters=clusters, level=level) for unit in units)


def _powered_of(
    systems: tuple[str, ...],
    people: Mapping[Unit, float | None],
    values: Mapping[tuple[str, str], float | None],
    *,
    clusters: Clusters | None,
    level: float,
) -> PoweredOf:
    """A mean or a difference, over the items that the judge has a value of for every system named."""
    judged = {
        item: [values.get((item, system)) for system in systems] for item in dict.fromkeys(item for item, _ in values)
    }
    shown = {item for item in judged if all((item, (system,)) in people for system in systems)}
    said: dict[str, list[float]] = {}
    known: dict[str, list[float]] = {}
    for item, row in judged.items():
        values_of = [value for value in row if value is not None]
        given = [value for system in systems if (value := people.get((item, (system,)))) is not None]
        if len(values_of) == len(row) and (item not in shown or len(given) == len(systems)):
            known[item] = values_of
            if item in shown:
                said[item] = given
    lost = len(judged) - len(known)
    rest = [item for item in known if item not in said]
    kinds = [len(kind if clusters is None else {clusters[item] for item in kind}) for kind in (said, rest)]
    if min(kinds) < 2:
        unit = "items" if clusters is None else "clusters"
        why = f"{kinds[0]} {unit} have labels and {kinds[1]} others a value of the judge; it takes 2 of each"
        return PoweredOf(systems, None, lost, why)
    found = powered_mean(
        [_less(row) for row in said.values()],
        [_less(known[item]) for item in said],
        unlabelled=[_less(known[item]) for item in rest],
        clusters=None if clusters is None else ([clusters[one] for one in said], [clusters[one] for one in rest]),
        level=level,
    )
    return PoweredOf(systems, found, lost)


def _less(row: Sequence[float]) -> float:
    """The value of one system, or the difference of two, first less second."""
    return row[0] - row[1] if len(row) > 1 else row[0]
