"""The figures of a report: from a comparison and its values to titles, drawings and what stands beneath them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.ports import Matrix
from groundwire.core.types import Judgement
from groundwire.evaluation.comparisons import MeasureComparison, Options, PairComparison, p_in_words
from groundwire.evaluation.correlation import correlation_matrix
from groundwire.evaluation.discrimination import doubled_sizes, power_curve
from groundwire.evaluation.joins import Joined
from groundwire.evaluation.repeats import VarianceParts, variance_parts
from groundwire.flow import figures_svg as draw
from groundwire.flow.comparing import Compared
from groundwire.flow.comparison_exports import decimals

BINS = 40
SAMPLES, PERMUTATIONS = 5, 100
"""Of the curve of power, which is drawn to be looked at; the verdicts rest on the whole test."""

_FEW_ITEMS = 500
MOST_CORRELATED = 2_000
"""Answers up to which the correlations get intervals."""

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its title and what stands beneath it."""

    title: str
    svg: str
    note: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A measure with its values, where it has one table of them, and what its figures are worded with.

    ``span`` is the axis of the values, ``top`` the highest value there can be.
    """

    measure: MeasureComparison
    table: Joined
    span: tuple[float, float]
    options: Options
    words: Words

    @property
    def level(self) -> str:
        """The level of intervals in words."""
        return f"{100 * self.options.level:.4g} %"

    def column(self, system: str) -> Matrix:
        """The values of a system, by item."""
        return self.table.values[:, self.table.systems.index(system)]


def span_of(table: Joined) -> tuple[float, float]:
    """The axis of a measure: 0 to 1, 0 to 100, or from the least to the largest value."""
    low, high = float(table.values.min()), float(table.values.max())
    if low >= 0 and high <= 100 and not 1 < high <= 10:
        return 0.0, 1.0 if high <= 1 else 100.0
    return low, high if high > low else low + 1.0


def figures_of(scene: Scene, lengths: Mapping[tuple[str, str], float] | None) -> tuple[Figure, ...]:
    """All figures of a measure that has pairs."""
    sizes = _sizes(len(scene.table.items))
    found = [_values(scene), _forest(scene), _heat(scene), _ties(scene)]
    if sizes:
        found.append(_power(scene, sizes))
    if lengths is not None:
        found.append(_length(scene, lengths))
    return tuple(found)


def _sizes(items: int) -> tuple[int, ...]:
    """Numbers of items for the curve, below all of them: doubling, or where there are many, fourfold."""
    return doubled_sizes(items)[: -1 : 1 if items <= _FEW_ITEMS else 2]


def _ceiling(scene: Scene) -> dict[str, float]:
    return {one.system: float((scene.column(one.system) >= scene.span[1]).mean()) for one in scene.measure.standings}


def _values(scene: Scene) -> Figure:
    rows = []
    for one in scene.measure.standings:
        counts, _ = np.histogram(scene.column(one.system), bins=BINS, range=scene.span)
        rows.append(draw.Spread(one.system, tuple(counts.tolist()), one.mean.mean, one.mean.low, one.mean.high))
    title = scene.words["fig_values"]
    ceiling = ", ".join(f"{name} {share:.1%}" for name, share in _ceiling(scene).items())
    note = scene.words["fig_values_note"].format(bins=BINS, level=scene.level, ceiling=ceiling)
    told = "; ".join(f"{row.name} {row.mean:.4g} [{row.low:.4g}, {row.high:.4g}]" for row in rows)
    return Figure(title, draw.histograms(title, rows, span=scene.span, unit=scene.measure.measure, told=told), note)


def _kind(pair: PairComparison) -> str:
    return {"better": "told", "worse": "told"}.get(pair.decision, pair.decision)


def _forest(scene: Scene) -> Figure:
    rows = [
        draw.Estimate(f"{one.one} − {one.other}", one.difference.mean, one.difference.low, one.difference.high,
                      _kind(one))
        for one in scene.measure.pairs
    ]  # fmt: skip
    margin = scene.options.margin_of(scene.measure.measure)
    title, unit = scene.words["fig_forest"], f"{scene.words['difference']}, {scene.measure.measure}"
    note = scene.words["fig_forest_note"].format(level=scene.level)
    if margin is not None:
        note += scene.words["fig_forest_margin"].format(margin=f"{margin:g}")
    told = "; ".join(f"{row.label} {row.mean:+.3g} [{row.low:.3g}, {row.high:.3g}]" for row in rows)
    return Figure(title, draw.forest(title, rows, margin=margin, unit=unit, told=told), note)


def _heat(scene: Scene) -> Figure:
    names = [one.system for one in scene.measure.standings]
    places = decimals(scene.measure)
    most = max((abs(one.difference.mean) for one in scene.measure.pairs), default=0.0) or 1.0
    cells = [[draw.Cell((), math.nan) for _ in names] for _ in names]
    for pair in scene.measure.pairs:
        p = p_in_words(pair.p).removeprefix("p ").removeprefix("= ")
        for one, other, gap in (
            (pair.one, pair.other, pair.difference.mean),
            (pair.other, pair.one, -pair.difference.mean),
        ):
            cells[names.index(one)][names.index(other)] = draw.Cell((f"{gap:+z.{places}f}", p), gap / most)
    title = scene.words["fig_heat"]
    told = "; ".join(f"{one.one} − {one.other} {one.difference.mean:+.3g}, {p_in_words(one.p)}"
                     for one in scene.measure.pairs)  # fmt: skip
    return Figure(title, draw.heat_map(title, names, cells=cells, told=told), scene.words["fig_heat_note"])


def _power(scene: Scene, sizes: Sequence[int]) -> Figure:
    options, measure = scene.options, scene.measure
    points = power_curve(
        scene.table.values, sizes=sizes, samples=SAMPLES, permutations=PERMUTATIONS, level=options.level,
        seed=options.seed,
    )  # fmt: skip
    title = scene.words["fig_power"]
    note = scene.words["fig_power_note"].format(
        samples=SAMPLES, permutations=PERMUTATIONS, seed=options.seed, level=scene.level, power=f"{measure.power:.0%}",
        threshold=f"{measure.threshold:.3g}" if math.isfinite(measure.threshold) else "–",
    )  # fmt: skip
    drawn = [(float(one.items), one.power, one.low, one.high) for one in points]
    drawn.append((float(measure.items), measure.power, measure.power, measure.power))
    told = "; ".join(f"{point[0]:g}: {point[1]:.0%}" for point in drawn)
    return Figure(title, draw.curve(title, drawn, unit=scene.words["items_axis"], told=told), note)


def _ties(scene: Scene) -> Figure:
    words, ties = scene.words, scene.measure.ties
    rows = []
    if ties is not None:
        rows = [(words["tied_pairs"], ties.rate, f"{ties.rate:.1%}"),
                (words["tied_all"], ties.all_tied, f"{ties.all_tied:.1%}")]  # fmt: skip
    rows += [(words["ceiling_of"].format(one=name), share, f"{share:.1%}") for name, share in _ceiling(scene).items()]
    title = words["fig_ties"]
    note = words["fig_ties_note"].format(tolerance=f"{scene.options.tolerance:g}", top=f"{scene.span[1]:g}")
    told = "; ".join(f"{name} {shown}" for name, _, shown in rows)
    return Figure(title, draw.bars(title, rows, told=told), note)


def _length(scene: Scene, lengths: Mapping[tuple[str, str], float]) -> Figure:
    table = scene.table
    long = np.array([[lengths[system, item] for system in table.systems] for item in table.items], dtype=np.float64)
    powers = np.log2(np.maximum(long, 1.0)).ravel()
    across = (float(powers.min()), float(max(powers.max(), powers.min() + 1)))
    counts, _, _ = np.histogram2d(powers, np.asarray(table.values).ravel(), bins=(32, 20), range=(across, scene.span))
    slope, places = scene.measure.length_slope, decimals(scene.measure)
    said = "–"
    if slope is not None and math.isfinite(slope.mean):
        said = f"{slope.mean:+z.{places}f} [{slope.low:z.{places}f}, {slope.high:z.{places}f}]"
    title, words = scene.words["fig_length"], scene.words
    note = words["fig_length_note"].format(n=f"{long.size:,}", slope=said)
    svg = draw.density(
        title, counts.astype(int).tolist(), spans=(across, scene.span),
        units=(words["tokens_axis"], scene.measure.measure), told=note,
    )  # fmt: skip
    return Figure(title, svg, note)


def correlations(tables: Sequence[Joined], options: Options, *, words: Words) -> Figure | None:
    """How measures go together, over the answers that have a value of all of them; None with fewer than two."""
    if len(tables) < 2:
        return None
    every, both, columns = _side_by_side(tables)
    if len(both) < 3:
        return None
    few = len(both) <= MOST_CORRELATED
    found = correlation_matrix(
        columns,
        clusters=[item for _, item in both] if few else [""] * len(both),  # one cluster: nothing is drawn
        level=options.level,
        seed=options.seed,
    )
    cells = [[_correlated(found.values, found.low, found.high, place=(row, column), few=few)
              for column in range(len(tables))] for row in range(len(tables))]  # fmt: skip
    level = f"{100 * options.level:.4g} %"
    said = words["with_intervals"].format(level=level, seed=options.seed)
    if not few:
        said = words["without_intervals"].format(most=f"{MOST_CORRELATED:,}")
    title = words["fig_correlation"]
    note = words["fig_correlation_note"].format(n=f"{len(both):,}", left_out=f"{every - len(both):,}",
                                                intervals=said)  # fmt: skip
    told = "; ".join(f"{one} × {other} {found.values[row, column]:.2f}"
                     for row, one in enumerate(found.names) for column, other in enumerate(found.names)
                     if row < column)  # fmt: skip
    return Figure(title, draw.heat_map(title, found.names, cells=cells, told=told), note)


def _side_by_side(tables: Sequence[Joined]) -> tuple[int, list[tuple[str, str]], dict[str, list[float]]]:
    """How many answers have a value of any measure, the (system, item) of those that have all, and their values."""
    first = tables[0]
    if all((one.systems, one.items) == (first.systems, first.items) for one in tables):
        both = [(system, item) for system in first.systems for item in first.items]
        return len(both), both, {one.measure: one.values.T.ravel().tolist() for one in tables}
    by_measure = [
        {(system, item): float(value) for item, row in zip(table.items, table.values.tolist(), strict=True)
         for system, value in zip(table.systems, row, strict=True)}
        for table in tables
    ]  # fmt: skip
    every = {place for held in by_measure for place in held}
    both = sorted(set.intersection(*(set(held) for held in by_measure)))
    return len(every), both, {
        table.measure: [held[place] for place in both] for table, held in zip(tables, by_measure, strict=True)
    }  # fmt: skip


def _correlated(values: Matrix, low: Matrix, high: Matrix, *, place: tuple[int, int], few: bool) -> draw.Cell:
    if place[0] == place[1]:
        return draw.Cell((), math.nan)
    value = float(values[place])
    if math.isnan(value):
        return draw.Cell(("–",), 0.0)
    lines = (f"{value:+.2f}", *((f"{low[place]:.2f}…{high[place]:.2f}",) if few else ()))
    return draw.Cell(lines, value)


def judged_again(judgements: Sequence[Judgement]) -> frozenset[str]:
    """Measures of which an answer was judged more than once."""
    places = [(one.rubric, one.system, one.item_id) for one in judgements]
    if len(set(places)) == len(places):
        return frozenset()
    return frozenset(rubric for (rubric, _, _), count in Counter(places).items() if count > 1)


def variance_figure(measure: str, judgements: Sequence[Judgement], *, words: Words) -> Figure | None:
    """How the variance of the values of a measure splits; None where fewer than two answers were judged in full."""
    found = _variance(measure, judgements)
    if found is None:
        return None
    rows = [(words["part_" + name.replace(" ", "_")], share, f"{share:.1%}") for name, share in found.shares]
    title = words["fig_variance"]
    note = words["fig_variance_note"].format(
        items=f"{found.items:,}", judges=found.judges, repeats=found.repeats, left_out=f"{found.left_out:,}",
        reliability=f"{found.reliability:.2f}", note=found.note,
    )  # fmt: skip
    told = "; ".join(f"{name} {shown}" for name, _, shown in rows)
    return Figure(title, draw.bars(title, rows, told=told), note)


def _variance(measure: str, judgements: Sequence[Judgement]) -> VarianceParts | None:
    """From the answers that all judges have judged as often as the most often judged one."""
    held: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in judgements:
        if one.rubric == measure:
            value = math.nan if one.value is None else one.value
            held[one.system, one.item_id][one.judge].append(value)
    judges = sorted({judge for by_judge in held.values() for judge in by_judge})
    repeats = max((len(found) for by_judge in held.values() for found in by_judge.values()), default=0)
    table = np.full((len(held), len(judges), repeats), math.nan)
    for row, place in enumerate(sorted(held)):
        for column, judge in enumerate(judges):
            found = held[place].get(judge, [])
            table[row, column, : len(found)] = found
    if (~np.isnan(table).any(axis=(1, 2))).sum() < 2:
        return None
    return variance_parts(table)


def cost_figures(compared: Compared, *, words: Words) -> tuple[Figure, ...]:
    """What answers cost on average, a figure for each field that rows have."""
    made = []
    for what in dict.fromkeys(one.what for one in compared.mean_costs):
        rows = [
            (one.system, one.mean, words["cost_words"].format(mean=f"{one.mean:,.4g}", n=f"{one.n:,}",
                                                              answers=f"{one.answers:,}"))
            for one in compared.mean_costs if one.what == what
        ]  # fmt: skip
        told = "; ".join(f"{name} {shown}" for name, _, shown in rows)
        made.append(Figure(what, draw.bars(what, rows, told=told), ""))
    return tuple(made)
