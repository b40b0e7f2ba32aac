"""Compare systems on several measures: a verdict in words for each pair, and everything that it rests on.

Everything is paired by item. A pair is told apart by a p-value that allows for the number of pairs; equivalence by the
bootstrap interval of its difference; what neither settles is undecided, with the number of items that would.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix
from groundwire.core.types import Interval, Judgement
from groundwire.evaluation.bridge import bridged_comparison
from groundwire.evaluation.comparisons import (
    Comparison,
    MeasureComparison,
    Options,
    PairComparison,
    Standing,
    decided,
)
from groundwire.evaluation.decisions import more_items
from groundwire.evaluation.discrimination import discrimination
from groundwire.evaluation.distributions import tie_rates, tied
from groundwire.evaluation.effects import Effects, effect_sizes
from groundwire.evaluation.flips import tossed
from groundwire.evaluation.joins import Joined, join, judges_of, refuse_two_judges
from groundwire.evaluation.lengths import LengthControlled, length_controlled_each
from groundwire.evaluation.letters import grouping_letters
from groundwire.evaluation.permutation import (
    PairwiseTest,
    critical_difference,
    false_alarms,
    fewest_items,
    holm,
    randomised_tukey_hsd,
)
from groundwire.evaluation.resampling import Floats, edges, mean_error, resampled_means
from groundwire.evaluation.steps import settled
from groundwire.evaluation.tails import widened

_FEW = 0.8
"""A note is made where fewer than this share of the items are scored for all systems."""

Lengths = Mapping[tuple[str, str], float]


def compare(
    judgements: Sequence[Judgement],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    lengths: Lengths | None = None,
    options: Options | None = None,
) -> Comparison:
    """Compare all pairs of systems on every measure that they were judged by.

    Args:
        judgements: one a system, item and measure, in any order; joined by id. The judge is the same for a measure.
        clusters: item id -> what its items share (a document, a conversation); they are dealt and drawn together.
        lengths: (system, item id) -> length of the answer, for the difference at equal length.
        options: levels, margins, adjustment, draws and seed.

    Returns:
        A comparison a measure. A measure uses the items that all its systems have a value of; the others are counted.

    Raises:
        UsageError: there are fewer than 2 systems, two judges have judged one measure and no bridge is named, an item
            has no cluster or an answer no length, or an option is out of range.

    Source: the parts name theirs.
    """
    wanted = options or Options()
    systems = sorted({judgement.system for judgement in judgements})
    if len(systems) < 2:
        raise UsageError(f"there are judgements of {len(systems)} systems; a comparison takes 2 or more")
    measures = judges_of(judgements)
    wanted.check(tuple(measures))
    bridged: dict[str, MeasureComparison] = {}
    for measure, judges in measures.items():
        if wanted.bridge not in judges:
            refuse_two_judges(measure, judges)
        elif len(judges) > 1:
            group = [judgement for judgement in judgements if judgement.rubric == measure]
            bridged[measure] = bridged_comparison(group, options=wanted, clusters=clusters)
    tables = join([judgement for judgement in judgements if judgement.rubric not in bridged])
    _refuse_lost(tables, clusters)
    found = _compared(tables, clusters=clusters, lengths=lengths, options=wanted)
    compared = {one.measure: one for one in found} | bridged
    notes = [_absent(measure, judges, systems) for measure, judges in measures.items()]
    return Comparison(
        measures=tuple(compared[measure] for measure in measures),
        systems=tuple(systems),
        mismatches=tuple(mismatch for table in tables for mismatch in table.mismatches),
        notes=tuple(note for note in notes if note),
        options=wanted,
        tables=tables,
    )


def _absent(measure: str, judges: Mapping[str, tuple[str, ...]], systems: Sequence[str]) -> str:
    there = {system for judged in judges.values() for system in judged}
    absent = [system for system in systems if system not in there]
    return f"'{measure}' has no values of {', '.join(absent)}" if absent else ""


def _refuse_lost(tables: Sequence[Joined], clusters: Mapping[str, Hashable] | None) -> None:
    if clusters is None:
        return
    lost = sorted({item for table in tables for item in table.items} - clusters.keys())
    if lost:
        raise UsageError(f"{len(lost)} items have no cluster: {', '.join(lost[:5])}. Give every item one, or none.")


@dataclass(frozen=True, slots=True)
class _Worked:
    """A table with all that its pairs are read from; ``p`` is adjusted, ``draws`` are resampled means by system.

    ``family`` counts the pairs that share the false alarms.
    """

    table: Joined
    labels: tuple[Hashable, ...] | None
    test: PairwiseTest
    p: Matrix
    draws: Floats
    controlled: LengthControlled | None
    family: int


def _compared(
    tables: Sequence[Joined],
    *,
    clusters: Mapping[str, Hashable] | None,
    lengths: Lengths | None,
    options: Options,
) -> tuple[MeasureComparison, ...]:
    able = [table for table in tables if len(table.items) > 1 and len(table.systems) > 1]
    labels = [None if clusters is None else tuple(clusters[item] for item in table.items) for table in able]
    draws = _shared_draws(able, labels, options=options)
    adjusted = [None] * len(able) if lengths is None else _controlled(able, labels, lengths=lengths, options=options)
    worked = []
    for table, of_items, drawn, controlled in zip(able, labels, draws, adjusted, strict=True):
        test = randomised_tukey_hsd(
            table.values,
            clusters=of_items,
            permutations=options.permutations,
            level=options.level,
            seed=options.seed,
        )
        worked.append(_Worked(table, of_items, test, test.p, drawn, controlled, len(_pairs_of(table))))
    if options.adjust == "holm":
        worked = _holm(worked, options)
    found = {one.table.measure: _measured(one, options) for one in worked}
    return tuple(found.get(table.measure) or _nothing(table, options) for table in tables)


def _together(tables: Sequence[Joined], *, systems: bool) -> list[list[int]]:
    """Places of the tables that have the same items, and where asked the same systems."""
    found: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for place, table in enumerate(tables):
        found.setdefault((table.items, table.systems if systems else ()), []).append(place)
    return list(found.values())


def _shared_draws(
    tables: Sequence[Joined], labels: Sequence[tuple[Hashable, ...] | None], *, options: Options
) -> list[Floats]:
    """Resampled means of every system, a matrix a measure; measures of the same items see the same draws."""
    found: dict[int, Floats] = {}
    for places in _together(tables, systems=False):
        columns = np.concatenate([tables[place].values for place in places], axis=1)
        means = resampled_means(columns, clusters=labels[places[0]], resamples=options.resamples, seed=options.seed)
        ends = np.cumsum([len(tables[place].systems) for place in places])
        found |= dict(zip(places, np.split(means, ends[:-1], axis=1), strict=True))
    return [found[place] for place in range(len(tables))]


def _controlled(
    tables: Sequence[Joined],
    labels: Sequence[tuple[Hashable, ...] | None],
    *,
    lengths: Lengths,
    options: Options,
) -> list[LengthControlled | None]:
    """Differences at equal length; measures of the same answers see the same draws."""
    found: dict[int, LengthControlled] = {}
    for places in _together(tables, systems=True):
        table = tables[places[0]]
        lost = [(system, item) for item in table.items for system in table.systems if (system, item) not in lengths]
        if lost:
            system, item = lost[0]
            raise UsageError(f"{len(lost)} answers have no length, as that of system '{system}' to item '{item}'")
        each = length_controlled_each(
            [tables[place].values for place in places],
            lengths=np.array([[lengths[system, item] for system in table.systems] for item in table.items]),
            clusters=labels[places[0]],
            level=options.level,
            seed=options.seed,
        )
        found |= dict(zip(places, each, strict=True))
    return [found[place] for place in range(len(tables))]


def _holm(worked: Sequence[_Worked], options: Options) -> list[_Worked]:
    """Two-system tests in the place of the family's, adjusted over all pairs of all measures."""
    pairs = [(one, pair) for one in worked for pair in _pairs_of(one.table)]
    alone = [p for one in worked for p in _alone(one, options)]
    matrices = {one.table.measure: np.ones_like(one.p) for one in worked}
    for (one, (first, second)), p in zip(pairs, holm(alone), strict=True):
        matrix = matrices[one.table.measure]
        matrix[first, second] = matrix[second, first] = p
    return [replace(one, p=matrices[one.table.measure], family=len(pairs)) for one in worked]


def _alone(worked: _Worked, options: Options) -> list[float]:
    """The p of every pair by itself; the pairs share their tosses."""
    one, other = zip(*_pairs_of(worked.table), strict=True)
    values = worked.table.values
    differences = settled(values[:, list(one)] - values[:, list(other)], largest=float(np.abs(values).max()))
    p = tossed(differences, clusters=worked.labels, permutations=options.permutations, seed=options.seed)
    return [float(one) for one in p]


def _pairs_of(table: Joined) -> tuple[tuple[int, int], ...]:
    return tuple(combinations(range(len(table.systems)), 2))


def _measured(worked: _Worked, options: Options) -> MeasureComparison:
    table, test, labels, controlled = worked.table, worked.test, worked.labels, worked.controlled
    effects = effect_sizes(table.values)
    return MeasureComparison(
        measure=table.measure,
        judges=(table.judge,),
        how=test.how if options.adjust == "tukey" else "holm",
        permutations=test.permutations,
        standings=_standings(worked, options),
        pairs=tuple(_pair(worked, effects, pair=pair, options=options) for pair in _pairs_of(table)),
        items=len(table.items),
        clusters=len(table.items) if labels is None else len(set(labels)),
        left_out=_asked(table) - len(table.items),
        ties=tie_rates(table.values, tolerance=options.tolerance),
        power=discrimination(replace(test, p=worked.p)).power,
        threshold=test.threshold,
        length_slope=controlled.slope if controlled else None,
        notes=_notes(table),
    )


def _standings(worked: _Worked, options: Options) -> tuple[Standing, ...]:
    """Best first, ties by name."""
    table = worked.table
    means = table.values.mean(axis=0)
    sign = options.sign(table.measure)
    order = sorted(range(len(means)), key=lambda place: (-sign * means[place], table.systems[place]))
    letters = grouping_letters(np.asarray(worked.p < false_alarms(options.level)), order=order)
    around = edges(worked.draws, level=options.level)
    return tuple(
        Standing(
            system=table.systems[place],
            mean=_interval(float(means[place]), around[:, place], n=len(table.items), options=options),
            letters=letters[place],
            coverage=table.coverage[place],
        )
        for place in order
    )


def _pair(worked: _Worked, effects: Effects, *, pair: tuple[int, int], options: Options) -> PairComparison:
    table, (one, other) = worked.table, pair
    margin, sign = options.margin_of(table.measure), options.sign(table.measure)
    gaps = table.values[:, one] - table.values[:, other]
    same = tied(table.values[:, one], table.values[:, other], tolerance=options.tolerance)
    drawn = settled(worked.draws[:, one] - worked.draws[:, other], largest=float(np.abs(table.values).max()))
    units = len(gaps) if worked.labels is None else len(set(worked.labels))
    within = widened(2 * options.level - 1, clusters=units) if units > 1 else 1.0
    low, high = edges(drawn, level=within).tolist()
    mean, p = float(effects.difference[pair]), float(worked.p[pair])
    decision = decided(mean * sign, p, inner=(low, high), margin=margin, level=options.level)
    return PairComparison(
        measure=table.measure,
        one=table.systems[one],
        other=table.systems[other],
        decision=decision,
        difference=_interval(mean, edges(drawn, level=options.level), n=len(gaps), options=options),
        p=p,
        tail=float(worked.test.tail[pair]) if options.adjust == "tukey" else math.nan,
        d_z=float(effects.d_z[pair]),
        d_av=float(effects.d_av[pair]),
        tukey=float(effects.tukey[pair]),
        margin=margin,
        more=_more(gaps, worked, margin=margin, options=options) if decision == "undecided" else None,
        wins=int((gaps * sign > 0)[~same].sum()),
        ties=int(same.sum()),
        losses=int((gaps * sign < 0)[~same].sum()),
        at_equal_length=worked.controlled.between(one, other) if worked.controlled else None,
    )


def _more(gaps: Floats, worked: _Worked, *, margin: float | None, options: Options) -> int | None:
    """About how many more items would decide a pair, by the test that decides here."""
    found, table = mean_error(gaps.tolist(), clusters=worked.labels), worked.table
    if options.adjust == "holm":
        strict = 1 - (1 - options.level) / worked.family
        return more_items(found, margin=margin, level=strict, fewest=fewest_items(2, level=strict))
    return more_items(
        found,
        margin=margin,
        level=options.level,
        critical=critical_difference(worked.test, table.values, clusters=worked.labels),
        fewest=fewest_items(len(table.systems), level=options.level),
    )


def _interval(mean: float, around: Floats, *, n: int, options: Options) -> Interval:
    low, high = around.tolist()
    return Interval(mean=mean, low=low, high=high, n=n, unscored=0, level=options.level, seed=options.seed)


def _asked(table: Joined) -> int:
    one = table.coverage[0]
    return one.scored + one.unscored + one.missing + one.ambiguous


def _notes(table: Joined) -> tuple[str, ...]:
    asked = _asked(table)
    if len(table.items) >= _FEW * asked:
        return ()
    least = min(table.coverage, key=lambda one: (one.share, one.system))
    note = f"only {len(table.items)} of {asked} items are scored for all systems; {least.system} has the fewest values"
    return (f"{note}, {least.scored}",)


def _nothing(table: Joined, options: Options) -> MeasureComparison:
    """A measure that leaves nothing to compare, with the reason."""
    why = (
        f"only {len(table.items)} of {_asked(table)} items are scored for all systems; a comparison takes 2"
        if len(table.systems) > 1
        else f"only {table.systems[0]} has values"
    )
    empty = np.full(2, math.nan)
    return MeasureComparison(
        measure=table.measure,
        judges=(table.judge,),
        how="none",
        permutations=0,
        standings=tuple(
            Standing(one.system, _interval(math.nan, empty, n=0, options=options), letters="", coverage=one)
            for one in table.coverage
        ),
        pairs=(),
        items=len(table.items),
        clusters=0,
        left_out=_asked(table) - len(table.items),
        ties=None,
        power=math.nan,
        threshold=math.nan,
        length_slope=None,
        notes=(why,),
    )
