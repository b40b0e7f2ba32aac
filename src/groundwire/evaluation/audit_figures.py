"""What the values of an audit say: figures with intervals, and in words what to be careful with.

Everything is paired by item.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

import numpy as np

from groundwire.core.text import count_tokens
from groundwire.core.types import Interval, Judgement
from groundwire.evaluation.audit import AuditItem, AuditPlan, Probe, padded
from groundwire.evaluation.judge_replies import places
from groundwire.evaluation.repeats import flips
from groundwire.evaluation.rubrics import INFORMATION_DENSITY
from groundwire.evaluation.stats import bootstrap_interval
from groundwire.evaluation.tails import normal_quantile

BAR = 50.0
"""A value changes sides where it crosses this."""
RAISED = 5.0
"""An order has raised a value where it is so many points above that with the note."""
MOVED = 2.0
"""Points by which a value may move without a word."""
_FEW = 0.05
_SHUFFLES = 1_000
_MOVE = "contexts reversed: mean size of the move"
_SPREAD = "spread of the means by the rubric's place in the reply"
_SLOPE = "for twice the length, by filler on the topic"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured.

    Attributes:
        probe: by which variants.
        what: in words.
        rubric: whose values; empty for all.
        value: points of 100, or a share of 1, with interval, n and what is unscored.
        unit: of it.
        chance: what the same judge, or places dealt at random, give without that; None where nothing of the kind can
            be said.
        missed: refusals that were not seen as such.
    """

    probe: Probe
    what: str
    rubric: str
    value: Interval
    unit: Literal["points", "share"]
    chance: float | None = None
    missed: tuple[str, ...] = ()

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval, or the value where it has none, lies above chance; True where that is not known."""
        low = self.value.mean if math.isnan(self.value.low) else self.value.low
        return self.chance is None or low > self.chance


class Values:
    """Values by variant, rubric and item; ``tries`` are the judgements of ``plain``, the first among them."""

    def __init__(self, rows: Sequence[Judgement], tries: Sequence[Sequence[Judgement]]) -> None:
        """Take the judgements of all variants, and those of ``plain`` try by try."""
        self.rows = tuple(rows)
        self.tries = tuple(tuple(run) for run in tries)
        self._by: dict[tuple[str, str], dict[str, float | None]] = {}
        for row in (*self.tries[0], *rows):
            self._by.setdefault((row.system, row.rubric), {})[row.item_id] = row.value

    def of(self, variant: str, rubric: str) -> dict[str, float | None]:
        """Item id -> value of a variant under a rubric."""
        return self._by.get((variant, rubric), {})

    def less(self, variant: str, other: str, *, rubric: str) -> list[float | None]:
        """Differences of two variants, item by item."""
        mine, theirs = self.of(variant, rubric), self.of(other, rubric)
        return [_less(mine[item], theirs.get(item)) for item in mine]

    def runs(self, rubric: str) -> list[list[float | None]]:
        """The values of ``plain``, try by try, in one order of the items."""
        first = self.of("plain", rubric)
        runs = [{row.item_id: row.value for row in run if row.rubric == rubric} for run in self.tries]
        return [[run.get(item) for item in first] for run in runs]


def figures(values: Values, items: Sequence[AuditItem], *, plan: AuditPlan) -> tuple[Figure, ...]:
    """What the values say, probe by probe in the order of the plan, figure by figure, rubric by rubric."""
    readers: Mapping[Probe, Callable[[_Reader], list[Figure]]] = {
        "repeats": _of_repeats,
        "facts": _of_facts,
        "contexts": _of_contexts,
        "length": _of_length,
        "injection": _of_injection,
        "refusals": _of_refusals,
        "places": _of_places,
    }
    reader = _Reader(values, tuple(items), plan)
    found = [figure for probe in plan.probes for figure in readers[probe](reader)]
    order = {key: place for place, key in enumerate(dict.fromkeys((one.probe, one.what) for one in found))}
    return tuple(sorted(found, key=lambda one: order[one.probe, one.what]))


@dataclass(frozen=True, slots=True)
class _Reader:
    values: Values
    items: tuple[AuditItem, ...]
    plan: AuditPlan

    @property
    def rubrics(self) -> list[str]:
        return [rubric.name for rubric in self.plan.rubrics]

    def mean(self, found: Sequence[float | None]) -> Interval:
        plan = self.plan
        return bootstrap_interval(found, level=plan.level, resamples=plan.resamples, seed=plan.seed)

    def share(self, yes: float, n: int, *, unscored: int = 0) -> Interval:
        return share(yes, n, unscored=unscored, level=self.plan.level, seed=self.plan.seed)


def share(yes: float, n: int, *, unscored: int = 0, level: float = 0.95, seed: int = 0) -> Interval:
    """A share with Wilson's interval, which says something also where all or none are yes; nan without values.

    ``yes`` may count halves (ties); the interval is then on the wide side.

    Source: Wilson 1927.
    """
    if not n:
        return Interval(math.nan, math.nan, math.nan, n=0, unscored=unscored, level=level, seed=seed)
    z, rate = normal_quantile((1 + level) / 2), yes / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return Interval(rate, min(low, rate), max(high, rate), n=n, unscored=unscored, level=level, seed=seed)


def _of_repeats(reader: _Reader) -> list[Figure]:
    found = []
    for rubric in reader.rubrics:
        runs = reader.values.runs(rubric)
        by_item = [[value for value in item if value is not None] for item in zip(*runs, strict=True)]
        apart = [stdev(item) if len(item) > 1 else None for item in by_item]
        turns = flips(runs, at_least=BAR)
        yes = turns.rate * turns.items if turns.items else 0.0
        found += [
            Figure("repeats", f"deviation between {len(runs)} tries", rubric, reader.mean(apart), "points"),
            Figure("repeats", f"two tries on different sides of {BAR:g}", rubric,
                   reader.share(yes, turns.items, unscored=turns.left_out), "share"),
        ]  # fmt: skip
    return found


def _of_facts(reader: _Reader) -> list[Figure]:
    """Under rubrics that hold the answer against a text; a wrong answer is as relevant and as dense as a right one."""
    found = []
    for rubric in (one.name for one in reader.plan.rubrics if set(one.needs) & {"contexts", "reference"}):
        gaps = reader.values.less("plain", "wrong", rubric=rubric)
        told = [float(gap > 0) + 0.5 * (gap == 0) for gap in gaps if gap is not None]
        value = reader.share(math.fsum(told), len(told), unscored=len(gaps) - len(told))
        found += [
            Figure("facts", "right answer above the wrong one (ties half)", rubric, value, "share"),
            Figure("facts", "right answer less the wrong one", rubric, reader.mean(gaps), "points"),
        ]
    return found


def _of_contexts(reader: _Reader) -> list[Figure]:
    """The size of the move beside that between two tries of the same, where there were some."""
    found = []
    for rubric in reader.rubrics:
        moves = reader.values.less("reversed", "plain", rubric=rubric)
        sizes = [None if move is None else abs(move) for move in moves]
        found += [
            Figure("contexts", "contexts reversed: mean move", rubric, reader.mean(moves), "points"),
            Figure("contexts", _MOVE, rubric, reader.mean(sizes), "points", _between_tries(reader, rubric)),
        ]
    return found


def _between_tries(reader: _Reader, rubric: str) -> float | None:
    gaps = [
        abs(one - other)
        for item in zip(*reader.values.runs(rubric), strict=True)
        for one, other in combinations([value for value in item if value is not None], 2)
    ]
    return fmean(gaps) if gaps else None


def _of_length(reader: _Reader) -> list[Figure]:
    versions = ("plain", "padded", "padded twice")
    lengths = {
        one.item.id: [math.log2(count_tokens(padded(one, times=times).answer)) for times in range(3)]
        for one in reader.items
    }
    found = []
    for rubric in reader.rubrics:
        of = [reader.values.of(version, rubric) for version in versions]
        slopes = [_slope(lengths[item], [values.get(item) for values in of]) for item in of[0]]
        moves = reader.values.less("padded", "plain", rubric=rubric)
        found += [
            Figure("length", _SLOPE, rubric, reader.mean(slopes), "points"),
            Figure("length", "padded once less plain", rubric, reader.mean(moves), "points"),
        ]
    return found


def _slope(long: Sequence[float], values: Sequence[float | None]) -> float | None:
    """Least squares through the versions of one answer; None where one has no value."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    middle, mean = fmean(long), fmean(known)
    spread = math.fsum((one - middle) ** 2 for one in long)
    return math.fsum((one - middle) * (value - mean) for one, value in zip(long, known, strict=True)) / spread


def _of_injection(reader: _Reader) -> list[Figure]:
    """Only in what the items have: those without contexts took no order there."""
    found = []
    for where in ("answer", "contexts"):
        for rubric in reader.rubrics:
            gains = reader.values.less(f"order in {where}", f"note in {where}", rubric=rubric)
            known = [gain for gain in gains if gain is not None]
            raised = reader.share(sum(gain >= RAISED for gain in known), len(known), unscored=len(gains) - len(known))
            by = f"an order in the {where}"
            found += (
                [
                    Figure("injection", f"{by} less a note there", rubric, reader.mean(gains), "points"),
                    Figure("injection", f"raised by {RAISED:g} or more by {by}", rubric, raised, "share"),
                ]
                if gains
                else []
            )
    return found


def _of_refusals(reader: _Reader) -> list[Figure]:
    """A refusal is one under all rubrics, or it was not seen as one; an answer has a value under one rubric or more."""
    found = []
    for variant, what in (("refusal", "there is an answer"), ("right refusal", "there is none")):
        by_item = _by_item(reader.values.rows, variant)
        missed = tuple(item for item, rows in by_item.items() if any(row.outcome != "abstained" for row in rows))
        if by_item:
            seen = reader.share(len(by_item) - len(missed), len(by_item))
            found.append(Figure("refusals", f"refusals seen as such where {what}", "", seen, "share", missed=missed))
    behind = _by_item(reader.values.rows, "partly").values()
    asked = [rows for rows in behind if any(row.outcome != "unreadable" for row in rows)]
    judged = sum(any(row.value is not None for row in rows) for rows in asked)
    value = reader.share(judged, len(asked), unscored=len(behind) - len(asked))
    return [*found, Figure("refusals", "answers behind a reservation that are judged", "", value, "share")]


def _by_item(rows: Sequence[Judgement], variant: str) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for row in rows:
        if row.system == variant:
            found.setdefault(row.item_id, []).append(row)
    return found


def _of_places(reader: _Reader) -> list[Figure]:
    """Largest mean by place in the reply less the smallest, beside what drawn orders give by chance."""
    plan = reader.plan
    rows = [row for run in reader.values.tries for row in run]
    found = []
    for one in places(rows):
        mine = [row for row in rows if row.rubric == one.rubric]
        pairs = [
            (int(dict(row.parts)[f"place_{name.removeprefix('reading_')}"]), value)
            for row in mine
            for name, value in row.parts
            if name.startswith("reading_")
        ]
        if len(one.means) > 1:
            value = Interval(one.spread, math.nan, math.nan, n=len(pairs), unscored=len(mine) - len(pairs),
                             level=plan.level, seed=plan.seed)  # fmt: skip
            chance = _spread_by_chance(pairs, seed=plan.seed)
            found.append(Figure("places", _SPREAD, one.rubric, value, "points", chance))
    return found


def _spread_by_chance(pairs: Sequence[tuple[int, float]], *, seed: int) -> float:
    """The 95th percentile of the spread where places are dealt anew among the values."""
    rng = random.Random(seed)  # noqa: S311  nothing is secret here
    dealt = [place for place, _ in pairs]
    spreads = []
    for _ in range(_SHUFFLES):
        rng.shuffle(dealt)
        sums: dict[int, list[float]] = {}
        for place, (_, value) in zip(dealt, pairs, strict=True):
            sums.setdefault(place, []).append(value)
        means = [fmean(values) for values in sums.values()]
        spreads.append(max(means) - min(means))
    return float(np.quantile(spreads, 0.95))


def beware(found: Sequence[Figure]) -> tuple[str, ...]:
    """What to be careful with, in words: figures that go beyond what a judge may do."""
    return tuple(words for figure in found for words in [_warning(figure)] if words)


def _warning(figure: Figure) -> str:
    value, of = figure.value, figure.rubric
    if math.isnan(value.mean):
        return f"{of or figure.probe}: nothing could be read ({figure.what})"
    said = f"{value.mean:.1f}" if figure.unit == "points" else f"{value.mean:.0%}"
    more, chance = figure.beyond_chance, f"{figure.chance or 0:.1f}"
    words = {
        ("repeats", "points"): (value.mean > MOVED, f"tries differ by {said} points; smaller differences are noise"),
        ("repeats", "share"): (value.mean > _FEW, f"{said} of pairs of tries fall on different sides of {BAR:g}"),
        ("facts", "share"): (not value.low > 0.5, f"does not tell right answers from wrong ones ({said})"),
        ("contexts", "points"): (
            figure.what == _MOVE and value.mean > MOVED and more,
            f"the order of the contexts moves values by {said} points",
        ),
        ("length", "points"): (_length_matters(figure), f"twice the length gives {value.mean:+.1f} points"),
        ("injection", "points"): (value.low > 0 and value.mean > MOVED, f"{figure.what}: {value.mean:+.1f} points"),
        ("refusals", "share"): (value.mean < 1, f"only {said} of the {figure.what}"),
        ("places", "points"): (
            more,
            f"the rubric's place in the reply moves its mean by {said} points, chance by up to {chance}",
        ),
    }
    true, warning = words.get((figure.probe, figure.unit), (False, ""))
    return f"{of or figure.probe}: {warning}" if true else ""


def _length_matters(figure: Figure) -> bool:
    """Whether padding is paid for: under density where it costs nothing, elsewhere where it moves the value."""
    value = figure.value
    if figure.what != _SLOPE:
        return False
    if figure.rubric == INFORMATION_DENSITY.name:
        return not value.high < 0
    return abs(value.mean) > MOVED and (value.low > 0 or value.high < 0)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
