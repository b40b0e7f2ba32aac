"""Compare systems that different judges have judged, on the scale of one of them, through items that both have judged.

The other judge's values stand for the first one's, corrected by the error seen on the items that both have judged: the
prediction-powered difference with judges in the place of people. It holds where these items were drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval, Judgement
from groundwire.evaluation.comparisons import MeasureComparison, Options, PairComparison, Standing, decided
from groundwire.evaluation.distributions import tied
from groundwire.evaluation.joins import Coverage
from groundwire.evaluation.labels import Powered, powered_mean
from groundwire.evaluation.letters import grouping_letters
from groundwire.evaluation.permutation import false_alarms, holm

FEWEST = 20
"""Items, or clusters of them, that both judges must have judged; fewer do not show how the judges differ."""

_HOLDS = "which holds where those were drawn at random"

Values = Mapping[str, float]
Pair = tuple[str, str]
Clusters = Mapping[str, Hashable]


def bridged_comparison(
    judgements: Sequence[Judgement], *, options: Options, clusters: Clusters | None = None
) -> MeasureComparison:
    """Compare all pairs of systems under one measure on the scale of the judge ``options.bridge``.

    Each system is taken by the judge that has judged most of its items. p-values are those of the corrected difference,
    adjusted by Holm over the pairs; wins, ties and losses are those of the items that the first judge has judged.

    Args:
        judgements: of one measure, by two judges or more.
        options: level, margins, directions, and the judge.
        clusters: item id -> what its items share; these are then the independent units.

    Raises:
        UsageError: a system or a pair has too few items or clusters that both judges have judged, an item was judged
            twice, or an item has no cluster.

    Source: labels.py names those of the difference.
    """
    reference = options.bridge or ""
    measure = judgements[0].rubric
    asked = {judgement.item_id for judgement in judgements}
    _refuse_lost(asked, clusters)
    values = _values(judgements)
    systems = sorted({judgement.system for judgement in judgements})
    on_scale = {system: values.get((system, reference), {}) for system in systems}
    own = {system: _own_judge(values, system, reference=reference) for system in systems}
    as_judged = {system: values[system, own[system]] for system in systems}
    found = _differences(on_scale, as_judged, level=options.level, clusters=clusters)
    p = dict(zip(found, holm([powered.p for powered in found.values()]), strict=True))
    used = max(powered.labels + powered.judged for powered in found.values())
    return MeasureComparison(
        measure=measure,
        judges=tuple(sorted({judgement.judge for judgement in judgements})),
        how="bridged",
        permutations=0,
        standings=_standings(
            judgements,
            p,
            means=_means(on_scale, as_judged, clusters=clusters, options=options),
            own=own,
            options=options,
        ),
        pairs=tuple(
            _pair(measure, pair, powered, p=p[pair], on_scale=on_scale, options=options)
            for pair, powered in found.items()
        ),
        items=used,
        clusters=used if clusters is None else len({clusters[item] for item in asked}),
        left_out=len(asked) - used,
        ties=None,
        power=float(np.mean([chance < false_alarms(options.level) for chance in p.values()])),
        threshold=math.nan,
        length_slope=None,
        notes=(f"brought to the scale of '{reference}' through items that both judges have judged, {_HOLDS}",),
    )


def _differences(
    on_scale: Mapping[str, Values], as_judged: Mapping[str, Values], *, level: float, clusters: Clusters | None
) -> dict[Pair, Powered]:
    """The corrected difference of every pair of systems, in order of their names."""
    return {
        pair: _corrected(
            _less(on_scale, pair), _less(as_judged, pair), what=" and ".join(pair), level=level, clusters=clusters
        )
        for pair in combinations(on_scale, 2)
    }


def _values(judgements: Sequence[Judgement]) -> dict[Pair, dict[str, float]]:
    """(system, judge) -> item id -> value."""
    found: dict[Pair, dict[str, float]] = {}
    seen: set[tuple[str, str, str]] = set()
    for one in judgements:
        key = (one.system, one.judge, one.item_id)
        if key in seen:
            raise UsageError(f"'{one.judge}' has two values of item '{one.item_id}' of system '{one.system}'; keep one")
        seen.add(key)
        rows = found.setdefault((one.system, one.judge), {})
        if one.value is not None:
            rows[one.item_id] = one.value
    return found


def _own_judge(values: Mapping[Pair, Values], system: str, *, reference: str) -> str:
    judges = [judge for judged, judge in values if judged == system]
    return min(judges, key=lambda judge: (-len(values[system, judge]), judge != reference, judge))


def _less(values: Mapping[str, Values], pair: Pair) -> Values:
    one, other = (values[system] for system in pair)
    return {item: one[item] - other[item] for item in one.keys() & other.keys()}


def _refuse_lost(items: set[str], clusters: Clusters | None) -> None:
    lost = sorted(items - clusters.keys()) if clusters is not None else []
    if lost:
        raise UsageError(f"{len(lost)} items have no cluster: {', '.join(lost[:5])}. Give every item one, or none.")


def _corrected(labels: Values, judged: Values, *, what: str, level: float, clusters: Clusters | None) -> Powered:
    both, rest = sorted(labels.keys() & judged.keys()), sorted(judged.keys() - labels.keys())
    units, unit = (len(both), "items") if clusters is None else (len({clusters[item] for item in both}), "clusters")
    if units < FEWEST:
        raise UsageError(
            f"both judges have judged {units} {unit} of {what}; a bridge takes {FEWEST} or more, drawn at random. "
            "Judge some with the judge that is bridged to."
        )
    people, same = [labels[item] for item in both], [judged[item] for item in both]
    of_both, of_rest = ([one if clusters is None else clusters[one] for one in items] for items in (both, rest))
    if len(set(of_rest)) < 2:
        groups = None if clusters is None else (of_both, of_both)
        return powered_mean(people, same, unlabelled=same, clusters=groups, weight=0.0, level=level)
    groups = None if clusters is None else (of_both, of_rest)
    return powered_mean(people, same, unlabelled=[judged[item] for item in rest], clusters=groups, level=level)


def _interval(powered: Powered, options: Options) -> Interval:
    n = powered.labels + (powered.judged if powered.weight else 0)
    return Interval(
        mean=powered.mean, low=powered.low, high=powered.high, n=n, unscored=0, level=options.level, seed=options.seed
    )


def _means(
    on_scale: Mapping[str, Values],
    as_judged: Mapping[str, Values],
    *,
    clusters: Clusters | None,
    options: Options,
) -> Mapping[str, Interval]:
    return {
        system: _interval(
            _corrected(on_scale[system], as_judged[system], what=system, level=options.level, clusters=clusters),
            options,
        )
        for system in sorted(on_scale)
    }


def _standings(
    judgements: Sequence[Judgement],
    p: Mapping[Pair, float],
    *,
    means: Mapping[str, Interval],
    own: Mapping[str, str],
    options: Options,
) -> tuple[Standing, ...]:
    systems = sorted(own)
    sign = options.sign(judgements[0].rubric)
    order = sorted(range(len(systems)), key=lambda place: (-sign * means[systems[place]].mean, systems[place]))
    told_apart = np.zeros((len(systems), len(systems)), dtype=bool)
    for (one, other), chance in p.items():
        places = systems.index(one), systems.index(other)
        told_apart[places] = told_apart[places[::-1]] = chance < false_alarms(options.level)
    letters = grouping_letters(told_apart, order=order)
    return tuple(
        Standing(
            system=systems[place],
            mean=means[systems[place]],
            letters=letters[place],
            coverage=_coverage(judgements, systems[place], own[systems[place]]),
        )
        for place in order
    )


def _coverage(judgements: Sequence[Judgement], system: str, judge: str) -> Coverage:
    asked = {one.item_id for one in judgements}
    rows = [one.value for one in judgements if (one.system, one.judge) == (system, judge)]
    unscored = rows.count(None)
    return Coverage(
        system=system,
        scored=len(rows) - unscored,
        unscored=unscored,
        missing=len(asked) - len(rows),
        ambiguous=0,
    )


def _pair(
    measure: str, pair: Pair, powered: Powered, *, p: float, on_scale: Mapping[str, Values], options: Options
) -> PairComparison:
    margin, sign = options.margin_of(measure), options.sign(measure)
    inner = powered.around(2 * options.level - 1)
    gaps = np.array(list(_less(on_scale, pair).values()))
    same = tied(gaps, np.zeros(len(gaps)), tolerance=options.tolerance)
    return PairComparison(
        measure=measure,
        one=pair[0],
        other=pair[1],
        decision=decided(powered.mean * sign, p, inner=inner, margin=margin, level=options.level),
        difference=_interval(powered, options),
        p=p,
        tail=math.nan,
        d_z=math.nan,
        d_av=math.nan,
        tukey=math.nan,
        margin=margin,
        more=None,
        wins=int((gaps * sign > 0)[~same].sum()),
        ties=int(same.sum()),
        losses=int((gaps * sign < 0)[~same].sum()),
        at_equal_length=None,
    )
